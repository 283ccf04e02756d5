"""Models of one node with values that the node tests lack, and that models have: large numbers, for which a power of e is infinite or zero, negative
indices, and integers that a narrower type lacks. The expected outputs are those of onnxruntime, or of numpy."""

import itertools

import numpy as np

from runs.boundaries import by_newest, in_all_versions, versions_of, write_models

ACTIVATIONS = (
    *("Atan", "Celu", "Elu", "Erf", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Mish", "Relu", "Selu", "Sigmoid", "Softplus", "Softsign"),
    *("Tanh", "ThresholdedRelu"),
)
NUMBERS = (0.5, 5, 12, 30, 50, 90, 120, 1000)
LARGE = np.float32([*NUMBERS, *(-number for number in NUMBERS)])
# Types in which these operators are tried, too.
OTHER_TYPES = ("float16", "double")
OF_OTHER_TYPES = ("Sigmoid", "Softplus", "Tanh", "LogSoftmax", "Softmax", "ReduceLogSumExp")
INTEGERS = [0, 1, 127, 128, 255, 256, 300, 32767, 40000, 65536, 70000, 2**40 + 5, -1, -100, -128, -129, -256, -32768, -40000, -(2**35) - 77]
# Types of which narrower ones, or those with the other sign, lack some integers, and these types with their numbers in ONNX.
WIDE = ("int8", "uint8", "int16", "uint16", "int32", "int64")
NARROW = {"uint8": 2, "int8": 3, "uint16": 4, "int16": 5}


def write(folder):
    """A `model.onnx` for each, beside a folder with its data."""
    write_models(folder, models())


def models():
    yield from large_numbers()
    yield from negative_indices()
    yield from narrowed_integers()


def large_numbers():
    for op in ACTIVATIONS:
        for dtype, opset in types_and_versions(op):
            yield of_large_numbers(op, dtype, opset, LARGE)
    rows = np.stack([LARGE, -LARGE, LARGE[::-1] / 2, np.minimum(LARGE, 12)])
    for op in ("LogSoftmax", "Softmax"):
        for dtype, opset in types_and_versions(op):
            yield of_large_numbers(op, dtype, opset, rows, "<axis = 1>")
    for dtype, opset in types_and_versions("ReduceLogSumExp"):
        yield of_large_numbers("ReduceLogSumExp", dtype, opset, rows, "" if opset >= 18 else "<axes = [1]>")


def types_and_versions(op):
    for opset in versions_of(op):
        for dtype in ("float", *(OTHER_TYPES if op in OF_OTHER_TYPES else ())):
            yield dtype, opset


def of_large_numbers(op, dtype, opset, x, attributes=""):
    """A model. The numbers are those of FLOAT16, so that the results are those of FLOAT, rounded."""
    [y] = by_newest(graph_of(op, "float", x, "" if op.startswith("Reduce") else attributes), {"x": x})
    kind = {"float": np.float32, "double": np.float64, "float16": np.float16}[dtype]
    return f"{op.lower()}_of_large_numbers_{dtype}", opset, graph_of(op, dtype, x, attributes), {"x": x.astype(kind)}, [y.astype(kind)]


def graph_of(op, dtype, x, attributes):
    """A graph of one node. A reduction without attributes has its axes as an input."""
    lengths = ",".join(map(str, x.shape))
    is_reduction = op.startswith("Reduce")
    result = f"{x.shape[0]},1" if is_reduction else lengths
    constant, argument = ("<int64[1] axes = {1}>", ", axes") if is_reduction and not attributes else ("", "")
    return f"({dtype}[{lengths}] x) => ({dtype}[{result}] y) {constant} {{ y = {op} {attributes} (x{argument}) }}"


def negative_indices():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    of_axis = np.array([[[-1, 0, 2, -3]], [[0, -2, 1, -1]]])
    updates = -np.ones((2, 1, 4), np.float32)
    for opset in versions_of("Gather"):
        for indices in ([-1, 0, -3], [2, 0, 1]):
            graph = "(float[2,3,4] x, int64[3] i) => (float[2,3,4] y) { y = Gather <axis = 1> (x, i) }"
            inputs = {"x": x, "i": np.array(indices)}
            if opset >= 11 or min(indices) >= 0:
                yield f"gather_at_{indices[0]}".replace("-", "minus_"), opset, graph, inputs, [x[:, indices]]
    graph = "(float[2,3,4] x, int64[2,1,4] i) => (float[2,1,4] y) { y = GatherElements <axis = 1> (x, i) }"
    yield from in_all_versions("GatherElements", "gatherelements_at_negative_indices", graph, {"x": x, "i": of_axis})
    graph = "(float[2,3,4] x, int64[2,2] i) => (float[2,4] y) { y = GatherND (x, i) }"
    yield from in_all_versions("GatherND", "gathernd_at_negative_indices", graph, {"x": x, "i": np.array([[-1, -2], [0, -1]])})
    graph = "(float[2,3,4] x) => (float[2,4] y) <int64[2,2] i = {1,0,0,2}> { y = GatherND (x, i) }"
    yield from in_all_versions("GatherND", "gathernd_at_constant_indices", graph, {"x": x})
    graph = "(float[2,3,4] x, int64[2,1] i) => (float[2,4] y) { y = GatherND <batch_dims = 1> (x, i) }"
    inputs = {"x": x, "i": np.array([[-1], [-3]])}
    yield from in_all_versions("GatherND", "gathernd_at_negative_indices_of_batches", graph, inputs, first=12)
    graph = "(float[2,3,4] x, int64[2,1,4] i, float[2,1,4] u) => (float[2,3,4] y) { y = ScatterElements <axis = 1> (x, i, u) }"
    yield from in_all_versions("ScatterElements", "scatterelements_at_negative_indices", graph, {"x": x, "i": of_axis, "u": updates})
    graph = "(float[2,3,4] x, int64[2,1] i, float[2,3,4] u) => (float[2,3,4] y) { y = ScatterND (x, i, u) }"
    yield from in_all_versions("ScatterND", "scatternd_at_negative_indices", graph, {"x": x, "i": np.array([[-1], [0]]), "u": -x})
    graph = "(float[2,3,4] x, float[2,3,4] u) => (float[2,3,4] y) <int64[2,1] i = {1,0}> { y = ScatterND (x, i, u) }"
    yield from in_all_versions("ScatterND", "scatternd_at_constant_indices", graph, {"x": x, "u": -x})
    graph = "(int64[3] i) => (float[3,4] y) <int64 d = {4}, float[2] v = {0,1}> { y = OneHot (i, d, v) }"
    # Before opset 11, an index is not negative.
    yield from in_all_versions("OneHot", "onehot_at_negative_indices", graph, {"i": np.array([-1, 2, -4])}, first=11)


def narrowed_integers():
    """A cast keeps the low bits."""
    for source, target in itertools.product(WIDE, NARROW):
        limits, kept = np.iinfo(source), np.iinfo(target)
        if kept.min <= limits.min and limits.max <= kept.max:
            continue
        x = np.array([each for each in INTEGERS if limits.min <= each <= limits.max], source)
        signature = f"({source}[{len(x)}] x) => ({target}[{len(x)}] y)"
        for op, first, node in (("Cast", 6, f"Cast <to = {NARROW[target]}> (x)"), ("CastLike", 15, "CastLike (x, t)")):
            for opset in versions_of(op):
                if opset >= first:
                    constant = f"<{target} t = {{0}}>" if op == "CastLike" else ""
                    yield f"{op.lower()}_{source}_to_{target}", opset, f"{signature} {constant} {{ y = {node} }}", {"x": x}, [x.astype(target)]
