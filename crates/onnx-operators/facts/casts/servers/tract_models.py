"""Runs models in tract. Results TDim, the type of lengths, are given as INT64. A model that tract refuses as it is gets the types and shapes of its
inputs, as tract advises."""

import pathlib
import tempfile

import tract
from serving import array_of, serve, value_of

# Element types as tract writes them.
NAMES = {"bool": "bool", **{f"{kind}{bits}": f"{kind[0]}{bits}" for kind in ("float", "int", "uint") for bits in (8, 16, 32, 64)}}


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
    model = tract.onnx().load(str(path))
    indices = {model.input_name(index): index for index in range(model.input_count())}
    for name, array in arrays.items():
        fact = [*map(str, array.shape), NAMES[array.dtype.name]]
        model.set_input_fact(indices[name], ",".join(fact))
    return model.into_model().into_runnable()


def in_numpy(result):
    try:
        return result.to_numpy()
    except tract.TractError:
        return result.convert_to(tract.DatumType.I64).to_numpy()


serve(run)
