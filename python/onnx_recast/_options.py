"""Options and other arguments: checked here, so that an error names the argument.

The options of an operation and their types are a ``TypedDict`` of its module, by which :func:`checked` checks them. Its
function passes ``locals()``, so that no option is listed again.
"""

from __future__ import annotations

import functools
import inspect
import operator
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from onnx_recast import _recast

StrPath: TypeAlias = str | os.PathLike[str]

_LIMITS = {
    "opset": (1, _recast.LATEST_OPSET),
    "from_opset": (1, _recast.LATEST_OPSET),
    "ir_version": (0, (1 << 31) - 1),
    "max_growth": (0, (1 << 63) - 1),
    "seed": (0, (1 << 63) - 1),
}
"""The least and the greatest value of options that are integers."""


def checked(options: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a ``TypedDict`` among the arguments of a function, or raise an error that names one."""
    return {name: _checked(name, given[name], kind) for name, kind in _types(options).items()}


def defaults(function: Callable[..., Any], options: type, *more: str) -> dict[str, Any]:
    """Return the default values of the options of a ``TypedDict``, and of others, in the order of the signature."""
    names = {*more, *_types(options)}
    parameters = inspect.signature(function).parameters
    return {name: parameter.default for name, parameter in parameters.items() if name in names}


@functools.cache
def _types(options: type) -> dict[str, Any]:
    return get_type_hints(options)


def _checked(name: str, value: Any, kind: Any) -> Any:
    """Check a value by the type of the option."""
    alternatives = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    kinds = {get_origin(one) or one: one for one in alternatives}
    if value is None and NoneType in kinds:
        return None
    if os.PathLike in kinds:
        return path(name, value)
    if bool in kinds and (is_flag(value) or len(kinds) == 1):
        return flag(name, value)
    if Sequence in kinds:
        return names(name, value)
    if Literal in kinds and (isinstance(value, str) or int not in kinds):
        return one_of(name, value, get_args(kinds[Literal]))
    if float in kinds:
        return number(name, value)
    return whole(name, value) if int in kinds else text(name, value)


def is_flag(value: object) -> bool:
    """Whether a value is a truth value, of Python or numpy."""
    return isinstance(value, bool) or (type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"))


def flag(name: str, value: object) -> bool:
    """Return an option that is a truth value, or raise an error that names it."""
    if not is_flag(value):
        raise TypeError(f"{name}: expected True or False, not {type(value).__name__}")
    return bool(value)


def number(name: str, value: Any) -> float:
    """Return an option that is a number, or raise an error that names it."""
    if isinstance(value, str) or is_flag(value):
        raise TypeError(f"{name}: expected a number, not {type(value).__name__}")
    try:
        return float(value)
    except TypeError:
        raise TypeError(f"{name}: expected a number, not {type(value).__name__}") from None


def whole(name: str, value: Any) -> int:
    """Return an option that is an integer within its limits, or raise an error that names them."""
    least, most = _LIMITS[name]
    try:
        number = None if is_flag(value) else operator.index(value)
    except TypeError:
        number = None
    if number is None:
        raise TypeError(f"{name}: expected an integer, not {type(value).__name__}")
    if not least <= number <= most:
        raise ValueError(f"{name}: expected an integer between {least} and {most}, not {number}")
    return number


def one_of(name: str, value: object, values: tuple[str, ...]) -> str:
    """Return an option, or raise an error that names the values it can have."""
    if isinstance(value, str) and value in values:
        return value
    expected = f"{name}: expected {' or '.join(map(repr, values))}"
    if isinstance(value, str):
        raise ValueError(f"{expected}, not {value!r}")
    raise TypeError(f"{expected}, not {type(value).__name__}")


def reading(contested: str) -> str | None:
    """Return how contested results are read as the native module takes it; None if they are not."""
    return contested if contested in ("text", "runtime") else None


def text(name: str, value: object) -> str:
    """Return an option that is text, or raise an error that names it."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected a string, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name}: expected Unicode text, not {value!r}") from None
    return value


def runtime_name(target: object) -> str | None:
    """Return the option ``target``, or raise an error that names it."""
    if target is not None and not isinstance(target, str):
        raise TypeError(f"target: expected a name such as 'onnxruntime@1.17', not {type(target).__name__}")
    return target


def names(name: str, values: object) -> list[str]:
    """Return an option that is a sequence of strings, or one string, or raise an error that names it."""
    if isinstance(values, str):
        return [text(name, values)]
    if not isinstance(values, Iterable) or isinstance(values, bytes | bytearray | memoryview):
        raise TypeError(f"{name}: expected a sequence of strings, not {type(values).__name__}")
    return [text(name, value) for value in values]


def literal(name: str) -> str:
    """Return the pattern that matches a name or path and no other."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", name)


def path(name: str, value: object) -> str:
    """Return an option that is the path of a file or folder, or raise an error that names it."""
    if not isinstance(value, str | os.PathLike):
        raise TypeError(f"{name}: expected a path, not {type(value).__name__}")
    found = os.fsdecode(value)
    if not found:
        raise ValueError(f"{name}: the path is empty")
    if "\0" in found:
        raise ValueError(f"{name}: the path contains a null character")
    return found


def check_unmasked(name: str, array: object) -> None:
    """Raise an error that names an argument which is a masked array, or a list with one: numpy would drop the mask.

    An array of which no element is masked is accepted.
    """
    numpy: Any = sys.modules.get("numpy")
    masked = None if numpy is None else sys.modules.get("numpy.ma")
    if masked is None:
        return  # Nothing can be masked.
    items = array if isinstance(array, list | tuple) else [array]
    if any(isinstance(item, masked.MaskedArray) and masked.is_masked(item) for item in items):
        raise TypeError(f"{name}: the array has masked elements; fill them (numpy.ma.filled) or drop them (compressed)")
