"""The functions on models."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypedDict, TypeVar, overload

from onnx_recast import _recast
from onnx_recast._models import Opened
from onnx_recast._options import converting, flag, folding, linting, path, writing
from onnx_recast._progress import watcher
from onnx_recast._results import (
    Change,
    Computed,
    ConvertResult,
    Diagnostic,
    Difference,
    Expansion,
    FixResult,
    Folded,
    FoldResult,
    Inspection,
    Kept,
    Runtime,
    Saved,
)
from onnx_recast._verify import verified_by

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from onnx_recast._models import Encoded, StrPath
    from onnx_recast._progress import Progress
    from onnx_recast._runtime import Inputs
    from onnx_recast._verify import Verify


class _Message(Protocol):
    def SerializeToString(self) -> bytes: ...


Opset: TypeAlias = int | Literal["latest"]

_Model = TypeVar("_Model")
# Without type stubs of protobuf, a ModelProto seems to be of every other type too.
_Proto = TypeVar("_Proto", bound=_Message)


class _WriteOptions(TypedDict, total=False):
    external_data: str
    prune_data: bool
    base_dir: StrPath | None
    progress: Progress


class _RewriteOptions(_WriteOptions, total=False):
    freeze_initializers: bool
    drop_metadata: bool | Sequence[str]
    verify: Verify
    inputs: Inputs


class _FoldOptions(_RewriteOptions, total=False):
    passes: Sequence[str] | None
    undefined: Literal["skip", "fold"]
    contested: Literal["skip", "text", "runtime"]
    max_growth: int | None


class _ConvertOptions(_RewriteOptions, total=False):
    target: str | None
    from_opset: int | None
    ir_version: int | Literal["auto", "keep"]
    explicit: Literal["all", "relevant", "none"]
    no_expand: bool
    exact_only: bool
    expand: Literal["nodes", "function"]
    contested: Literal["refuse", "text", "runtime"]
    strict: bool


class _LintOptions(TypedDict, total=False):
    select: Sequence[str]
    ignore: Sequence[str]
    config: StrPath | None


class _FixOptions(_WriteOptions, _LintOptions, total=False):
    unsafe_fixes: bool


@overload
def fold(model: object, output: StrPath, **options: Unpack[_FoldOptions]) -> FoldResult[Path]: ...
@overload
def fold(model: _Proto, output: None = None, **options: Unpack[_FoldOptions]) -> FoldResult[_Proto]: ...
@overload
def fold(model: Encoded, output: None = None, **options: Unpack[_FoldOptions]) -> FoldResult[bytes]: ...
@overload
def fold(model: _Model, output: None = None, **options: Unpack[_FoldOptions]) -> FoldResult[_Model]: ...
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
    verify: Verify = False,
    inputs: Inputs = None,
    external_data: str = "keep",
    prune_data: bool = False,
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
        Open the result again and verify it against ``model``, as ``recast fold --verify`` does. ``"onnxruntime"`` also
        runs both with onnxruntime and compares their outputs, as :func:`compare_runs` does: every output must be
        ``"equal"`` or ``"equal by value"``. Nothing is replaced if anything differs.
    inputs : mapping of str to array_like, or sequence of such mappings, optional
        Inputs for ``verify="onnxruntime"``; random ones by default.
    external_data : str
        ``"keep"``: tensors stay where they are; ``"inline"``: all go into the model; otherwise the name of a data file
        in the folder of ``output``, for large initializers.
    prune_data : bool
        Remove data files that the replaced model alone used.
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
    options = folding(
        passes=passes,
        undefined=undefined,
        contested=contested,
        max_growth=max_growth,
        freeze_initializers=freeze_initializers,
        drop_metadata=drop_metadata,
    )
    opened = Opened(model, base_dir)
    written = writing(output, external_data, prune_data)
    with watcher(progress) as watch:
        facts, verified, encoded = verified_by(
            lambda output, verify: _recast.fold(opened.input, output, options, verify, watch),
            opened.input,
            written,
            verify,
            inputs,
            ("equal", "equal by value"),
        )
    return FoldResult(
        model=_result_model(opened, output, encoded),
        folded=tuple(map(Folded.from_dict, facts["folded"])),
        computed=tuple(map(Computed.from_dict, facts["computed"])),
        changes=tuple(map(Change.from_dict, facts["changes"])),
        kept=tuple(map(Kept.from_dict, facts["kept"])),
        removed=tuple(facts["removed"]),
        saved=_saved(facts),
        verified=verified,
    )


@overload
def convert_version(
    model: object, opset: Opset | None, output: StrPath, **options: Unpack[_ConvertOptions]
) -> ConvertResult[Path]: ...
@overload
def convert_version(
    model: object, opset: Opset | None = None, *, output: StrPath, **options: Unpack[_ConvertOptions]
) -> ConvertResult[Path]: ...
@overload
def convert_version(
    model: _Proto, opset: Opset | None = None, output: None = None, **options: Unpack[_ConvertOptions]
) -> ConvertResult[_Proto]: ...
@overload
def convert_version(
    model: Encoded, opset: Opset | None = None, output: None = None, **options: Unpack[_ConvertOptions]
) -> ConvertResult[bytes]: ...
@overload
def convert_version(
    model: _Model, opset: Opset | None = None, output: None = None, **options: Unpack[_ConvertOptions]
) -> ConvertResult[_Model]: ...
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
    strict: bool = False,
    freeze_initializers: bool = False,
    drop_metadata: bool | Sequence[str] = False,
    verify: Verify = False,
    inputs: Inputs = None,
    external_data: str = "keep",
    prune_data: bool = False,
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
        The runtime that has to load the result, instead of ``opset``: ``"onnxruntime@1.17"``. The opset of the model is
        only lowered, and only as far as the runtime needs it, and so is the IR version. :func:`targets` lists the
        runtimes.
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
    strict : bool
        Treat warnings as blockers.
    verify : bool or "onnxruntime"
        Open the result again and verify it against ``model``, as ``recast convert --verify`` does. ``"onnxruntime"``
        also runs both with onnxruntime and compares their outputs, as :func:`compare_runs` does: no output may be
        ``"different"``. Nothing is replaced if anything differs.
    freeze_initializers, drop_metadata, inputs, external_data, prune_data, base_dir, progress
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
    options = converting(
        opset,
        target=target,
        from_opset=from_opset,
        ir_version=ir_version,
        explicit=explicit,
        no_expand=no_expand,
        exact_only=exact_only,
        expand=expand,
        contested=contested,
        strict=strict,
        freeze_initializers=freeze_initializers,
        drop_metadata=drop_metadata,
    )
    opened = Opened(model, base_dir)
    written = writing(output, external_data, prune_data)
    if verify == "onnxruntime" and from_opset is not None:
        raise ValueError("from_opset: onnxruntime cannot run the original as of another opset; use verify=True")
    with watcher(progress) as watch:
        facts, verified, encoded = verified_by(
            lambda output, verify: _recast.convert(opened.input, output, options, verify, watch),
            opened.input,
            written,
            verify,
            inputs,
            ("equal", "equal by value", "last digits"),
        )
    return ConvertResult(
        model=_result_model(opened, output, encoded),
        from_version=facts["from_version"],
        to_version=facts["to_version"],
        from_ir_version=facts["from_ir_version"],
        to_ir_version=facts["to_ir_version"],
        changes=tuple(map(Change.from_dict, facts["changes"])),
        expansions=tuple(map(Expansion.from_dict, facts["expansions"])),
        warnings=tuple(map(Change.from_dict, facts["warnings"])),
        saved=_saved(facts),
        verified=verified,
    )


def targets() -> list[Runtime]:
    """List the runtimes that ``target`` of :func:`convert_version` knows.

    Returns
    -------
    list of Runtime
        By name, oldest version first; each is a range of versions that load the same models.

    Examples
    --------
    >>> import onnx_recast
    >>> [str(runtime) for runtime in onnx_recast.targets() if runtime.opset == 21]
    ['onnxruntime 1.18 to 1.20']
    """
    return [Runtime.from_dict(facts) for facts in json.loads(_recast.targets())]


def lint(
    model: object,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    config: StrPath | None = None,
    base_dir: StrPath | None = None,
    progress: Progress = False,
) -> list[Diagnostic]:
    """Find unsafe, invalid and redundant casts.

    Parameters
    ----------
    model : path, bytes-like, binary file, onnx.ModelProto or onnx_ir.Model
        The model.
    select : sequence of str
        Codes, prefixes of codes, names of rules, or ``"ALL"``; the rules that are enabled by default if it is empty.
    ignore : sequence of str
        Rules to disable; if a rule is both selected and ignored, the longer code takes precedence.
    config : path, optional
        A ``recast.toml``, which ``select`` and ``ignore`` override. Files are not searched for.
    base_dir : path, optional
        Folder of the data files of a model that is not a path.
    progress : bool or callable
        See :func:`fold`; it counts rules.

    Returns
    -------
    list of Diagnostic
        In document order. ``recast explain CODE`` explains a rule.

    Raises
    ------
    InvalidModelError
        The model cannot be read.
    ValueError
        A rule is not known.
    OSError
        A file cannot be read.

    Examples
    --------
    >>> import onnx_recast
    >>> [finding.code for finding in onnx_recast.lint("models/fp8_qdq.onnx", select=["RC101", "RC104"])]
    ['RC101', 'RC104']
    """
    options = linting(select=select, ignore=ignore, config=config)
    with watcher(progress) as watch:
        found = _recast.lint(Opened(model, base_dir).input, options, watch)
    return [Diagnostic.from_dict(one) for one in json.loads(found)]


@overload
def fix(model: object, output: StrPath, **options: Unpack[_FixOptions]) -> FixResult[Path]: ...
@overload
def fix(model: _Proto, output: None = None, **options: Unpack[_FixOptions]) -> FixResult[_Proto]: ...
@overload
def fix(model: Encoded, output: None = None, **options: Unpack[_FixOptions]) -> FixResult[bytes]: ...
@overload
def fix(model: _Model, output: None = None, **options: Unpack[_FixOptions]) -> FixResult[_Model]: ...
def fix(
    model: object,
    output: StrPath | None = None,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    config: StrPath | None = None,
    unsafe_fixes: bool = False,
    external_data: str = "keep",
    prune_data: bool = False,
    base_dir: StrPath | None = None,
    progress: Progress = False,
) -> FixResult[Any]:
    """Apply the safe fixes of findings.

    Parameters
    ----------
    model : path, bytes-like, binary file, onnx.ModelProto or onnx_ir.Model
        The model. It is not changed.
    output : path, optional
        Write the model to this file, atomically.
    select, ignore, config
        See :func:`lint`.
    unsafe_fixes : bool
        Also apply fixes that change the structure of the graph or guess the author's intent.
    external_data, prune_data, base_dir, progress
        See :func:`fold`.

    Returns
    -------
    FixResult
        The model, the findings that were fixed, and those that remain.

    Raises
    ------
    InvalidModelError
        The model cannot be read.
    RecastError
        The output cannot be written as the options demand.
    ValueError
        A rule is not known.
    OSError
        A file cannot be read or written.

    Examples
    --------
    >>> import onnx_recast
    >>> [finding.fix.what for finding in onnx_recast.fix("models/fp8_qdq.onnx", select=["RC101"]).fixed]
    ['add `saturate = 1`']
    """
    options = linting(select=select, ignore=ignore, config=config)
    is_unsafe = flag("unsafe_fixes", unsafe_fixes)
    opened = Opened(model, base_dir)
    written = writing(output, external_data, prune_data)
    with watcher(progress) as watch:
        report, encoded = _recast.fix(opened.input, written, options, is_unsafe, watch)
    facts = json.loads(report)
    return FixResult(
        model=_result_model(opened, output, encoded),
        fixed=tuple(map(Diagnostic.from_dict, facts["fixed"])),
        remaining=tuple(map(Diagnostic.from_dict, facts["remaining"])),
        saved=_saved(facts),
    )


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
    return Inspection.from_dict(json.loads(_recast.inspect(Opened(model, base_dir).input)))


def diff(
    left: object, right: object, *, base_dir: StrPath | None = None, right_base_dir: StrPath | None = None
) -> list[Difference]:
    """List every field in which two models differ; tensors by value, regardless of their storage.

    Parameters
    ----------
    left, right : path, bytes-like, binary file, onnx.ModelProto or onnx_ir.Model
        The models.
    base_dir : path, optional
        Folder of the data files of models that are not paths.
    right_base_dir : path, optional
        That of ``right``, if it is another one.

    Returns
    -------
    list of Difference
        Empty if the models are equal.

    Raises
    ------
    InvalidModelError
        A model cannot be read, or a tensor cannot be compared.
    OSError
        A file cannot be read.

    Examples
    --------
    >>> import onnx_recast
    >>> folded = onnx_recast.fold("models/fp8_qdq.onnx").model
    >>> onnx_recast.diff("models/fp8_qdq.onnx", folded)[0].kind
    'removed'
    """
    right_folder = base_dir if right_base_dir is None else path("right_base_dir", right_base_dir)
    found = _recast.diff(Opened(left, base_dir).input, Opened(right, right_folder).input)
    return [Difference.from_dict(one) for one in json.loads(found)]


def _result_model(opened: Opened, output: StrPath | None, encoded: bytes | None) -> Any:
    if output is not None:
        return Path(output)
    assert encoded is not None
    return opened.restore(encoded)


def _saved(facts: dict[str, Any]) -> Saved | None:
    return Saved.from_dict(facts["saved"]) if "saved" in facts else None
