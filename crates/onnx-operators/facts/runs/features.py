"""What distinguishes the nodes of one version of an operator, as lines of the facts state it: `name=value`.

The name is a type variable; `input:` or `output:` and the name of a formal one that may be absent, with the value `*` or `-`; or an attribute,
whose value, or default, is an integer or a text, any other value (`*`), or none (`-`); or `rank`, that of the first input.
"""

from onnx import AttributeProto, TensorProto, defs


def features_of(model, node, since):
    schema = defs.get_schema(node.op_type, since, "" if node.domain == "ai.onnx" else node.domain)
    return {**rank(model, node), **types(model, node, schema), **operands(node, schema), **attributes(node, schema)}


def rank(model, node):
    """The rank of the first input."""
    ranks = {tensor.name: len(tensor.dims) for tensor in model.graph.initializer}
    ranks |= {value.name: len(value.type.tensor_type.shape.dim) for value in model.graph.input if value.type.tensor_type.HasField("shape")}
    return {"rank": str(ranks[node.input[0]])} if node.input and node.input[0] in ranks else {}


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
