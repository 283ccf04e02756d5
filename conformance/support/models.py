"""Graphs and nodes of models, their validity, and inputs for them."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CASTS = ("Cast", "CastLike")
# Operators whose outputs differ from run to run.
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}


def subgraphs(node):
    """The graphs in the attributes of a node."""
    return [graph for attribute in node.attribute for graph in ([attribute.g] if attribute.HasField("g") else attribute.graphs)]


def all_graphs(model):
    """The main graph, every subgraph at any depth, and every function body."""
    waiting = [model.graph, *model.functions, *(info.algorithm for info in model.training_info)]
    while waiting:
        graph = waiting.pop()
        yield graph
        for node in graph.node:
            waiting += subgraphs(node)


def count_nodes(model):
    """How many nodes a model has, at any depth."""
    return sum(len(graph.node) for graph in all_graphs(model))


def count_casts(model):
    """How many Cast and CastLike nodes a model has, at any depth."""
    return sum(node.op_type in CASTS for graph in all_graphs(model) for node in graph.node)


def why_invalid(path):
    """What onnx.checker rejects in a model, inferred types included; None if nothing."""
    try:
        onnx.checker.check_model(path, full_check=True)
    except Exception as error:
        return f"onnx.checker: {str(error)[:600]}"
    return None


def passes_checker(path):
    return why_invalid(path) is None


def readable(path):
    """A model; None for a file that is not one."""
    try:
        return onnx.load(path)
    except Exception:
        return None


def external_tensor(name, dtype, dims, location, offset, length):
    """A tensor whose values are in a data file."""
    tensor = TensorProto(name=name, data_type=dtype, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, "offset": offset, "length": length}.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def sample_inputs(model):
    """A value for every input that has no initializer; unknown dimensions are 2."""
    initialized = {tensor.name for tensor in model.graph.initializer}
    return {value.name: sample_array(value.type.tensor_type) for value in model.graph.input if value.name not in initialized}


def sample_array(tensor_type):
    shape = [dim.dim_value or 2 for dim in tensor_type.shape.dim]
    wave = 2 * np.sin(1 + np.arange(int(np.prod(shape)))).reshape(shape)
    return np.asarray(wave).astype(helper.tensor_dtype_to_np_dtype(tensor_type.elem_type))


def read_value(file, type_proto):
    data = file.read_bytes()
    if type_proto.HasField("sequence_type"):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if type_proto.HasField("optional_type"):
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return numpy_helper.to_array(TensorProto.FromString(data))
