"""Answers `support.onnxruntimes.Runtime` on standard output, in the Python and with the packages of one version of onnxruntime.

A value is (element type, shape, bytes), or for strings (8, shape, list); a sequence is a list; an absent optional is None. Types are numbers of
TensorProto: numpy, of another version here, has no bfloat16 and no float8.
"""

import ctypes
import os
import pickle
import struct
import sys

import numpy as np
import onnxruntime

STRING = 8
# The number and the size in bytes of the element types.
TYPES = {
    "float": (1, 4),
    "uint8": (2, 1),
    "int8": (3, 1),
    "uint16": (4, 2),
    "int16": (5, 2),
    "int32": (6, 4),
    "int64": (7, 8),
    "bool": (9, 1),
    "float16": (10, 2),
    "double": (11, 8),
    "uint32": (12, 4),
    "uint64": (13, 8),
    "bfloat16": (16, 2),
    "float8e4m3fn": (17, 1),
    "float8e4m3fnuz": (18, 1),
    "float8e5m2": (19, 1),
    "float8e5m2fnuz": (20, 1),
    "uint4": (21, 0.5),
    "int4": (22, 0.5),
    "float4e2m1": (23, 0.5),
    "float8e8m0": (24, 1),
    "uint2": (25, 0.25),
    "int2": (26, 0.25),
}
NUMPY = {1: "f4", 2: "u1", 3: "i1", 4: "u2", 5: "i2", 6: "i4", 7: "i8", 9: "?", 10: "f2", 11: "f8", 12: "u4", 13: "u8"}
NUMBERS = {np.dtype(name): number for number, name in NUMPY.items()}


def main():
    onnxruntime.set_default_logger_severity(4)
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # What onnxruntime prints is not a reply.
    while True:
        length = sys.stdin.buffer.read(8)
        if not length:
            return
        name, *arguments = pickle.loads(sys.stdin.buffer.read(struct.unpack("<Q", length)[0]))
        reply = pickle.dumps(ANSWERS[name](*arguments), protocol=4)
        replies.write(struct.pack("<Q", len(reply)) + reply)
        replies.flush()


def session_of(model, optimized):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def load(model):
    """Loads as a user does, with the optimizations that are enabled by default."""
    try:
        session_of(model, optimized=True)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def run(model, inputs, optimized):
    try:
        session = session_of(model, optimized)
        if tensors_only(session):
            results = session.run_with_ort_values(None, {name: ort_value(value) for name, value in inputs.items()})
        else:
            results = session.run(None, {name: python_value(value) for name, value in inputs.items()})
        return [reply_of(value) for value in results]
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def tensors_only(session):
    types = [value.type for value in [*session.get_inputs(), *session.get_outputs()]]
    return all(kind.startswith("tensor(") and kind != "tensor(string)" for kind in types)


def ort_value(value):
    return onnxruntime.OrtValue.ortvalue_from_numpy(python_value(value))


def python_value(value):
    if value is None or isinstance(value, list):
        return value and [python_value(each) for each in value]
    number, shape, data = value
    if number == STRING:
        return np.array(data, dtype=object).reshape(shape)
    return np.frombuffer(data, NUMPY[number]).reshape(shape)


def reply_of(value):
    if value is None or isinstance(value, list):
        return value and [reply_of(each) for each in value]
    if isinstance(value, dict):
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        value = np.asarray(value)
        if value.dtype.kind in "OUS":
            return STRING, value.shape, value.ravel().tolist()
        return NUMBERS[value.dtype], value.shape, value.tobytes()
    name = value.data_type()
    if name not in ("tensor(" + each + ")" for each in TYPES):
        return reply_of(value.numpy())
    number, size = TYPES[name[len("tensor(") : -1]]
    shape = tuple(value.shape())
    elements = int(np.prod(shape, dtype=np.int64))
    return number, shape, ctypes.string_at(value.data_ptr(), -int(-elements * size // 1)) if elements else b""


def kernels():
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    no_end = 2**31 - 1
    found = []
    for kernel in state.get_all_opkernel_def():
        if kernel.provider == "CPUExecutionProvider":
            start, end = kernel.version_range
            found.append([kernel.domain, kernel.op_name, start, None if end == no_end else end, dict(kernel.type_constraints)])
    schemas = []
    for schema in state.get_all_operator_schema():
        formals = [[[formal.name, formal.typeStr] for formal in side] for side in (schema.inputs, schema.outputs)]
        schemas.append([schema.domain, schema.name, schema.since_version, *formals])
    return found, schemas


ANSWERS = {"kernels": kernels, "load": load, "run": run}

if __name__ == "__main__":
    main()
