"""Time and memory of `recast convert`: compared with onnx.version_converter, and with weights that are not read."""

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
# Of the processor time of a process that loads, converts and saves with onnx, its imports left out; 0.16 is measured. Wall time is
# printed only: recast waits until its output is on the disk, which takes as long as the disk pleases, and onnx does not.
LARGEST_WHOLE_SHARE = 0.3
WEIGHTS, ROWS, COLUMNS = 40, 1 << 12, 1 << 12  # 2.5 GiB of FLOAT.
LONGEST, MOST_MEGABYTES = 1.0, 100  # LONGEST in processor time.
RUNS = 3


def check(report):
    with scratch_folder() as folder:
        check_nodes(report, folder)
        check_transformer(report, folder)
        check_weights(report, folder)


def check_nodes(report, folder):
    """The conversion alone, and with reading and writing; in processor time, since recast waits for the disk where onnx does not."""
    source, output = folder / "nodes.onnx", folder / "converted.onnx"
    source.write_bytes(many_nodes().SerializeToString())

    def seconds_of_recast(opset):
        run = measured([RECAST, "convert", source, "--opset", str(opset), "-o", output], folder / "out.txt")
        report.case(f"{NODES} nodes to opset {opset}: exit code", run.code)
        return run.processor_seconds

    rounds = [(seconds_of_recast(FROM), seconds_of_recast(TO), *seconds_of_onnx(source, folder / "peer.onnx")) for _ in range(RUNS)]
    report.attempt(f"{NODES} nodes: onnx.checker", lambda: onnx.checker.check_model(output, full_check=True))
    reading, ours, theirs, their_conversion = map(min, zip(*rounds))
    share = (ours - reading) / their_conversion
    report.note(
        f"{NODES} nodes from {FROM} to {TO}: {(ours - reading) * 1000:.0f} ms, {share:.0%} of the {their_conversion * 1000:.0f} ms of onnx; "
        f"with reading and writing {ours * 1000:.0f} ms, {ours / theirs:.0%} of {theirs * 1000:.0f} ms"
    )
    report.case(f"{NODES} nodes: time", share > LARGEST_SHARE and f"more than {LARGEST_SHARE:.0%} of onnx's")
    check_whole_processes(report, folder, source, output)


def check_transformer(report, folder):
    """A model of the size of a ViT, with its weights inside: 340 MB, of which recast copies all but the graph."""
    source, output = folder / "transformer.onnx", folder / "converted.onnx"
    source.write_bytes(transformer().SerializeToString())

    def fastest(*command):
        runs = [measured(command, folder / "out.txt") for _ in range(RUNS)]
        report.case(f"transformer, {command[0]}: exit code", max(run.code for run in runs))
        return [min(run.seconds for run in runs), min(run.processor_seconds for run in runs)]

    ours, theirs = fastest(RECAST, "convert", source, "--opset", str(TO), "-o", output), fastest(sys.executable, "-c", CONVERSION, source, output)
    report.note(f"{source.stat().st_size >> 20} MiB: {ours[0]:.2f} s, {ours[1]:.2f} s of processor time; onnx {theirs[0]:.2f} s, {theirs[1]:.2f} s")
    report.case("transformer: time", ours[1] > LARGEST_SHARE * theirs[1] and f"more than {LARGEST_SHARE:.0%} of onnx's")


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


def check_whole_processes(report, folder, source, output):
    """The fastest of some runs from start to end: in wall time with what they wait for the disk, and in processor time."""

    def fastest(*command):
        runs = [measured(command, folder / "out.txt") for _ in range(RUNS)]
        report.case(f"{NODES} nodes, {command[0]}: exit code", max(run.code for run in runs))
        return np.array([min(run.seconds for run in runs), min(run.processor_seconds for run in runs)])

    ours = fastest(RECAST, "convert", source, "--opset", str(TO), "-o", output)
    theirs = fastest(sys.executable, "-c", CONVERSION, source, folder / "theirs.onnx") - fastest(sys.executable, "-c", IMPORTS)
    wall, share = ours / theirs
    report.note(f"whole processes: {ours[0] * 1000:.0f} ms, {wall:.0%} of the {theirs[0] * 1000:.0f} ms of onnx; {share:.0%} of its processor time")
    report.case(f"{NODES} nodes: whole process", share > LARGEST_WHOLE_SHARE and f"more than {LARGEST_WHOLE_SHARE:.0%} of onnx's")


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
    report.case("2.5 GiB of weights: time", run.processor_seconds > LONGEST and f"{run.processor_seconds:.2f} s of processor time, {reading:.2f} s of which to read the graph")
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
