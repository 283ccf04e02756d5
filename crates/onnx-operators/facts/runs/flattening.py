"""Models of Softmax, LogSoftmax and Hardmax before opset 13, which the node tests lack: they flatten their input to a matrix. The expected
outputs are those of onnxruntime."""

import itertools

import numpy as np
import onnxruntime
from onnx import helper, numpy_helper, save

FIRST_PARTS = {"Softmax": (1, 11), "LogSoftmax": (1, 11), "Hardmax": (1, 11)}
SHAPES = ((2, 3), (1, 4, 3), (2, 3, 4), (2, 1, 3, 2))


def write(folder):
    """A `model.onnx` for each, beside a folder with its data."""
    for (op, versions), shape in itertools.product(FIRST_PARTS.items(), SHAPES):
        for since, axis in itertools.product(versions, range(len(shape))):
            name = f"{op.lower()}_{since}_{'x'.join(map(str, shape))}_axis_{axis}"
            path = folder / name / "model.onnx"
            data = path.parent / "test_data_set_0"
            data.mkdir(parents=True)
            x = np.random.default_rng(len(shape) + axis).standard_normal(shape).astype(np.float32)
            values = [helper.make_tensor_value_info(name, 1, shape) for name in "xy"]
            graph = helper.make_graph([helper.make_node(op, ["x"], ["y"], axis=axis)], "g", values[:1], values[1:])
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", since)], ir_version=7)
            save(model, path)
            (y,) = onnxruntime.InferenceSession(path).run(None, {"x": x})
            for name, array in (("input", x), ("output", y)):
                (data / f"{name}_0.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())
