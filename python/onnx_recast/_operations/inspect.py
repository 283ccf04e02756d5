"""inspect: the summary of a model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onnx_recast import _recast
from onnx_recast._models import Opened
from onnx_recast._operations.targets import named_versions
from onnx_recast._values import Value, key

if TYPE_CHECKING:
    from onnx_recast._options import StrPath


@dataclass(frozen=True, slots=True)
class CastFacts(Value):
    """A ``Cast`` or ``CastLike`` node."""

    node: str
    """Path of the node."""
    scope: str
    """Path of its scope."""
    from_type: str | None = field(metadata=key("from"))
    """ONNX type of the input, if it is declared or can be inferred."""
    to_type: str | None = field(metadata=key("to"))
    """ONNX type of the output, if it is declared or can be inferred."""
    saturate: bool | None
    """``saturate``, if set explicitly."""
    round_mode: str | None
    """``round_mode``, if set explicitly."""
    constant: bool
    """Whether the input is a constant, or becomes one when casts are folded."""


@dataclass(frozen=True, slots=True)
class TypeFacts(Value):
    """The initializers of one type."""

    count: int
    """Number of initializers."""
    bytes: int
    """Bytes of their values."""


@dataclass(frozen=True, slots=True)
class Initializers(Value):
    """The initializers of all graphs."""

    count: int
    """Number of initializers."""
    bytes: int
    """Bytes of their values, wherever they are stored."""
    by_type: Mapping[str, TypeFacts]
    """By ONNX type."""


@dataclass(frozen=True, slots=True)
class FunctionFacts(Value):
    """A model-local function."""

    name: str
    """Domain, name and overload."""
    nodes: int
    """Number of nodes in its body."""
    callers: int
    """Number of nodes that call it."""


@dataclass(frozen=True, slots=True)
class RuntimeVersions(Value):
    """Consecutive versions of a runtime that run a model, or load it if their kernels are not known."""

    runtime: str
    """Name of the runtime."""
    first: str
    """The first version."""
    last: str
    """The last version."""
    kernels: bool
    """Whether their kernels are known; otherwise they only support the opset and the IR version."""
    newest: bool
    """Whether the last version is the newest known one."""
    untried_nodes: int
    """Number of nodes not known to run, or to be computed right, if kernels are known from running models."""

    def __str__(self) -> str:
        """Return the name and the versions."""
        return named_versions(self.runtime, self.first, self.last, self.kernels and self.newest)


@dataclass(frozen=True, slots=True)
class LackingVersions(Value):
    """Consecutive versions of a runtime that do not run a model, and why."""

    runtime: str
    """Name of the runtime."""
    first: str
    """The first version."""
    last: str
    """The last version."""
    newest_opset: int | None
    """The newest opset of ai.onnx that they load, if that of the model is newer."""
    newest_ir_version: int | None
    """The newest IR version that they load, if that of the model is newer."""
    operators: tuple[str, ...]
    """The operators, with their types, for which they have no kernel."""

    def __str__(self) -> str:
        """Return the name and the versions."""
        return named_versions(self.runtime, self.first, self.last)


@dataclass(frozen=True, slots=True)
class DifferingNode(Value):
    """A node for which versions of a runtime that run the model compute something else than ONNX defines."""

    runtime: str
    """Name."""
    first: str
    """The first version."""
    last: str
    """The last version."""
    node: str
    """Path of the node."""
    operation: str
    """The operator with its version and types."""
    instead: str
    """What the runtime computes."""


@dataclass(frozen=True, slots=True)
class Inspection(Value):
    """Summary of a model, made by :func:`onnx_recast.inspect`."""

    ir_version: int
    """IR version."""
    opsets: Mapping[str, int]
    """Imported opset versions by domain."""
    producer: str
    """Name and version of the producer."""
    nodes: int
    """Number of nodes in all scopes."""
    ops: Mapping[str, int]
    """Number of nodes by operator."""
    casts: tuple[CastFacts, ...]
    """Every ``Cast`` and ``CastLike``."""
    initializers: Initializers
    """Initializers of all graphs."""
    functions: tuple[FunctionFacts, ...]
    """Model-local functions."""
    external_data: tuple[str, ...]
    """Data files of the model."""
    targets: tuple[RuntimeVersions, ...]
    """Runtimes that run the model, and those that support its opset and IR version and whose kernels are not known."""
    differing: tuple[DifferingNode, ...]
    """The nodes for which runtimes that run the model compute something else than ONNX defines."""
    lacking: tuple[LackingVersions, ...]
    """The versions of runtimes with known kernels that do not run the model, and why."""
    undecided_nodes: int
    """Number of nodes whose kernels are not known: their types, or the operators of their domain, are unknown."""
    errors: tuple[str, ...]
    """What is invalid in the model."""


def inspect(model: object, *, base_dir: StrPath | None = None) -> Inspection:
    """Summarise a model: opsets, operators, casts, initializers, functions. Weights are not read.

    Parameters
    ----------
    model : path, bytes-like, binary file, onnx.ModelProto or onnx_ir.Model
        The model.
    base_dir : path, optional
        Folder of the data files of a model that is not a path.

    Returns
    -------
    Inspection
        ``errors`` lists what is invalid in the model.

    Raises
    ------
    InvalidModelError
        The model cannot be read.
    OSError
        A file cannot be read.

    Examples
    --------
    >>> import onnx_recast
    >>> onnx_recast.inspect("models/fp8_qdq.onnx").ops["Cast"]
    3
    """
    facts = json.loads(_recast.inspect(Opened(model, base_dir).input))
    return Inspection.from_dict({**facts["inspection"], "errors": facts["errors"]})
