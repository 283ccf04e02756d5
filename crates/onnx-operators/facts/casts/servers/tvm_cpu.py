"""Runs models in TVM: imported by its frontend for ONNX, compiled for the CPU."""

import ml_dtypes
import numpy as np
import onnx
import tvm
from serving import NUMBERS, NUMPY, OTHER_TYPES, array_of, serve
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx


def run(model, inputs):
    module = from_onnx(onnx.load_from_string(model), keep_params_in_input=False)
    machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    result = machine["main"](*map(tensor_of, inputs.values()))
    return [(NUMBERS[str(result.dtype)], tuple(result.shape), result.numpy().tobytes())]


def tensor_of(value):
    number, shape, data = value
    array = np.array(array_of(value)) if number in NUMPY else np.frombuffer(data, getattr(ml_dtypes, OTHER_TYPES[number])).reshape(shape)
    return tvm.runtime.tensor(array)


serve(run)
