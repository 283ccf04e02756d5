"""convert_precision: models of FLOAT to FLOAT16 or BFLOAT16, or these to FLOAT."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, Unpack, overload

from onnx_recast import _recast
from onnx_recast._dtypes import onnx_name
from onnx_recast._options import StrPath, checked, names, one_of, path, runtime_name, text
from onnx_recast._rewriting import Preparation, RewriteOptions, Saved, WriteOptions, native_preparation, rewritten
from onnx_recast._values import Model, Value, key
from onnx_recast._verify import Verified

if TYPE_CHECKING:
    from onnx_recast._dtypes import Type
    from onnx_recast._models import Encoded, Kind, Proto
    from onnx_recast._progress import Progress
    from onnx_recast._runtime import Inputs
    from onnx_recast._verify import Verify

    Types: TypeAlias = str | Sequence[str] | Mapping[str, Type]
    """``"keep"``, ``"convert"``, and the types of some inputs and outputs: ``NAME=TYPE``, or a mapping."""

_TOLERANCE = 1e-2
"""The relative error of an output that ``verify="onnxruntime"`` permits by default."""

Range: TypeAlias = Sequence[float] | Mapping[str, float]
"""The least and the greatest number of a value, and the least magnitude other than 0 if it is known: two or three
numbers, or the keys ``min``, ``max`` and ``least``."""


@dataclass(frozen=True, slots=True)
class AddedFunction(Value):
    """A copy of a function, for the calls that change their types."""

    domain: str
    """Domain of both functions."""
    name: str
    """Name of the copy."""
    overload: str
    """Overload of both functions."""
    copy_of: str
    """Name of the function."""
    calls: tuple[str, ...]
    """Paths of the nodes that called the function, and call the copy."""


@dataclass(frozen=True, slots=True)
class AddedCast(Value):
    """A Cast that was added."""

    node: str
    """Path of the Cast."""
    input: str
    """Name of its input."""
    output: str
    """Name of its result."""
    value: str
    """Name that the value has in the model before."""
    from_type: str = field(metadata=key("from"))
    """ONNX type of the input."""
    to_type: str = field(metadata=key("to"))
    """ONNX type of the result."""


@dataclass(frozen=True, slots=True)
class NarrowedTensor(Value):
    """A constant that was cast."""

    tensor: str
    """Path of the tensor."""
    elements: int
    """Number of elements."""
    from_type: str = field(metadata=key("from"))
    """ONNX type before."""
    to_type: str = field(metadata=key("to"))
    """ONNX type after."""
    overflowed: int
    """Finite numbers beyond the range of the type. They became infinite, or got the magnitude ``bound``."""
    largest: float | None
    """Largest magnitude before, as FLOAT; None if a number is infinite there, or NaN."""
    bound: float | None
    """Magnitude that numbers beyond the range got instead of infinity."""
    became_zero: int
    """Numbers other than zero that became zero."""
    became_subnormal: int
    """Numbers that became subnormal."""
    largest_relative_error: float
    """Largest relative error of a number that did not become zero or infinite."""


@dataclass(frozen=True, slots=True)
class KeptNode(Value):
    """A node that computes values of the old type."""

    node: str
    """Path of the node."""
    op: str
    """Operator."""
    code: str
    """Stable code of the reason, such as ``"sensitive-operator"``."""
    reason: str
    """The reason."""


@dataclass(frozen=True, slots=True)
class LaterOpset(Value):
    """A later opset in which more operators support the type."""

    opset: int
    """The opset of ai.onnx."""
    nodes: int
    """Number of nodes that it would admit."""


@dataclass(frozen=True, slots=True)
class Opsets(Value):
    """Opset of ai.onnx before and after a conversion."""

    before: int = field(metadata=key("from"))
    """Before."""
    after: int = field(metadata=key("to"))
    """After."""

    def __str__(self) -> str:
        """Return both opsets."""
        return f"{self.before} -> {self.after}"


@dataclass(frozen=True, slots=True)
class Emulation(Value):
    """The roundings of a model that keeps the type FLOAT."""

    function: str
    """The function that rounds, with its domain."""
    roundings: tuple[AddedCast, ...]
    """Calls of the function: casts from FLOAT to the type, and back."""


@dataclass(frozen=True)
class PrecisionResult(Value, Generic[Model]):
    """Result of :func:`onnx_recast.convert_precision`."""

    model: Model = field(repr=False)
    """The model: of the kind of the argument, or the path of the output."""
    to: str
    """ONNX type that values got."""
    changed_values: int
    """Number of values that got the type."""
    functions_added: tuple[AddedFunction, ...]
    """Copies of functions of which some calls change their types and others do not."""
    casts_added: tuple[AddedCast, ...]
    """Casts that were added."""
    casts_removed: tuple[str, ...]
    """Paths of casts that were removed."""
    tensors: tuple[NarrowedTensor, ...]
    """Constants that were cast."""
    kept: tuple[KeptNode, ...]
    """Nodes that compute values of the old type, with the reason."""
    saved: Saved | None
    """The files that were written; None without ``output``."""
    from_type: str | None = field(default=None, metadata=key("from"))
    """ONNX type that values had, if it was stated."""
    later_opset: LaterOpset | None = None
    """A later opset in which more operators support the type."""
    opset: Opsets | None = None
    """Opset of ai.onnx before and after, if the option ``opset`` changed it."""
    verified: Verified | None = None
    """The extent of the verification; None with ``verify=False``."""
    emulation: Emulation | None = None
    """The roundings; None without ``emulate``."""
    unmatched: tuple[str, ...] = ()
    """Patterns and names of ranges that match nothing, of which a warning tells, too."""
    notes: tuple[str, ...] = ()
    """What is unmatched; that the version or the kernels of ``target`` are not known."""

    @property
    def changed(self) -> bool:
        """Whether the precision of anything changed."""
        added = self.emulation.roundings if self.emulation else self.changed_values
        return bool(added or self.casts_added or self.casts_removed or self.tensors)


class Changing(Preparation, total=False):
    """Options that concern the model, except those of several kinds."""

    policy: Literal["stable", "all"]
    keep_op: Sequence[str]
    keep_node: Sequence[str]
    keep_value: Sequence[str]
    also_op: Sequence[str]
    also_node: Sequence[str]
    assume: Sequence[str]
    only_op: Sequence[str]
    only_node: Sequence[str]
    weights_only: bool
    emulate: bool
    on_overflow: Literal["mask", "keep", "saturate", "infinity", "refuse"]
    on_underflow: Literal["allow", "keep", "refuse"]
    quantized: Literal["keep", "scales"]
    range_limit: float | None
    target: str | None
    opset: int | Literal["auto", "latest"] | None


class _Values(Changing, total=False):
    """Options that concern values."""

    from_type: Type | None
    io: Types
    ranges: Mapping[str, Range] | StrPath | None


class MeasuredOptions(_Values, WriteOptions, total=False):
    """The options of a change of precision that is measured."""

    verify: bool


class PrecisionOptions(_Values, RewriteOptions, total=False):
    """All options except the type."""


def native_changing(given: Mapping[str, Any]) -> _recast._Changing:
    """Return the options as the native module takes them."""
    target = runtime_name(given["target"])
    options = checked(Changing, given)
    io, signature = _signature(given["io"])
    opset = options["opset"]
    return {
        "to": onnx_name(given["to"]),
        "from_type": None if given["from_type"] is None else onnx_name(given["from_type"], "from_type"),
        "io": io,
        "signature": signature,
        "policy": options["policy"],
        "keep_op": options["keep_op"],
        "keep_node": options["keep_node"],
        "keep_value": options["keep_value"],
        "also_op": options["also_op"],
        "also_node": options["also_node"],
        "assume": options["assume"],
        "only_op": options["only_op"],
        "only_node": options["only_node"],
        "weights_only": options["weights_only"],
        "emulate": options["emulate"],
        "on_overflow": options["on_overflow"],
        "on_underflow": options["on_underflow"],
        "quantized": options["quantized"],
        "ranges": read_ranges(given["ranges"]),
        "range_limit": options["range_limit"],
        "target": target,
        "opset": _recast.LATEST_OPSET if opset == "latest" else opset,
        "prepare": native_preparation(options),
    }


def _signature(io: object) -> tuple[str, list[tuple[str, str]]]:
    """Return what inputs and outputs get, and the types of some of them, by name."""
    if isinstance(io, Mapping):
        return "keep", [(text("io", name), onnx_name(to, "io")) for name, to in io.items()]
    found, signature = "keep", []
    for one in names("io", io):
        name, has_type, to = one.rpartition("=")
        if has_type:
            signature.append((name, to.upper()))
        else:
            found = one_of("io", one, ("keep", "convert"))
    return found, signature


def read_ranges(ranges: object) -> dict[str, tuple[float, float, float | None]]:
    """Return observed ranges by name, of a mapping or of a file with one in JSON."""
    if ranges is None:
        return {}
    where = "ranges"
    if isinstance(ranges, str | os.PathLike):
        file = path("ranges", ranges)
        where = f"ranges: {file}"
        try:
            ranges = json.loads(Path(file).read_bytes())
        except ValueError as error:
            raise ValueError(f"{where} is not a JSON object of ranges: {error}") from None
    if not isinstance(ranges, Mapping):
        raise TypeError(f"{where}: expected a mapping of names to pairs of numbers, not {type(ranges).__name__}")
    return {text("ranges", name): _range(f"{where}: '{name}'", bounds) for name, bounds in ranges.items()}


def _range(where: str, bounds: Any) -> tuple[float, float, float | None]:
    try:
        if isinstance(bounds, Mapping):
            given = [bounds["min"], bounds["max"], bounds.get("least")]
        else:
            given = [*bounds, None] if len(bounds) == 2 else [*bounds]
        if any(isinstance(number, str) for number in given):
            raise TypeError
        least, greatest, magnitude = given
        return float(least), float(greatest), None if magnitude is None else float(magnitude)
    except (KeyError, TypeError, ValueError):
        raise TypeError(
            f"{where}: expected the least and the greatest number, and the least magnitude or none, not {bounds!r}"
        ) from None


@overload
def convert_precision(
    model: object, to: Type, output: StrPath, **options: Unpack[PrecisionOptions]
) -> PrecisionResult[Path]: ...
@overload
def convert_precision(
    model: object, to: Type = "FLOAT16", *, output: StrPath, **options: Unpack[PrecisionOptions]
) -> PrecisionResult[Path]: ...
@overload
def convert_precision(
    model: Proto, to: Type = "FLOAT16", output: None = None, **options: Unpack[PrecisionOptions]
) -> PrecisionResult[Proto]: ...
@overload
def convert_precision(
    model: Encoded, to: Type = "FLOAT16", output: None = None, **options: Unpack[PrecisionOptions]
) -> PrecisionResult[bytes]: ...
@overload
def convert_precision(
    model: Kind, to: Type = "FLOAT16", output: None = None, **options: Unpack[PrecisionOptions]
) -> PrecisionResult[Kind]: ...
def convert_precision(
    model: object,
    to: Type = "FLOAT16",
    output: StrPath | None = None,
    *,
    from_type: Type | None = None,
    io: Types = "keep",
    policy: Literal["stable", "all"] = "stable",
    keep_op: Sequence[str] = (),
    keep_node: Sequence[str] = (),
    keep_value: Sequence[str] = (),
    also_op: Sequence[str] = (),
    also_node: Sequence[str] = (),
    assume: Sequence[str] = (),
    only_op: Sequence[str] = (),
    only_node: Sequence[str] = (),
    weights_only: bool = False,
    emulate: bool = False,
    on_overflow: Literal["mask", "keep", "saturate", "infinity", "refuse"] = "mask",
    on_underflow: Literal["allow", "keep", "refuse"] = "allow",
    quantized: Literal["keep", "scales"] = "keep",
    ranges: Mapping[str, Range] | StrPath | None = None,
    range_limit: float | None = None,
    target: str | None = None,
    opset: int | Literal["auto", "latest"] | None = None,
    freeze_initializers: bool = False,
    drop_metadata: bool | Sequence[str] = False,
    verify: Verify = True,
    inputs: Inputs = None,
    tolerance: float | None = None,
    external_data: str = "keep",
    base_dir: StrPath | None = None,
    progress: Progress = False,
) -> PrecisionResult[Any]:
    """Change the precision of a model: FLOAT to FLOAT16 or BFLOAT16, or these to FLOAT.

    Values get the type where the operators of the model's opset support it, with the fewest casts. Constants are
    rounded as ``Cast`` rounds. If there is nothing to change, the result has the bytes of the model.

    Parameters
    ----------
    model : path, bytes-like, binary file, onnx.ModelProto or onnx_ir.Model
        The model. It is not changed. A buffer other than ``bytes`` is copied first.
    to : str, int or dtype
        The target type: ``"FLOAT16"`` or ``"BFLOAT16"`` for values that are FLOAT; ``"FLOAT"`` for values that are
        FLOAT16 or BFLOAT16.
    output : path, optional
        Write the model to this file, atomically. Weights do not pass through Python.
    from_type : str, int or dtype, optional
        The type of the values to change, if it differs from the default: ``"DOUBLE"``, ``"FLOAT"``, ``"FLOAT16"`` or
        ``"BFLOAT16"``.
    io : str, sequence of str or mapping of str to type
        Types of the inputs and outputs: leave all (``"keep"``), change all (``"convert"``), or set some: ``{"x":
        "FLOAT16"}``, or with either word ``["convert", "x=FLOAT"]``.
    policy : {"stable", "all"}
        How to treat numerically sensitive operators: keep their types (``"stable"``), or change them too (``"all"``).
        ``recast precision --help`` lists them.
    keep_op : sequence of str
        Keep the types of these operators.
    keep_node, keep_value : sequence of str
        Keep the types of these nodes or values: patterns of paths or names of nodes, or of names of values.
    also_op : sequence of str
        Change these operators even if ``policy="stable"`` keeps them.
    also_node : sequence of str
        Change these nodes even if ``policy="stable"`` keeps them: patterns of their paths or names.
    assume : sequence of str
        Assume that these custom operators support the type, which must be ``to``, in all their values of the type that
        changes: ``"com.example::Norm=FLOAT16"``.
    only_op : sequence of str
        Change only these operators.
    only_node : sequence of str
        Change only these nodes: patterns of their paths or names.
    weights_only : bool
        Change only constants; each is cast back to its original type.
    emulate : bool
        Return a FLOAT model that emulates the change: functions in the model round each value that would change. Any
        runtime then computes what kernels of the type compute.
    on_overflow : {"mask", "keep", "saturate", "infinity", "refuse"}
        How to treat finite constants beyond the range of the type: replace masks by half of the largest number and
        bounds by the largest, and keep the others; keep them; replace them by the largest number; round them to
        infinity; or fail.
    on_underflow : {"allow", "keep", "refuse"}
        How to treat nonzero constants that the type rounds to zero: round them, except scalars that keep divisors,
        roots and logarithms from zero; keep them; or fail.
    quantized : {"keep", "scales"}
        How to treat quantized operators: keep the types of operators and scales, so that runtimes fuse them to integer
        operators; or change scales that are normal numbers of the type, and the operators with them.
    ranges : mapping of str to sequence of float, or path, optional
        The observed minimum and maximum of values, and optionally their smallest magnitude other than 0, by name, or a
        JSON file of these. A value keeps its type if it exceeds the range of the type, if all its numbers are below the
        normal numbers of the type, or if a number of it becomes 0 before a division or logarithm.
        :func:`onnx_recast.ranges` measures them.
    range_limit : float, optional
        Keep the types of values in ``ranges`` that exceed this magnitude. The default is the largest number of the
        type.
    target : str, optional
        The runtime that must run the result, such as ``"onnxruntime@1.32"``. Nodes for which it has no kernel in the
        type keep their types. :func:`targets` lists the runtimes.
    opset : int, "auto" or "latest", optional
        Convert to this opset of ai.onnx first; ``"auto"`` is the lowest later opset in which the most operators support
        the type.
    verify : bool or "onnxruntime"
        Open the result again and verify it against ``model``, as ``recast precision`` does: without the
        reported casts, with the types set back, it is the model, and every constant that changed is the rounded one.
        ``"onnxruntime"`` also runs both with onnxruntime and compares their outputs, as :func:`compare_runs` does.
        Nothing is replaced if anything differs. False writes it unverified.
    inputs : mapping of str to array_like, or sequence of such mappings, optional
        Inputs for ``verify="onnxruntime"``; random ones by default.
    tolerance : float, optional
        The relative error that ``verify="onnxruntime"`` permits of an output, 1e-2 by default: the largest difference,
        relative to the largest magnitude of the output. :func:`tune_precision` finds the nodes to keep if it is larger.
    freeze_initializers, drop_metadata, external_data, base_dir, progress
        See :func:`fold`.

    Returns
    -------
    PrecisionResult
        ``model`` is a ``ModelProto`` or ``onnx_ir.Model`` if the argument is one, otherwise ``bytes``; with ``output``,
        its path.

    Warns
    -----
    UserWarning
        A pattern, or a name of ``ranges``, matches nothing of the model.

    Raises
    ------
    InvalidModelError
        The model cannot be read, or contradicts ONNX.
    ConversionError
        The model cannot be converted to ``opset``.
    RecastError
        A constant is refused by ``on_overflow`` or ``on_underflow``, or the output cannot be written as the options
        demand.
    ValueError
        Precision is not changed to this type, or an option is invalid.
    VerificationError
        See :func:`fold`.
    OSError
        A file cannot be read or written.

    Examples
    --------
    >>> import onnx_recast
    >>> result = onnx_recast.convert_precision("models/fp8_qdq.onnx", "FLOAT16")
    >>> result.changed_values, len(result.casts_added), {node.code for node in result.kept}
    (7, 4, {'quantization-scale'})
    """
    given = locals()
    options = native_changing(given)
    facts = rewritten(
        lambda input, output, verify, watch: _recast.convert_precision(input, output, options, verify, watch),
        {**given, "tolerance": _TOLERANCE} if tolerance is None and verify == "onnxruntime" else given,
        ("equal", "equal by value", "last digits"),
    )
    result: PrecisionResult[Any] = PrecisionResult.from_dict(facts)
    if result.unmatched:
        first, *others = result.unmatched
        more = f" (and {len(others)} more)" if others else ""
        warnings.warn(f"nothing of the model matches {first!r}{more}", UserWarning, stacklevel=2)
    return result
