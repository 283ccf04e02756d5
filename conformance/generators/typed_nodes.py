"""Models of one node, for every schema of an operator and every type that ONNX allows: those of onnx's node tests with other types.

A model is kept if onnx.checker accepts it, types inferred. Forms of an operator that differ in their optional inputs or in the names of
their attributes are different models.
"""

import functools
import itertools
import warnings
from collections import Counter, defaultdict, namedtuple

import onnx
from onnx import TensorProto, defs, helper
from onnx.backend.test.case.node import collect_testcases

# model: of the first opset of the schema; types: {type variable: type}; form: what distinguishes forms of one operator; present: the types of the
# node test; inputs, outputs: its arrays.
TypedNode = namedtuple("TypedNode", "model schema types form present inputs outputs")
NUMBERS = {name.lower(): number for name, number in TensorProto.DataType.items() if number}
NAMES = {number: name for name, number in NUMBERS.items()}
# Attributes that say what type an output has.
TYPE_ATTRIBUTES = ("to", "dtype", "output_dtype")
# onnx's inference rejects its own model of these.
WRONGLY_INFERRED = ("MeanVarianceNormalization",)
VARIADIC = defs.OpSchema.FormalParameterOption.Variadic
MOST_PAIRS = 700


def typed_nodes(wanted):
    """The typed nodes for the schemas for which `wanted(schema)` is true."""
    for case, form in forms():
        node = case.model.graph.node[0]
        for schema in history(node.domain, node.op_type):
            if not schema.deprecated and wanted(schema):
                yield from typed(case, form, schema)


def forms():
    """A test for each form of an operator."""
    seen = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = collect_testcases(None)
    for case in cases:
        model = case.model
        if model is None or len(model.graph.node) != 1 or model.graph.initializer or model.functions:
            continue
        node = model.graph.node[0]
        values = {value.name for value in (*model.graph.input, *model.graph.output)}
        form = (node.op_type, tuple(map(bool, node.input)), len(node.output), tuple(sorted(each.name for each in node.attribute)))
        seen[form] += 1
        if seen[form] == 1 and all(name in values for name in (*node.input, *node.output) if name):
            yield case, form


@functools.cache
def history(domain, operator):
    return sorted((each for each in all_schemas() if (each.domain, each.name) == (domain, operator)), key=lambda each: each.since_version)


@functools.cache
def all_schemas():
    return defs.get_all_schemas_with_history()


def newest_opset():
    return defs.onnx_opset_version()


def typed(case, form, schema):
    original = case.model
    node = original.graph.node[0]
    users = users_of_variables(node, schema)
    if users is None:
        return
    values = {value.name: value for value in (*original.graph.input, *original.graph.output)}
    present = {variable: type_name(values[names[0]].type) for variable, names in users.items()}
    full_check = schema.name not in WRONGLY_INFERRED
    allowed = {each.type_param_str: sorted(normal(kind) for kind in each.allowed_type_strs) for each in schema.type_constraints}
    for types in combinations(present, {variable: allowed[variable] for variable in users}):
        if any(kind.startswith(("map", "sparse", "seq(map")) for kind in types.values()):
            continue
        model = with_types(with_opset(original, schema), users, present, types)
        if is_valid(model, full_check):
            yield TypedNode(model, schema, types, form, present, *case.data_sets[0])


def with_opset(original, schema):
    model = onnx.ModelProto()
    model.CopyFrom(original)
    set_opset(model, schema.domain, schema.since_version)
    return model


def is_valid(model, full_check):
    try:
        onnx.checker.check_model(model, full_check=full_check)
    except Exception:
        return False
    return True


def users_of_variables(node, schema):
    """{type variable: names of the values that it types}; None if the schema does not have so many inputs or outputs."""
    variables, users = {each.type_param_str for each in schema.type_constraints}, defaultdict(list)
    for formals, names in ((schema.inputs, node.input), (schema.outputs, node.output)):
        if len(names) > len(formals) and not (formals and formals[-1].option == VARIADIC):
            return None
        for number, name in enumerate(names):
            formal = formals[min(number, len(formals) - 1)]
            if name and formal.type_str in variables:
                users[formal.type_str].append(name)
    return dict(users)


def combinations(present, allowed):
    """The types present, then others for each variable, for each two variables, one for all, and, of three or more, one for all but one."""
    found = [present, *({**present, variable: kind} for variable in allowed for kind in allowed[variable])]
    for first, second in itertools.combinations(allowed, 2):
        pairs = list(itertools.product(allowed[first], allowed[second]))
        found += [{**present, first: one, second: two} for one, two in pairs if one == two or len(allowed) == 2 and len(pairs) <= MOST_PAIRS]
    common = set.intersection(*map(set, allowed.values())) if allowed else set()
    found += [dict.fromkeys(allowed, kind) for kind in sorted(common)]
    for odd in allowed if len(allowed) > 2 else ():
        others = [variable for variable in allowed if variable != odd]
        common = set.intersection(*(set(allowed[variable]) for variable in others))
        found += [{**dict.fromkeys(others, kind), odd: other} for kind in sorted(common) for other in allowed[odd]]
    unique = {tuple(sorted(types.items())): types for types in found}
    return unique.values()


def with_types(model, users, present, types):
    node = model.graph.node[0]
    values = {value.name: value for value in (*model.graph.input, *model.graph.output)}
    for variable, names in users.items():
        if types[variable] != present[variable]:
            for name in names:
                set_type(values[name].type, types[variable])
        if types[variable] in NUMBERS and names[-1] in node.output:
            for attribute in node.attribute:
                if attribute.name in TYPE_ATTRIBUTES:
                    attribute.i = NUMBERS[types[variable]]
    return model


def set_opset(model, domain, opset):
    for entry in model.opset_import:
        if entry.domain == domain:
            entry.version = opset


def set_type(proto, name):
    """Another type of the same shape."""
    shape = proto.tensor_type.shape if proto.HasField("tensor_type") and proto.tensor_type.HasField("shape") else None
    proto.CopyFrom(type_proto(name, shape))


def type_proto(name, shape=None):
    kind, _, rest = name.partition("(")
    if not rest or kind == "tensor":
        proto = helper.make_tensor_type_proto(NUMBERS[rest[:-1] if rest else name], None)
        if shape is not None:
            proto.tensor_type.shape.CopyFrom(shape)
        return proto
    inner = type_proto(rest[:-1])
    return {"seq": helper.make_sequence_type_proto, "optional": helper.make_optional_type_proto}[kind](inner)


def type_name(proto):
    """`float`, `seq(tensor(float))`, `optional(seq(tensor(float)))`."""
    return normal(full_name(proto))


def full_name(proto):
    match proto.WhichOneof("value"):
        case "tensor_type":
            return f"tensor({NAMES[proto.tensor_type.elem_type]})"
        case "sequence_type":
            return f"seq({full_name(proto.sequence_type.elem_type)})"
        case "optional_type":
            return f"optional({full_name(proto.optional_type.elem_type)})"
        case other:
            return str(other)


def normal(text):
    """A tensor is named by its element type."""
    return text[len("tensor(") : -1] if text.startswith("tensor(") else text
