"""Which operators load in a version of onnxruntime without a kernel, because ONNX defines them as functions: measured by loading models.

Whether a body is used depends on the opset of the model: the body must be valid in it, and each of its nodes needs a kernel. Types for which
an operator has a kernel are not tried.
"""

import functools
import itertools
from collections import defaultdict

from generators.typed_nodes import history, newest_opset, set_opset, typed_nodes
from kernel_limits import LIMITS
from onnx import helper, parser

# The body of CastLike is Cast: its types are those of Cast's kernels, which thousands of models would only show again.
CAST_LIKE = "CastLike"


def loads_as_function(runtime, limit, has_kernel):
    """[(operator, opsets, types, conditions)]: a version that loads opsets up to `limit` loads models of these opsets, if the form of the node
    satisfies the conditions: ((attribute or `input:` and a name, value), ...).

    A schema that outlasts the limit is taken to load beyond it as it does at the limit.
    """
    outcomes = defaultdict(lambda: defaultdict(list))
    for node, last in function_nodes():
        schema, types = node.schema, tuple(sorted(node.types.items()))
        if has_kernel(schema.name, schema.since_version, node.types):
            continue
        loads = False
        for opset in range(schema.since_version, last + 1):
            if opset <= limit:
                set_opset(node.model, "", opset)
                loads = runtime.why_not_loaded(node.model.SerializeToString()) is None
            if loads or not is_limited(node):
                outcomes[schema.name, types][opset].append((form_of(node), loads))
    found = []
    for (operator, types), by_opset in outcomes.items():
        opsets = defaultdict(list)
        for opset, forms in by_opset.items():
            opsets[conditions_of(forms)].append(opset)
        found += [(operator, numbers, dict(types), conditions) for conditions, numbers in opsets.items() if conditions is not None and min(numbers) <= limit]
    return found


def is_limited(node):
    """Whether a node is refused for what LIMITS says, whatever the conditions of its body."""
    known = form_of(node) | set(node.types.items()) | {(f"output:{formal.name}", "*") for formal, name in zip(node.schema.outputs, node.model.graph.node[0].output) if name}
    return any(
        operator == node.schema.name and node.schema.since_version in sinces and all((name, value) in known for name, (value,) in conditions.items())
        for operator, sinces, conditions, _ in LIMITS
    )


def form_of(node):
    """{(attribute, its text or `-`), (`input:` and the name, `*` or `-`)} of a node, for the attributes and optional inputs of its schema. An
    attribute that the node lacks has its default, if there is one."""
    proto, schema = node.model.graph.node[0], node.schema
    defaults = [each.default_value for each in schema.attributes.values() if each.default_value.name]
    values = {each.name: helper.get_attribute_value(each) for each in [*defaults, *proto.attribute]}
    texts = {name: value.decode() if isinstance(value, bytes) else str(value) for name, value in values.items() if isinstance(value, (bytes, int))}
    attributes = {(name, texts.get(name, "-")) for name in schema.attributes if name not in values or name in texts}
    optional = [(number, formal.name) for number, formal in enumerate(schema.inputs) if formal.option == formal.option.Optional]
    is_present = lambda number: number < len(proto.input) and proto.input[number] != ""
    return attributes | {(f"input:{name}", "*" if is_present(number) else "-") for number, name in optional}


def conditions_of(forms):
    """What the forms that load have in common, as far as no other form has all of it; None if there is no such thing."""
    loading, failing = ([form for form, loads in forms if loads is which] for which in (True, False))
    if not loading:
        return None
    common = set.intersection(*loading) if failing else set()
    for condition in sorted(common):
        if not any(common - {condition} <= form for form in failing):
            common = common - {condition}
    return None if any(common <= form for form in failing) else tuple((name, (value,)) for name, value in sorted(common))


@functools.cache
def function_nodes():
    """The typed nodes of all functions with the last opset of their schema."""
    nodes = list(typed_nodes(is_function))
    for node in nodes:
        node.model.ir_version = 8
    return [(node, last_opset(node.schema)) for node in nodes]


def is_function(schema):
    return schema.domain == "" and schema.name != CAST_LIKE and (schema.has_function or schema.has_context_dependent_function)


def last_opset(schema):
    later = [each.since_version for each in history("", schema.name) if each.since_version > schema.since_version]
    return min(later) - 1 if later else newest_opset()


# LayerNormalization of onnxruntime, before opset 17, has a body as well. Scale has a type of its own.
OWN = "LayerNormalization"
OWN_OPSETS = range(1, 17)
OWN_TYPES = ("float", "float16", "double", "bfloat16")
OWN_MODEL = """<ir_version: 8, opset_import: ["" : {opset}]>
    g ({T}[2,4] x, {V}[4] s, {V}[4] b) => ({V}[2,4] y, float[2,1] m, float[2,1] d) {{ y, m, d = LayerNormalization(x, s, b) }}"""


def own_loads_as_function(runtime, has_kernel):
    """The same of onnxruntime's own operator."""
    for first, second in itertools.product(OWN_TYPES, repeat=2):
        types = {"T": first, "U": "float", "V": second}
        if has_kernel(OWN, 1, types):
            continue
        texts = {opset: OWN_MODEL.format(opset=opset, **types) for opset in OWN_OPSETS}
        models = {opset: parser.parse_model(text).SerializeToString() for opset, text in texts.items()}
        opsets = [opset for opset, model in models.items() if runtime.why_not_loaded(model) is None]
        if opsets:
            yield OWN, opsets, types, ()
