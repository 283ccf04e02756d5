"""A model without its large tensors, read by ranges.

A large tensor becomes one that refers to a data file named :data:`ABSENT`, which does not exist: its type, shape and
length stay known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

ABSENT = "weights-that-were-not-read"
"""The name of the data file of tensors that were left out."""

SMALL_MODEL = 1 << 20
"""A model of at most this length is read in one request."""
SMALL_TENSOR = 256 << 10
"""Values of at most this length are read with what is around them: another request would take longer."""
_FIRST, _LAST = 4 << 10, 256 << 10
"""The length of the first read after a gap, and of the last one of a run: it doubles from read to read."""

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_TENSOR, _GRAPH, _NODE, _ATTRIBUTE, _FUNCTION, _MODEL = "tensor", "graph", "node", "attribute", "function", "model"
_CHILDREN: dict[str, dict[int, str]] = {
    _MODEL: {7: _GRAPH, 25: _FUNCTION},
    _GRAPH: {1: _NODE, 5: _TENSOR},
    _FUNCTION: {7: _NODE},
    _NODE: {5: _ATTRIBUTE},
    _ATTRIBUTE: {5: _TENSOR, 6: _GRAPH, 10: _TENSOR, 11: _GRAPH},
}
"""The fields with messages that may contain large tensors, by number."""
_DATA_TYPE, _FLOATS, _RAW, _DOUBLES, _EXTERNAL_DATA, _DATA_LOCATION = 2, 4, 9, 10, 13, 14
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class _Field:
    number: int
    kind: int
    start: int
    """Of the tag."""
    value: int
    """The first byte of the value; of a message or of bytes, behind the length."""
    end: int


class _Source:
    """Bytes that are read when they are needed."""

    def __init__(self, read: Callable[[int, int], bytes], size: int) -> None:
        self._read, self.size = read, size
        self._start, self._bytes, self._next = 0, b"", _FIRST

    def get(self, start: int, end: int) -> bytes:
        """Return bytes; those behind them are likely to be needed next."""
        if not (self._start <= start and end <= self._start + len(self._bytes)):
            known = self._start + len(self._bytes)
            is_next = self._start <= start <= known
            self._next = min(2 * self._next, _LAST) if is_next else _FIRST
            kept = self._bytes[start - self._start :] if is_next else b""
            begin = known if is_next else start
            ahead = min(max(end, begin + self._next), self.size)
            self._start, self._bytes = start, kept + self._read(begin, ahead)
        return self._bytes[start - self._start : end - self._start]

    def varint(self, at: int, end: int) -> tuple[int, int]:
        """Return a number and the position behind it."""
        number = 0
        for index, byte in enumerate(self.get(at, min(at + 10, end))):
            number |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                return number, at + index + 1
        raise ValueError("a number has no end")

    def fields(self, start: int, end: int) -> Iterator[_Field]:
        """Return the fields of a message."""
        at = start
        while at < end:
            tag, value = self.varint(at, end)
            number, kind = tag >> 3, tag & 7
            if kind == _LENGTH:
                length, value = self.varint(value, end)
                stop = value + length
            elif kind == _VARINT:
                stop = self.varint(value, end)[1]
            elif kind in (_FIXED64, _FIXED32):
                stop = value + (8 if kind == _FIXED64 else 4)
            else:
                raise ValueError(f"wire type {kind}")
            if stop > end:
                raise ValueError("a field ends behind its message")
            yield _Field(number, kind, at, value, stop)
            at = stop


def without_weights(read: Callable[[int, int], bytes], size: int) -> bytes:
    """Return the bytes of a model whose large tensors have no values; of a small model, all of its bytes.

    Parameters
    ----------
    read
        Returns the bytes from a position to another.
    size
        Length of the model.

    Raises
    ------
    ValueError
        The bytes are not messages of protobuf.
    """
    if size <= SMALL_MODEL:
        return read(0, size)
    return _message(_Source(read, size), _MODEL, 0, size, 0)


def _message(source: _Source, kind: str, start: int, end: int, depth: int) -> bytes:
    if depth > _DEEPEST:
        raise ValueError("messages are nested too deeply")
    if kind == _TENSOR:
        return _tensor(source, start, end)
    parts: list[bytes] = []
    for one in source.fields(start, end):
        child = _CHILDREN[kind].get(one.number) if one.kind == _LENGTH else None
        if child is None or one.end - one.value <= SMALL_TENSOR:
            parts.append(source.get(one.start, one.end))
        else:
            parts.append(_with_length(one.number, _message(source, child, one.value, one.end, depth + 1)))
    return b"".join(parts)


def _tensor(source: _Source, start: int, end: int) -> bytes:
    fields = list(source.fields(start, end))
    types = [source.varint(one.value, one.end)[0] for one in fields if (one.number, one.kind) == (_DATA_TYPE, _VARINT)]
    # Of other fields, the length is not that of the values.
    values = {_RAW, *([_FLOATS] if types[-1:] == [1] else []), *([_DOUBLES] if types[-1:] == [11] else [])}
    left_out = [
        one for one in fields if one.kind == _LENGTH and one.number in values and one.end - one.value > SMALL_TENSOR
    ]
    if len(left_out) != 1:
        return b"".join(source.get(one.start, one.end) for one in fields)
    kept = [source.get(one.start, one.end) for one in fields if one is not left_out[0]]
    length = left_out[0].end - left_out[0].value
    entries = {"location": ABSENT, "offset": "0", "length": str(length)}
    external = [
        _with_length(_EXTERNAL_DATA, _with_length(1, key.encode()) + _with_length(2, value.encode()))
        for key, value in entries.items()
    ]
    return b"".join([*kept, *external, _varint(_DATA_LOCATION << 3), _varint(1)])


def _with_length(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | _LENGTH) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)
