"""Runs models in tract. Results TDim, the type of lengths, are given as INT64."""

import pathlib
import tempfile

import tract
from serving import array_of, serve, value_of


def run(model, inputs):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        path.write_bytes(model)
        runnable = tract.onnx().load(str(path)).into_model().into_runnable()
    return [value_of(in_numpy(result)) for result in runnable.run([array_of(value) for value in inputs.values()])]


def in_numpy(result):
    try:
        return result.to_numpy()
    except tract.TractError:
        return result.convert_to(tract.DatumType.I64).to_numpy()


serve(run)
