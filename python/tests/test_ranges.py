"""ranges measures the values of a model with onnxruntime."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from conftest import MODELS, recast

import onnx_recast

untyped: Any = onnx_recast

MODEL = """<ir_version: 10, opset_import: ["": 18]>
g (float[n] x, int64[1] k) => (float[n] y)
<float[1] w = {3}> {
    a = Mul (x, w)
    [unnamed] top, index = TopK (a, k)
    big = Constant <value_float = 1e30> ()
    b = Add (a, a)
    l = Log (b)
    half = Cast <to = 10> (b)
    wide = Cast <to = 1> (half)
    positive = Greater (b, w)
    is_positive = Cast <to = 9> (k)
    y = If (is_positive) <
        then_branch = t () => (float[n] r) { inner = Mul (b, b) r = Identity (inner) },
        else_branch = e () => (float[n] r) { r = Neg (b) }
    >
}"""


@pytest.fixture
def model() -> onnx.ModelProto:
    return onnx.parser.parse_model(MODEL)


def feeds(*numbers: float) -> dict[str, Any]:
    return {"x": np.array(numbers, np.float32), "k": np.array([1])}


def test_values_of_all_runs_are_measured(model: onnx.ModelProto) -> None:
    before = model.SerializeToString()
    found = onnx_recast.ranges(model, (feeds(*numbers) for numbers in ((1, 2), (-4, 0), (5, 0.5))))
    assert found == {
        "x": [-4, 5, 0.5],
        "a": [-12, 15, 1.5],
        "top": [0, 15, 6],
        "b": [-24, 30, 3],
        "l": [float(np.log(np.float32(number))) for number in (3, 30, 3)],
        "wide": [-24, 30, 3],
        "y": [0, 900, 9],
    }
    assert model.SerializeToString() == before


def test_numbers_that_are_not_finite_are_left_out(model: onnx.ModelProto) -> None:
    found = onnx_recast.ranges(model, feeds(np.inf, 1, np.nan))
    assert found["x"] == [1, 1, 1]
    assert onnx_recast.ranges(model, feeds(0, -0.0))["x"] == [0, 0]
    nothing = onnx_recast.ranges(model, feeds(np.inf, np.nan))
    assert "x" not in nothing
    json.dumps([found, nothing], allow_nan=False)


def test_measured_ranges_are_an_option_of_function_and_command(tmp_path: Path, model: onnx.ModelProto) -> None:
    path, file, output = tmp_path / "m.onnx", tmp_path / "ranges.json", tmp_path / "o.onnx"
    onnx.save(model, path)
    ranges = onnx_recast.ranges(path, feeds(1e5, 1))
    file.write_text(json.dumps(ranges))
    result = onnx_recast.convert_precision(path, ranges=ranges)
    assert "beyond-range" in {node.code for node in result.kept}
    assert recast("precision", path, "--to", "FLOAT16", "--ranges", file, "-o", output).returncode == 0
    assert output.read_bytes() == result.model


def test_runs_are_taken_one_at_a_time(model: onnx.ModelProto) -> None:
    taken = []

    def runs() -> Iterator[dict[str, Any]]:
        for number in range(3):
            taken.append(number)
            yield feeds(number, "x") if number == 1 else feeds(number, number)  # type: ignore[arg-type]

    with pytest.raises(ValueError, match="could not convert"):
        onnx_recast.ranges(model, runs())
    assert taken == [0, 1]


def test_models_with_data_files_and_of_all_types(tmp_path: Path, model: onnx.ModelProto) -> None:
    expected = onnx_recast.ranges(model, feeds(1, 2))
    weight = onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(model.graph.initializer[0]), "w")
    model.graph.initializer[0].CopyFrom(weight)  # Only raw data can be in a file.
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=0)
    assert (tmp_path / "m.data").exists()
    assert onnx_recast.ranges(tmp_path / "m.onnx", feeds(1, 2)) == expected
    encoded = (tmp_path / "m.onnx").read_bytes()
    assert onnx_recast.ranges(encoded, feeds(1, 2), base_dir=tmp_path) == expected
    transformer = onnx.load(MODELS / "transformer_fp16.onnx")
    shape = [one.dim_value or 2 for one in transformer.graph.input[0].type.tensor_type.shape.dim]
    found = onnx_recast.ranges(transformer, {transformer.graph.input[0].name: np.ones(shape, np.float32)})
    assert transformer.graph.output[0].name in found


def test_values_beside_those_of_types_that_numpy_lacks() -> None:
    text = """<ir_version: 10, opset_import: ["": 18]> g (float[2] x) => (bfloat16[2] y) {
        a = Neg (x)
        y = Cast <to = 16> (a)
    }"""
    found = onnx_recast.ranges(onnx.parser.parse_model(text), {"x": [1, 2]})
    assert found == {"x": [1, 2, 1], "a": [-2, -1, 1]}


@pytest.mark.parametrize(
    ("inputs", "error", "message"),
    [
        (None, TypeError, "inputs: expected a mapping of names to arrays"),
        ([3], TypeError, "inputs: expected a mapping of names to arrays"),
        ("x", TypeError, "inputs: expected a mapping of names to arrays"),
        ([], ValueError, "inputs: there are none"),
        ({"x": [1.0]}, ValueError, "inputs: 'k' of the model is missing"),
        ({"x": [1.0], "k": [1], "z": [1]}, ValueError, "inputs: the model has no input 'z'"),
        ({"x": [1.0], "k": np.array([1.0])}, ValueError, "inputs: 'k' is float64"),
        ({"x": [1.0], "k": [9]}, onnx_recast.RecastError, "the ranges cannot be measured: onnxruntime"),
    ],
)
def test_errors(inputs: Any, error: type[Exception], message: str, model: onnx.ModelProto) -> None:
    with pytest.raises(error) as raised:
        untyped.ranges(model, inputs)
    assert str(raised.value).startswith(message)


def test_what_is_not_a_model_cannot_be_measured() -> None:
    with pytest.raises(onnx_recast.RecastError, match="the ranges cannot be measured: the model cannot be decoded"):
        onnx_recast.ranges(b"not a model", {})


@pytest.mark.parametrize("package", ["onnx", "onnxruntime"])
def test_the_packages_that_it_needs(package: str, monkeypatch: pytest.MonkeyPatch, model: onnx.ModelProto) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=f"{package} is not installed"):
        onnx_recast.ranges(model.SerializeToString(), feeds(1))
