"""Runs models in tract."""

import pathlib
import tempfile

import tract
from serving import array_of, serve, value_of


def run(model, inputs):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        path.write_bytes(model)
        runnable = tract.onnx().load(str(path)).into_model().into_runnable()
    return [value_of(result.to_numpy()) for result in runnable.run([array_of(value) for value in inputs.values()])]


serve(run)
