"""precision_error and tune_precision measure what a change of precision does, with onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from conftest import MODELS

import onnx_recast

untyped: Any = onnx_recast

# The policy `all` changes the square, which leaves the range of FLOAT16, and the sum.
SQUARES = """<ir_version: 9, opset_import: ["": 18]>
g (float[n, 64] x) => (float[n, 64] y) <int64[1] axes = {-1}> {
    [start] r = Relu (x)
    [square] s = Mul (r, r)
    m = ReduceMean (s, axes)
    [root] q = Sqrt (m)
    [norm] d = Div (r, q)
    y = Tanh (d)
}"""


@pytest.fixture
def model() -> onnx.ModelProto:
    model = onnx.parser.parse_model(SQUARES)
    model.graph.node[-1].name = "end*"
    return model


def feeds(scale: float = 300) -> dict[str, Any]:
    return {"x": (np.random.default_rng(0).standard_normal((4, 64)) * scale).astype(np.float32)}


def test_the_first_node_with_an_error_is_named(model: onnx.ModelProto) -> None:
    before = model.SerializeToString()
    errors = onnx_recast.precision_error(model, feeds(), policy="all")
    assert errors.error == 1
    assert errors.first is not None
    assert (errors.first.node, errors.first.op, errors.first.type) == ("graph/square", "Mul", "FLOAT16")
    assert errors.first.not_finite > 0
    assert errors.first.largest == np.inf
    assert [node.node for node in errors.nodes] == [
        *("graph/start", "graph/square", "graph/#2:ReduceMean", "graph/root", "graph/norm", "graph/end*")
    ]
    assert "graph/square (Mul), FLOAT16: inf" in str(errors.first)
    assert "graph/square" in errors._repr_html_()
    assert model.SerializeToString() == before


def test_the_default_policy_has_no_such_error(model: onnx.ModelProto) -> None:
    errors = onnx_recast.precision_error(model, [feeds(), feeds(1)])
    assert errors.first is None
    assert errors.error < 1e-3
    assert {node.node: node.type for node in errors.nodes}["graph/square"] == "FLOAT"
    assert {node.node: node.type for node in errors.nodes}["graph/start"] == "FLOAT16"


def test_as_few_nodes_as_possible_are_kept(model: onnx.ModelProto) -> None:
    tuned = onnx_recast.tune_precision(model, feeds(), policy="all", tolerance=1e-2)
    assert tuned.errors.error <= 1e-2
    assert tuned.keep_node == ("graph/square", "graph/#2:ReduceMean")
    assert tuned.runs <= 20
    again = onnx_recast.convert_precision(model, "FLOAT16", policy="all", keep_node=tuned.keep_node)
    assert again == tuned.result
    assert [node.node for node in again.kept] == list(tuned.keep_node)


def test_errors_that_arise_everywhere_keep_parts_of_the_model() -> None:
    count = 100
    nodes = " ".join(f"[n{index}] v{index + 1} = Sin (v{index})" for index in range(count))
    text = f"""<ir_version: 9, opset_import: ["": 18]> g (float[n] v0) => (float[n] v{count}) {{ {nodes} }}"""
    model, x = onnx.parser.parse_model(text), np.linspace(-3, 3, 1001, dtype=np.float32)
    whole = onnx_recast.precision_error(model, {"v0": x}, tolerance=1e-3)
    tuned = onnx_recast.tune_precision(model, {"v0": x}, tolerance=whole.error / 3)
    assert 31 < len(tuned.keep_node) < count
    assert tuned.errors.error <= whole.error / 3
    assert tuned.runs <= 20
    nothing = onnx_recast.tune_precision(model, {"v0": x}, tolerance=0)
    assert nothing.errors.error == 0
    assert nothing.runs <= 20


def test_a_model_that_is_right_keeps_nothing() -> None:
    path = MODELS / "fp8_qdq.onnx"
    x = np.random.default_rng(0).standard_normal((2, 32)).astype(np.float32)
    tuned = onnx_recast.tune_precision(path, {"x": x})
    assert (tuned.keep_node, tuned.runs) == ((), 1)


def test_errors_are_relative_to_a_number_at_least() -> None:
    small = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["": 18]>
    g (float[n] x) => (float[n] y) <float[1] c = {12}> { d = Sub (x, c)  y = Sigmoid (d) }""")
    x = np.linspace(1, 3, 100, dtype=np.float32)
    relative = onnx_recast.precision_error(small, {"x": x})
    assert relative.error > 2e-3
    absolute = onnx_recast.precision_error(small, {"x": x}, least_scale=0.01)
    assert absolute.error < 1e-3
    assert onnx_recast.tune_precision(small, {"x": x}, tolerance=1e-3, least_scale=0.01).runs == 1


def test_inputs_of_another_type_are_cast(model: onnx.ModelProto) -> None:
    errors = onnx_recast.precision_error(model, feeds(3), io="convert")
    assert errors.error < 1e-2


def test_names_with_special_characters_are_kept(model: onnx.ModelProto) -> None:
    kept = onnx_recast.convert_precision(model, "FLOAT16", policy="all", keep_node=["graph/end\\*"]).kept
    assert [node.node for node in kept] == ["graph/end*"]


@pytest.mark.parametrize(
    ("inputs", "options", "kind", "message"),
    [
        ({}, {}, ValueError, "'x' of the model is missing"),
        ([], {}, ValueError, "inputs: there are none"),
        (feeds(), {"opset": 21}, ValueError, "opset: convert the model first"),
        (feeds(), {"to": "INT8"}, ValueError, "INT8"),
    ],
)
def test_mistakes_are_named(
    model: onnx.ModelProto, inputs: Any, options: dict[str, Any], kind: type[Exception], message: str
) -> None:
    for function in (untyped.precision_error, untyped.tune_precision):
        with pytest.raises(kind, match=message):
            function(model, inputs, **options)
