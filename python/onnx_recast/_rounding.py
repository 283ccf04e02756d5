"""Models whose FLOAT16 values onnxruntime rounds, as ONNX defines.

On a CPU, onnxruntime computes operators without a FLOAT16 kernel in FLOAT, and drops casts to FLOAT16 in front of them,
even with graph optimizations disabled: values stay unrounded, depending on the nodes around them. Two ``Identity``
after each node force the rounding. One does not: a node between others without a kernel is computed in FLOAT, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

_ROUNDED = (10, 16)
"""FLOAT16 and BFLOAT16."""

_NOT_ROUNDED = {
    *("If", "Loop", "Scan", "SequenceMap"),
    *("QuantizeLinear", "DynamicQuantizeLinear", "Shape", "Size"),
    *("Constant", "ConstantOfShape", "Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Transpose"),
    *("Concat", "Split", "Slice", "Gather", "Expand"),
}
"""Operators that need none: their bodies have it, they give no FLOAT16, or they only move elements."""


def has_rounded_types(model: Any) -> bool:
    """Whether a ModelProto has values of FLOAT16 or BFLOAT16."""
    for graph in _graphs(model):
        declared = [value.type.tensor_type.elem_type for field in _values(graph) for value in field]
        stored = [tensor.data_type for tensor in getattr(graph, "initializer", ())]
        tensors = [attribute.t.data_type for node in graph.node for attribute in node.attribute]
        casts = [
            attribute.i for node in graph.node for attribute in node.attribute if attribute.name in ("to", "dtype")
        ]
        named = [attribute.s for node in graph.node for attribute in node.attribute if attribute.name == "to"]
        if b"FLOAT16" in named or not set(_ROUNDED).isdisjoint([*declared, *stored, *tensors, *casts]):
            return True
    return False


def round_all(model: Any) -> None:
    """Insert two ``Identity`` after each node of a ModelProto whose outputs may be of FLOAT16 or BFLOAT16."""
    for graph in list(_graphs(model)):
        nodes: list[Any] = []
        for node in graph.node:
            nodes.append(node)
            if not _may_round(node):
                continue
            for index, name in enumerate(node.output):
                if name:
                    steps = [f"{name}.unrounded", f"{name}.rounded", name]
                    node.output[index] = steps[0]
                    for source, target in pairwise(steps):
                        nodes.append(type(node)(op_type="Identity", input=[source], output=[target]))
        copies = [type(node).FromString(node.SerializeToString()) for node in nodes]
        del graph.node[:]
        graph.node.extend(copies)


def _may_round(node: Any) -> bool:
    if node.domain not in ("", "ai.onnx") or node.op_type in _NOT_ROUNDED or "Sequence" in node.op_type:
        return False
    if node.op_type.startswith("Optional"):
        return False
    targets = [attribute for attribute in node.attribute if attribute.name == "to"]
    return all(attribute.i in _ROUNDED or attribute.s == b"FLOAT16" for attribute in targets)


def _values(graph: Any) -> Iterator[Any]:
    for field in ("input", "output", "value_info"):
        values = getattr(graph, field, ())
        if not values or hasattr(values[0], "type"):  # Inputs and outputs of functions are names.
            yield values


def _graphs(model: Any) -> Iterator[Any]:
    """Yield the main graph, all subgraphs, innermost first, and the functions."""
    for graph in (model.graph, *model.functions):
        yield from _nested(graph)


def _nested(graph: Any) -> Iterator[Any]:
    for node in graph.node:
        for subgraph in subgraphs(node):
            yield from _nested(subgraph)
    yield graph


def subgraphs(node: Any) -> Iterator[Any]:
    """Yield the graphs in the attributes of a node."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs
