"""What a model of FLOAT16 or BFLOAT16 computes where each of its values is rounded, as strongly typed runtimes do, without such a runtime.

The model is rewritten to FLOAT, with a rounding behind each value of the narrow type, and run by onnxruntime without optimizations: each
operator is computed in FLOAT, and its result rounded once.
"""

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, inliner, numpy_helper

from support.runners import session_of

NARROW = {TensorProto.FLOAT16, TensorProto.BFLOAT16}
# The attributes whose value is an element type.
TYPES = {"to", "dtype", "output_dtype"}


def emulated(model):
    """The model in FLOAT, with roundings and without functions. Inputs and outputs keep their types."""
    typed = onnx.shape_inference.infer_shapes(inliner.inline_local_functions(model))
    result = onnx.ModelProto()
    result.CopyFrom(typed)
    rewrite(result.graph, {})
    return result


def run(model, feeds):
    """The outputs of a model, by name."""
    session = session_of(model.SerializeToString(), threads=1)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds)))


def rewrite(graph, outer, is_body=False):
    """Rewrites a graph in place. `outer` has the narrow types of the values around it, by name. The inputs of a body are FLOAT, too."""
    types = outer | narrow_types(graph)
    constants = {tensor.name for tensor in graph.initializer}
    for value in graph.input:
        if (is_body or value.name in constants) and value.type.tensor_type.elem_type in NARROW:
            value.type.tensor_type.elem_type = TensorProto.FLOAT
    given = set() if is_body else {value.name for value in graph.input} - constants
    results = {value.name: value.type.tensor_type.elem_type for value in graph.output}
    nodes = []
    for tensor in graph.initializer:
        if tensor.data_type in NARROW:
            tensor.CopyFrom(widened(tensor, tensor.name))
    for name in given & set(types):
        nodes += [helper.make_node("Cast", [name], [f"{name}__wide"], to=TensorProto.FLOAT)]
    renamed = {name: f"{name}__wide" for name in given & set(types)}
    for node in graph.node:
        node.input[:] = [renamed.get(name, name) for name in node.input]
        for attribute in node.attribute:
            rewrite_attribute(attribute, types)
        outputs = [name for name in node.output if name in types]
        node.output[:] = [f"{name}__exact" if name in types else name for name in node.output]
        nodes.append(node)
        nodes += [cast for name in outputs for cast in rounding(f"{name}__exact", name, types[name])]
    for value in graph.output:
        if results[value.name] in NARROW:
            value.type.tensor_type.elem_type = TensorProto.FLOAT
    copies = [copied(node) for node in nodes]
    del graph.node[:]
    graph.node.extend(copies)
    del graph.value_info[:]


def rewrite_attribute(attribute, types):
    if attribute.type == AttributeProto.GRAPH:
        rewrite(attribute.g, types, is_body=True)
    elif attribute.type == AttributeProto.TENSOR and attribute.t.data_type in NARROW:
        attribute.t.CopyFrom(widened(attribute.t, attribute.t.name))
    elif attribute.name in TYPES and attribute.i in NARROW:
        attribute.i = TensorProto.FLOAT


def narrow_types(graph):
    """The types of the values of a graph that are narrow, by name."""
    declared = [*graph.value_info, *graph.input, *graph.output]
    types = {value.name: value.type.tensor_type.elem_type for value in declared if value.type.HasField("tensor_type")}
    types |= {tensor.name: tensor.data_type for tensor in graph.initializer}
    constants = {tensor.name for tensor in graph.initializer}
    return {name: narrow for name, narrow in types.items() if narrow in NARROW and name not in constants}


def rounding(name, result, narrow):
    """Casts to a narrow type and back."""
    between = f"{result}__narrow"
    return [helper.make_node("Cast", [name], [between], to=narrow), helper.make_node("Cast", [between], [result], to=TensorProto.FLOAT)]


def widened(tensor, name):
    """A narrow tensor in FLOAT."""
    return numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float32), name)


def copied(node):
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    return copy
