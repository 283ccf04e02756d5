"""What distinguishes the nodes of one version of an operator, as lines of the facts state it: `name=value`.

The name is a type variable; `input:` or `output:` and the name of a formal one that may be absent, with the value `*` or `-`; or an attribute,
whose value, or default, is an integer or a text, any other value (`*`), or none (`-`); or `rank`, that of the first input. `value:` and the name of a
formal input has the numbers of an initializer, or `-`. `captures`: whether a body reads values of the graphs around it (`*`) or not (`-`). `branches`: whether the
results of the two have the same ranks (`alike`) or not (`apart`). `vectors`: how many inputs of a
MatMul have rank 1. `empty`: whether the first input has no elements (`*`) or has some (`-`). `indices`: whether those of
GatherND and ScatterND are constants that count from the `front`, or that is `unknown`. `gates`: whether a recurrent
operator has the activations of ONNX's `default`, or `other` ones. `steps`: whether all strides are `one`, or some are `more`. `batches`: whether
the second input of a MatMul has batches, but `fewer` axes than the first one, or it is `other`. `slope`: whether that of a PRelu has an element for each
of the `channels`, or other `elements`, when the last axes correspond. `reduced`: which axes a reduction names. `rows`: whether images have `one` row and
several columns. `combination`: the operator that the node looks like with the nodes before it,
though they compute something else; `Elementwise` for a reduction of integers with such a node behind it; or `-`. crates/onnx-operators/src/kernels has the same functions.
"""

import math

import numpy as np
from onnx import AttributeProto, TensorProto, defs, helper, numpy_helper

from runs.boundaries import GATES
from runs.combinations import combination


def features_of(model, node, since):
    schema = defs.get_schema(node.op_type, since, "" if node.domain == "ai.onnx" else node.domain)
    features = {**rank(model, node), "empty": empty(model, node), **types(model, node, schema), **operands(node, schema), **attributes(node, schema), **values(model, node, schema)}
    if combination(model):
        features["combination"] = combination(model)
    if node.op_type in ("AveragePool", "Conv", "MaxPool"):
        features["steps"] = steps(node)
    if node.op_type in GATES:
        features["gates"] = gates(node)
    if node.op_type == "MaxPool":
        features["last_window"] = last_window(model, node)
    if node.op_type in ("GatherND", "ScatterND"):
        features["indices"] = indices(model, node)
    if node.op_type.startswith("Reduce"):
        features["reduced"] = reduced(model, node)
    if node.op_type == "Resize":
        features |= {"scaled_length": scaled_length(model, node, schema), "rows": rows(model, node)}
    if node.op_type == "If":
        features["branches"] = branches(node)
    if node.op_type == "Scan":
        features["captures"] = captures(node)
    if node.op_type == "MatMul":
        features |= {**vectors(model, node), **batches(model, node)}
    if node.op_type == "PRelu":
        features["slope"] = slope(model, node)
    return features


def rank(model, node):
    """The rank of the first input."""
    ranks = ranks_of(model)
    return {"rank": str(ranks[node.input[0]])} if node.input and node.input[0] in ranks else {}


def empty(model, node):
    """Whether a length of the first input is 0: `*` or `-`."""
    shapes = {value.name: [dim.HasField("dim_value") and dim.dim_value == 0 for dim in value.type.tensor_type.shape.dim] for value in model.graph.input}
    return "*" if node.input and any(shapes.get(node.input[0], [])) else "-"


def vectors(model, node):
    """The number of inputs of rank 1."""
    ranks = ranks_of(model)
    known = all(name in ranks for name in node.input)
    return {"vectors": str(sum(ranks[name] == 1 for name in node.input))} if known else {}


def branches(node):
    """Whether results of the two branches are known to have other ranks: `apart`, else `alike`."""
    ranks = [[len(value.type.tensor_type.shape.dim) for value in attribute.g.output] for attribute in node.attribute]
    return "apart" if ranks[0] != ranks[1] else "alike"


def gates(node):
    """Whether the activations are those of ONNX's `default`, stated or not, or `other` ones."""
    default = GATES[node.op_type]
    names = [name.decode() for attribute in node.attribute if attribute.name == "activations" for name in attribute.strings]
    return "default" if all(names[start : start + len(default)] == default for start in range(0, len(names), len(default))) else "other"


def steps(node):
    """Whether all strides are `one`, or some are `more`."""
    strides = next((attribute.ints for attribute in node.attribute if attribute.name == "strides"), [])
    return "more" if any(stride != 1 for stride in strides) else "one"


def batches(model, node):
    """Whether the second input has batches, but `fewer` axes than the first one; else `other`."""
    ranks = ranks_of(model)
    first, second = (ranks.get(name) for name in node.input)
    return {} if first is None or second is None else {"batches": "fewer" if 3 <= second < first else "other"}


def indices(model, node):
    """Whether all indices are constants that count from the `front` of their axes, or that is `unknown`, or some do not."""
    found = constant(model, node, 1)
    return "front" if found is not None and (found >= 0).all() else "unknown"


def slope(model, node):
    """Whether the slope of a PRelu has one element for each of the `channels` on axis 1, or one in all; or other `elements`. Its last axis is the
    last one of the input, as it is from opset 7 on."""
    rank, found = ranks_of(model)[node.input[0]], constant(model, node, 1)
    lengths = shape_of(model, node.input[1]) if found is None else found.shape
    is_of_channels = all(length == 1 for from_end, length in enumerate(reversed(lengths)) if from_end != rank - 2)
    return "channels" if is_of_channels else "elements"


def ranks_of(model):
    ranks = {tensor.name: len(tensor.dims) for tensor in model.graph.initializer}
    return ranks | {value.name: len(value.type.tensor_type.shape.dim) for value in model.graph.input if value.type.tensor_type.HasField("shape")}


def types(model, node, schema):
    known = {value.name: type_name(value.type) for value in [*model.graph.input, *model.graph.output, *model.graph.value_info]}
    known |= {tensor.name: TensorProto.DataType.Name(tensor.data_type).lower() for tensor in model.graph.initializer}
    found = {}
    for names, formals in ((node.input, schema.inputs), (node.output, schema.outputs)):
        for index, name in enumerate(names):
            formal = formals[min(index, len(formals) - 1)]
            if name in known and any(variable.type_param_str == formal.type_str for variable in schema.type_constraints):
                found.setdefault(formal.type_str, known[name])
    return found


def type_name(type_proto):
    """As the tables write it; of sequences and optional values, only that they are."""
    if type_proto.HasField("tensor_type"):
        return TensorProto.DataType.Name(type_proto.tensor_type.elem_type).lower()
    kind = type_proto.WhichOneof("value")
    inner = getattr(type_proto, kind).elem_type if kind in ("sequence_type", "optional_type") else None
    if inner is None:
        return "other"
    text = type_name(inner)
    text = text if "(" in text else f"tensor({text})"
    return f"{'seq' if kind == 'sequence_type' else 'optional'}({text})"


def operands(node, schema):
    found = {}
    for kind, names, formals in (("input", node.input, schema.inputs), ("output", node.output, schema.outputs)):
        for index, formal in enumerate(formals):
            if formal.option == defs.OpSchema.FormalParameterOption.Optional:
                found[f"{kind}:{formal.name}"] = "*" if index < len(names) and names[index] else "-"
    return found


def attributes(node, schema):
    present = {attribute.name: attribute for attribute in node.attribute}
    found = {}
    for name, formal in schema.attributes.items():
        attribute = present.get(name, formal.default_value if formal.default_value.name else None)
        if attribute is None:
            found[name] = "-"
        elif attribute.type == AttributeProto.INT:
            found[name] = str(attribute.i)
        elif attribute.type == AttributeProto.STRING:
            found[name] = attribute.s.decode(errors="replace")
        else:
            found[name] = "*" if name in present else "-"
    return {name: value for name, value in found.items() if value and " " not in value and "|" not in value}


def values(model, node, schema):
    """The numbers of inputs on which lines depend."""
    wanted = {"DFT": "axis", "Tile": "repeats"}.get(node.op_type)
    index = next((index for index, formal in enumerate(schema.inputs) if formal.name == wanted), None)
    if index is None:
        return {}
    found = constant(model, node, index)
    return {f"value:{wanted}": "-" if found is None else ",".join(f"{number:g}" for number in found.ravel())}


def constant(model, node, index):
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}
    name = node.input[index] if index < len(node.input) else ""
    return numpy_helper.to_array(tensors[name]) if name in tensors else None


def captures(node):
    """Whether bodies read values of the graphs around them: `*` or `-`."""
    known, read = set(), set()
    graphs = bodies_of(node)
    while graphs:
        graph = graphs.pop()
        known |= {value.name for value in [*graph.input, *graph.initializer]}
        read |= {value.name for value in graph.output}
        for inner in graph.node:
            known |= set(inner.output)
            read |= set(inner.input)
            graphs += bodies_of(inner)
    return "*" if read - known - {""} else "-"


def bodies_of(node):
    return [graph for attribute in node.attribute for graph in (attribute.g, *attribute.graphs) if graph.node or graph.output]


def shape_of(model, name):
    shapes = {value.name: [dim.dim_value or None for dim in value.type.tensor_type.shape.dim] for value in model.graph.input}
    return shapes.get(name, [])


def last_window(model, node):
    """Where the last window of a pooling that rounds lengths up begins: in the `input`, in the `padding` after it, or `unknown`."""
    given = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    if not given.get("ceil_mode") or given.get("auto_pad", b"NOTSET") != b"NOTSET":
        return "input"
    kernel, shape, found = given["kernel_shape"], shape_of(model, node.input[0]), "input"
    for axis, size in enumerate(kernel):
        step, dilation = (given.get(name, [1] * len(kernel))[axis] for name in ("strides", "dilations"))
        pads, extent = given.get("pads", [0] * 2 * len(kernel)), dilation * (size - 1) + 1
        before, after = pads[axis], pads[axis + len(kernel)]
        length = shape[axis + 2] if axis + 2 < len(shape) else None
        if step + after <= extent:
            continue
        if length is None:
            found = "unknown"
            continue
        free = length + before + after - extent
        if free >= 0 and free % step and (free // step + 1) * step >= length + before:
            return "padding"
    return found


def reduced(model, node):
    """Which axes a reduction names: `all`; three or more, of which those before the last two have more than two elements together, at the end of the
    shape or beside lengths of 1 (`last`), or others (`apart`); or `few`. `unknown` if it depends on unknown axes or lengths."""
    axes = next((list(attribute.ints) for attribute in node.attribute if attribute.name == "axes"), constant(model, node, 1))
    if axes is None:
        counts = [dim for value in model.graph.input if value.name in node.input[1:] for dim in value.type.tensor_type.shape.dim]
        return "few" if all(dim.HasField("dim_value") and dim.dim_value <= 2 for dim in counts) else "unknown"
    shape = shape_of(model, node.input[0])
    rank = len(shape)
    axes = [axis % rank for axis in axes] if rank else []
    if rank > 1 and len(axes) == rank:
        return "all"
    before = [shape[axis] for axis in axes[:-2]]
    product = math.prod(length for length in before if length is not None)
    if empty(model, node) == "*" or None not in before and product <= 2:
        return "few"
    if sorted(axes) == list(range(rank - len(axes), rank)) or all(shape[axis] == 1 for axis in range(rank) if axis not in axes):
        return "last"
    return "apart" if product > 2 else "unknown"


def rows(model, node):
    """Whether images have `one` row and several columns, or `more` rows."""
    height, width = [1, 1, *shape_of(model, node.input[0])][-2:]
    return "one" if height == 1 and width != 1 else "more"


def scaled_length(model, node, schema):
    """Whether lengths times scales are `whole` numbers, at least one is a `fraction`, or it is `unknown`."""
    names = {formal.name: index for index, formal in enumerate(schema.inputs)}
    sizes = names.get("sizes")
    if sizes is not None and sizes < len(node.input) and node.input[sizes]:
        return "whole"
    scales = constant(model, node, names["scales"])
    if scales is None:
        return "unknown"
    axes = next((list(attribute.ints) for attribute in node.attribute if attribute.name == "axes"), range(len(scales)))
    shape, found = shape_of(model, node.input[0]), "whole"
    for axis, scale in zip(axes, scales):
        if scale % 1 == 0:
            continue
        length = shape[axis] if axis < len(shape) else None
        if length is None:
            found = "unknown"
        elif np.float32(length) * np.float32(scale) % 1:
            return "fraction"
    return found
