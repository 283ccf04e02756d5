"""Runs models in onnx's reference evaluator."""

import warnings

import numpy as np
from onnx import TensorProto, load_from_string, numpy_helper
from onnx.reference import ReferenceEvaluator
from serving import serve, value_of

PACKED = {21: 4, 22: 4, 23: 4, 25: 2, 26: 2, 27: 6, 28: 6}


def run(model, inputs):
    model = load_from_string(model)
    with warnings.catch_warnings(action="ignore"):
        arrays = {name: array_of(value) for name, value in inputs.items()}
        results = ReferenceEvaluator(model).run(None, arrays)
    return [typed(array, output.type.tensor_type.elem_type) for array, output in zip(results, model.graph.output)]


def typed(array, number):
    """A result as a value of the declared type."""
    if number in PACKED:
        return number, array.shape, packed(np.asarray(array).view("u1").ravel().tolist(), PACKED[number])
    produced, shape, data = value_of(array)
    return produced or number, shape, data


def array_of(value):
    number, shape, data = value
    if number == TensorProto.STRING:
        return np.array(data, dtype=object).reshape(shape)
    return numpy_helper.to_array(TensorProto(data_type=number, dims=shape, raw_data=data))


def packed(codes, width):
    stream = sum((code & (1 << width) - 1) << (index * width) for index, code in enumerate(codes))
    return stream.to_bytes((len(codes) * width + 7) // 8, "little")


serve(run)
