"""recast beside other tools that fold constants: small models that show what each of them keeps, and 1 GiB of casts.

Only with --all. The rows are the table of README.md; recast has to answer each of them with the first word of the row.
"""

import subprocess
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from checks.performance.files_beyond_2_gib import write_model
from peers.environment import FOLDER, UNKNOWN_FIELD, peers_python
from support.common import RECAST, scratch_folder
from support.measure import run

ONLY_WITH_ALL = "needs conformance/.venv-peers"
PEERS = ("onnxsim", "onnxslim", "onnxscript", "polygraphy", "onnxruntime")


def check(report):
    with scratch_folder() as folder:
        rows = [(question, *(ask(folder, tool, *probe) for tool in ("recast", *PEERS))) for question, *probe in PROBES]
        rows += speed_rows(folder)
    for question, ours, *_ in rows:
        report.case(question, not ours.startswith(("yes", "0.")) and ours)
    report.details += [f"| {' | '.join(row)} |" for row in [("", "recast fold", *PEERS), *rows]]


def fold(tool, model, output):
    """Why the result is missing; none if there is a result."""
    done = subprocess.run(command(tool, model, output), capture_output=True, text=True)
    return None if done.returncode == 0 and output.is_file() else "fails"


def command(tool, model, output):
    if tool == "recast":
        return [RECAST, "fold", model, "-o", output, "--quiet"]
    return [peers_python(), FOLDER / "serve_folds.py", tool, model, output]


def ask(folder, tool, make, answer):
    model, output = folder / "model.onnx", folder / f"{tool}.onnx"
    output.unlink(missing_ok=True)
    model.write_bytes(make())
    return fold(tool, model, output) or answer(model, output)


def encode(nodes, inputs, outputs, initializers=(), functions=(), opset=21, **fields):
    value = lambda name, dtype, shape: helper.make_tensor_value_info(name, dtype, shape)
    graph = helper.make_graph(nodes, "g", [value(*each) for each in inputs], [value(*each) for each in outputs], list(initializers))
    imports = [helper.make_opsetid("", opset), *([helper.make_opsetid("local", 1)] if functions else [])]
    return helper.make_model(graph, opset_imports=imports, ir_version=10, functions=functions, **fields)


def cast_of(values, to, dtype, back=TensorProto.FLOAT):
    """A constant that is cast, and cast back for runtimes that return no such type."""
    weight = numpy_helper.from_array(np.array(values, dtype), "w")
    nodes = [helper.make_node("Cast", ["w"], ["c"], to=to), helper.make_node("Cast", ["c"], ["d"], to=back), helper.make_node("Add", ["x", "d"], ["y"])]
    return encode(nodes, [("x", back, [len(values)])], [("y", back, [len(values)])], [weight])


def float8():
    """The first cast is defined in every bit; only its result matters."""
    weight = numpy_helper.from_array(np.array([0.5, 3], np.float32), "w")
    scale = numpy_helper.from_array(np.array(1, np.float32), "s")
    nodes = [
        helper.make_node("Cast", ["w"], ["c"], to=TensorProto.FLOAT8E4M3FN),
        helper.make_node("DequantizeLinear", ["c", "s"], ["d"]),
        helper.make_node("Add", ["x", "d"], ["y"]),
    ]
    return encode(nodes, [("x", TensorProto.FLOAT, [2])], [("y", TensorProto.FLOAT, [2])], [weight, scale]).SerializeToString()


def keeps_float8(_, output):
    model = onnx.load(output)
    types = {tensor.data_type for tensor in constants(model)}
    if TensorProto.FLOAT8E4M3FN in types:
        return "yes"
    if TensorProto.UINT8 in types:
        return "no: UINT8"
    return "not folded" if any(node.op_type == "Cast" for node in model.graph.node) else "yes, further"


def constants(model):
    yield from model.graph.initializer
    for node in model.graph.node:
        yield from (attribute.t for attribute in node.attribute if attribute.HasField("t"))


def out_of_range():
    return cast_of([1, 300, np.nan], TensorProto.INT8, np.float32).SerializeToString()


def keeps_undefined(_, output):
    return "yes" if any(node.op_type == "Cast" for node in onnx.load(output).graph.node) else "no: folded"


def overridable():
    model = cast_of([1.0, 2.0], TensorProto.FLOAT16, np.float32)
    model.graph.input.add().CopyFrom(helper.make_tensor_value_info("w", TensorProto.FLOAT, [2]))
    return model.SerializeToString()


def keeps_input(_, output):
    model = onnx.load(output)
    listed = any(value.name == "w" for value in model.graph.input)
    used = any("w" in node.input for node in model.graph.node)
    return "yes" if listed and used else "no: folded"


def with_bystanders():
    model = cast_of([1.0, 2.0], TensorProto.FLOAT16, np.float32)
    model.metadata_props.add(key="license", value="MIT")
    model.doc_string = model.graph.doc_string = "documentation"
    model.graph.node[-1].metadata_props.add(key="source", value="line 1")
    model.graph.quantization_annotation.add(tensor_name="x").quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="w2")
    model.graph.initializer.append(numpy_helper.from_array(np.array(1, np.float32), "w2"))
    return model.SerializeToString()


def keeps_bystanders(source, output):
    before, after = onnx.load(source), onnx.load(output)
    lost = []
    if before.metadata_props != after.metadata_props:
        lost.append("metadata")
    if before.doc_string != after.doc_string or before.graph.doc_string != after.graph.doc_string:
        lost.append("doc strings")
    if [node.metadata_props for node in after.graph.node if node.op_type == "Add"] != [before.graph.node[-1].metadata_props]:
        lost.append("metadata of nodes")
    if before.graph.quantization_annotation != after.graph.quantization_annotation:
        lost.append("annotations")
    return f"no: {', '.join(lost)}" if lost else "yes"


def with_function():
    function = helper.make_function("local", "Double", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 21)])
    nodes = [helper.make_node("Double", ["x"], ["y"], domain="local")]
    return encode(nodes, [("x", TensorProto.FLOAT, [2])], [("y", TensorProto.FLOAT, [2])], functions=[function]).SerializeToString()


def keeps_function(_, output):
    model = onnx.load(output)
    called = any(node.domain == "local" for node in model.graph.node)
    return "yes" if model.functions and called else "no: dropped" if called else "no: inlined"


def with_unknown_field():
    return cast_of([1.0, 2.0], TensorProto.FLOAT16, np.float32).SerializeToString() + UNKNOWN_FIELD


def keeps_unknown(_, output):
    return "yes" if UNKNOWN_FIELD in output.read_bytes() else "no"


def without_casts():
    return encode([helper.make_node("Relu", ["x"], ["y"])], [("x", TensorProto.FLOAT, [2])], [("y", TensorProto.FLOAT, [2])]).SerializeToString()


def keeps_bytes(source, output):
    return "yes" if source.read_bytes() == output.read_bytes() else "no"


PROBES = [
    ("a constant cast to float8 stays float8", float8, keeps_float8),
    ("casts with an undefined result are kept", out_of_range, keeps_undefined),
    ("initializers that a caller may override are kept", overridable, keeps_input),
    ("metadata, doc strings, annotations are kept", with_bystanders, keeps_bystanders),
    ("model-local functions are kept", with_function, keeps_function),
    ("fields of newer formats are kept", with_unknown_field, keeps_unknown),
    ("a model with nothing to fold keeps its bytes", without_casts, keeps_bytes),
]


def speed_rows(folder):
    """1 GiB of FLOAT initializers cast to FLOAT16; times of whole processes, as multiples of `cp`."""
    source, copy = folder / "large.onnx", folder / "copy.onnx"
    write_model(source, np.dtype(np.float32), np.dtype(np.float16), 64, 64)
    start = time.monotonic()
    subprocess.run(["cp", source, copy], check=True)
    cp = time.monotonic() - start
    copy.unlink()
    times, memories = [], []
    for tool in ("recast", *PEERS):
        output = folder / f"large_{tool}.onnx"
        code, seconds, memory = run(command(tool, source, output))
        done = code == 0 and output.is_file()
        output.unlink(missing_ok=True)
        times.append(f"{seconds / cp:.1f}" if done else "fails")
        memories.append(f"{memory / 1024:.2f} GiB" if done else "fails")
    return [("1 GiB of casts: time, of `cp`", *times), ("1 GiB of casts: memory", *memories)]
