"""Exceptions, and the records that they have."""

from __future__ import annotations

import errno
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onnx_recast._html import table, table_of
from onnx_recast._values import Value

if TYPE_CHECKING:
    from onnx_recast._outcomes import OutputComparison


@dataclass(frozen=True, slots=True)
class Blocker(Value):
    """A node that cannot be converted."""

    node: str
    """Path of the node."""
    op: str
    """Operator."""
    opset_step: tuple[int, int]
    """The opsets before and after the step that is not possible."""
    code: str
    """Stable code of the reason, such as ``"attribute-unsupported"``."""
    reason: str
    """The reason."""

    def __str__(self) -> str:
        """Return the blocker in one line."""
        return f"{self.node} ({self.op}), opset {self.opset_step[0]} to {self.opset_step[1]}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Fault(Value):
    """What could not be verified."""

    path: str
    """Path of the node, value or field in the result."""
    what: str
    """What is wrong there."""

    def __str__(self) -> str:
        """Return the fault in one line."""
        return f"{self.path}: {self.what}"


class RecastError(Exception):
    """Base class of the errors of this package.

    Attributes
    ----------
    kind : str
        Stable code of the kind, such as ``"bad-output"``.
    path : str or None
        The file, as the caller named it.
    """

    kind: str
    path: str | None

    def __init__(self, message: str, *, kind: str = "other", path: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.args[0], self.__dict__)


class InvalidModelError(RecastError, ValueError):
    """A model cannot be read, or contradicts ONNX.

    Attributes
    ----------
    node : str or None
        Path of the node, value or other part of the model, such as ``"graph/if_1.then_branch/cast_3"``.
    offset : int or None
        Byte of the file that cannot be decoded.
    field : str or None
        Innermost protobuf field at the offset, such as ``"graph.node[3].attribute[0]"``.
    """

    node: str | None
    offset: int | None
    field: str | None

    def __init__(
        self,
        message: str,
        *,
        kind: str = "invalid-model",
        path: str | None = None,
        node: str | None = None,
        offset: int | None = None,
        field: str | None = None,
    ) -> None:
        super().__init__(message, kind=kind, path=path)
        self.node = node
        self.offset = offset
        self.field = field


class ConversionError(RecastError, RuntimeError):
    """A model cannot be converted to the requested opset.

    It is a ``RuntimeError``, as the converter of onnx raises.

    Attributes
    ----------
    blockers : tuple of Blocker
        Every node that cannot be converted, with the reason.
    nearest : int or None
        The opset closest to the requested one to which the model can be converted.
    """

    blockers: tuple[Blocker, ...]
    nearest: int | None

    def __init__(
        self,
        message: str,
        *,
        kind: str = "not-convertible",
        path: str | None = None,
        blockers: tuple[Blocker, ...] = (),
        nearest: int | None = None,
    ) -> None:
        super().__init__(message, kind=kind, path=path)
        self.blockers = blockers
        self.nearest = nearest

    def _repr_html_(self) -> str:
        rows = sorted(self.blockers, key=lambda blocker: blocker.op)
        cells = [(one.op, one.node, "{} to {}".format(*one.opset_step), one.code, one.reason) for one in rows]
        return table(str(self).splitlines()[0], ["op", "node", "opset", "code", "reason"], cells)


class VerificationError(RecastError):
    """A result could not be verified, or two models could not be compared. Nothing was written.

    Attributes
    ----------
    faults : tuple of Fault
        Everything that differs; empty if onnxruntime could not run a model.
    outputs : tuple of OutputComparison
        The outputs of both models in onnxruntime, if they were run.
    """

    faults: tuple[Fault, ...]
    outputs: tuple[OutputComparison, ...]

    def __init__(
        self,
        message: str,
        *,
        kind: str = "not-verified",
        path: str | None = None,
        faults: tuple[Fault, ...] = (),
        outputs: tuple[OutputComparison, ...] = (),
    ) -> None:
        super().__init__(message, kind=kind, path=path)
        self.faults = faults
        self.outputs = outputs

    def _repr_html_(self) -> str:
        rows = [(fault.path, fault.what) for fault in self.faults]
        faults = table(str(self).splitlines()[0], ["path", "what"], rows)
        return faults + (table_of("outputs", self.outputs) if self.outputs else "")


class CastError(RecastError, ValueError):
    """An array cannot be cast.

    Attributes
    ----------
    kind : str
        ``"undefined"``, ``"contested"``, ``"invalid-literal"``, ``"type-unsupported"`` or ``"too-large"``.
    index : int or None
        Flat index of the first element that cannot be cast.
    """

    index: int | None

    def __init__(
        self, message: str, *, kind: str = "cannot-cast", path: str | None = None, index: int | None = None
    ) -> None:
        super().__init__(message, kind=kind, path=path)
        self.index = index


def _restore(cls: type[RecastError], message: str, attributes: dict[str, Any]) -> RecastError:
    error = cls(message)
    error.__dict__.update(attributes)
    return error


_OS_ERRORS = {
    "not-found": errno.ENOENT,
    "permission-denied": errno.EACCES,
    "is-a-folder": errno.EISDIR,
    "io": errno.EIO,
}

_INVALID_MODEL = {
    "not-a-model",
    "malformed-protobuf",
    "invalid-model",
    "bad-tensor",
    "bad-external-data",
    "memory-limit",
}


def exception_of(facts: str) -> Exception:
    """Make the exception of an error of the native module, given as JSON."""
    error = json.loads(facts)
    kind, text, path = error["kind"], error["text"], error["path"]
    if kind in _OS_ERRORS:
        # The operating system's number chooses the subclass: FileNotFoundError, PermissionError, ...
        return OSError(error["errno"] or _OS_ERRORS[kind], error["message"], path)
    if kind in _INVALID_MODEL:
        where = {name: error[name] for name in ("node", "offset", "field")}
        return InvalidModelError(text, kind=kind, path=path, **where)
    if kind == "not-convertible":
        blockers = tuple(Blocker.from_dict(blocker) for blocker in error["blockers"])
        nearest = error["nearest"]
        lines = [text, *(f"  {blocker}" for blocker in blockers[:_SHOWN_BLOCKERS])]
        if len(blockers) > _SHOWN_BLOCKERS:
            lines.append(f"  and {len(blockers) - _SHOWN_BLOCKERS} more")
        if nearest is not None:
            lines.append(f"  the nearest opset that works is {nearest}")
        return ConversionError("\n".join(lines), path=path, blockers=blockers, nearest=nearest)
    if kind == "not-verified":
        return VerificationError(text, path=path, faults=tuple(map(Fault.from_dict, error["faults"])))
    if kind == "cannot-cast" and error["cast"] is not None:
        return CastError(text, kind=error["cast"], path=path, index=error["index"])
    if kind == "usage":
        return ValueError(text)
    return RecastError(text, kind=kind, path=path)


_SHOWN_BLOCKERS = 10
