"""The functions and keyword arguments that the manual names exist."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import onnx_recast
from onnx_recast import fleet, float16, testing

ROOT = Path(__file__).parents[2]
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "python" / "README.md"]

FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`]+)`")
KEYWORD = re.compile(r"[a-z_]+=[^=\s]")

OPTIONS_OF = {
    "precision_error": "convert_precision",
    "tune_precision": "convert_precision",
    "fleet.fold": "fold",
    "fleet.convert": "convert_version",
    "fleet.precision": "convert_precision",
}
"""Functions with ``**options``, and the functions that these options are passed to."""

OF_OTHER_PACKAGES = {"dynamo"}
"""Keyword arguments of ``torch.onnx.export``."""


def public_functions() -> dict[str, Callable[..., Any]]:
    """Return the functions that the manual calls, by the names that it uses."""
    functions: dict[str, Callable[..., Any]] = {}
    for prefix, module in (("", onnx_recast), ("fleet.", fleet), ("", float16), ("", testing)):
        names: list[str] = getattr(module, "__all__", [])
        for name in names or [name for name in vars(module) if not name.startswith("_")]:
            value = getattr(module, name)
            if inspect.isfunction(value) or value is fleet.Job:
                functions[prefix + name] = value
    return functions


FUNCTIONS = public_functions()


def keywords(name: str) -> set[str]:
    """Return the keyword arguments that a function accepts."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters.values()
    accepted = {parameter.name for parameter in parameters if parameter.kind is not inspect.Parameter.VAR_KEYWORD}
    if len(accepted) < len(parameters):
        accepted |= keywords(OPTIONS_OF[name])
    return accepted


ALL_KEYWORDS = {keyword for name in FUNCTIONS for keyword in keywords(name)}


def code_of(text: str) -> Iterator[ast.AST]:
    """Yield the Python code of a page: of blocks, and of code within sentences."""
    for language, block in FENCE.findall(text):
        if language == "python":
            yield ast.parse(block)
        elif language == "pycon":
            yield from (ast.parse(example.source) for example in doctest.DocTestParser().get_examples(block))
    for span in SPAN.findall(FENCE.sub("", text)):
        source = " ".join(span.replace("…", "...").split())
        # An argument alone is an argument of any function.
        try:
            yield ast.parse(f"any_function({source})" if KEYWORD.match(source) else source)
        except SyntaxError:
            continue


def unknown_names(code: ast.AST) -> Iterator[str]:
    """Yield the names in some code that do not exist."""
    for node in ast.walk(code):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "onnx_recast":
            # Modules such as `onnx_recast.ir_passes` need optional packages.
            is_module = (Path(onnx_recast.__path__[0]) / f"{node.attr}.py").exists()
            if not is_module and not hasattr(onnx_recast, node.attr):
                yield ast.unparse(node)
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).removeprefix("onnx_recast.")
            given = {keyword.arg for keyword in node.keywords if keyword.arg is not None}
            if name in FUNCTIONS:
                yield from (f"{name}({keyword}=)" for keyword in sorted(given - keywords(name)))
            elif name == "any_function":
                yield from (f"{keyword}=" for keyword in sorted(given - ALL_KEYWORDS - OF_OTHER_PACKAGES))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_manual_names_existing_functions_and_keywords(page: Path) -> None:
    assert [name for code in code_of(page.read_text()) for name in unknown_names(code)] == []


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ('`expand="function"`, and `convert_version(model, target=…)`', []),
        ('`expand_into="function"`', ["expand_into="]),
        ("`convert_version(model, expand_into=1)`", ["convert_version(expand_into=)"]),
        ("`fold(model, to=…)`", ["fold(to=)"]),
        ("`onnx_recast.tune`", ["onnx_recast.tune"]),
        ("`tune_precision(model, inputs, keep_node=[], keep_nodes=[])`", ["tune_precision(keep_nodes=)"]),
        ("```python\nonnx_recast.fold(model, target=1)\n```\n", ["fold(target=)"]),
        ("```pycon\n>>> onnx_recast.fold(model, target=1)\n```\n", ["fold(target=)"]),
    ],
)
def test_unknown_names_are_found(text: str, unknown: list[str]) -> None:
    assert [name for code in code_of(text) for name in unknown_names(code)] == unknown
