"""The base class of results: immutable values that can be compared, pickled, printed and converted."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, Self, TypeVar, get_args, get_origin, get_type_hints

from onnx_recast._html import result_html

Model = TypeVar("Model", covariant=True)
"""The type of the model of a result."""


def key(name: str) -> dict[str, str]:
    """Return the metadata of a field that has another name in the JSON documents of the command, such as ``from``."""
    return {"key": name}


class Value:
    """Conversions that all results have."""

    def to_dict(self) -> dict[str, Any]:
        """Return the value as a dictionary of plain values, without the model; records have the keys of the command."""
        items = {key: getattr(self, name) for name, key, _ in _fields(type(self)) if name != "model"}  # type: ignore[arg-type]
        return {key: _plain(item) for key, item in items.items()}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Make a value from a dictionary with its keys or the names of its fields; other keys are ignored."""
        found = ((name, key if key in facts else name, read) for name, key, read in _fields(cls))  # type: ignore[arg-type]
        return cls(**{name: read(facts[key]) for name, key, read in found if key in facts})

    def _repr_html_(self) -> str:
        return result_html(self)


def _plain(value: Any) -> Any:
    """Convert a value to one that JSON has."""
    if isinstance(value, Value):
        return value.to_dict()
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return value


@functools.cache
def _fields(cls: type) -> list[tuple[str, str, Callable[[Any], Any]]]:
    """Return the name of each field, its key, and what makes its value of one that JSON has."""
    types = get_type_hints(cls)
    fields = dataclasses.fields(cls)
    return [(field.name, field.metadata.get("key", field.name), _reader(types[field.name])) for field in fields]


def _reader(kind: Any) -> Callable[[Any], Any]:
    """Return what makes a value of this type of one that JSON has."""
    if isinstance(kind, type) and issubclass(kind, Value):
        return lambda facts: facts if isinstance(facts, kind) else kind.from_dict(facts)
    if get_origin(kind) is tuple:
        item = _reader(get_args(kind)[0])
        return lambda facts: tuple(map(item, facts))
    if get_origin(kind) is Mapping:
        item = _reader(get_args(kind)[1])
        return lambda facts: {name: item(value) for name, value in facts.items()}
    if type(None) in get_args(kind):
        item = _reader(get_args(kind)[0])
        return lambda facts: None if facts is None else item(facts)
    return lambda facts: facts
