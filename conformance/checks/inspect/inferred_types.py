"""Types and ranks of `recast inspect --types` beside those of onnx's shape inference with data propagation, over the onnx wheel.

Declared types of values and outputs are removed first, so that both sides infer. What onnx knows, recast has to know; where both know,
they have to agree, except for the rows of EXPLAINED. onnx knows no operators of com.microsoft: onnxruntime computes those of MICROSOFT.
"""

import json
from collections import Counter

import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, helper

from support.common import EXAMPLES, batches, recast, scratch_folder, wheel_models
from support.models import all_graphs, readable
from support.runners import run_model

SAMPLED_MODELS = 5  # One of so many.
# Just below what is measured.
LEAST_TYPES, LEAST_RANKS = 0.99, 0.99
# Values on which the two disagree: (operator, what) and why recast's answer is right.
EXPLAINED = {}


def check(report):
    models = report.sample([*EXAMPLES, *wheel_models()], SAMPLED_MODELS)
    counts, missed = compare_all(report, models)
    for kind, least in (("type", LEAST_TYPES), ("rank", LEAST_RANKS)):
        known, ours = counts[kind, "onnx"], counts[kind, "both"]
        report.note(f"of {known} {kind}s that onnx knows, {ours} are known ({ours / max(known, 1):.2%})")
        report.case(f"{kind}s", ours < least * known and f"fewer than {least:.0%}; most missed: {missed.most_common(12)}")
        report.count(f"{kind}s that onnx knows", known)
        report.count(f"{kind}s that both know", ours)
        report.details.append(f"{counts[kind, 'more']} {kind}s that onnx does not know")
    report.details.append(f"most missed: {missed.most_common(12)}")
    for graph in MICROSOFT:
        compare_microsoft(report, graph)
    check_declarations(report, models)


def check_declarations(report, models):
    """What the models declare does not contradict what is inferred."""
    for batch in batches(models):
        done = recast("lint", *batch, "--select", "RC211", "--exit-zero", "--format", "json")
        for finding in json.loads(done.stdout)["findings"]:
            report.case(f"{finding['path']} {finding['scope']}", finding["message"])
        report.cases, report.passed = report.cases + len(batch), report.passed + len(batch)


def compare_microsoft(report, graph):
    """Types and shapes of all outputs are those of the computed arrays; a dimension or type may be unknown where `?` says so."""
    text, partly = graph.removesuffix(" ?"), graph.endswith(" ?")
    outputs = ", ".join(text.split(" = ")[0].rsplit("{", 1)[1].replace('""', "").replace(" ", "").split(","))
    names = [name for name in outputs.split(", ") if name]
    interface, nodes = text.split("{", 1)
    source = f'<ir_version: 10, opset_import: ["": 21, "com.microsoft": 1]> g {interface} => ({", ".join(names)}) {{ {nodes} }}'
    with scratch_folder() as folder:
        path = folder / "model.onnx"
        onnx.save(onnx.parser.parse_model(source), path)
        types = {entry["value"]: entry for entry in json.loads(recast("inspect", path, "--types", "--format", "json").stdout)["types"]}
        model = onnx.load(path)
        try:
            arrays = dict(zip(names, run_model(path, microsoft_inputs(model), "onnxruntime")))
        except Exception as error:
            report.case(source, f"does not run: {error}")
            return
    for name, array in arrays.items():
        wanted = f"tensor({TensorProto.DataType.Name(helper.np_dtype_to_tensor_dtype(array.dtype)).lower()})"
        found = types[name]
        known = found["shape"] is not None and len(found["shape"]) == array.ndim
        agrees = known and all(dim == size or (partly and dim is None) for dim, size in zip(found["shape"], array.shape))
        problem = (found["type"] not in (wanted, None if partly else wanted) or not agrees) and f"{found}, but {wanted} {list(array.shape)} in onnxruntime"
        report.case(f"{source}: {name}", problem)


def microsoft_inputs(model):
    """Floats that are small, and zeros of other types, which are valid ids, masks and zero points; lengths of three."""
    feeds = {}
    for value in model.graph.input:
        tensor = value.type.tensor_type
        dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        shape = [dim.dim_value for dim in tensor.shape.dim]
        feeds[value.name] = np.full(shape, 0.5 if np.issubdtype(dtype, np.floating) else LENGTHS.get(value.name, 0), dtype)
    return feeds


# Of keys: the last index, and the number.
LENGTHS = {"last_key": 2, "keys": 3}

# Inputs and a node of com.microsoft; `?` behind it: some types or dimensions are not inferred.
MICROSOFT = [
    "(float[2,3,4] x, float[4] b) { y = com.microsoft.BiasGelu (x, b)",
    "(float[2,3] x) { y = com.microsoft.Gelu (x)",
    "(float[2,3] x) { y = com.microsoft.FastGelu (x)",
    "(float[2,3] x) { y = com.microsoft.QuickGelu (x)",
    "(float[2,3,3] x) { y = com.microsoft.Inverse (x)",
    "(float[2,3,4] x, float[2,3,5] w) { y = com.microsoft.FusedMatMul <transA = 1> (x, w)",
    "(float[2,3,4] x, float[5,4] w) { y = com.microsoft.FusedMatMul <transB = 1, alpha = 0.5> (x, w)",
    "(float[4,3] x, float[5,4] w) { y = com.microsoft.FusedGemm <transA = 1, transB = 1, activation = \"Relu\"> (x, w)",
    "(float[2,3,64] x, uint8[5,2,16] w, float[10] s) { y = com.microsoft.MatMulNBits <K = 64, N = 5, bits = 4, block_size = 32> (x, w, s)",
    "(float[2,3,4] x, uint8[4,5] w, float s, uint8 z) { y = com.microsoft.DynamicQuantizeMatMul (x, w, s, z)",
    "(uint8[3,4] x, uint8[4,5] w, float a, float b) { y = com.microsoft.MatMulIntegerToFloat (x, w, a, b)",
    "(uint8[3,1] x, float a, uint8 b, uint8[4] y0, float c, uint8 d, float e, uint8 f) { y = com.microsoft.QLinearAdd (x, a, b, y0, c, d, e, f)",
    "(uint8[3,1] x, float a, uint8 b, uint8[4] y0, float c, uint8 d, float e, uint8 f) { y = com.microsoft.QLinearMul (x, a, b, y0, c, d, e, f)",
    "(uint8[3] x, float a, uint8 b, float c, uint8 d) { y = com.microsoft.QLinearSigmoid (x, a, b, c, d)",
    "(uint8[3] x, float a, uint8 b, float c, uint8 d) { y = com.microsoft.QLinearLeakyRelu (x, a, b, c, d)",
    "(float[2,3] x, float a, uint16 z) { y = com.microsoft.QuantizeLinear (x, a, z)",
    "(int16[2,3] x, float a, int16 z) { y = com.microsoft.DequantizeLinear (x, a, z)",
    "(float[2,3,4] x, float[2,3,4] k, float[4] g, float[4] b) { y, \"\", \"\", s = com.microsoft.SkipLayerNormalization (x, k, g, b)",
    "(float[2,3,4] x, float[2,3,4] k, float[4] g) { y = com.microsoft.SkipSimplifiedLayerNormalization (x, k, g)",
    "(int32[2,3] i, float[9,4] w, float[5,4] p, float[4] g, float[4] b) { y, m = com.microsoft.EmbedLayerNormalization (i, \"\", w, p, \"\", g, b)",
    "(float[2,3,4] x, float[4,12] w, float[12] b) { y = com.microsoft.Attention <num_heads = 2> (x, w, b)",
    "(float[2,3,4] x, float[4,14] w, float[14] b) { y = com.microsoft.Attention <num_heads = 2, qkv_hidden_sizes = [4, 4, 6]> (x, w, b)",
    "(float[2,3,8] q, float[2,5,8] k, float[2,5,6] v) { y = com.microsoft.MultiHeadAttention <num_heads = 2> (q, k, v)",
    "(float[2,3,8] q, float[2,3,8] k, float[2,3,8] v) { y, a, b = com.microsoft.MultiHeadAttention <num_heads = 2> (q, k, v) ?",
    "(float[1,3,16] q, float[1,3,8] k, float[1,3,8] v, int32[1] last_key, int32 keys) { y, a, b = com.microsoft.GroupQueryAttention <num_heads = 2, kv_num_heads = 1> (q, k, v, \"\", \"\", last_key, keys) ?",
    "(float[2,3,8] x, int64[1] p, float[9,2] c, float[9,2] s) { y = com.microsoft.RotaryEmbedding <num_heads = 2> (x, p, c, s)",
]


def compare_all(report, models):
    """How many types and ranks are known, and which are missed most."""
    counts, missed = Counter(), Counter()
    with scratch_folder() as folder:
        stripped = {}
        for index, path in enumerate(models):
            model = readable(path)
            if model is not None:
                name = folder / f"{index}.onnx"
                name.write_bytes(without_declarations(model).SerializeToString())
                stripped[str(name)] = path
        for batch in batches(stripped):
            done = recast("inspect", *batch, "--types", "--format", "json")
            for found in json.loads(done.stdout)["models"] if len(batch) > 1 else [json.loads(done.stdout)]:
                compare(report, stripped[found["path"]], onnx.load(found["path"]), found["types"], counts, missed)
    return counts, missed


def without_declarations(model):
    """The model without the types of values and outputs; inputs keep theirs."""
    for graph in all_graphs(model):
        del graph.value_info[:]
        if isinstance(graph, onnx.GraphProto):
            for output in graph.output:
                output.ClearField("type")
    return model


def compare(report, path, model, types, counts, missed):
    try:
        inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    except Exception:
        return
    producers = {name: node.op_type for graph in all_graphs(model) for node in graph.node for name in node.output}
    ours = {}
    for entry in types:
        ours.setdefault(entry["value"], []).append(entry)
    problems = []
    for graph in all_graphs(inferred):
        if not isinstance(graph, onnx.GraphProto):
            continue
        for value in [*graph.value_info, *graph.output]:
            theirs = described(value.type)
            entries = ours.get(value.name, [])
            if value.name not in producers or len(entries) != 1:
                continue
            for kind, known in theirs.items():
                found = entries[0]["type"] if kind == "type" else entries[0]["shape"] and len(entries[0]["shape"])
                found = 0 if kind == "rank" and entries[0]["shape"] == [] else found
                counts[kind, "onnx"] += known is not None
                counts[kind, "more"] += known is None and found is not None
                counts[kind, "both"] += known is not None and found is not None
                if known is not None and found is None:
                    missed[producers[value.name], kind] += 1
                if None not in (known, found) and known != found and (producers[value.name], kind) not in EXPLAINED:
                    problems.append(f"{kind} of '{value.name}' ({producers[value.name]}): {found}, but {known} in onnx")
    report.case(path.parent.name if path.name == "model.onnx" else path.stem, "; ".join(problems))


def described(proto):
    """The type as recast writes it, and the rank of a tensor."""
    kind = proto.WhichOneof("value")
    if kind is None:
        return {"type": None, "rank": None}
    rank = None
    if kind in ("tensor_type", "sparse_tensor_type"):
        tensor = getattr(proto, kind)
        if not tensor.elem_type:
            return {"type": None, "rank": None}
        rank = len(tensor.shape.dim) if tensor.HasField("shape") else None
    return {"type": text_of(proto), "rank": rank}


def text_of(proto):
    kind = proto.WhichOneof("value")
    if kind == "tensor_type":
        return f"tensor({TensorProto.DataType.Name(proto.tensor_type.elem_type).lower()})"
    if kind == "sparse_tensor_type":
        return f"sparse_tensor({TensorProto.DataType.Name(proto.sparse_tensor_type.elem_type).lower()})"
    if kind == "sequence_type":
        return f"seq({text_of(proto.sequence_type.elem_type)})"
    if kind == "optional_type":
        return f"optional({text_of(proto.optional_type.elem_type)})"
    if kind == "map_type":
        # The values are scalars, as schemas write them.
        value = TensorProto.DataType.Name(proto.map_type.value_type.tensor_type.elem_type).lower()
        return f"map({TensorProto.DataType.Name(proto.map_type.key_type).lower()},{value})"
    return helper.printable_type(proto)
