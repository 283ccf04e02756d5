"""Time and memory of `recast convert`: compared with onnx.version_converter, and with weights that are not read."""

import math
import sys
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, version_converter

from support.common import RECAST, scratch_folder
from support.measure import measured
from support.models import external_tensor

NODES, FROM, TO = 20_000, 13, 21
LARGEST_SHARE = 0.25  # Of the time of onnx.version_converter.
# Of the processor time of a process that loads, converts and saves with onnx, its imports left out; 0.16 is measured.
LARGEST_WHOLE_SHARE = 0.3
WEIGHTS, ROWS, COLUMNS = 40, 1 << 12, 1 << 12  # 2.5 GiB of FLOAT.
MOST_MEGABYTES = 100
RUNS = 3


def check(report):
    with scratch_folder() as folder:
        check_nodes(report, folder)
        check_transformer(report, folder)
        check_weights(report, folder)


def check_nodes(report, folder):
    """A graph without weights: the conversion alone, and whole processes."""
    source, output = folder / "nodes.onnx", folder / "converted.onnx"
    source.write_bytes(many_nodes().SerializeToString())
    report.ratio(f"{NODES} nodes: time", lambda: share_of_conversion(report, source, output), LARGEST_SHARE, "the time of onnx")
    report.attempt(f"{NODES} nodes: onnx.checker", lambda: onnx.checker.check_model(output, full_check=True))
    report.ratio(f"{NODES} nodes: whole process", lambda: share_of_process(report, source, output), LARGEST_WHOLE_SHARE, "the time of onnx")


def share_of_conversion(report, source, output):
    """Without reading and writing, which is what a conversion to the opset of the model takes."""
    reading, ours, theirs, their_conversion = math.inf, math.inf, math.inf, math.inf
    for _ in range(RUNS):
        reading = min(reading, seconds_of_recast(report, source, output, FROM).processor_seconds)
        ours = min(ours, seconds_of_recast(report, source, output, TO).processor_seconds)
        whole, conversion = seconds_of_onnx(source, output.with_name("peer.onnx"))
        theirs, their_conversion = min(theirs, whole), min(their_conversion, conversion)
    share = (ours - reading) / their_conversion
    report.note(
        f"{NODES} nodes from {FROM} to {TO}: {(ours - reading) * 1000:.0f} ms, {share:.0%} of the {their_conversion * 1000:.0f} ms of onnx; "
        f"with reading and writing {ours * 1000:.0f} ms, {ours / theirs:.0%} of {theirs * 1000:.0f} ms"
    )
    return share


def share_of_process(report, source, output):
    """From start to end. Wall time is printed only: recast waits until its output is on the disk, which takes as long as the disk
    pleases, and onnx does not."""
    ours, theirs, imports = np.full(2, math.inf), np.full(2, math.inf), np.full(2, math.inf)
    text = output.with_name("out.txt")
    for _ in range(RUNS):
        ours = np.minimum(ours, times(seconds_of_recast(report, source, output, TO)))
        theirs = np.minimum(theirs, times(measured([sys.executable, "-c", CONVERSION, source, output.with_name("theirs.onnx")], text)))
        imports = np.minimum(imports, times(measured([sys.executable, "-c", IMPORTS], text)))
    wall, share = ours / (theirs - imports)
    report.note(f"whole processes: {ours[0] * 1000:.0f} ms, {wall:.0%} of onnx; {share:.0%} of its processor time")
    return share


def seconds_of_recast(report, source, output, opset):
    run = measured([RECAST, "convert", source, "--opset", str(opset), "--no-verify", "-o", output], output.with_name("out.txt"))
    report.case(f"{source.name} to opset {opset}: exit code", run.code)
    return run


def times(run):
    return np.array([run.seconds, run.processor_seconds])


def check_transformer(report, folder):
    """A model of the size of a ViT, with its weights inside: 340 MB, of which recast copies all but the graph."""
    source, output = folder / "transformer.onnx", folder / "converted.onnx"
    source.write_bytes(transformer().SerializeToString())

    def share():
        ours = min(seconds_of_recast(report, source, output, TO).processor_seconds for _ in range(RUNS))
        theirs = measured([sys.executable, "-c", CONVERSION, source, output], folder / "out.txt").processor_seconds
        report.note(f"{source.stat().st_size >> 20} MiB: {ours:.2f} s of processor time; onnx {theirs:.2f} s")
        return ours / theirs

    report.ratio("transformer: time", share, LARGEST_SHARE, "the time of onnx")


def transformer():
    nodes, constants, last, width = [], [], "x", 768

    def add(op, *inputs, **attributes):
        nodes.append(helper.make_node(op, inputs, [f"{op}_{len(nodes)}"], **attributes))
        return nodes[-1].output[0]

    def linear(value, rows, columns):
        weights = np.full((rows, columns), 0.01, np.float32)
        constants.append(numpy_helper.from_array(weights, f"w{len(constants)}"))
        return add("MatMul", value, constants[-1].name)

    for _ in range(12):
        scores = add("MatMul", linear(last, width, width), add("Transpose", linear(last, width, width), perm=[1, 0]))
        mixed = add("MatMul", add("Softmax", scores), linear(last, width, width))
        last = add("Add", last, linear(mixed, width, width))
        last = add("Add", last, linear(add("Relu", linear(last, width, 4 * width)), 4 * width, width))
        last = add("Sub", last, add("ReduceMean", last, axes=[-1]))
    return model_of(nodes, last, constants, [197, width])


IMPORTS = "import sys, onnx; from onnx import version_converter"
CONVERSION = f"{IMPORTS}; onnx.save(version_converter.convert_version(onnx.load(sys.argv[1]), {TO}), sys.argv[2])"


def many_nodes():
    """A chain of blocks that hold what converters have to change between these opsets, and what they have not."""
    nodes, last = [], "x"

    def add(op, *inputs, **attributes):
        nonlocal last
        last = f"{op}_{len(nodes)}"
        nodes.append(helper.make_node(op, inputs, [last], last, **attributes))
        return last

    for _ in range(NODES // 10):
        start = last
        centred = add("Sub", start, add("ReduceMean", start, axes=[-1]))
        variance = add("ReduceMean", add("Mul", centred, centred), axes=[-1])
        normal = add("Div", centred, add("Sqrt", add("Add", variance, "epsilon")))
        add("Relu", add("MatMul", add("Softmax", normal), "w"))
    constants = {"w": np.eye(8, dtype=np.float32), "epsilon": np.array(1e-5, np.float32)}
    return model_of(nodes, last, [numpy_helper.from_array(array, name) for name, array in constants.items()], [8, 8])


def model_of(nodes, output, initializers, shape):
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("x", output))
    graph = helper.make_graph(nodes, "speed", [x], [y], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", FROM)], ir_version=8)


def seconds_of_onnx(source, output):
    """Processor time to read, convert and write; to convert alone."""
    start = time.process_time()
    model = onnx.load(source)
    loaded = time.process_time()
    converted = version_converter.convert_version(model, TO)
    done = time.process_time()
    onnx.save(converted, output)
    return time.process_time() - start, done - loaded


def check_weights(report, folder):
    """Weights in a data file stay where they are, and are not read."""
    source, output = folder / "weights.onnx", folder / "moved.onnx"
    source.write_bytes(large_weights().SerializeToString())
    with open(folder / "weights.bin", "wb") as data:
        data.truncate(WEIGHTS * 4 * ROWS * COLUMNS)
    reading = measured([RECAST, "inspect", source], folder / "out.txt").seconds
    run = measured([RECAST, "convert", source, "--opset", str(TO), "-o", output], folder / "out.txt")
    report.case("2.5 GiB of weights: exit code", run.code)
    report.case("2.5 GiB of weights: where they are", initializers(source) != initializers(output) and "the data moved")
    report.case("2.5 GiB of weights: memory", run.megabytes > MOST_MEGABYTES and f"{run.megabytes:.0f} MB")
    report.note(f"2.5 GiB of external weights: {run.seconds * 1000:.0f} ms, {reading * 1000:.0f} ms of which to read the graph, {run.megabytes:.0f} MB")


def large_weights():
    nodes, initializers, last = [], [], "x"
    for index in range(WEIGHTS):
        size = 4 * ROWS * COLUMNS
        weight = external_tensor(f"w{index}", TensorProto.FLOAT, [ROWS, COLUMNS], "weights.bin", index * size, size)
        nodes.append(helper.make_node("MatMul", [last, weight.name], [f"product{index}"]))
        nodes.append(helper.make_node("ReduceMean", [f"product{index}"], [f"mean{index}"], axes=[-1]))
        nodes.append(helper.make_node("Sub", [f"product{index}", f"mean{index}"], [last := f"h{index}"]))
        initializers.append(weight)
    return model_of(nodes, last, initializers, [8, ROWS])


def initializers(path):
    return list(onnx.load(path, load_external_data=False).graph.initializer)
