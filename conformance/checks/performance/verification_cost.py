"""What the verification costs: time and memory of commands, as multiples of those with `--no-verify`.

Graphs of 50,000 nodes, of which many change: casts and other nodes of constants, casts and data movement that passes remove, nodes that a
conversion changes, and values that change their precision. And, with --all, 1 GiB of FLOAT cast to other types. Runs in turn; medians.
"""

import statistics

import numpy as np
import onnx
from onnx import TensorProto, helper

from checks.performance import growth_with_graph
from support.common import RECAST, scratch_folder
from support.elements import number_of
from support.measure import measured

NODES, RUNS = 50_000, 5
# The goal for memory is 1.6; it differs by a twentieth between runs, with the threads.
LONGEST_GRAPH, MOST_MEMORY = 2.0, 1.7
ELEMENTS = 1 << 28
# Seconds with and without verification, at most.
LONGEST_CASTS = {
    ("FLOAT", "FLOAT16"): 1.5,
    ("FLOAT", "BFLOAT16"): 1.5,
    ("FLOAT", "FLOAT8E4M3FN"): 1.5,
    ("FLOAT", "FLOAT8E5M2"): 1.5,
    ("FLOAT", "INT8"): 2.0,
    ("FLOAT", "DOUBLE"): 2.0,
    ("DOUBLE", "FLOAT"): 2.0,
    ("INT64", "INT32"): 2.0,
}


def check(report):
    with scratch_folder() as folder:
        for name, (model, commands) in graphs().items():
            source = folder / "graph.onnx"
            onnx.save(model, source)
            for command in commands:
                compare(report, folder, f"{NODES} nodes, {name}: {' '.join(command)}", source, command, LONGEST_GRAPH, MOST_MEMORY)
        for (source, to), most in LONGEST_CASTS.items() if report.everything else ():
            compare(report, folder, f"1 GiB of {source} to {to}", cast_of(folder, source, to), ("fold",), most)


def compare(report, folder, name, source, command, longest, most_memory=None):
    """Runs a command with and without verification in turn."""
    plain, verified = [], []

    def share():
        for _ in range(RUNS):
            for options, runs in ((("--no-verify",), plain), ((), verified)):
                output = folder / "out.onnx"
                output.unlink(missing_ok=True)
                verb, *rest = command
                runs.append(measured([RECAST, verb, source, *rest, "-o", output, "--quiet", *options], folder / "out.txt"))
        failed = [run.code for run in plain + verified if run.code]
        report.case(f"{name}: exit code", failed and failed[0])
        return of("seconds")

    def of(field):
        return middle(verified, field) / middle(plain, field)

    report.ratio(f"{name}: time", share, longest, "the time without verification")
    if most_memory:
        memory = of("megabytes")
        report.case(f"{name}: memory", memory > most_memory and f"{memory:.2f} times the memory without verification")
    figures = (
        f"{label} {middle(verified, field):.{digits}f}, {middle(plain, field):.{digits}f} without, ratio {of(field):.2f}"
        for label, field, digits in (("seconds", "seconds", 3), ("of the processor", "processor_seconds", 3), ("MB", "megabytes", 0))
    )
    report.details.append(f"{name}: {'; '.join(figures)}")


def middle(runs, field):
    return statistics.median(getattr(run, field) for run in runs)


def graphs():
    """By name: a model, and the commands that change it."""
    folds = ("fold",), ("fold", "--passes", "exact")
    precisions = [("precision", "--to", "FLOAT16", "--policy", policy) for policy in ("all", "stable")]
    return {
        "casts of constants": (growth_with_graph.model(NODES), [*folds, ("convert", "--opset", "13")]),
        "FLOAT": (growth_with_graph.model(NODES, TensorProto.FLOAT), [*folds, *precisions]),
        "layers": (layers(), [*folds, ("convert", "--opset", "13"), ("convert", "--opset", "28"), *precisions]),
    }


def layers():
    """Layers with casts, data movement, and operators that other opsets write in another way."""
    nodes, constants, last = [], [], "x"
    constants.append(helper.make_tensor("axes", TensorProto.INT64, [1], [1]))
    constants.append(helper.make_tensor("shape", TensorProto.INT64, [2], [0, -1]))

    def add(op, inputs, **attributes):
        nonlocal last
        name = f"layer.{index}/{op}_{len(nodes)}"
        nodes.append(helper.make_node(op, inputs, [f"{name}_output"], name, **attributes))
        last = f"{name}_output"
        return last

    for index in range(NODES // 20):
        weight, scale = f"layer.{index}.weight", f"layer.{index}.scale"
        constants.append(helper.make_tensor(weight, TensorProto.FLOAT, [4, 4], np.arange(16) / (index + 1)))
        constants.append(helper.make_tensor(scale, TensorProto.FLOAT16, [4], np.arange(4)))
        start = last
        mean = add("ReduceMean", [start, "axes"], keepdims=1)
        centred = add("Sub", [start, mean])
        add("Identity", [centred])
        add("Cast", [add("Cast", [last], to=TensorProto.DOUBLE)], to=TensorProto.FLOAT)
        factor = add("Cast", [scale], to=TensorProto.FLOAT)
        add("Mul", [centred, factor])
        turned = add("Transpose", [add("Transpose", [last], perm=[1, 0])], perm=[1, 0])
        product = add("MatMul", [turned, add("Transpose", [weight], perm=[1, 0])])
        wide = add("Unsqueeze", [product, "axes"])
        narrow = add("Squeeze", [wide, "axes"])
        shape = add("Shape", [narrow])
        add("Reshape", [narrow, shape])
        soft = add("Softmax", [last], axis=-1)
        add("Reshape", [soft, "shape"])
        add("Relu", [last])
        add("Neg", [last])
        add("Add", [last, start])
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 4]) for name in ("x", last)]
    graph = helper.make_graph(nodes, "layers", values[:1], values[1:], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def cast_of(folder, source, to):
    """A model with a cast of one large constant of random numbers, all of which have a result."""
    path = folder / "cast.onnx"
    rng = np.random.default_rng(0)
    kind = {"FLOAT": np.float32, "DOUBLE": np.float64, "INT64": np.int64}[source]
    if source == "INT64":
        numbers = rng.integers(-(2**31), 2**31, ELEMENTS // 2, dtype=kind)
    else:
        numbers = rng.standard_normal(ELEMENTS * 4 // kind().itemsize, dtype=kind)
    tensor = TensorProto(name="w", data_type=number_of(source), dims=numbers.shape, raw_data=numbers.tobytes())
    node = helper.make_node("Cast", ["w"], ["y"], to=number_of(to))
    output = helper.make_tensor_value_info("y", number_of(to), numbers.shape)
    graph = helper.make_graph([node], "cast", [], [output], [tensor])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=11)
    path.write_bytes(model.SerializeToString())
    return path
