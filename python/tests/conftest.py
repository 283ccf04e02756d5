"""Models of the repository, and others that are built here; the command; results of fleets."""

from __future__ import annotations

import signal
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from onnx_recast import fleet
from onnx_recast.fleet import manifest

MODELS = Path(__file__).parents[2] / "models"
RECAST = Path(sysconfig.get_path("scripts")) / "recast"

# A shell ignores the signal for programs that it starts in the background, and so do the programs that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def fp8() -> Path:
    return MODELS / "fp8_qdq.onnx"


@pytest.fixture
def transformer() -> Path:
    return MODELS / "transformer_fp16.onnx"


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    """Make a folder of equal models."""
    folder = tmp_path / "zoo"
    folder.mkdir()
    for index in range(6):
        (folder / f"{index}.onnx").write_bytes(chain(3).SerializeToString())
    return folder


def recast(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    return subprocess.run([RECAST, *arguments], capture_output=True, text=True, check=False)


def files(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder and the folders in it, by their paths."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def rows(folder: Path, run: int = -1) -> list[fleet.Row]:
    """Return the rows of a run of a fleet."""
    return list(manifest.rows_of(list(manifest.runs(str(folder)).values())[run]))


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


def chain(length: int) -> onnx.ModelProto:
    """Return a model of nodes in a row, which opset 13 and later have."""
    nodes = [helper.make_node("Softmax", [f"v{i}"], [f"v{i + 1}"], axis=1) for i in range(length)]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "g", [value("v0", 1, [2, 3])], [value(f"v{length}", 1, [2, 3])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def save_large(folder: Path) -> Path:
    """Write a model that casts 4 GiB of weights in a data file without blocks on the disk."""
    elements = 1 << 30
    model = cast_model(np.zeros(1, np.float32), TensorProto.FLOAT16)
    weights = model.graph.initializer[0]
    weights.dims[:] = [elements]
    weights.ClearField("raw_data")
    weights.data_location = TensorProto.EXTERNAL
    for key, value in {"location": "w.data", "offset": "0", "length": str(4 * elements)}.items():
        weights.external_data.add(key=key, value=value)
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_value = elements
    path = folder / "large.onnx"
    onnx.save_model(model, path)
    with (folder / "w.data").open("wb") as data:
        data.truncate(4 * elements)
    return path
