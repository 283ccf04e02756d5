"""`recast inspect` reports what the onnx package reads: versions, operators, casts, constants and functions of every model of the corpus."""

import json
from collections import Counter

import onnx
from onnx import TensorProto

from support.common import batches, recast
from support.corpus import folded_corpus
from support.models import all_graphs

STANDARD = ("", "ai.onnx")

def check(report):
    for batch in batches([*folded_corpus().originals, *folded_corpus().casts]):
        done = recast("inspect", *batch, "--format", "json")
        if not report.case("recast inspect", done.returncode != 0 and f"exit code {done.returncode}: {done.stderr.strip()}"):
            continue
        for path, entry in zip(batch, json.loads(done.stdout)["models"], strict=True):
            reported = summary_of_entry(entry)
            read = summary_of_model(onnx.load(path))
            differing = [f"{key} {reported[key]}, onnx reads {value}" for key, value in read.items() if reported[key] != value]
            report.case(path.stem, "; ".join(differing))


def summary_of_entry(entry):
    """The parts of a report that are compared, in the shape of `summary_of_model`."""
    same_shape = ("ir_version", "opsets", "producer", "nodes", "ops")
    return {key: entry[key] for key in same_shape} | {
        "casts": len(entry["casts"]),
        "initializers": {kind: (facts["count"], facts["bytes"]) for kind, facts in entry["initializers"]["by_type"].items()},
        "functions": [function["name"] for function in entry["functions"]],
    }


def summary_of_model(model):
    graphs = list(all_graphs(model))
    nodes = [node for graph in graphs for node in graph.node]
    sizes = {}
    for graph in graphs:
        for tensor in getattr(graph, "initializer", []):
            count, size = sizes.get(TensorProto.DataType.Name(tensor.data_type), (0, 0))
            sizes[TensorProto.DataType.Name(tensor.data_type)] = (count + 1, size + raw_size(tensor))
    return {
        "ir_version": model.ir_version,
        "opsets": {entry.domain or "ai.onnx": entry.version for entry in model.opset_import},
        "producer": " ".join(filter(None, [model.producer_name, model.producer_version])),
        "nodes": len(nodes),
        "ops": dict(Counter(operator_name(node) for node in nodes)),
        "casts": sum(node.op_type in ("Cast", "CastLike") and node.domain in STANDARD for node in nodes),
        "initializers": sizes,
        "functions": [f"{function.domain}:{function.name}" for function in model.functions],
    }


def operator_name(node):
    return node.op_type if node.domain in STANDARD else f"{node.domain}:{node.op_type}"


def raw_size(tensor):
    """Bytes of a tensor's elements in raw_data, for every kind of storage."""
    if tensor.data_type == TensorProto.STRING:
        return sum(map(len, tensor.string_data))
    if tensor.HasField("raw_data"):
        return len(tensor.raw_data)
    return len(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor)).raw_data)
