"""Files beyond protobuf's 2 GiB: read, folded, changed to FLOAT16 and back, written with external data, accepted by onnxruntime. Folds and
changes of precision beside copies by `cp` and `sync`. Large arrays.

Only with --all: it needs 16 GiB of disk.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support.common import RECAST, recast, scratch_folder
from support.measure import beside_cp, run
from support.models import external_tensor
from support.runners import run_model
from support.wire import field, head

ONLY_WITH_ALL = "needs 16 GiB of disk"
ROWS, COLUMNS = 2048, 2048
CASES = [
    # (what, stored as, cast to, tensors): sizes are 16 MiB a FLOAT tensor.
    ("1 GiB of FLOAT to FLOAT16", np.float32, np.float16, 64),
    ("a single file of more than 2 GiB", np.float32, np.float16, 144),
    ("an output of more than 2 GiB", np.float16, np.float32, 144),
]

MOST_ANONYMOUS = 64  # MiB.


def check(report):
    for name, stored, wanted, tensors in CASES:
        with scratch_folder() as scratch:
            check_case(report, name, scratch, np.dtype(stored), np.dtype(wanted), tensors)
    check_speed(report, "1 GiB cast to FLOAT16, inline", write_model, 64, 64, runs=7)
    check_speed(report, "1 GiB cast to FLOAT16, external", write_external, 64, 64, runs=7)
    check_speed(report, "6 GiB external, a tiny cast", write_external, 384, 0, runs=3, most_verified=2)
    to_half = ("precision", "--to", "FLOAT16", "--policy", "all")
    check_speed(report, "1 GiB of FLOAT in FLOAT16, inline", write_model, 64, 0, runs=7, command=to_half)
    check_speed(report, "1 GiB of FLOAT in FLOAT16, external", write_external, 64, 0, runs=7, command=to_half)
    for write in (write_model, write_external):
        check_precision(report, f"2.25 GiB of FLOAT in FLOAT16, {write.__name__}", write)
    for to in ("FLOAT16", "FLOAT8E4M3FN"):
        check_array(report, to)


def check_array(report, to):
    """`recast cast` of a 4 GiB array needs hardly any memory of its own."""
    rows = 1 << 10
    with scratch_folder() as scratch:
        array = np.lib.format.open_memmap(scratch / "in.npy", mode="w+", dtype=np.float32, shape=(rows, 1 << 20))
        array[:] = (np.arange(1 << 20, dtype=np.float32) % 1021 - 500) / 3
        array.flush()
        code, seconds, memory = run([RECAST, "cast", scratch / "in.npy", "-o", scratch / "out.npy", "--to", to])
        report.case(f"4 GiB array to {to}: exit code", code)
        if to == "FLOAT16":
            row = np.load(scratch / "out.npy", mmap_mode="r")[rows - 1]
            report.case(f"4 GiB array to {to}: values", not np.array_equal(row, array[0].astype(np.float16)) and "the last row differs")
    report.case(f"4 GiB array to {to}: memory", memory > MOST_ANONYMOUS and f"{memory:.0f} MiB")
    report.details.append(f"4 GiB array to {to}: {seconds:.1f} s; {memory:.0f} MiB of memory")


def check_precision(report, name, write):
    """A model beyond 2 GiB in FLOAT16, and back in FLOAT, where it is beyond 2 GiB again and gets a data file."""
    with scratch_folder() as scratch:
        source, half, back = scratch / "in.onnx", scratch / "half" / "model.onnx", scratch / "back" / "model.onnx"
        write(source, np.dtype(np.float32), np.dtype(np.float16), 144, 0)
        for given, output, to in ((source, half, "FLOAT16"), (half, back, "FLOAT")):
            output.parent.mkdir()
            code, seconds, memory = run([RECAST, "precision", given, "-o", output, "--to", to, "--policy", "all", "--quiet"])
            report.case(f"{name}: to {to}: exit code", code)
            report.case(f"{name}: to {to}: memory", memory > MOST_ANONYMOUS and f"{memory:.0f} MiB")
            report.details.append(f"{name}: to {to}: {seconds:.2f} s; {memory:.0f} MiB of memory")
        report.case(f"{name}: data file", not any(file != back for file in back.parent.iterdir()) and "none beside the model of FLOAT")
        for output in (half, back):
            row = 2001
            expected = -sum(weights(index, np.float32)[row].astype(np.float16).astype(np.float64) for index in range(144))
            actual = report.attempt(f"{name}: {output.parent.name}: onnxruntime", lambda: run_model(output, {"row": np.array(row)}, "onnxruntime"))
            report.case(f"{name}: {output.parent.name}: outputs", actual is None or (not np.array_equal(actual[0], expected) and "a row of the weights differs"))


def check_speed(report, name, write, tensors, casts, runs, command=("fold",), most_verified=1):
    """A run into another folder takes no longer than a copy of the same bytes, and hardly any memory of its own. If it verifies moved bytes,
    which it reads from the disk, it takes longer."""
    with scratch_folder() as scratch:
        source = scratch / "in.onnx"
        data = write(source, np.dtype(np.float32), np.dtype(np.float16), tensors, casts)
        for variant, options, most in ((name, ["--no-verify"], 1), (f"{name}, verified", [], most_verified)):
            code, ours, theirs, memory = beside_cp([*command, source, *options], data, scratch / "out", runs)
            report.case(f"{variant}: exit code", code)
            report.case(f"{variant}: time", ours > most * theirs and f"{ours:.2f} s, but a copy takes {theirs:.2f} s")
            report.case(f"{variant}: memory", memory > MOST_ANONYMOUS and f"{memory:.0f} MiB")
            report.details.append(f"{variant}: {ours:.2f} s, {ours / theirs:.2f} times a copy ({theirs:.2f} s); {memory:.0f} MiB of memory")


def check_case(report, name, scratch, stored, wanted, tensors):
    source, output = scratch / "in.onnx", scratch / "out" / "model.onnx"
    output.parent.mkdir()
    write_model(source, stored, wanted, tensors)
    done = recast("fold", source, "-o", output, "--max-growth", str(1 << 40))
    if not report.case(f"{name}: exit code", done.returncode != 0 and f"{done.returncode}: {done.stderr.strip()}"):
        return
    report.case(f"{name}: model file", output.stat().st_size >= 1 << 31 and f"{output.stat().st_size} bytes")
    model = onnx.load(output, load_external_data=False)
    report.case(f"{name}: casts", any(node.op_type == "Cast" and node.input[0].startswith("w") for node in model.graph.node) and "casts of constants stay")
    row = 2001
    expected = -sum(weights(index, stored)[row].astype(wanted).astype(np.float64) for index in range(tensors))
    actual = report.attempt(f"{name}: onnxruntime", lambda: run_model(output, {"row": np.array(row)}, "onnxruntime"))
    report.case(f"{name}: outputs", actual is None or (not np.array_equal(actual[0], expected) and "a row of the weights differs"))


def weights(index, dtype):
    """A tensor of the model: whole numbers and halves that every type here holds, and thirds that FLOAT16 rounds."""
    values = (np.arange(ROWS * COLUMNS, dtype=np.float32) % 1021 - 500 + index) / 3
    return values.reshape(ROWS, COLUMNS).astype(dtype)


def write_model(path, stored, wanted, tensors, casts=None):
    """A model that casts its weights and returns the negative sum of one row of each. Written piece by piece, as onnx cannot write 2 GiB."""
    model, graph = header(stored, wanted, tensors, tensors if casts is None else casts)
    size = ROWS * COLUMNS * stored.itemsize
    heads = [tensor_head(f"w{index}", stored, size) for index in range(tensors)]
    with open(path, "wb") as file:
        file.write(model + head(7, len(graph) + sum(len(each) + size for each in heads)) + graph)
        for index, each in enumerate(heads):
            file.write(each)
            file.write(weights(index, stored).tobytes())
    return path


def write_external(path, stored, wanted, tensors, casts):
    """The same with the weights in a file of their own, whose path is returned."""
    model, graph = header(stored, wanted, tensors, casts)
    data = path.with_name("weights.data")
    size = ROWS * COLUMNS * stored.itemsize
    heads = [external_head(f"w{index}", stored, index * size, size) for index in range(tensors)]
    path.write_bytes(model + head(7, len(graph) + sum(map(len, heads))) + graph + b"".join(heads))
    with open(data, "wb") as file:
        for index in range(tensors):
            file.write(weights(index, stored).tobytes())
    return data


def header(stored, wanted, tensors, casts):
    """The model's fields but the graph, and the graph's but the weights. A weight that is not cast is as it is; `tiny` is cast."""
    number = helper.np_dtype_to_tensor_dtype(wanted)
    nodes = [helper.make_node("Cast", ["tiny"], ["tiny_cast"], to=number)]
    for index in range(tensors):
        name = f"w{index}"
        if index < casts:
            nodes.append(helper.make_node("Cast", [name], [name := f"cast{index}"], to=number))
        nodes += [
            helper.make_node("Gather", [name, "row"], [f"row{index}"], axis=0),
            helper.make_node("Neg", [f"row{index}"], [f"opposite{index}"]),
            helper.make_node("Cast", [f"opposite{index}"], [f"term{index}"], to=TensorProto.DOUBLE),
        ]
    nodes.append(helper.make_node("Sum", [f"term{index}" for index in range(tensors)], ["y"]))
    inputs = [helper.make_tensor_value_info("row", TensorProto.INT64, [])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.DOUBLE, [COLUMNS]), helper.make_tensor_value_info("tiny_cast", number, [2])]
    tiny = numpy_helper.from_array(np.array([0.5, 3], stored), "tiny")
    graph = helper.make_graph(nodes, "big", inputs, outputs, [tiny]).SerializeToString()
    return onnx.ModelProto(ir_version=10, opset_import=[helper.make_opsetid("", 21)]).SerializeToString(), graph


def external_head(name, dtype, offset, size):
    """An initializer whose values are stored in weights.data."""
    tensor = external_tensor(name, helper.np_dtype_to_tensor_dtype(dtype), [ROWS, COLUMNS], "weights.data", offset, size)
    return field(5, tensor.SerializeToString())


def tensor_head(name, dtype, size):
    """An initializer up to the first byte of its raw_data."""
    tensor = TensorProto(name=name, data_type=helper.np_dtype_to_tensor_dtype(dtype), dims=[ROWS, COLUMNS]).SerializeToString()
    raw_data = head(9, size)
    return head(5, len(tensor) + len(raw_data) + size) + tensor + raw_data
