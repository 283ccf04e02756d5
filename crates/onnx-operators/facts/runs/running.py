"""Runs tests in a runtime, and says of each whether its outputs are right."""

import json

import numpy as np
from casts.runtimes import Process
from onnx import TensorProto, helper, numpy_helper
from support.common import CACHE
from support.models import RANDOM

from runs.runtimes import ALL
from runs.tests import all_tests, only_node, since_of, values

SECONDS = 60
# What a result may differ from the expected one: relatively, and absolutely.
TOLERANCES = {"float64": (1e-3, 1e-5), "float32": (1e-3, 1e-5), "float16": (1e-2, 1e-3), "bfloat16": (2e-2, 1e-2)}
# Operators that quantize: their results may be the neighbouring integers.
QUANTIZING = ("QuantizeLinear", "DynamicQuantizeLinear", "QLinearConv", "QLinearMatMul")
# Refusals of this machine or of the interface, not of the runtime.
NOT_FED = "sequences and optional values cannot be given to the interface of Python"


def results(runtime):
    """{test: result} of a version of a runtime, each with `outcome`: right, wrong, refused, or special
    (right except for infinities and NaN). They are kept in a file, so that a run that ends is
    continued."""
    path = CACHE / "runs" / f"{runtime.name}-{runtime.version}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    known = {row["test"]: row for row in map(json.loads, path.read_text().splitlines())} if path.exists() else {}
    found = {}
    with Process(runtime, SECONDS) as process, path.open("a") as file:
        for test in all_tests():
            if test.name not in known:
                known[test.name] = {"test": test.name, **result(process, test)}
                file.write(json.dumps(known[test.name]) + "\n")
                file.flush()
            found[test.name] = known[test.name]
    return found


def versions_of(name):
    """The versions of a runtime, newest first."""
    return list(ALL[name].VERSIONS)


def result(process, test):
    """What a runtime makes of a test, and if it is not right, what it makes of it with all inputs but the first as initializers,
    or, if the first is a shape, all inputs."""
    model, inputs, expected = values(test)
    node = only_node(model)
    found = {"op": node and node.op_type, "domain": node and node.domain, "since": node and since_of(model, node)}
    if expected is None:
        return {**found, "outcome": "unknown", "detail": "no expected outputs"}
    outcome, detail = outcome_of(process, model, inputs, expected)
    found |= {"outcome": outcome, "detail": detail}
    variable = 0 if node and node.op_type == "ConstantOfShape" else 1
    if outcome != "right" and len(inputs) > variable:
        found["constant"], found["constant detail"] = outcome_of(process, *with_constants(model, inputs, variable), expected)
    return found


def outcome_of(process, model, inputs, expected):
    try:
        encoded = {name: encode(value) for name, value in inputs.items()}
    except TypeError:
        return "refused", NOT_FED
    answer = process.ask("run", model.SerializeToString(), encoded, True)
    known = ALL[process.runtime.name]
    if isinstance(answer, str):
        return "unknown" if answer.startswith(known.NOT_FED) else "refused", " ".join(answer.split())[-300:]
    try:
        found = [decode(value) for value in answer]
    except Exception as error:
        return "wrong", f"the type of an output is unknown: {error}"
    if len(found) != len(expected):
        return "wrong", f"{len(found)} outputs instead of {len(expected)}"
    interface = known.VERSIONS[process.runtime]
    found = [read_as(interface, *pair) for pair in zip(expected, found)]
    differences = [difference(model, *pair) for pair in zip(expected, found)]
    problem = next(filter(None, differences), None)
    if problem and all(each is None or (isinstance(each, Elements) and each.only_special(inputs)) for each in differences):
        return "special", str(problem)
    return ("wrong", str(problem)) if problem else ("right", "")


class Elements:
    """Elements that differ."""

    def __init__(self, expected, found, where):
        self.expected, self.found, self.where = np.ravel(expected), np.ravel(found), where

    def only_special(self, inputs):
        """Whether an infinity or NaN is expected, or is cast, wherever something else was found."""
        first = next(iter(inputs.values()), None)
        if isinstance(first, np.ndarray) and first.size == self.expected.size and first.dtype.kind in "fV":
            special = ~np.isfinite(np.ravel(first).astype(np.float64))
        else:
            special = np.zeros(self.expected.size, bool)
        if self.expected.dtype.kind in "fV":
            special |= ~np.isfinite(self.expected.astype(np.float64))
        return bool(special[self.where].all())

    def __str__(self):
        pairs = ", ".join(f"{self.found[index]} instead of {self.expected[index]}" for index in self.where[:4])
        return f"{len(self.where)} of {self.expected.size} elements: {pairs}"


def with_constants(model, inputs, variable):
    """The model with its inputs as initializers, but for the first `variable` ones, and the values of the others."""
    for name in list(inputs)[variable:]:
        if isinstance(inputs[name], np.ndarray):
            model.graph.initializer.append(numpy_helper.from_array(inputs[name], name))
    constants = {tensor.name for tensor in model.graph.initializer}
    model.ir_version = max(model.ir_version, 4)
    left = [value for value in model.graph.input if value.name not in constants]
    del model.graph.input[:]
    model.graph.input.extend(left)
    return model, {name: value for name, value in inputs.items() if name not in constants}


def encode(value):
    """A value of the servers of facts/casts."""
    if not isinstance(value, np.ndarray):
        raise TypeError
    if value.dtype.kind in "OUS":
        return TensorProto.STRING, value.shape, [each.decode() if isinstance(each, bytes) else str(each) for each in value.ravel()]
    tensor = numpy_helper.from_array(value)
    data = tensor.raw_data or value.tobytes()
    return tensor.data_type, value.shape, data


def decode(value):
    number, shape, data = value
    if number == TensorProto.STRING:
        return np.array(data, dtype=object).reshape(shape)
    return numpy_helper.to_array(TensorProto(data_type=number, dims=shape, raw_data=data))


def read_as(interface, expected, found):
    """A result in the type and shape that are expected, if the interface gives others in their place: floats are rounded, bits are kept."""
    if interface.empty_is_none and isinstance(expected, np.ndarray) and expected.size == 0 and found.dtype == object and found.tolist() == "None":
        return expected
    if not isinstance(expected, np.ndarray) or expected.dtype.kind in "OUS" or found.dtype.kind in "OUS":
        return found
    if expected.ndim < interface.least_rank and found.shape == expected.shape + (1,) * (interface.least_rank - expected.ndim):
        found = found.reshape(expected.shape)
    if interface.read_as.get(name_of(expected)) != name_of(found):
        return found
    with np.errstate(over="ignore", invalid="ignore"):
        return found.astype(expected.dtype) if found.dtype.kind == "f" else found.view(expected.dtype)


def difference(model, expected, found):
    """What differs; none if nothing does."""
    if not isinstance(expected, np.ndarray):
        return "a sequence or an optional value is a tensor"
    if expected.dtype.kind in "OUS":
        texts = [each.decode() if isinstance(each, bytes) else str(each) for each in expected.ravel()]
        return None if found.dtype == object and expected.shape == found.shape and texts == list(found.ravel()) else f"{found} instead of {expected}"[:200]
    if expected.dtype != found.dtype:
        return f"the output has type {name_of(found)} instead of {name_of(expected)}"
    if expected.shape != found.shape:
        return f"the output has shape {list(found.shape)} instead of {list(expected.shape)}"
    ops = {node.op_type for node in model.graph.node}
    if ops & RANDOM or any(node.op_type == "Dropout" and len(node.input) > 2 for node in model.graph.node):
        return None
    same = are_close(expected, found, bool(ops & set(QUANTIZING)))
    return None if np.all(same) else Elements(expected, found, np.flatnonzero(~np.ravel(same)))


def are_close(expected, found, is_quantized):
    if expected.dtype.kind == "c" or expected.dtype.name in TOLERANCES:
        relative, absolute = TOLERANCES.get(expected.dtype.name, TOLERANCES["float32"])
        wide = np.complex128 if expected.dtype.kind == "c" else np.float64
        left, right = expected.astype(wide), found.astype(wide)
        largest = np.abs(left[np.isfinite(left)]).max(initial=1)
        return np.isclose(right, left, rtol=relative, atol=absolute * largest, equal_nan=True)
    if is_quantized and expected.dtype.kind in "iu":
        return np.abs(expected.astype(np.int64) - found.astype(np.int64)) <= 1
    return (expected == found) | ((expected != expected) & (found != found))


def name_of(array):
    return TensorProto.DataType.Name(helper.np_dtype_to_tensor_dtype(array.dtype))
