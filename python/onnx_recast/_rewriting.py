"""What all operations that write a model have in common: options, the output, the parts of their results."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from onnx_recast._models import Opened
from onnx_recast._options import path, text
from onnx_recast._progress import Watcher, watcher
from onnx_recast._values import Value
from onnx_recast._verify import verified_by

if TYPE_CHECKING:
    from onnx_recast import _recast
    from onnx_recast._options import StrPath
    from onnx_recast._outcomes import Outcome
    from onnx_recast._progress import Progress
    from onnx_recast._runtime import Inputs
    from onnx_recast._verify import Verify


@dataclass(frozen=True, slots=True)
class Change(Value):
    """A change of a node, or a warning."""

    node: str
    """Path of the node."""
    op: str
    """Operator."""
    what: str
    """The change."""


@dataclass(frozen=True, slots=True)
class DataFile(Value):
    """A file with values of tensors."""

    path: str
    """Path of the file."""
    bytes: int
    """Length in bytes."""


@dataclass(frozen=True, slots=True)
class UnusedFile(DataFile):
    """A data file that a model no longer uses."""

    reason: str | None = None
    """Why it was not removed, if that was requested."""


@dataclass(frozen=True, slots=True)
class Saved(Value):
    """The files that were written."""

    bytes: int
    """Length of the model file."""
    data_file: DataFile | None = None
    """The data file that was made for the model."""
    notes: tuple[str, ...] = ()
    """Side effects that were not requested."""
    copied_files: tuple[DataFile, ...] = ()
    """Data files that were copied with the model."""
    unused_files: tuple[UnusedFile, ...] = ()
    """Data files that the replaced model used and the new one does not."""


class WriteOptions(TypedDict, total=False):
    """Options that concern files."""

    external_data: str
    base_dir: StrPath | None
    progress: Progress


class RewriteOptions(WriteOptions, total=False):
    """Options of operations whose results can be verified."""

    verify: Verify
    inputs: Inputs
    tolerance: float | None


class Preparation(TypedDict, total=False):
    """Options for what is done to a model first."""

    freeze_initializers: bool
    drop_metadata: bool | Sequence[str]


def native_preparation(options: Mapping[str, Any]) -> _recast._Preparation:
    """Return checked options as the native module takes them; ``*`` stands for all keys."""
    dropped = options["drop_metadata"]
    if isinstance(dropped, bool):
        dropped = ["*"] if dropped else []
    return {"freeze_initializers": options["freeze_initializers"], "drop_metadata": dropped}


Operation: TypeAlias = Callable[["_recast._Input", "_recast._Output", bool, Watcher | None], tuple[str, bytes | None]]
"""A function of the native module, without its options: of the input, the output, and whether to verify. It returns the
report and the bytes of the model."""


def rewritten(operation: Operation, given: Mapping[str, Any], allowed: tuple[Outcome, ...] = ()) -> dict[str, Any]:
    """Rewrite a model, and return the report with the fields ``model``, ``saved`` and ``verified`` of the result.

    ``given`` has the arguments of the caller. With ``verify="onnxruntime"``, outputs may differ as ``allowed`` only, or
    by a relative error of its ``tolerance``.
    """
    opened = Opened(given["model"], given["base_dir"])
    output = _native_output(given)
    with watcher(given["progress"]) as watch:
        facts, encoded = verified_by(
            lambda output, verify: operation(opened.input, output, verify, watch),
            opened.input,
            output,
            given["verify"],
            given.get("inputs"),
            allowed,
            given.get("tolerance"),
        )
    for unmatched in facts.pop("unmatched_metadata", ()):
        warnings.warn(f"no metadata has the key {unmatched!r}", UserWarning, stacklevel=3)
    model = opened.restore(encoded) if encoded is not None else Path(given["output"])
    return {"saved": None, **facts, "model": model}


def _native_output(given: Mapping[str, Any]) -> _recast._Output:
    """Return where a model goes as the native module takes it."""
    output, external_data = given["output"], text("external_data", given["external_data"])
    if output is None and external_data not in ("keep", "inline"):
        raise ValueError(f"external_data={external_data!r}: a data file needs a model file; pass output=PATH")
    return {
        "path": None if output is None else path("output", output),
        "external_data": external_data,
    }
