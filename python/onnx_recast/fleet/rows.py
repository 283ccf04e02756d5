"""The result of one model: a row of the manifest."""

from __future__ import annotations

import base64
import dataclasses
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

OUTCOMES = ("ok", "findings", "refused", "invalid", "failed", "timeout", "out-of-memory", "killed")
"""In the order of the exit code: 0 for ``ok``, 1 for ``findings`` and ``refused``, 2 for the others."""

FAILED = OUTCOMES[3:]
"""Outcomes for which the exit code is 2."""

RETRIED = ("timeout", "out-of-memory", "killed")
"""Outcomes that may be due to other models on the same machine: such a model is processed again, alone."""


@dataclass(frozen=True, slots=True)
class Task:
    """A model to process."""

    uri: str
    size: int = 0
    """Length of the model, if the listing gives it."""
    beside: int = 0
    """Bytes of other objects of its folder, of which some may be its data files."""
    known: str | None = None
    """The row of an earlier run for the same job, in JSON."""
    written: str | None = None
    """The output that an earlier run has made from the model."""
    is_new: bool = False
    """Whether there were no outputs when the run began."""
    obstacle: tuple[str, str] | None = None
    """Code and message, if the listing has found that the model cannot be read."""


@dataclass(slots=True)
class Row:
    """The result of one model."""

    uri: str
    """The model."""
    outcome: str = "ok"
    """One of :data:`OUTCOMES`."""
    skipped: bool = False
    """Whether the result is that of an earlier run, found by its key."""
    code: str | None = None
    """Stable code of the error."""
    message: str | None = None
    """The error."""
    key: str | None = None
    """The digest of the model, its data, the job and the version of the package."""
    etag: str | None = None
    """The version of the model, as the storage names it."""
    size: int | None = None
    """Length of the model."""
    data: list[dict[str, Any]] = field(default_factory=list)
    """``location``, ``etag`` and ``size`` of each data file."""
    output: str | None = None
    """The URI of the output, if there is one."""
    output_size: int | None = None
    """Length of the output."""
    output_data: str | None = None
    """The URI of the data file of the output, if there is one."""
    output_data_size: int | None = None
    """Length of that data file."""
    from_version: int | None = None
    """Opset of ai.onnx before."""
    to_version: int | None = None
    """Opset of ai.onnx after."""
    folded: int | None = None
    """Number of casts that were folded."""
    changed: int | None = None
    """Number of nodes that a conversion changed."""
    expanded: int | None = None
    """Number of nodes that a conversion expanded."""
    narrowed: int | None = None
    """Number of constants that a change of precision cast."""
    overflowed: int | None = None
    """Number of elements of these that were finite, and beyond the range of the type."""
    casts_added: int | None = None
    """Number of casts that a change of precision added."""
    kept: int | None = None
    """Number of nodes that kept their types in a change of precision."""
    findings: list[dict[str, Any]] = field(default_factory=list)
    """``code``, ``severity``, ``place`` and ``message`` of each finding."""
    blockers: list[dict[str, Any]] = field(default_factory=list)
    """``node``, ``op``, ``step``, ``code`` and ``reason`` of each node that cannot be converted."""
    nearest: int | None = None
    """The opset closest to the requested one to which the model can be converted."""
    inspection: str | None = None
    """The summary of the model, in JSON."""
    seconds: float = 0.0
    """Time in the worker."""
    read_bytes: int = 0
    """Bytes that were read from the storage."""
    written_bytes: int = 0
    """Bytes that were written to the storage."""
    requests: int = 0
    """Requests to the storage, except repeated ones."""
    memory: int = 0
    """Largest resident memory of the worker during the work."""
    attempts: int = 1
    """How often the model was processed."""
    worker: str | None = None
    """Machine and process."""

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain values."""
        return {name: getattr(self, name) for name in _NAMES}

    def to_json(self) -> str:
        """Return the row as JSON."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Row:
        """Make a row from :meth:`to_dict`, or from a row of the manifest."""
        return cls(**{name: facts[name] for name in _NAMES if name in facts})

    @classmethod
    def from_json(cls, text: str) -> Row:
        """Make a row from :meth:`to_json`."""
        return cls.from_dict(json.loads(text))

    def result(self) -> dict[str, Any]:
        """Return what depends on the model and the job alone: equal for equal keys."""
        return {name: getattr(self, name) for name in _RESULT}

    def packed(self, most: int) -> str | None:
        """Return the row as a string for metadata of objects, which are limited; None if it is longer."""
        facts = {name: getattr(self, name) for name in _RESTORED}
        packed = base64.urlsafe_b64encode(zlib.compress(json.dumps(facts).encode(), 9)).decode()
        return packed if len(packed) <= most else None

    @classmethod
    def unpacked(cls, uri: str, packed: str) -> Row | None:
        """Make a row from :meth:`packed`; None if the text is something else."""
        try:
            inflater = zlib.decompressobj()
            facts = json.loads(inflater.decompress(base64.urlsafe_b64decode(packed), 1 << 20))
        except (zlib.error, ValueError):
            return None
        if not inflater.eof or not isinstance(facts, dict) or set(facts) != set(_RESTORED):
            return None
        return cls(uri, **facts)

    def restore(self, known: Row) -> None:
        """Take over the row of an earlier run."""
        for name in _RESTORED:
            setattr(self, name, getattr(known, name))
        self.skipped = True


_NAMES = tuple(one.name for one in dataclasses.fields(Row))

_RESULT = (
    *(
        "outcome",
        "code",
        "message",
        "output_size",
        "output_data_size",
        "from_version",
        "to_version",
        "folded",
        "changed",
    ),
    *("narrowed", "overflowed", "casts_added", "kept"),
    *("expanded", "findings", "blockers", "nearest", "inspection"),
)

_RESTORED = ("etag", "key", "data", "output", "output_data", *_RESULT)


def schema() -> pa.Schema:
    """Return the columns of the manifest."""
    import pyarrow as pa

    text, number = pa.string(), pa.int64()
    lists = {
        "data": pa.struct([("location", text), ("etag", text), ("size", number)]),
        "findings": pa.struct([("code", text), ("severity", text), ("place", text), ("message", text)]),
        "blockers": pa.struct(
            [("node", text), ("op", text), ("step", pa.list_(number)), ("code", text), ("reason", text)]
        ),
    }
    types = {"skipped": pa.bool_(), "seconds": pa.float64()}
    numbers = {
        *("size", "output_size", "output_data_size", "from_version", "to_version", "folded", "changed", "expanded"),
        *("narrowed", "overflowed", "casts_added", "kept"),
        *("nearest", "read_bytes", "written_bytes", "requests", "memory", "attempts"),
    }

    def type_of(name: str) -> pa.DataType:
        if name in lists:
            return pa.list_(lists[name])
        return types.get(name, number if name in numbers else text)

    return pa.schema([(name, type_of(name)) for name in _NAMES])
