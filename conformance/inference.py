"""Types and ranks of `recast inspect --types` beside those of onnx's shape inference with data propagation, over the onnx wheel.

Declared types of values and outputs are removed first, so that both sides infer. What onnx knows, recast has to know; where both know,
they have to agree, except for the rows of EXPLAINED.
"""

import json
from collections import Counter

import onnx
from onnx import TensorProto, helper

from common import EXAMPLES, all_graphs, batches, recast, scratch_folder, wheel_models

SAMPLED_MODELS = 5  # One of so many.
# Just below what is measured.
LEAST_TYPES, LEAST_RANKS = 0.99, 0.99
# Values on which the two disagree: (operator, what) and why recast's answer is right.
EXPLAINED = {}


def check(report):
    models = [*EXAMPLES, *wheel_models()]
    models = models if report.everything else models[::SAMPLED_MODELS]
    counts, missed = compare_all(report, models)
    for kind, least in (("type", LEAST_TYPES), ("rank", LEAST_RANKS)):
        known, ours = counts[kind, "onnx"], counts[kind, "both"]
        report.note(f"of {known} {kind}s that onnx knows, {ours} are known ({ours / max(known, 1):.2%})")
        report.case(f"{kind}s", ours < least * known and f"fewer than {least:.0%}; most missed: {missed.most_common(12)}")
        report.details.append(f"{counts[kind, 'more']} {kind}s that onnx does not know")
    report.details.append(f"most missed: {missed.most_common(12)}")


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


def readable(path):
    try:
        return onnx.load(path)
    except Exception:
        return None


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
