"""Options of the functions: checked here, so that an error names the option, and made what the native module takes."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

from onnx_recast import _recast

if TYPE_CHECKING:
    from onnx_recast._models import StrPath


def folding(
    *,
    passes: Sequence[str] | None = None,
    undefined: Literal["skip", "fold"] = "skip",
    contested: Literal["skip", "text", "runtime"] = "skip",
    max_growth: int | None = None,
    freeze_initializers: bool = False,
    drop_metadata: bool | Sequence[str] = False,
) -> _recast._Folding:
    """Return the options of :func:`onnx_recast.fold` as the native module takes them."""
    return {
        "passes": None if passes is None else names("passes", passes),
        "undefined": one_of("undefined", undefined, ("skip", "fold")) == "fold",
        "contested": contested_as(contested, "skip"),
        "max_growth": None if max_growth is None else whole("max_growth", max_growth, most=(1 << 63) - 1),
        "prepare": _preparation(freeze_initializers, drop_metadata),
    }


def converting(
    opset: int | Literal["latest"] | None = None,
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
) -> _recast._Converting:
    """Return the options of :func:`onnx_recast.convert_version` as the native module takes them."""
    if opset is None and target is None:
        raise TypeError("opset: expected an opset such as 21, or a target such as 'onnxruntime@1.17'")
    if opset is not None and target is not None:
        raise TypeError("target: expected an opset or a target, not both")
    if target is not None and not isinstance(target, str):
        raise TypeError(f"target: expected a name such as 'onnxruntime@1.17', not {type(target).__name__}")
    if flag("no_expand", no_expand) and flag("exact_only", exact_only):
        raise ValueError("exact_only: expected no_expand or exact_only, not both")
    return {
        "opset": _recast.LATEST_OPSET if opset in (None, "latest") else opset_of("opset", opset),
        "target": None if target is None else text("target", target),
        "from_opset": None if from_opset is None else opset_of("from_opset", from_opset),
        "ir_version": one_of("ir_version", ir_version, ("auto", "keep"))
        if isinstance(ir_version, str)
        else whole("ir_version", ir_version, most=(1 << 31) - 1),
        "explicit": one_of("explicit", explicit, ("all", "relevant", "none")),
        "expand": "none" if no_expand else "exact" if flag("exact_only", exact_only) else "all",
        "expand_into": one_of("expand", expand, ("nodes", "function")),
        "contested": contested_as(contested, "refuse"),
        "strict": flag("strict", strict),
        "prepare": _preparation(freeze_initializers, drop_metadata),
    }


def linting(
    *, select: Sequence[str] = (), ignore: Sequence[str] = (), config: StrPath | None = None
) -> _recast._Linting:
    """Return the options of :func:`onnx_recast.lint` as the native module takes them."""
    return {
        "select": names("select", select) or None,
        "ignore": names("ignore", ignore),
        "config": None if config is None else path("config", config),
    }


def writing(output: StrPath | None, external_data: str, prune_data: bool) -> _recast._Output:
    """Return where a model goes as the native module takes it."""
    text("external_data", external_data)
    if output is None and external_data not in ("keep", "inline"):
        raise ValueError(f"external_data={external_data!r}: a data file needs a model file; pass output=PATH")
    return {
        "path": None if output is None else path("output", output),
        "external_data": external_data,
        "prune_data": flag("prune_data", prune_data),
    }


def _preparation(freeze_initializers: bool, drop_metadata: bool | Sequence[str]) -> _recast._Preparation:
    every = ["*"] if is_flag(drop_metadata) and drop_metadata else []
    return {
        "freeze_initializers": flag("freeze_initializers", freeze_initializers),
        "drop_metadata": every if is_flag(drop_metadata) else names("drop_metadata", drop_metadata),
    }


def is_flag(value: object) -> bool:
    """Whether a value is a truth value, of Python or numpy."""
    return isinstance(value, bool) or (type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"))


def flag(name: str, value: object) -> bool:
    """Return an option that is a truth value, or raise an error that names it."""
    if not is_flag(value):
        raise TypeError(f"{name}: expected True or False, not {type(value).__name__}")
    return bool(value)


def whole(name: str, value: SupportsIndex, *, least: int = 0, most: int) -> int:
    """Return an option that is an integer within these limits, or raise an error that names them."""
    try:
        number = None if is_flag(value) else operator.index(value)
    except TypeError:
        number = None
    if number is None:
        raise TypeError(f"{name}: expected an integer, not {type(value).__name__}")
    if not least <= number <= most:
        raise ValueError(f"{name}: expected an integer between {least} and {most}, not {number}")
    return number


def opset_of(name: str, value: Any) -> int:
    """Return an option that is an opset of ai.onnx, or raise an error that names it."""
    return whole(name, value, least=1, most=_recast.LATEST_OPSET)


def one_of(name: str, value: object, values: tuple[str, ...]) -> str:
    """Return an option, or raise an error that names the values it can have."""
    if isinstance(value, str) and value in values:
        return value
    expected = f"{name}: expected {' or '.join(map(repr, values))}"
    if isinstance(value, str):
        raise ValueError(f"{expected}, not {value!r}")
    raise TypeError(f"{expected}, not {type(value).__name__}")


def contested_as(value: object, none: str) -> str | None:
    """Return how contested results are read; None if they are not."""
    return None if one_of("contested", value, (none, "text", "runtime")) == none else str(value)


def text(name: str, value: object) -> str:
    """Return an option that is text, or raise an error that names it."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected a string, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name}: expected Unicode text, not {value!r}") from None
    return value


def names(name: str, values: object) -> list[str]:
    """Return an option that is a sequence of strings, or one string, or raise an error that names it."""
    if isinstance(values, str):
        return [text(name, values)]
    if not isinstance(values, Iterable) or isinstance(values, bytes | bytearray | memoryview):
        raise TypeError(f"{name}: expected a sequence of strings, not {type(values).__name__}")
    return [text(name, value) for value in values]


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
