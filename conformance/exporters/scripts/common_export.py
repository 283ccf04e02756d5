"""What the scripts beside this one share: a model and its inputs are written as the node tests of onnx are."""

import sys
import traceback
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

OUTPUT = Path(sys.argv[1])


def write(name, model, inputs):
    """`inputs` are arrays, in the order of the inputs of the graph."""
    folder = OUTPUT / name
    data = folder / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for index, array in enumerate(inputs):
        (data / f"input_{index}.pb").write_bytes(numpy_helper.from_array(np.asarray(array)).SerializeToString())


def write_all(cases):
    """`cases` are pairs of a name and a function that returns a model and its inputs. One that an exporter cannot make is reported."""
    for name, make in cases:
        try:
            model, inputs = make()
            write(name, model if isinstance(model, onnx.ModelProto) else onnx.load_from_string(model), inputs)
        except Exception:
            print(f"{name}: {traceback.format_exc(limit=-1)}", file=sys.stderr)
