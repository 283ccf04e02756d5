"""Files beyond protobuf's 2 GiB: read, folded, written with external data, accepted by onnxruntime.

Only with --all: it writes about 12 GiB.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper

from common import recast, run_model, scratch_folder, supports

ROWS, COLUMNS = 4096, 8192
CASES = [
    # (what, stored as, cast to, tensors): sizes are 128 MiB a FLOAT tensor.
    ("1 GiB of FLOAT to FLOAT16", np.float32, np.float16, 8),
    ("a single file of more than 2 GiB", np.float32, np.float16, 18),
    ("an output of more than 2 GiB", np.float16, np.float32, 18),
]


def check(report):
    if not report.everything:
        report.skip("only with --all")
        return
    if not supports("fold", "--external-data"):
        report.skip("recast has no --external-data")
        return
    for name, stored, wanted, tensors in CASES:
        with scratch_folder() as scratch:
            check_case(report, name, scratch, np.dtype(stored), np.dtype(wanted), tensors)


def check_case(report, name, scratch, stored, wanted, tensors):
    source, output = scratch / "in.onnx", scratch / "out" / "model.onnx"
    output.parent.mkdir()
    write_model(source, stored, wanted, tensors)
    done = recast("fold", source, "-o", output, "--max-growth", str(1 << 40))
    if not report.case(f"{name}: exit code", done.returncode != 0 and f"{done.returncode}: {done.stderr.strip()}"):
        return
    report.case(f"{name}: model file", output.stat().st_size >= 1 << 31 and f"{output.stat().st_size} bytes")
    model = onnx.load(output, load_external_data=False)
    report.case(f"{name}: casts", any(node.input[0].startswith("w") for node in model.graph.node) and "casts of constants stay")
    row = 4001
    expected = sum(weights(index, stored)[row].astype(wanted).astype(np.float64) for index in range(tensors))
    actual = report.attempt(f"{name}: onnxruntime", lambda: run_model(output, {"row": np.array(row)}, "onnxruntime"))
    report.case(f"{name}: outputs", actual is None or (not np.array_equal(actual[0], expected) and "a row of the weights differs"))


def weights(index, dtype):
    """A tensor of the model: whole numbers and halves that every type here holds, and thirds that FLOAT16 rounds."""
    values = (np.arange(ROWS * COLUMNS, dtype=np.float32) % 1021 - 500 + index) / 3
    return values.reshape(ROWS, COLUMNS).astype(dtype)


def write_model(path, stored, wanted, tensors):
    """A model that casts its weights and returns the sum of one row of each. Written piece by piece, as onnx cannot write 2 GiB."""
    number = helper.np_dtype_to_tensor_dtype(wanted)
    nodes = []
    for index in range(tensors):
        nodes += [
            helper.make_node("Cast", [f"w{index}"], [f"cast{index}"], to=number),
            helper.make_node("Gather", [f"cast{index}", "row"], [f"row{index}"], axis=0),
            helper.make_node("Cast", [f"row{index}"], [f"term{index}"], to=TensorProto.DOUBLE),
        ]
    nodes.append(helper.make_node("Sum", [f"term{index}" for index in range(tensors)], ["y"]))
    inputs = [helper.make_tensor_value_info("row", TensorProto.INT64, [])]
    graph = helper.make_graph(
        nodes, "big", inputs, [helper.make_tensor_value_info("y", TensorProto.DOUBLE, [COLUMNS])]
    ).SerializeToString()
    model = onnx.ModelProto(ir_version=10, opset_import=[helper.make_opsetid("", 21)]).SerializeToString()
    size = ROWS * COLUMNS * stored.itemsize
    heads = [tensor_head(f"w{index}", stored, size) for index in range(tensors)]
    with open(path, "wb") as file:
        file.write(model + field(7, len(graph) + sum(len(head) + size for head in heads)) + graph)
        for index, head in enumerate(heads):
            file.write(head)
            file.write(weights(index, stored).tobytes())


def tensor_head(name, dtype, size):
    """An initializer up to the first byte of its raw_data."""
    tensor = TensorProto(name=name, data_type=helper.np_dtype_to_tensor_dtype(dtype), dims=[ROWS, COLUMNS]).SerializeToString()
    raw_data = field(9, size)
    return field(5, len(tensor) + len(raw_data) + size) + tensor + raw_data


def field(number, length):
    """The tag and length of a length-delimited protobuf field."""
    return varint(number << 3 | 2) + varint(length)


def varint(value):
    groups = []
    while True:
        groups.append(value & 0x7F | (0x80 if value > 0x7F else 0))
        value >>= 7
        if value == 0:
            return bytes(groups)
