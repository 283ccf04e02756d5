"""The node tests of onnx with other element types: for every version of an operator, all types of a type variable, one type for all of them, and many
pairs of types of CastLike. The expected outputs are those on which onnxruntime and onnx's reference evaluator agree, or those of the only one that runs
the model. The models of Cast are left out: their IR version is 14, onnxruntime loads 13, and so nothing confirms the expected outputs."""

import itertools

import ml_dtypes
import numpy as np
from generators.typed_nodes import typed_nodes
from onnx import TensorProto, helper, numpy_helper
from support.runners import is_close, run_in_onnxruntime, same_outputs

from runs.boundaries import by_reference, save_test

# Of these, all pairs of these types are tried.
CASTS = ("Cast", "CastLike")
CAST_TYPES = ("bool", "double", "float", "float16", "int16", "int32", "int64", "int8", "uint16", "uint32", "uint64", "uint8")
# Integers by which these operators divide are not 0.
DIVIDING = ("Div", "Mod")
# Integers of which these operators compute products are so small that the products have 32 bits.
MULTIPLYING = ("ReduceProd",)
# What FLOAT numbers of the node tests, many of which are in [0, 1), are multiplied by before they become integers.
SCALE = 3


def write(folder):
    """A `model.onnx` for each, beside a folder with its data."""
    nodes = typed_nodes(lambda schema: schema.domain == "")
    for _, group in itertools.groupby(nodes, lambda node: node.form):
        for node, inputs, outputs in with_outputs(filter(is_wanted, group)):
            save_test(folder / name_of(node), node.model, inputs.values(), outputs)


def with_outputs(nodes):
    """[(node, inputs, outputs)] of the nodes of one form of an operator, in all versions. In some of these, the reference evaluator computes what a newer
    one means. It decides alone where it computes for another type what onnxruntime does, or, if the two never disagree, what the node test says."""
    found, agreed, stated, disagree, seen = [], set(), set(), False, set()
    for node in nodes:
        name, inputs, since = name_of(node), inputs_of(node), node.schema.since_version
        if inputs is None or name in seen:
            continue
        seen.add(name)
        given, judged = (computed(run, node.model, inputs) for run in (in_onnxruntime, by_reference))
        is_same = given is None or judged is None or same_outputs(given, judged, is_close)
        disagree |= not is_same
        if given is not None and judged is not None and is_same:
            agreed.add(since)
        if judged is not None and node.types == node.present and is_stated(node, judged):
            stated.add(since)
        if is_same:
            found.append((node, inputs, given, judged))
    trusted = agreed if disagree else agreed | stated
    outputs = ((node, inputs, given or (judged if node.schema.since_version in trusted else None)) for node, inputs, given, judged in found)
    return [each for each in outputs if each[2] is not None]


def is_stated(node, outputs):
    """Whether outputs are those of the node test."""
    return all(isinstance(array, (np.ndarray, np.generic)) for array in node.outputs) and same_outputs(node.outputs, outputs, is_close)


def name_of(node):
    schema, form = node.schema, "_".join(("".join("01"[each] for each in node.form[1]), str(node.form[2]), *node.form[3]))
    types = "_".join(f"{variable}_{kind}" for variable, kind in sorted(node.types.items()))
    return f"types_{schema.name}_{schema.since_version}_{form}_{types}".lower()


def is_wanted(node):
    """Whether one type variable at most has another type than in the node test, or all have one."""
    others = [variable for variable, kind in node.types.items() if kind != node.present[variable]]
    is_pair = node.schema.name in CASTS and set(CAST_TYPES).issuperset(node.types.values())
    return is_pair or len(others) <= 1 or len(set(node.types.values())) == 1


def inputs_of(node):
    """{name: array} of the inputs, in the types of the model; none if one is a sequence or an optional value."""
    found = {}
    for value, array in zip(node.model.graph.input, node.inputs):
        array = numpy_helper.to_array(array) if isinstance(array, TensorProto) else array
        number = value.type.tensor_type.elem_type
        if not number or not isinstance(array, (np.ndarray, np.generic)):
            return None
        found[value.name] = with_type(np.asarray(array), helper.tensor_dtype_to_np_dtype(number))
        if found[value.name].dtype.kind in "iu" and node.schema.name in DIVIDING:
            found[value.name] = np.maximum(found[value.name], 1)
        if found[value.name].dtype.kind in "iu" and node.schema.name in MULTIPLYING:
            found[value.name] = np.minimum(found[value.name], 3)
    return found


def with_type(array, dtype):
    """Numbers of another type, in its range, that are close to those of an array."""
    if array.dtype == dtype or array.dtype.kind in "OUS" and dtype.kind in "OUS":
        return array
    if array.dtype.kind in "OUS":
        array = np.arange(array.size).reshape(array.shape)
    if dtype.kind in "OUS":
        return array.astype(np.float64).astype(str).astype(object)
    if dtype.kind in "c" or array.dtype.kind == "c":
        return array.astype(dtype)
    numbers = array.astype(np.float64)
    if dtype == bool:
        return np.rint(SCALE * numbers) % 2 == 1
    if is_integer(dtype):
        if not is_integer(array.dtype):
            numbers = np.rint(SCALE * np.nan_to_num(numbers, posinf=9, neginf=-9))
        limits = ml_dtypes.iinfo(dtype) if dtype.kind == "V" else np.iinfo(dtype)
        numbers = np.clip(np.abs(numbers) if limits.min == 0 else numbers, limits.min, min(limits.max, 1 << 31))
    return numbers.astype(dtype)


def is_integer(dtype):
    return dtype.kind in "iub" or "int" in dtype.name


def in_onnxruntime(model, inputs):
    return run_in_onnxruntime(model.SerializeToString(), inputs)


def computed(run, model, inputs):
    """Arrays of the types that the model declares; none if it does not run."""
    try:
        outputs = list(map(np.asarray, run(model, inputs)))
    except Exception:
        return None
    return outputs if all(map(is_declared, outputs, model.graph.output)) else None


def is_declared(array, value):
    number = value.type.tensor_type.elem_type
    if array.dtype.kind in "OUS":
        return number == TensorProto.STRING and all(isinstance(text, str) for text in array.ravel().tolist())
    return helper.np_dtype_to_tensor_dtype(array.dtype) == number
