"""lint: unsafe, invalid and redundant casts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from onnx_recast import _recast
from onnx_recast._models import Opened
from onnx_recast._options import StrPath, checked
from onnx_recast._progress import watcher
from onnx_recast._values import Value

if TYPE_CHECKING:
    from onnx_recast._progress import Progress


@dataclass(frozen=True, slots=True)
class Fix(Value):
    """A fix of a finding."""

    safety: str
    """``"safe"``: preserves the meaning of the model; ``"unsafe"``: requires review."""
    what: str
    """The fix, as an instruction."""

    def __str__(self) -> str:
        """Return the fix in one line."""
        return f"{self.what} ({self.safety})"


@dataclass(frozen=True, slots=True)
class Region(Value):
    """A run of bytes of a model file."""

    offset: int
    """Offset of the first byte."""
    length: int
    """Number of bytes."""


@dataclass(frozen=True, slots=True)
class Diagnostic(Value):
    """A finding of a lint rule."""

    path: str
    """The model file; ``"model"`` if the model is not a file."""
    code: str
    """Code of the rule, such as ``"RC101"``."""
    name: str
    """Name of the rule."""
    severity: str
    """``"info"``, ``"warning"`` or ``"error"``."""
    message: str
    """The problem."""
    scope: str | None
    """Path of the scope; None for the model as a whole."""
    node: str | None
    """Path of the node, if the finding is about a node."""
    op: str | None
    """Operator of the node."""
    value: str | None
    """Path of the value, if the finding is about a value."""
    text: str | None
    """The node as ONNX text, if the finding is about a node."""
    fingerprint: str
    """Identifier that stays the same while the model changes elsewhere."""
    bytes: Region | None
    """The place in the model file; None for what was not read from it."""
    fix: Fix | None
    """The fix, if there is one."""

    @property
    def place(self) -> str:
        """The path of the node or value; ``"model"`` for the model as a whole."""
        return self.node or self.value or "model"

    def __str__(self) -> str:
        """Return the finding in one line, as ``recast lint --format concise`` does."""
        return f"{self.path}: {self.place}: {self.code} {self.severity}: {self.message}"


class Linting(TypedDict, total=False):
    """Options that select rules."""

    select: Sequence[str]
    ignore: Sequence[str]
    config: StrPath | None


def native_linting(given: Mapping[str, Any]) -> _recast._Linting:
    """Return the options as the native module takes them."""
    options = checked(Linting, given)
    return {"select": options["select"] or None, "ignore": options["ignore"], "config": options["config"]}


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
    options = native_linting(locals())
    with watcher(progress) as watch:
        found = _recast.lint(Opened(model, base_dir).input, options, watch)
    return [Diagnostic.from_dict(one) for one in json.loads(found)]
