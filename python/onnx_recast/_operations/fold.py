"""fold: casts of constants become their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, Unpack, overload

from onnx_recast import _recast
from onnx_recast._options import checked, reading
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


@dataclass(frozen=True, slots=True)
class Folded(Value):
    """A cast that was replaced by its result."""

    node: str
    """Path of the node."""
    input: str
    """Name of the value that was cast."""
    from_type: str = field(metadata=key("from"))
    """ONNX type of the input."""
    to_type: str = field(metadata=key("to"))
    """ONNX type of the constant."""
    elements: int
    """Number of elements."""
    pass_name: str = field(metadata=key("pass"))
    """Pass that replaced it."""


@dataclass(frozen=True, slots=True)
class Computed(Value):
    """An output of a node other than a cast, and the constant that replaced it."""

    node: str
    """Path of the node."""
    op: str
    """Operator."""
    output: str
    """Name of the output."""
    type: str
    """ONNX type of the constant."""
    elements: int
    """Number of elements."""
    pass_name: str = field(metadata=key("pass"))
    """Pass that computed it."""


@dataclass(frozen=True, slots=True)
class PassChange(Change):
    """A change of a node by a pass."""

    pass_name: str = field(metadata=key("pass"))
    """Pass that changed it."""


@dataclass(frozen=True, slots=True)
class Removal(Value):
    """A node or constant that a pass removed."""

    path: str
    """Path of the node or constant."""
    kind: str
    """``"node"`` or ``"constant"``."""
    code: str
    """Stable code of the reason, such as ``"unused"``."""
    reason: str
    """The reason."""
    pass_name: str = field(metadata=key("pass"))
    """Pass that removed it."""


@dataclass(frozen=True, slots=True)
class Kept(Value):
    """A cast, or another node with constant inputs, that was not folded."""

    node: str
    """Path of the node."""
    code: str
    """Stable code of the reason, such as ``"not-constant"``."""
    reason: str
    """The reason."""


@dataclass(frozen=True)
class FoldResult(Value, Generic[Model]):
    """Result of :func:`onnx_recast.fold`."""

    model: Model = field(repr=False)
    """The model: of the kind of the argument, or the path of the output."""
    folded: tuple[Folded, ...]
    """Casts that were replaced by their results."""
    kept: tuple[Kept, ...] = field(metadata=key("skipped"))
    """Casts that were not folded, and other nodes with constant inputs that the passes could fold, with the reason."""
    removed_initializers: tuple[str, ...]
    """Paths of the constants that were removed."""
    saved: Saved | None
    """The files that were written; None without ``output``."""
    removed_nodes: tuple[str, ...] = ()
    """Paths of the nodes that passes removed."""
    removals: tuple[Removal, ...] = ()
    """Nodes and constants that passes removed, with the reason."""
    computed: tuple[Computed, ...] = ()
    """Other nodes that were replaced by their results, per output."""
    changes: tuple[PassChange, ...] = ()
    """Nodes that were changed."""
    verified: Verified | None = None
    """The extent of the verification; None with ``verify=False``."""

    @property
    def removed(self) -> tuple[str, ...]:
        """Paths of the nodes and constants that passes removed."""
        return tuple(removal.path for removal in self.removals)


class Folding(Preparation, total=False):
    """Options that concern the model."""

    passes: Sequence[str] | None
    undefined: Literal["skip", "fold"]
    contested: Literal["skip", "text", "runtime"]
    max_growth: int | None


class FoldOptions(Folding, RewriteOptions, total=False):
    """All options."""


def native_folding(given: Mapping[str, Any]) -> _recast._Folding:
    """Return the options as the native module takes them."""
    options = checked(Folding, given)
    return {
        "passes": options["passes"],
        "undefined": options["undefined"] == "fold",
        "contested": reading(options["contested"]),
        "max_growth": options["max_growth"],
        "prepare": native_preparation(options),
    }


@overload
def fold(model: object, output: StrPath, **options: Unpack[FoldOptions]) -> FoldResult[Path]: ...
@overload
def fold(model: Proto, output: None = None, **options: Unpack[FoldOptions]) -> FoldResult[Proto]: ...
@overload
def fold(model: Encoded, output: None = None, **options: Unpack[FoldOptions]) -> FoldResult[bytes]: ...
@overload
def fold(model: Kind, output: None = None, **options: Unpack[FoldOptions]) -> FoldResult[Kind]: ...
def fold(
    model: object,
    output: StrPath | None = None,
    *,
    passes: Sequence[str] | None = None,
    undefined: Literal["skip", "fold"] = "skip",
    contested: Literal["skip", "text", "runtime"] = "skip",
    max_growth: int | None = None,
    freeze_initializers: bool = False,
    drop_metadata: bool | Sequence[str] = False,
    verify: Verify = True,
    inputs: Inputs = None,
    tolerance: float | None = None,
    external_data: str = "keep",
    base_dir: StrPath | None = None,
    progress: Progress = False,
) -> FoldResult[Any]:
    """Replace casts of constants by their results.

    A folded value equals, bit for bit, what ONNX defines for the opset of the model. Everything else is preserved.

    Parameters
    ----------
    model : path, bytes-like, binary file, onnx.ModelProto or onnx_ir.Model
        The model. It is not changed. A buffer other than ``bytes`` is copied first.
    output : path, optional
        Write the model to this file, atomically. Weights do not pass through Python.
    passes : sequence of str, optional
        Names of the passes to run, in order; ``"exact"`` stands for all passes after which every output is the same,
        bit for bit. By default, casts are folded. ``recast passes`` lists the passes.
    undefined : {"skip", "fold"}
        Whether to fold casts whose results ONNX leaves undefined.
    contested : {"skip", "text", "runtime"}
        Whether to fold casts on whose results ONNX's text and its node tests disagree, and to which of the two.
    max_growth : int, optional
        Maximum number of bytes by which folded tensors may exceed the tensors that they replace.
    freeze_initializers : bool
        Treat initializers that are also graph inputs as constants, and remove these inputs.
    drop_metadata : bool or sequence of str
        Remove ``metadata_props`` at every level: all of them, or those with these keys (``pkg.torch.*`` is a prefix).
    verify : bool or "onnxruntime"
        Open the result again and verify it against ``model``, as ``recast fold`` does. ``"onnxruntime"`` also
        runs both with onnxruntime and compares their outputs, as :func:`compare_runs` does: every output must be
        ``"equal"`` or ``"equal by value"``. Nothing is replaced if anything differs. False writes
        it unverified.
    inputs : mapping of str to array_like, or sequence of such mappings, optional
        Inputs for ``verify="onnxruntime"``; random ones by default.
    tolerance : float, optional
        With ``verify="onnxruntime"``, a floating-point output may also differ by this relative error: the largest
        difference, relative to the largest magnitude of the output.
    external_data : str
        ``"keep"``: tensors stay where they are; ``"inline"``: all go into the model; otherwise the name of a data file
        in the folder of ``output``, for large initializers.
    base_dir : path, optional
        Folder of the data files of a model that is not a path. For a path, another folder that may contain data files.
    progress : bool or callable
        A function that is called with what is done and the total: of nodes that were examined, then of bytes that were
        written. What it raises cancels the work. ``True`` shows a bar, if tqdm is installed.

    Returns
    -------
    FoldResult
        ``model`` is a ``ModelProto`` or ``onnx_ir.Model`` if the argument is one, otherwise ``bytes``; with ``output``,
        its path.

    Raises
    ------
    InvalidModelError
        The model cannot be read, or contradicts ONNX.
    VerificationError
        The result could not be verified: ``faults`` and ``outputs`` state what differs. Nothing is written.
    RecastError
        The output cannot be written as the options demand.
    OSError
        A file cannot be read or written.
    ImportError
        ``verify`` is ``"onnxruntime"``, and onnx or onnxruntime is not installed.

    Examples
    --------
    >>> import onnx_recast
    >>> result = onnx_recast.fold("models/fp8_qdq.onnx")
    >>> len(result.folded), result.folded[0].to_type
    (3, 'FLOAT8E4M3FN')
    """
    given = locals()
    options = native_folding(given)
    facts = rewritten(
        lambda input, output, verify, watch: _recast.fold(input, output, options, verify, watch),
        given,
        ("equal", "equal by value"),
    )
    return FoldResult.from_dict(facts)
