"""The keys of `to_dict()` are those of the JSON documents of the command, except those that are listed here."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest
from conftest import MODELS, recast

import onnx_recast
from onnx_recast import results
from onnx_recast._values import Value

COMPUTED = """<ir_version: 10, opset_import: ["": 21]> g (float[4] x) => (float16[4] y, float[2, 2] z)
<int64[2] s = {1, 1}> {
    h = Cast <to = 10> (x)
    y = Identity (h)
    t = Add (s, s)
    z = Reshape (x, t)
}"""
WARNED = """<ir_version: 10, opset_import: ["": 21]>
g (float[2] x) => (float8e4m3fnuz[2] y) { y = Cast <to = 18> (x) }"""
COPIED = """<ir_version: 10, opset_import: ["": 21, "f": 1]>
g (float[2] x, double[2] d) => (float[2] y, double[2] z) { y = f.F (x) z = f.F (d) }
<domain: "f", opset_import: ["": 21]> F (a) => (b) { b = Sin (a) }"""

KNOWN_TO_CALLERS = {"path", "output", "version"}
COUNTS = {"before", "after", "bytes_in", "bytes_out"}
"""Python has them as `inspect(...)` of both models."""
REFUSALS = {"blockers", "nearest_opset"}
"""Python has them as attributes of `ConversionError`."""
FILES = {"data_file", "copied_files", "unused_files", "notes"}
"""Python has them in `saved`."""
ONLY_IN_COMMAND = KNOWN_TO_CALLERS | COUNTS | REFUSALS | FILES
ONLY_IN_PYTHON = {"saved", "notes"}

CASES: dict[str, tuple[list[str], str | None, Callable[[Path], Any], set[str], set[str]]] = {
    "fold": (
        ["--passes", "exact", "--verify", "-o"],
        "models",
        lambda path: onnx_recast.fold(path, path.with_name("o"), passes=["exact"], verify=True).to_dict(),
        set(),
        {"verified.outputs"},
    ),
    "convert": (
        ["--opset", "24", "--from-opset", "21", "--verify", "-o"],
        "models",
        lambda path: onnx_recast.convert_version(path, 24, path.with_name("o"), from_opset=21, verify=True).to_dict(),
        set(),
        {"verified.outputs"},
    ),
    "expand": (
        ["--opset", "15", "--dry-run"],
        "models",
        lambda path: onnx_recast.convert_version(path, 15).to_dict(),
        set(),
        {"verified", "stated_opset"},
    ),
    "precision": (
        ["--to", "BFLOAT16", "--opset", "22", "--verify", "-o"],
        "models",
        lambda path: onnx_recast.convert_precision(
            path, "BFLOAT16", path.with_name("o"), opset=22, verify=True
        ).to_dict(),
        set(),
        {"verified.outputs"},
    ),
    "emulate": (
        ["--to", "FLOAT16", "--emulate", "--opset", "22", "-o"],
        "models",
        lambda path: onnx_recast.convert_precision(
            path, "FLOAT16", path.with_name("o"), emulate=True, opset=22
        ).to_dict(),
        set(),
        {"verified.outputs"},
    ),
    "lint": (
        ["--select", "ALL"],
        "findings",
        lambda path: [one.to_dict() for one in onnx_recast.lint(path, select=["ALL"])],
        set(),
        set(),
    ),
    "diff": (
        [str(MODELS / "fp8_qdq.onnx")],
        "differences",
        lambda path: [one.to_dict() for one in onnx_recast.diff(path, MODELS / "fp8_qdq.onnx")],
        set(),
        set(),
    ),
    "inspect": ([], None, lambda path: onnx_recast.inspect(path).to_dict(), {"inputs", "outputs"}, set()),
    "targets": ([], "targets", lambda _: [one.to_dict() for one in onnx_recast.targets()], set(), set()),
}
"""The options, the key of what is compared, the function, and keys that only the command has, and only Python."""

RECORDS = {
    "fold": ("folded", "skipped", "removals", "computed", "changes", "verified"),
    "convert": ("changes", "warnings", "verified"),
    "expand": ("blockers", "expansions"),
    "emulate": ("emulation", "tensors"),
    "precision": ("casts_added", "functions_added", "tensors", "kept", "opset", "verified"),
    "inspect": ("casts", "initializers", "functions", "targets"),
}
"""Records that the models must have, so that their keys are compared."""


@pytest.fixture
def models(tmp_path: Path) -> list[Path]:
    """Return the example models, and others for the records that these do not have."""
    for name, text in {"computed": COMPUTED, "warned": WARNED, "copied": COPIED}.items():
        onnx.save(onnx.parser.parse_model(text), tmp_path / f"{name}.onnx")
    for path in MODELS.glob("*.onnx"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return sorted(tmp_path.iterdir())


def document(command: str, arguments: list[str]) -> Any:
    return json.loads(recast(command, *arguments, "--format", "json").stdout)


def keys_of(value: Any, place: str = "") -> set[str]:
    """Return the paths of all keys; the items of a list have that of the list."""
    if isinstance(value, list):
        return {key for item in value for key in keys_of(item, place)}
    if not isinstance(value, dict):
        return set()
    return {key for name, item in value.items() for key in (place + name, *keys_of(item, f"{place}{name}."))}


def outermost(keys: set[str]) -> set[str]:
    """Leave out keys of records that are themselves left out."""
    return {key for key in keys if not any(key.startswith(f"{other}.") for other in keys)}


@pytest.mark.parametrize("case", CASES)
def test_keys(case: str, models: list[Path]) -> None:
    arguments, key, function, only_command, only_python = CASES[case]
    of_command, of_python = set[str](), set[str]()
    for model in models:
        paths = [] if case == "targets" else [str(model)]
        output = [str(model.with_name("o"))] if "-o" in arguments else []
        written = document({"expand": "convert", "emulate": "precision"}.get(case, case), [*paths, *arguments, *output])
        of_command |= keys_of(written[key] if key else written)
        try:
            of_python |= keys_of(function(model))
        except onnx_recast.ConversionError as error:
            of_python |= keys_of({"blockers": [one.to_dict() for one in error.blockers]})
    for record in RECORDS.get(case, ()):
        assert any(name.startswith(f"{record}.") for name in of_python & of_command), record
    assert outermost(of_command - of_python) - ONLY_IN_COMMAND == only_command
    assert outermost(of_python - of_command) - ONLY_IN_PYTHON == only_python


def subclasses(of: type) -> set[type]:
    """Return the classes that are derived from one, at any distance."""
    return {of}.union(*map(subclasses, of.__subclasses__()))


def test_the_types_of_results_are_listed() -> None:
    types = {one.__name__ for one in subclasses(Value) - {Value} if "fleet" not in one.__module__}
    assert types <= set(results.__all__)
    assert list(results.__all__) == sorted(results.__all__)
