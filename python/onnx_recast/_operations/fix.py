"""fix: findings of lint that have a safe fix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Unpack, overload

from onnx_recast import _recast
from onnx_recast._operations.lint import Diagnostic, Linting, native_linting
from onnx_recast._options import flag
from onnx_recast._rewriting import Saved, WriteOptions, rewritten
from onnx_recast._values import Model, Value
from onnx_recast._verify import Verified

if TYPE_CHECKING:
    from onnx_recast._models import Encoded, Kind, Proto
    from onnx_recast._options import StrPath
    from onnx_recast._progress import Progress


@dataclass(frozen=True)
class FixResult(Value, Generic[Model]):
    """Result of :func:`onnx_recast.fix`."""

    model: Model = field(repr=False)
    """The model: of the kind of the argument, or the path of the output."""
    fixed: tuple[Diagnostic, ...]
    """Findings that were fixed."""
    remaining: tuple[Diagnostic, ...]
    """Findings of the fixed model."""
    saved: Saved | None
    """The files that were written; None without ``output``."""
    verified: Verified | None
    """The extent of the verification; None with ``verify=False``."""


class FixOptions(Linting, WriteOptions, total=False):
    """All options."""

    unsafe_fixes: bool
    verify: bool


@overload
def fix(model: object, output: StrPath, **options: Unpack[FixOptions]) -> FixResult[Path]: ...
@overload
def fix(model: Proto, output: None = None, **options: Unpack[FixOptions]) -> FixResult[Proto]: ...
@overload
def fix(model: Encoded, output: None = None, **options: Unpack[FixOptions]) -> FixResult[bytes]: ...
@overload
def fix(model: Kind, output: None = None, **options: Unpack[FixOptions]) -> FixResult[Kind]: ...
def fix(
    model: object,
    output: StrPath | None = None,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    config: StrPath | None = None,
    unsafe_fixes: bool = False,
    verify: bool = True,
    external_data: str = "keep",
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
    verify : bool
        Open the result again and verify it against ``model``, as ``recast lint --fix`` does. False writes it
        unverified.
    external_data, base_dir, progress
        See :func:`fold`.

    Returns
    -------
    FixResult
        The model, the findings that were fixed, and those that remain.

    Raises
    ------
    InvalidModelError
        The model cannot be read.
    VerificationError
        The result is wrong, which is a fault of onnx_recast; nothing was written.
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
    given = locals()
    options = native_linting(given)
    is_unsafe = flag("unsafe_fixes", unsafe_fixes)
    flag("verify", verify)
    facts = rewritten(
        lambda input, output, verify, watch: _recast.fix(input, output, options, is_unsafe, verify, watch), given
    )
    return FixResult.from_dict(facts)
