"""The drop-in for onnx.version_converter; python/tests/onnx_tests.py runs onnx's own tests with it."""

from __future__ import annotations

import inspect
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.version_converter
import pytest

import onnx_recast
from onnx_recast import version_converter
from onnx_recast.version_converter import ConvertError, convert_version


def test_it_is_called_as_that_of_onnx(transformer: Path) -> None:
    assert set(version_converter.__all__) <= set(dir(onnx.version_converter))
    parameters = list(inspect.signature(onnx.version_converter.convert_version).parameters)
    assert list(inspect.signature(convert_version).parameters) == parameters
    model = onnx.load(transformer)
    before = model.SerializeToString()
    converted = convert_version(model, 21)
    assert type(converted) is onnx.ModelProto
    assert converted == onnx_recast.convert_version(model, 21).model
    assert convert_version(model, target_version=np.int64(21)) == converted  # type: ignore[arg-type]
    assert model.SerializeToString() == before


@pytest.mark.parametrize("caught", [ConvertError, RuntimeError, onnx.version_converter.ConvertError])
def test_an_error_is_caught_by_what_catches_those_of_onnx(caught: type[Exception], fp8: Path) -> None:
    cases: list[tuple[onnx.ModelProto, int, type[Exception]]] = [
        (onnx.load(fp8), 18, onnx_recast.ConversionError),
        (onnx.ModelProto(), 18, onnx_recast.InvalidModelError),
        (onnx.load(fp8), 0, ValueError),
        (onnx.load(fp8), 99, ValueError),
    ]
    for model, opset, cause in cases:
        with pytest.raises(caught) as raised:
            convert_version(model, opset)
        assert type(raised.value) is ConvertError
        assert isinstance(raised.value.__cause__, cause)
        assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


def test_other_arguments_are_type_errors(fp8: Path) -> None:
    untyped: Any = convert_version
    for model in (fp8, fp8.read_bytes(), None):
        with pytest.raises(TypeError, match=r"model: expected an onnx\.ModelProto, not"):
            untyped(model, 21)
    for opset in (None, "21", 21.0):
        with pytest.raises(TypeError, match="target_version: expected an integer, not"):
            untyped(onnx.load(fp8), opset)


def test_initializers_stay_overridable_unless_the_conversion_needs_their_values() -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 4, opset_import: ["": 9]>
        g (float[1,1,2,2] x, float[4] s) => (float[n,c,h,w] y) <float[4] s = {1, 1, 2, 2}> { y = Upsample (x, s) }"""
    )
    assert [one.name for one in convert_version(model, 10).graph.input] == ["x", "s"]
    with pytest.raises(onnx_recast.ConversionError, match="caller can override"):
        onnx_recast.convert_version(model, 8)
    assert [one.name for one in convert_version(model, 8).graph.input] == ["x"]
