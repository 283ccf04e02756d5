"""Nodes with unusual attributes and constants fold to what onnxruntime computes without optimizations, or are kept.

Random nodes of every operator that `fold-constants` computes, at random opsets: axes and indices beyond the shape, empty lists, empty
tensors, the largest integers, fractions, NaN and negative zeros. What folds by default, and what folds with `--contested runtime`, equals
the output of onnxruntime, if it runs the node. Equal seeds give equal nodes. Sample: 12 nodes of each operator; `--all`: 300.
"""

import json
import random
from collections import Counter

import numpy as np
import onnx
from onnx import AttributeProto, helper, numpy_helper

from checks.fold.constant_node_tests import OPERATORS
from support.common import recast, scratch_folder
from support.runners import same_value, session_of

OPSETS = range(7, 26)
FIRST_OPSET = {
    "Expand": 8, "OneHot": 9, "Where": 9, "NonZero": 9, "ConstantOfShape": 9, "EyeLike": 9, "Sign": 9, "Mod": 10, "GatherElements": 11,
    "GatherND": 11, "BitShift": 11, "CumSum": 11, "Range": 11, "LessOrEqual": 12, "GreaterOrEqual": 12, "Trilu": 14, "BitwiseAnd": 18,
    "BitwiseOr": 18, "BitwiseXor": 18, "BitwiseNot": 18,
}  # fmt: skip
INTEGERS = ["int64", "int32", "int8", "uint8", "int16", "uint16", "uint32", "uint64"]
FLOATS = ["float32", "float64", "float16"]
ANY = ["float32", "float32", "int64", "int32", "uint8", "bool", "float64", "float16", "object"]
FLOAT_VALUES = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -0.5, 1.5, -2.5, 3.0, np.nan, np.inf, -np.inf]
ENDS = [0, 1, 2, 3, -1, -2, -3, -5, 5, 100, -100, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63)]


def check(report):
    seeds, outcomes = range(300 if report.everything else 12), Counter()
    with scratch_folder() as scratch:
        for operator in [*OPERATORS, "Neg", "Abs", "Sign"]:
            cases = {}
            for seed in seeds:
                model, inputs = random_node(operator, random.Random(f"{operator} {seed}"))
                path = scratch / f"{operator}_{seed}.onnx"
                onnx.save(as_constants(model, inputs), path)
                cases[path] = (model, inputs)
            counts = Counter()
            for contested in ("skip", "runtime"):
                folder = scratch / f"{operator}_{contested}"
                done = recast(
                    "fold", *cases, "--out-dir", folder, "--passes", "fold-constants", "--contested", contested, "--format", "json"
                )
                if not report.case(f"{operator}, recast fold --contested {contested}", done.returncode != 0 and done.stderr):
                    continue
                for model in json.loads(done.stdout)["models"]:
                    counts.update(f"{one['code']}, {contested}" for one in model["skipped"])
                for path, case in cases.items():
                    outcome = compare(onnx.load(folder / path.name), *case)
                    report.case(f"{path.stem}, {contested}", outcome if outcome not in ("equal", "kept", "not run") else None)
                    counts[f"{outcome}, {contested}" if outcome in ("equal", "kept", "not run") else "different"] += 1
                    outcomes[outcome] += 1
            report.case(f"{operator} folds", counts["equal, skip"] + counts["not run, skip"] == 0 and str(counts))
        for outcome in ("equal", "kept", "not run"):
            report.count(outcome, outcomes[outcome])
        report.note(f"{outcomes['equal']} folds compared with onnxruntime")


def compare(folded, model, inputs):
    """How a folded node relates to what onnxruntime computes: `equal`, `kept`, `not run`, or the difference."""
    if folded.graph.node:
        return "kept"
    try:
        expected = session_of(model.SerializeToString()).run(None, inputs)
    except Exception:
        return "not run"
    found = {tensor.name: numpy_helper.to_array(tensor) for tensor in folded.graph.initializer}
    for output, array in zip(model.graph.output, expected):
        result = found[output.name]
        result = result.astype(object) if result.dtype.kind in "US" else result
        if not same_value(result, array):
            return f"{output.name} is {result.tolist()} of {result.shape}, in onnxruntime {np.asarray(array).tolist()} of {np.shape(array)}"
    return "equal"


def random_node(operator, rng):
    """A model of one node, and its inputs."""
    opset = rng.choice([opset for opset in OPSETS if opset >= FIRST_OPSET.get(operator, 7)])
    arrays, attributes, outputs = MAKERS[operator](rng, opset)
    names = ["" if array is None else f"i{index}" for index, array in enumerate(arrays)]
    node = helper.make_node(operator, names, [f"y{index}" for index in range(outputs)])
    for name, value in attributes.items():
        # The type of an empty list has to be said.
        node.attribute.append(helper.make_attribute(name, value, attr_type=AttributeProto.INTS if value == [] else None))
    inputs = {name: array for name, array in zip(names, arrays) if name}
    declared = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape) for name, array in inputs.items()
    ]
    graph = helper.make_graph([node], "g", declared, [helper.make_empty_tensor_value_info(name) for name in node.output])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), inputs


def as_constants(model, inputs):
    """The model with initializers in place of its inputs."""
    constant = onnx.ModelProto.FromString(model.SerializeToString())
    del constant.graph.input[:]
    constant.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in inputs.items())
    return constant


def shape(rng, least=0, most=3):
    lengths = [0, 1, 1, 2, 3, 4] if rng.random() < 0.3 else [1, 2, 3, 4]
    return tuple(rng.choice(lengths) for _ in range(rng.randint(least, most)))


def broadcast(rng):
    """Two shapes that are broadcast."""
    one = shape(rng)
    other = tuple(dim if rng.random() < 0.7 else 1 for dim in one)
    return one, other[rng.randint(0, len(other)) if rng.random() < 0.3 else 0 :]


def array(rng, dtype, dims, small=False):
    count = int(np.prod(dims))
    if dtype == "object":
        values = np.array([rng.choice(["a", "b", "", "c"]) for _ in range(count)], object)
    elif dtype == "bool" or dtype in FLOATS:
        values = np.array([rng.choice([False, True] if dtype == "bool" else FLOAT_VALUES) for _ in range(count)], dtype)
    else:
        info = np.iinfo(dtype)
        numbers = [0, 1, 2, 3, 5, 7, *([-1, -2, -7] if info.min < 0 else []), *([] if small else [info.max, info.min, info.max - 1])]
        values = np.array([rng.choice(numbers) for _ in range(count)], dtype)
    return values.reshape(dims)


def axis_of(rng, rank):
    return rng.choice([0, -1, 1, rank - 1, -rank, rank, -rank - 1, 2])


def some_axis(rng, rank):
    return {"axis": axis_of(rng, rank)} if rng.random() < 0.8 else {}


def along(attributes, dims, default=0):
    """The length of the axis that the attributes state, or 1."""
    axis = attributes.get("axis", default)
    return dims[axis] if -len(dims) <= axis < len(dims) else 1


def reshape(rng, opset):
    data = array(rng, rng.choice(ANY), shape(rng))
    size = data.size
    wanted = rng.choice([[*data.shape, 1], [-1], [0] * data.ndim, [size], [1, size], [size, 1, -1], [0, -1], [-1, 0], [], [2, -1, 0]])
    return [data, np.array(wanted, np.int64)], {"allowzero": rng.choice([0, 1])} if opset >= 14 and rng.random() < 0.4 else {}, 1


def squeeze(rng, opset):
    data = array(rng, rng.choice(ANY), shape(rng, 0, 4))
    ones = [axis if rng.random() < 0.6 else axis - data.ndim for axis, dim in enumerate(data.shape) if dim == 1]
    return with_axes(opset, data, rng.choice([None, [], [0], [-1], [data.ndim], [0, -1], ones, ones, ones[:1], ones[::-1]]))


def unsqueeze(rng, opset):
    data = array(rng, rng.choice(ANY), shape(rng))
    rank = data.ndim
    return with_axes(opset, data, rng.choice([[], [0], [-1], [1], [0, 1], [1, 0], [0, 0], [rank], [-rank - 1], [-rank - 2], [2, 0], [0, 2]]))


def with_axes(opset, data, axes):
    """Axes are an attribute before opset 13, and an input since then."""
    if axes is None:
        return [data], {}, 1
    return ([data, np.array(axes, np.int64)], {}, 1) if opset >= 13 else ([data], {"axes": axes}, 1)


def flatten(rng, _opset):
    data = array(rng, rng.choice(ANY), shape(rng, 0, 4))
    return [data], some_axis(rng, data.ndim), 1


def transpose(rng, _opset):
    data = array(rng, rng.choice(ANY), shape(rng, 0, 4))
    order = rng.sample(range(data.ndim), data.ndim)
    return [data], {"perm": order} if rng.random() < 0.8 else {}, 1


def slices(rng, opset):
    data = array(rng, rng.choice(ANY), shape(rng))
    count = rng.randint(0, max(data.ndim, 1))
    starts, ends = [[rng.choice(ENDS) for _ in range(count)] for _ in range(2)]
    axes = rng.sample(range(max(data.ndim, 1)), min(count, max(data.ndim, 1)))
    axes = [0] * count if rng.random() < 0.1 else [axis if rng.random() < 0.7 else axis - data.ndim for axis in axes]
    if opset < 10:
        return [data], {"starts": starts, "ends": ends, **({"axes": axes} if rng.random() < 0.7 else {})}, 1
    steps = [rng.choice([1, 1, 2, -1, -2, 3, -3, 0, 2**63 - 1, -(2**63), 100, -100]) for _ in range(count)]
    limits = np.iinfo(rng.choice(["int64", "int64", "int32"]))
    lists = [np.clip(np.array(one, np.int64), limits.min, limits.max).astype(limits.dtype) for one in (starts, ends, axes, steps)]
    return [data, *lists[: rng.choice([2, 3, 4, 4, 4])]], {}, 1


def split(rng, opset):
    data = array(rng, rng.choice(ANY), shape(rng, 1, 3))
    attributes = {"axis": rng.choice([0, -1, 0, 1, -data.ndim])} if rng.random() < 0.7 else {}
    outputs, length = rng.randint(1, 3), along(attributes, data.shape)
    cuts = [0, *sorted(rng.randint(0, length) for _ in range(outputs - 1)), length]
    lengths = [end - start for start, end in zip(cuts, cuts[1:])] if rng.random() < 0.9 else [length] * outputs
    if rng.random() < 0.6:
        return ([data, np.array(lengths, np.int64)], attributes, outputs) if opset >= 13 else ([data], {**attributes, "split": lengths}, outputs)
    return [data], {**attributes, "num_outputs": outputs} if opset >= 18 else attributes, outputs


def indices_of(rng, dims, length):
    return array_of(rng, dims, -length, max(length - 1, 0)).astype(rng.choice(["int64", "int32"]))


def array_of(rng, dims, least, most):
    return np.array([rng.randint(least, most) for _ in range(int(np.prod(dims)))], np.int64).reshape(dims)


def gather(rng, _opset):
    data = array(rng, rng.choice(ANY), shape(rng))
    attributes = some_axis(rng, data.ndim)
    return [data, indices_of(rng, shape(rng, 0, 2), along(attributes, data.shape))], attributes, 1


def gather_elements(rng, _opset):
    data = array(rng, rng.choice(ANY), shape(rng, 1, 3))
    attributes = some_axis(rng, data.ndim)
    dims = tuple(rng.randint(min(1, dim), dim) for dim in data.shape)
    return [data, indices_of(rng, dims, along(attributes, data.shape))], attributes, 1


def gather_nd(rng, opset):
    data = array(rng, rng.choice(ANY), shape(rng, 1, 4))
    batch = rng.randint(0, min(1, data.ndim - 1)) if opset >= 12 else 0
    depth = rng.randint(1, data.ndim - batch)
    outer = data.shape[:batch] + shape(rng, 0, 2)
    columns = [array_of(rng, outer, -dim, max(dim - 1, 0)) for dim in data.shape[batch : batch + depth]]
    return [data, np.stack(columns, -1)], {"batch_dims": batch} if batch else {}, 1


def expand(rng, _opset):
    wide, narrow = broadcast(rng)
    wanted = rng.choice([list(wide), list(wide), list(narrow), [1], [], [2, 1, 1], [0]])
    return [array(rng, rng.choice(ANY), narrow), np.array(wanted, np.int64)], {}, 1


def tile(rng, _opset):
    data = array(rng, rng.choice(ANY), shape(rng))
    return [data, np.array([rng.choice([0, 1, 1, 2, 3]) for _ in data.shape], np.int64)], {}, 1


def concat(rng, _opset):
    dims, dtype = shape(rng, 1, 3), rng.choice(ANY)
    axis = rng.choice([0, -1, len(dims) - 1, -len(dims), axis_of(rng, len(dims))])

    def part():
        other = list(dims)
        if -len(dims) <= axis < len(dims):
            other[axis] = rng.randint(0, 3)
        return array(rng, dtype, tuple(other))

    return [part() for _ in range(rng.randint(1, 3))], {"axis": axis}, 1


def pad(rng, opset):
    data = array(rng, rng.choice(ANY), shape(rng, 1, 3))
    pads = lambda count: [rng.choice([0, 0, 1, 2, -1, -2]) for _ in range(2 * count)]
    attributes = {"mode": "constant"} if rng.random() < 0.5 else {}
    if opset < 11:
        return [data], {**attributes, "pads": pads(data.ndim)}, 1
    value = array(rng, str(data.dtype), ()) if rng.random() < 0.5 else None
    if opset < 18 or rng.random() < 0.5:
        return [data, np.array(pads(data.ndim), np.int64), value], attributes, 1
    axes = rng.sample(range(data.ndim), rng.randint(1, data.ndim))
    axes = [axes[0]] * 2 if rng.random() < 0.1 else [axis if rng.random() < 0.6 else axis - data.ndim for axis in axes]
    return [data, np.array(pads(len(axes)), np.int64), value, np.array(axes, np.int64)], attributes, 1


def trilu(rng, _opset):
    inputs = [array(rng, rng.choice(ANY), shape(rng, 2, 4))]
    if rng.random() < 0.6:
        inputs.append(np.array(rng.choice([0, 1, -1, 5, -5, 2**62, -(2**62)]), np.int64))
    return inputs, {"upper": rng.choice([0, 1])} if rng.random() < 0.6 else {}, 1


def one_hot(rng, _opset):
    # onnxruntime has few combinations of types.
    indices, depth = rng.choice([("int64", "int64"), ("float32", "int64"), ("int32", "int32"), ("float32", "float32"), ("int64", "float32")])
    data = array(rng, indices, shape(rng, 1, 2), small=True)
    data = np.where(np.isnan(data) | np.isinf(data), 1, data).astype(indices) if rng.random() < 0.8 else data
    values = array(rng, rng.choice(["int64", "int32", "float32", "object"]), (2,))
    return [data, np.array(rng.choice([1, 2, 3, 4]), depth), values], some_axis(rng, data.ndim + 1), 1


def where(rng, _opset):
    (one, other), dtype = broadcast(rng), rng.choice(ANY)
    return [array(rng, "bool", rng.choice([one, other, ()])), array(rng, dtype, one), array(rng, dtype, rng.choice([one, other, ()]))], {}, 1


def unary(dtypes):
    return lambda rng, _opset: ([array(rng, rng.choice(dtypes), shape(rng))], {}, 1)


def constant_of_shape(rng, _opset):
    value = array(rng, rng.choice([*INTEGERS, *FLOATS, "bool"]), (1,))
    attributes = {"value": numpy_helper.from_array(value)} if rng.random() < 0.7 else {}
    return [np.array([rng.choice([0, 1, 2, 3]) for _ in range(rng.randint(0, 3))], np.int64)], attributes, 1


def ranges(rng, _opset):
    dtype = rng.choice(["int64", "int32", "int16"])
    limits = np.iinfo(dtype)
    numbers = [0, 1, 2, 5, -1, -3, 10, 7]
    if rng.random() < 0.3:
        start, end = rng.choice([limits.max - 2, limits.min, limits.max]), rng.choice([limits.max, limits.min])
        return [np.array(number, dtype) for number in (start, end, rng.choice([1, 2, -1, limits.max, limits.min]))], {}, 1
    return [np.array(rng.choice(numbers), dtype) for _ in range(3)], {}, 1


def shape_of(rng, opset):
    bounds = [0, 1, -1, -2, 5, -5, 2, -(2**63), 2**63 - 1]
    attributes = {name: rng.choice(bounds) for name in ("start", "end") if opset >= 15 and rng.random() < 0.6}
    return [array(rng, rng.choice(ANY), shape(rng, 0, 4))], attributes, 1


def eye_like(rng, _opset):
    attributes = {"k": rng.choice([0, 1, -1, 5, -5])} if rng.random() < 0.5 else {}
    attributes |= {"dtype": rng.choice([1, 7, 6, 9, 11, 2, 10])} if rng.random() < 0.5 else {}
    return [array(rng, rng.choice(["float32", "int64", "int32", "uint8", "float64"]), shape(rng, 2, 2))], attributes, 1


def binary(dtypes, attributes=None, divides=False):
    def make(rng, _opset):
        (one, other), dtype, small = broadcast(rng), rng.choice(dtypes), rng.random() < 0.7
        left, right = array(rng, dtype, one, small), array(rng, dtype, other, small)
        # onnxruntime ends the process if the smallest integer is divided by -1.
        right = np.where(right == -1, 3, right).astype(dtype) if divides and dtype.startswith("int") else right
        return [left, right], {name: rng.choice(values) for name, values in (attributes or {}).items()}, 1

    return make


def extreme(rng, _opset):
    (one, other), dtype = broadcast(rng), rng.choice(INTEGERS)
    return [array(rng, dtype, rng.choice([one, other])) for _ in range(rng.randint(1, 3))], {}, 1


def bit_shift(rng, _opset):
    (one, other), dtype = broadcast(rng), rng.choice(["uint8", "uint16", "uint32", "uint64"])
    by = np.array([rng.choice([0, 1, 3, 7, 8, 15, 31, 63]) for _ in range(int(np.prod(other)))]).reshape(other).astype(dtype)
    return [array(rng, dtype, one), by], {"direction": rng.choice(["LEFT", "RIGHT"])}, 1


def cum_sum(rng, _opset):
    data = array(rng, rng.choice(["int64", "int32"]), shape(rng, 1, 3), small=True)
    attributes = {name: rng.choice([0, 1]) for name in ("exclusive", "reverse") if rng.random() < 0.5}
    return [data, np.array(axis_of(rng, data.ndim), rng.choice(["int64", "int32"]))], attributes, 1


COMPARED = [*INTEGERS, *FLOATS]
MAKERS = {
    "Reshape": reshape, "Squeeze": squeeze, "Unsqueeze": unsqueeze, "Flatten": flatten, "Transpose": transpose, "Slice": slices,
    "Split": split, "Gather": gather, "GatherElements": gather_elements, "GatherND": gather_nd, "Expand": expand, "Tile": tile,
    "Concat": concat, "Pad": pad, "Trilu": trilu, "OneHot": one_hot, "Where": where, "NonZero": unary(ANY),
    "ConstantOfShape": constant_of_shape, "Range": ranges, "Shape": shape_of, "Size": unary(ANY), "EyeLike": eye_like,
    "Add": binary(INTEGERS), "Sub": binary(INTEGERS), "Mul": binary(INTEGERS), "Div": binary(INTEGERS, divides=True),
    "Mod": binary(INTEGERS, {"fmod": [0, 1]}, divides=True), "Max": extreme, "Min": extreme, "Equal": binary([*COMPARED, "bool"]),
    "Less": binary(COMPARED), "LessOrEqual": binary(COMPARED), "Greater": binary(COMPARED), "GreaterOrEqual": binary(COMPARED),
    "And": binary(["bool"]), "Or": binary(["bool"]), "Xor": binary(["bool"]), "Not": unary(["bool"]),
    "BitwiseAnd": binary(INTEGERS), "BitwiseOr": binary(INTEGERS), "BitwiseXor": binary(INTEGERS), "BitwiseNot": unary(INTEGERS),
    "BitShift": bit_shift, "CumSum": cum_sum, "Neg": unary(["int64", "int32", "int8"]), "Abs": unary(INTEGERS), "Sign": unary(INTEGERS),
}  # fmt: skip
