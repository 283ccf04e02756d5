"""The drop-in for the modules float16 of onnxconverter-common and onnxruntime.transformers."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from conftest import MODELS, recast

import onnx_recast
from onnx_recast import float16
from onnx_recast.float16 import DEFAULT_OP_BLOCK_LIST, convert_float_to_float16, convert_float_to_float16_model_path

untyped: Any = float16

SHARED = ("model", "min_positive_val", "max_finite_val", "keep_io_types", "disable_shape_infer")
BLOCKED = ("op_block_list", "node_block_list")
PARAMETERS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "onnxconverter-common 1.16": (convert_float_to_float16, (*SHARED, *BLOCKED, "check_fp16_ready")),
    "onnxconverter-common 1.16, path": (
        convert_float_to_float16_model_path,
        ("model_path", "min_positive_val", "max_finite_val", "keep_io_types"),
    ),
    "onnxruntime.transformers 1.32": (
        convert_float_to_float16,
        (
            *(*SHARED, *BLOCKED),
            *("force_fp16_initializers", "force_fp16_inputs", "use_bfloat16_as_blocked_nodes_dtype"),
        ),
    ),
}
"""The parameters of the functions of other packages, in their order."""

MODEL = """<ir_version: 10, opset_import: ["": 18]>
g (float[2] x, int64 k, float[2] u) => (float[2] y, float[2] z)
<float[2] w = {0.1, 1e-8}, float far = {1e5}> {
    [first] a = Mul (x, w)
    [second] b = Add (a, u)
    [bound] c = Min (b, far)
    [grow] y = Exp (c)
    [square] d = Mul (c, c)
    [soft] z = Softmax (d)
}"""


@pytest.fixture
def model() -> onnx.ModelProto:
    return onnx.parser.parse_model(MODEL)


@pytest.mark.parametrize("of", PARAMETERS)
def test_parameters_are_those_of_other_packages_in_their_order(of: str) -> None:
    function, expected = PARAMETERS[of]
    parameters = inspect.signature(function).parameters
    assert [name for name in parameters if name in expected] == list(expected)
    # The eighth differs between the packages: a value without a name would be taken for the wrong one.
    by_position = [one.name for one in parameters.values() if one.kind is one.POSITIONAL_OR_KEYWORD]
    assert by_position == list(expected)[: len(by_position)] == list(expected)[:7]


def test_the_default_list_is_that_of_the_policy() -> None:
    listed = recast("precision", "--help").stdout.partition("--policy stable keeps the types of ")[2]
    assert listed.partition(", and of values")[0].replace("\n", " ").split(", ") == DEFAULT_OP_BLOCK_LIST


def kept(converted: onnx.ModelProto) -> set[str]:
    """Return the names of the nodes whose outputs are FLOAT."""
    inferred = onnx.shape_inference.infer_shapes(converted, strict_mode=True, check_type=True).graph
    values = (*inferred.value_info, *inferred.output)
    types = {value.name: value.type.tensor_type.elem_type for value in values}
    nodes = [node for node in inferred.node if node.op_type != "Cast"]
    return {node.name for node in nodes if types[node.output[0]] == onnx.TensorProto.FLOAT}


def io_of(converted: onnx.ModelProto) -> dict[str, int]:
    values = (*converted.graph.input, *converted.graph.output)
    return {value.name: value.type.tensor_type.elem_type for value in values}


def test_it_converts_as_convert_precision_does(model: onnx.ModelProto) -> None:
    before = model.SerializeToString()
    converted = convert_float_to_float16(model)
    assert type(converted) is onnx.ModelProto
    assert model.SerializeToString() == before
    assert converted == onnx_recast.convert_precision(model, io="convert").model
    assert kept(converted) == {"grow", "square", "soft"}
    assert convert_float_to_float16(converted) == converted
    weights = {one.name: onnx.numpy_helper.to_array(one) for one in converted.graph.initializer}
    assert weights["w"].tolist() == np.array([0.1, 1e-8], np.float32).astype(np.float16).tolist()


NARROW, WIDE, INTEGER = onnx.TensorProto.FLOAT16, onnx.TensorProto.FLOAT, onnx.TensorProto.INT64


@pytest.mark.parametrize(
    ("keep_io_types", "types"),
    [
        (False, {"x": NARROW, "u": NARROW, "y": NARROW, "z": NARROW}),
        (True, {"x": WIDE, "u": WIDE, "y": WIDE, "z": WIDE}),
        (["x", "z"], {"x": WIDE, "u": NARROW, "y": NARROW, "z": WIDE}),
        (["x", "k"], {"x": WIDE, "u": NARROW, "y": NARROW, "z": NARROW}),
        ([], {"x": NARROW, "u": NARROW, "y": NARROW, "z": NARROW}),
    ],
)
def test_types_of_inputs_and_outputs(keep_io_types: Any, types: dict[str, int], model: onnx.ModelProto) -> None:
    assert io_of(convert_float_to_float16(model, keep_io_types=keep_io_types)) == {**types, "k": INTEGER}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"grow", "square", "soft"}),
        ({"op_block_list": []}, set()),
        ({"op_block_list": ["Softmax"]}, {"soft"}),
        ({"op_block_list": {"Exp"}}, {"grow"}),
        ({"op_block_list": [*DEFAULT_OP_BLOCK_LIST, "Softmax"]}, {"grow", "square", "soft"}),
        ({"node_block_list": ["first"]}, {"first", "grow", "square", "soft"}),
        ({"node_block_list": ["second"], "op_block_list": []}, {"second"}),
        ({"node_block_list": ["f*", "[fs]econd", "{first}"], "op_block_list": []}, set()),
    ],
)
def test_nodes_that_stay(options: dict[str, Any], expected: set[str], model: onnx.ModelProto) -> None:
    assert kept(convert_float_to_float16(model, **options)) == expected


@pytest.mark.parametrize("name", ["a[0]", "a*", "a?", "{a,b}", "a\\b", "[!a]"])
def test_names_are_not_patterns(name: str, model: onnx.ModelProto) -> None:
    model.graph.node[0].name = name
    assert kept(convert_float_to_float16(model, op_block_list=[], node_block_list=[name])) == {name}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"min_positive_val": 5.96e-08}, "min_positive_val is ignored: constants are rounded as Cast rounds"),
        ({"max_finite_val": 65504.0}, "max_finite_val is ignored: constants are rounded as Cast rounds"),
        ({"disable_shape_infer": True}, "disable_shape_infer is ignored: the types are inferred"),
        ({"check_fp16_ready": True}, "check_fp16_ready is ignored: a model that has FLOAT16 already is not an error"),
        ({"force_fp16_initializers": True}, "force_fp16_initializers is ignored: an initializer that a node"),
        ({"force_fp16_inputs": {"Resize": [2]}}, "force_fp16_inputs is ignored: inputs are FLOAT16 where"),
        ({"use_bfloat16_as_blocked_nodes_dtype": True}, "use_bfloat16_as_blocked_nodes_dtype is ignored: nodes"),
    ],
)
def test_what_is_ignored_is_said(options: dict[str, Any], reason: str, model: onnx.ModelProto) -> None:
    expected = convert_float_to_float16(model)
    with pytest.warns(UserWarning, match=f"^{re.escape(reason)}") as warned:
        assert convert_float_to_float16(model, **options) == expected
    assert len(warned) == 1
    assert warned[0].filename == __file__


def test_defaults_of_the_other_packages_need_no_warning(model: onnx.ModelProto) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        convert_float_to_float16(
            model,
            disable_shape_infer=False,
            check_fp16_ready=False,
            force_fp16_initializers=False,
            force_fp16_inputs={},
            use_bfloat16_as_blocked_nodes_dtype=False,
        )


def test_models_in_files(model: onnx.ModelProto, tmp_path: Path) -> None:
    weight = onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(model.graph.initializer[0]), "w")
    model.graph.initializer[0].CopyFrom(weight)  # Only raw data can be in a file.
    expected = convert_float_to_float16(model, keep_io_types=True)
    path = tmp_path / "m.onnx"
    onnx.save(model, path, save_as_external_data=True, location="m.data", size_threshold=0)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert sorted(before) == ["m.data", "m.onnx"]
    with pytest.warns(UserWarning, match="max_finite_val is ignored") as warned:
        found = convert_float_to_float16_model_path(str(path), max_finite_val=1e4, keep_io_types=True)
    assert warned[0].filename == __file__
    assert found == convert_float_to_float16(path, keep_io_types=True) == expected
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_all_models_are_valid_afterwards() -> None:
    for path in MODELS.glob("*.onnx"):
        onnx.checker.check_model(convert_float_to_float16_model_path(path), full_check=True)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"model": b"model"}, TypeError, "model: expected an onnx.ModelProto or a path, not bytes"),
        ({"model": "none.onnx"}, FileNotFoundError, "none.onnx"),
        ({"model": onnx.ModelProto()}, onnx_recast.InvalidModelError, ""),
        ({"keep_io_types": 3}, TypeError, "keep_io_types: expected a sequence of strings, not int"),
        ({"keep_io_types": ["none"]}, ValueError, "none"),
        ({"op_block_list": 3}, TypeError, "op_block_list: expected a sequence of strings, not int"),
        ({"node_block_list": [3]}, TypeError, "node_block_list: expected a string, not int"),
    ],
)
def test_errors(arguments: dict[str, Any], error: type[Exception], message: str, model: onnx.ModelProto) -> None:
    with pytest.raises(error) as raised:
        untyped.convert_float_to_float16(**{"model": model, **arguments})
    assert message in str(raised.value)
    with pytest.raises(TypeError, match="model_path: expected a path, not ModelProto"):
        untyped.convert_float_to_float16_model_path(model)
