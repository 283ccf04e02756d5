"""convert_version: models for another opset of ai.onnx, or for a runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, Unpack, overload

from onnx_recast import _recast
from onnx_recast._options import checked, reading, runtime_name, whole
from onnx_recast._rewriting import (
    Change,
    Preparation,
    RewriteOptions,
    Saved,
    native_preparation,
    rewritten,
)
from onnx_recast._values import Model, Value, key
from onnx_recast._verify import Verified

if TYPE_CHECKING:
    from onnx_recast._models import Encoded, Kind, Proto
    from onnx_recast._options import StrPath
    from onnx_recast._progress import Progress
    from onnx_recast._runtime import Inputs
    from onnx_recast._verify import Verify

Opset: TypeAlias = int | Literal["latest"]


@dataclass(frozen=True, slots=True)
class Expansion(Value):
    """An operator that was replaced by several nodes."""

    node: str
    """Path of the original node."""
    op: str
    """Operator."""
    exactness: str = field(metadata=key("class"))
    """``"exact"``: equal to the bit; ``"by-definition"``: a runtime's own kernel may differ in the last digits."""
    nodes: int
    """Number of nodes that replace it."""
    guarded_for: str | None
    """Runtime that computes something else for the operator alone, if the nodes are a guard; else None."""


@dataclass(frozen=True, slots=True)
class CarriedValue(Value):
    """A value with a wider type, because the target lacks its type."""

    value: str
    """Path of the value."""
    from_type: str = field(metadata=key("from"))
    """ONNX type before."""
    to_type: str = field(metadata=key("to"))
    """ONNX type after, which has all numbers of the type before."""
    exactness: str = field(metadata=key("class"))
    """``"exact"``: the numbers are equal."""
    bytes: int
    """Number of bytes by which a constant grew; 0 for a computed value."""
    role: str
    """``"inner"``, or ``"input"`` or ``"output"`` of the model."""


@dataclass(frozen=True, slots=True)
class IrVersions(Value):
    """IR version of a model before and after a conversion."""

    before: int = field(metadata=key("from"))
    """Before."""
    after: int = field(metadata=key("to"))
    """After."""
    needed_by: str | None
    """What the model contains that needs this version, if its opset needs a lower one."""

    def __str__(self) -> str:
        """Return both versions."""
        return f"{self.before} -> {self.after}"


@dataclass(frozen=True)
class ConvertResult(Value, Generic[Model]):
    """Result of :func:`onnx_recast.convert_version`."""

    model: Model = field(repr=False)
    """The model: of the kind of the argument, or the path of the output."""
    from_opsets: Mapping[str, int] = field(metadata=key("from"))
    """Imported opsets before, by domain; without ai.onnx if the model neither imports nor uses it."""
    to_opsets: Mapping[str, int] = field(metadata=key("to"))
    """Opsets after, by domain: that of ai.onnx is the requested one, or the one that ``target`` runs."""
    ir_version: IrVersions
    """IR version before and after."""
    changes: tuple[Change, ...]
    """Nodes that changed."""
    expansions: tuple[Expansion, ...]
    """Operators that were replaced by several nodes."""
    carried: tuple[CarriedValue, ...]
    """Values with wider types, because the target lacks their types."""
    warnings: tuple[Change, ...]
    """Warnings about converted nodes."""
    saved: Saved | None
    """The files that were written; None without ``output``."""
    stated_opset: int | None = None
    """Opset of ai.onnx that the model imports, if ``from_opset`` overrides it."""
    notes: tuple[str, ...] = ()
    """Why another opset was taken than the highest that ``target`` loads, and which kernels are not known."""
    verified: Verified | None = None
    """The extent of the verification; None with ``verify=False``."""

    @property
    def from_version(self) -> int | None:
        """Opset of ai.onnx before; None if the model neither imports nor uses ai.onnx."""
        return self.from_opsets.get("ai.onnx")

    @property
    def to_version(self) -> int | None:
        """Requested opset of ai.onnx; None if the model neither imports nor uses ai.onnx."""
        return self.to_opsets.get("ai.onnx")


class Converting(Preparation, total=False):
    """Options that concern the model, except the opset."""

    target: str | None
    from_opset: int | None
    ir_version: int | Literal["auto", "keep"]
    explicit: Literal["all", "relevant", "none"]
    no_expand: bool
    exact_only: bool
    expand: Literal["nodes", "function"]
    contested: Literal["refuse", "text", "runtime"]
    no_legalize: bool
    legalize_io: bool
    strict: bool


class ConvertOptions(Converting, RewriteOptions, total=False):
    """All options except the opset."""


def native_converting(given: Mapping[str, Any]) -> _recast._Converting:
    """Return the options as the native module takes them."""
    opset, target = given["opset"], runtime_name(given["target"])
    if opset is None and target is None:
        raise TypeError("opset: expected an opset such as 21, or a target such as 'onnxruntime@1.17'")
    if opset is not None and target is not None:
        raise TypeError("target: expected an opset or a target, not both")
    options = checked(Converting, given)
    if options["no_expand"] and options["exact_only"]:
        raise ValueError("exact_only: expected no_expand or exact_only, not both")
    if options["no_legalize"] and options["legalize_io"]:
        raise ValueError("legalize_io: expected no_legalize or legalize_io, not both")
    return {
        "opset": _recast.LATEST_OPSET if opset in (None, "latest") else whole("opset", opset),
        "target": target,
        "from_opset": options["from_opset"],
        "ir_version": options["ir_version"],
        "explicit": options["explicit"],
        "no_expand": options["no_expand"],
        "exact_only": options["exact_only"],
        "expand": options["expand"],
        "no_legalize": options["no_legalize"],
        "legalize_io": options["legalize_io"],
        "contested": reading(options["contested"]),
        "strict": options["strict"],
        "prepare": native_preparation(options),
    }


@overload
def convert_version(
    model: object, opset: Opset | None, output: StrPath, **options: Unpack[ConvertOptions]
) -> ConvertResult[Path]: ...
@overload
def convert_version(
    model: object, opset: Opset | None = None, *, output: StrPath, **options: Unpack[ConvertOptions]
) -> ConvertResult[Path]: ...
@overload
def convert_version(
    model: Proto, opset: Opset | None = None, output: None = None, **options: Unpack[ConvertOptions]
) -> ConvertResult[Proto]: ...
@overload
def convert_version(
    model: Encoded, opset: Opset | None = None, output: None = None, **options: Unpack[ConvertOptions]
) -> ConvertResult[bytes]: ...
@overload
def convert_version(
    model: Kind, opset: Opset | None = None, output: None = None, **options: Unpack[ConvertOptions]
) -> ConvertResult[Kind]: ...
def convert_version(
    model: object,
    opset: Opset | None = None,
    output: StrPath | None = None,
    *,
    target: str | None = None,
    from_opset: int | None = None,
    ir_version: int | Literal["auto", "keep"] = "auto",
    explicit: Literal["all", "relevant", "none"] = "relevant",
    no_expand: bool = False,
    exact_only: bool = False,
    expand: Literal["nodes", "function"] = "nodes",
    contested: Literal["refuse", "text", "runtime"] = "refuse",
    no_legalize: bool = False,
    legalize_io: bool = False,
    strict: bool = False,
    freeze_initializers: bool = False,
    drop_metadata: bool | Sequence[str] = False,
    verify: Verify = True,
    inputs: Inputs = None,
    tolerance: float | None = None,
    external_data: str = "keep",
    base_dir: StrPath | None = None,
    progress: Progress = False,
) -> ConvertResult[Any]:
    """Convert a model to another opset of ai.onnx, or to what a runtime loads: to an equivalent model, or not at all.

    Parameters
    ----------
    model : path, bytes-like, binary file, onnx.ModelProto or onnx_ir.Model
        The model. It is not changed. A buffer other than ``bytes`` is copied first.
    opset : int or "latest", optional
        Opset to convert to, older or newer; ``"latest"`` is the newest supported opset. Either it or ``target`` is
        required.
    output : path, optional
        Write the model to this file, atomically. Weights do not pass through Python.
    target : str, optional
        The runtime that has to load and run the result, instead of ``opset``: ``"onnxruntime@1.17"``. The opset of the
        model is only lowered, and only as far as the runtime needs it, and so is the IR version; the opset is raised if
        the runtime has kernels for all nodes in a newer one only. :func:`targets` lists the runtimes.
    from_opset : int, optional
        Override the opset that the model imports, for mislabelled models.
    ir_version : int, "auto" or "keep"
        IR version of the result; ``"auto"`` is the lowest that supports it on downgrades, and never lower than that of
        the model on upgrades.
    explicit : {"all", "relevant", "none"}
        Default attributes of casts to make explicit on upgrades: all, those that affect the types of the node, or none.
    no_expand : bool
        Replace no operator by several nodes.
    exact_only : bool
        Replace operators by several nodes only if the results are equal to the bit.
    expand : {"nodes", "function"}
        Replace such an operator by nodes, or by a call of a local function, for which the IR version becomes 8 at
        least.
    contested : {"refuse", "text", "runtime"}
        How to read nodes on which ONNX contradicts itself, such as BatchNormalization with ``is_test`` = 0 and one
        output: refuse the conversion, or read them by their attributes or as onnx's converter does.
    no_legalize : bool
        Keep the types of all values. Otherwise a wider type carries a type that the older opset or the target lacks:
        INT8 carries INT4, for example.
    legalize_io : bool
        Inputs and outputs get wider types, too: ``carried`` lists them, with their ``role``.
    strict : bool
        Treat warnings as blockers.
    verify : bool or "onnxruntime"
        Open the result again and verify it against ``model``, as ``recast convert`` does. ``"onnxruntime"``
        also runs both with onnxruntime and compares their outputs, as :func:`compare_runs` does: no output may be
        ``"different"``. Nothing is replaced if anything differs. False writes it unverified.
    freeze_initializers, drop_metadata, inputs, tolerance, external_data, base_dir, progress
        See :func:`fold`.

    Returns
    -------
    ConvertResult
        ``model`` is a ``ModelProto`` or ``onnx_ir.Model`` if the argument is one, otherwise ``bytes``; with ``output``,
        its path.

    Raises
    ------
    ConversionError
        Nodes cannot be converted: ``blockers`` lists all of them, ``nearest`` is the closest opset that works. Nothing
        is written.
    InvalidModelError
        The model cannot be read, or contradicts ONNX.
    ValueError
        The runtime is not known, or does not load the IR version that ``ir_version`` demands.
    TypeError
        Neither ``opset`` nor ``target`` is given, or both are; an option is of a wrong type.
    VerificationError, ImportError
        See :func:`fold`.
    RecastError
        The output cannot be written as the options demand.
    OSError
        A file cannot be read or written.

    Examples
    --------
    >>> import onnx_recast
    >>> result = onnx_recast.convert_version("models/transformer_fp16.onnx", 15)
    >>> result.from_version, result.to_version, [expansion.op for expansion in result.expansions]
    (19, 15, ['LayerNormalization', 'LayerNormalization'])
    >>> onnx_recast.convert_version("models/transformer_fp16.onnx", target="tensorrt@8.6").to_version
    17
    """
    given = locals()
    options = native_converting(given)
    if from_opset is not None and verify == "onnxruntime":
        raise ValueError("from_opset: onnxruntime cannot run the original as of another opset; use verify=True")
    facts = rewritten(
        lambda input, output, verify, watch: _recast.convert(input, output, options, verify, watch),
        given,
        ("equal", "equal by value", "last digits"),
    )
    return ConvertResult.from_dict(facts)
