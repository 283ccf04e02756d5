"""Options have the names of those of the command, and an error of one names it."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, get_overloads

import numpy as np
import onnx
import pytest
from conftest import MODELS, recast

import onnx_recast
from onnx_recast import _recast, fleet
from onnx_recast._operations.cast import Casting
from onnx_recast._operations.convert import ConvertOptions
from onnx_recast._operations.fix import FixOptions
from onnx_recast._operations.fold import FoldOptions
from onnx_recast._operations.lint import Linting
from onnx_recast._operations.precision import PrecisionOptions

FP8 = MODELS / "fp8_qdq.onnx"
MASKED_BYTES = np.ma.masked_equal(np.frombuffer(FP8.read_bytes(), np.uint8), 0)
untyped: Any = onnx_recast
untyped_fleet: Any = fleet

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "fold": lambda **options: onnx_recast.fold(**{"model": FP8, **options}),
    "convert": lambda **options: onnx_recast.convert_version(
        **{"model": FP8, **({} if "target" in options else {"opset": 21}), **options}
    ),
    "convert_precision": lambda **options: onnx_recast.convert_precision(**{"model": FP8, **options}),
    "lint": lambda **options: onnx_recast.lint(**{"model": FP8, **options}),
    "fix": lambda **options: onnx_recast.fix(**{"model": FP8, **options}),
    "inspect": lambda **options: onnx_recast.inspect(**{"model": FP8, **options}),
    "diff": lambda **options: onnx_recast.diff(**{"left": FP8, "right": FP8, **options}),
    "cast": lambda **options: onnx_recast.cast(**{"array": [1.5], "to": "FLOAT16", **options}),
    "cast_like": lambda **options: onnx_recast.cast_like(**{"array": [1.5], "like": np.zeros(1), **options}),
    "compare_runs": lambda **options: onnx_recast.compare_runs(**{"left": FP8, "right": FP8, **options}),
}
SIGNATURES = {name: inspect.signature(getattr(onnx_recast, name, onnx_recast.convert_version)) for name in FUNCTIONS}
OPTIONS = [(name, option) for name, signature in SIGNATURES.items() for option in signature.parameters]

ONLY_IN_PYTHON = {"model", "left", "right", "array", "base_dir", "right_base_dir", "inputs", "tolerance", "progress"}
OTHER_WORDS = {
    **dict.fromkeys(("model", "left", "right"), ("expected a path, bytes, a binary file",)),
    "array": ("element 0 is a",),
    "target": ("opset: expected an opset such as 21, or a target",),
}
"""How else errors of arguments of many kinds begin."""


@pytest.mark.parametrize(
    ("function", "command"),
    [
        *(("fold", "fold"), ("convert", "convert"), ("convert_precision", "precision"), ("lint", "lint")),
        *(("fix", "lint"), ("cast", "cast"), ("diff", "diff")),
    ],
)
def test_options_have_the_names_of_the_command(function: str, command: str) -> None:
    help_text = recast(command, "--help").stdout
    of_command = {name.replace("-", "_") for name in re.findall(r"^ +(?:-\w, )?--([a-z-]+)", help_text, re.MULTILINE)}
    # The command disables a default with `--no-`.
    of_command |= {name.removeprefix("no_") for name in of_command if name.startswith("no_")}
    # `from` is a keyword of Python.
    of_command |= {"from_type"} if "from" in of_command else set()
    # The command replaces files, and writes the fixed model where it was.
    expected = of_command | ONLY_IN_PYTHON | ({"output", "external_data"} if function == "fix" else set())
    assert set(SIGNATURES[function].parameters) - expected == set()


TYPES = {
    "fold": FoldOptions,
    "convert": ConvertOptions,
    "convert_precision": PrecisionOptions,
    "lint": Linting,
    "fix": FixOptions,
    "cast": Casting,
    "cast_like": Casting,
}
"""The options and their types, by which values are checked."""


@pytest.mark.parametrize("function", TYPES)
def test_signatures_have_the_types_by_which_options_are_checked(function: str) -> None:
    keywords = [one for one in SIGNATURES[function].parameters.values() if one.kind is one.KEYWORD_ONLY]
    typed = {name: kind.__forward_arg__ for name, kind in TYPES[function].__annotations__.items()}
    assert {one.name: one.annotation for one in keywords if one.name in typed} == typed
    overloads = get_overloads(getattr(onnx_recast, function, onnx_recast.convert_version))
    for overload in overloads:
        assert overload.__annotations__["options"] == f"Unpack[{TYPES[function].__name__}]"
    others = {one.name for one in keywords} - typed.keys()
    assert others <= (set() if overloads else {"base_dir", "progress"})


class Recorded(dict[str, Any]):
    """Knows which of its keys were read."""

    def __init__(self, items: dict[str, Any]) -> None:
        super().__init__({name: Recorded(item) if isinstance(item, dict) else item for name, item in items.items()})
        self.read = set[str]()

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return super().__getitem__(name)

    def unread(self) -> set[str]:
        """Return the keys that were not read, also of dictionaries within."""
        inner = [one.unread() for one in self.values() if isinstance(one, Recorded)]
        return set(self).difference(self.read).union(*inner)


@pytest.mark.parametrize("function", TYPES)
def test_the_native_module_reads_what_it_is_given(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A field that it lacks is an error of the call."""
    given: list[Recorded] = []

    def call(native: Callable[..., Any], *arguments: Any) -> Any:
        recorded = [Recorded(one) if isinstance(one, dict) else one for one in arguments]
        given.extend(one for one in recorded if isinstance(one, Recorded))
        return native(*recorded)

    for name in ("fold", "convert", "convert_precision", "lint", "fix", "cast_numbers"):
        monkeypatch.setattr(_recast, name, partial(call, getattr(_recast, name)))
    FUNCTIONS[function]()
    assert given
    assert [one.unread() for one in given if one.unread()] == []


@pytest.mark.parametrize(("function", "option"), OPTIONS)
def test_an_error_names_the_option(function: str, option: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No value is taken for another one, and no error tells of the native module."""
    monkeypatch.chdir(tmp_path)
    errors = {}
    for value in (None, 3, 3.5, 1 << 80, "wrong", "\udcff", "a\0b", b"wrong", [3], {"a": 3}, object(), np.zeros(2)):
        with contextlib.suppress(*EXPECTED):
            FUNCTIONS[function](**{option: value})
            continue
        errors[repr(value)] = error_of(FUNCTIONS[function], {option: value})
    names = (option, *OTHER_WORDS.get(option, ()))
    assert errors or option == "array"
    assert {value: error for value, error in errors.items() if not is_plain(error, names)} == {}


EXPECTED = (TypeError, ValueError, OSError, onnx_recast.RecastError)


def error_of(function: Callable[..., Any], options: dict[str, Any]) -> BaseException:
    with pytest.raises(EXPECTED) as raised:
        function(**options)
    return raised.value


def is_plain(error: BaseException, names: tuple[str, ...]) -> bool:
    """Whether an error is told in words of Python, and names the option if the type is wrong."""
    if isinstance(error, TypeError):
        return str(error).startswith(names)
    return not re.search(r"failed to extract|argument '|codec can't", str(error))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: untyped.cast([1.5], None), "to: expected an ONNX type"),
        (lambda: untyped.cast([1.5], True), "to: expected an ONNX type"),
        (lambda: untyped.cast_like([1.5], None), "like: expected an array"),
        (lambda: untyped.cast(np.ma.masked_less([1.0, 2.0], 1.5), "FLOAT16"), "array: the array has masked"),
        (lambda: untyped.cast([1.0, np.ma.masked], "FLOAT16"), "array: the array has masked"),
        (lambda: untyped.inspect(MASKED_BYTES), "model: the array"),
        (
            lambda: untyped.compare_runs(FP8, FP8, {"x": np.ma.masked_equal(np.zeros((2, 16), np.float32), 0)}),
            "inputs: 'x': the array has masked",
        ),
        (lambda: untyped.fold(FP8, progress=3), "progress: expected True, False or a function, not int"),
        (lambda: untyped.fold(FP8, verify=1), "verify: expected True"),
        (lambda: untyped.fold(FP8, passes=[3]), "passes: expected a string, not int"),
        (lambda: untyped.fold(FP8, freeze_initializers=1), "freeze_initializers: expected True or False, not int"),
        (lambda: untyped.convert_version(FP8), "opset: expected an opset such as 21, or a target"),
        (lambda: untyped.convert_version(FP8, None), "opset: expected an opset such as 21, or a target"),
        (lambda: untyped.convert_version(FP8, True), "opset: expected an integer, not bool"),
        (lambda: untyped_fleet.convert(), "opset: expected an opset such as 21, or a target"),
        (lambda: untyped_fleet.fold(max_growth="x"), "max_growth: expected an integer, not str"),
    ],
)  # fmt: skip
def test_what_was_taken_for_something_else(call: Callable[[], object], message: str) -> None:
    with pytest.raises(TypeError) as raised:
        call()
    assert str(raised.value).startswith(message)


def test_what_is_no_mistake() -> None:
    unmasked = np.ma.array([1.5, 2.5], mask=[False, False])
    assert untyped.cast(unmasked, np.int64(10)).tolist() == [1.5, 2.5]
    assert untyped.cast([1e9], "FLOAT8E4M3FN", saturate=np.bool_(False)).dtype.name == "float8_e4m3fn"
    assert untyped.fold(FP8, freeze_initializers=np.bool_(True)).folded


def test_no_representation_contains_a_model(tmp_path: Path) -> None:
    """A notebook or a debugger shows values: a model may have gigabytes."""
    for model in (FP8, FP8.read_bytes(), onnx.load(FP8)):
        results = [untyped.fold(model), untyped.convert_version(model, 21), untyped.fix(model)]
        results.append(untyped.fold(model, tmp_path / "folded.onnx", verify=True))
        for result in results:
            shown = repr(result) + str(result)
            assert "model=" not in shown
            assert "ir_version:" not in shown
            assert "up_weight_cast" in shown
            assert len(shown) < 20_000
