"""Runs models in tract. Results TDim, the type of lengths, are given as INT64. A model that tract refuses as it is gets the types and shapes of its
inputs, as tract advises."""

import ctypes
import pathlib
import tempfile

import numpy as np
import tract
from serving import array_of, serve, value_of

# Element types as tract writes them.
NAMES = {"bool": "bool", **{f"{kind}{bits}": f"{kind[0]}{bits}" for kind in ("float", "int", "uint") for bits in (8, 16, 32, 64)}}
# Versions with an older interface.
OLD = not hasattr(tract.Onnx, "load")
# Kinds of elements by the high bits of their number; the low ones are the size of one.
KINDS = {0: "b", 1: "u", 2: "i", 3: "f"}


def run(model, inputs):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        path.write_bytes(model)
        try:
            results = runnable(path, {}).run([array_of(value) for value in inputs.values()])
        except tract.TractError as refusal:
            try:
                arrays = {name: array_of(value) for name, value in inputs.items()}
                results = runnable(path, arrays).run(list(arrays.values()))
            except KeyError:  # Of a type that is not numpy's.
                raise refusal from None
    return [value_of(in_numpy(result)) for result in results]


def runnable(path, arrays):
    """The model with the types and shapes of these inputs."""
    if OLD:
        model = tract.onnx().model_for_path(str(path))
    else:
        model = tract.onnx().load(str(path))
    indices = {model.input_name(index): index for index in range(model.input_count())}
    for name, array in arrays.items():
        fact = [*map(str, array.shape), NAMES[array.dtype.name]]
        model.set_input_fact(indices[name], ",".join(fact))
    return model.into_optimized().into_runnable() if OLD else model.into_model().into_runnable()


def in_numpy(result):
    if OLD:
        return read(result)
    try:
        return result.to_numpy()
    except tract.TractError:
        return result.convert_to(tract.DatumType.I64).to_numpy()


def read(result):
    """The array of a result of a version whose own function takes all elements for FLOAT."""
    number, rank, shape, data = ctypes.c_int(), ctypes.c_size_t(), ctypes.POINTER(ctypes.c_size_t)(), ctypes.c_void_p()
    tract.check(tract.lib.tract_value_as_bytes(result.ptr, *map(ctypes.byref, (number, rank, shape, data))))
    kind, size = KINDS[number.value >> 4], number.value & 15
    shape = shape[: rank.value]
    count = int(np.prod(shape, dtype=int)) * size
    return np.frombuffer(ctypes.string_at(data, count), "?" if kind == "b" else f"{kind}{size}").reshape(shape).copy()


serve(run)
