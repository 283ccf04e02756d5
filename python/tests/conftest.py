"""Models of the repository, and others that are built here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

MODELS = Path(__file__).parents[2] / "models"


@pytest.fixture
def fp8() -> Path:
    return MODELS / "fp8_qdq.onnx"


@pytest.fixture
def transformer() -> Path:
    return MODELS / "transformer_fp16.onnx"


def cast_model(weights: npt.NDArray[np.generic], to: int, opset: int = 21) -> onnx.ModelProto:
    """Return a model that adds a cast constant to nothing: one Cast of an initializer, as an output."""
    tensor = numpy_helper.from_array(weights, "w")
    node = helper.make_node("Cast", ["w"], ["y"], name="cast", to=to)
    output = helper.make_tensor_value_info("y", to, list(weights.shape))
    graph = helper.make_graph([node], "g", [], [output], [tensor])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


@pytest.fixture
def external(tmp_path: Path) -> Callable[[], Path]:
    """Write a model whose weights are in a data file."""

    def write() -> Path:
        folder = tmp_path / "external"
        folder.mkdir(exist_ok=True)
        model = cast_model(np.arange(4096, dtype=np.float32), TensorProto.FLOAT16)
        onnx.save(model, folder / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=0)
        return folder / "m.onnx"

    return write
