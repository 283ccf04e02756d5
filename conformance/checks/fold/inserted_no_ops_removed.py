"""What changes nothing is removed again: nodes without effect are inserted at random places, and `recast fold --passes exact` gives the
model without them.

The models are those of the corpus after the exact passes. Inserted are casts to the same type, chains of casts through types that have
every value (by `cast_rules.py`), CastLike, Identity, Reshape to the same shape and Transpose that keeps the order: between a value and one
of its consumers, or all, in graphs, subgraphs and function bodies, wherever the opset has the operator for the type. `recast diff` then
finds no difference. Each model has a seed of its own. Without --all, one of a few models.
"""

import functools
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import onnx
from onnx import TensorProto, defs, helper

from support.cast_rules import FLOATS, INTEGERS, NUMERIC, bits_of, cast, is_nan
from support.common import batches, fold_all, recast
from support.corpus import folded_corpus
from support.models import all_graphs, subgraphs

SAMPLED_MODELS = 5  # One of so many.
SEEDS, ALL_SEEDS = 1, 3
MOST_INSERTIONS = 6
PREFIX = "inserted_"
KINDS = ("Identity", "Cast", "casts", "CastLike", "Reshape", "Transpose")


def check(report):
    corpus = folded_corpus()
    models = report.sample(list(corpus.folded), SAMPLED_MODELS)
    normal, inserted, left, kinds = {}, Counter(), Counter(), Counter()
    for batch in batches(models):
        normal |= fold_all(report, batch, corpus.folder / "normal", "--passes", "exact")
    for seed in range(ALL_SEEDS if report.everything else SEEDS):
        changed = {}
        (corpus.folder / f"inserted-{seed}").mkdir()
        for path in normal.values():
            model, counts = with_insertions(path, f"{path.stem} {seed}")
            if counts:
                kinds += counts
                inserted += operators(model)
                after = corpus.folder / f"inserted-{seed}" / path.name
                onnx.save(model, after)
                changed[after] = path
        results = {}
        for batch in batches(changed):
            results |= fold_all(report, batch, corpus.folder / f"removed-{seed}", "--passes", "exact")
        with ThreadPoolExecutor() as pool:
            differences = list(pool.map(lambda pair: difference(changed[pair[0]], pair[1]), results.items()))
        for (before, after), problem in zip(results.items(), differences):
            report.case(f"{before.stem}, seed {seed}", problem)
            left += operators(onnx.load(after))
    words = ", ".join(f"{kind} {kinds[kind]}" for kind in KINDS)
    nodes = ", ".join(f"{operator} {count - left[operator]} of {count}" for operator, count in sorted(inserted.items()))
    report.note(f"{sum(kinds.values())} insertions in {report.cases} models ({words}); nodes removed: {nodes}")
    for kind in KINDS:
        report.count(f"insertions of {kind}", kinds[kind])
    report.case("kinds", set(KINDS) - set(kinds) and f"never inserted: {set(KINDS) - set(kinds)}")


def difference(before, after):
    done = recast("diff", before, after)
    return done.returncode != 0 and f"{done.stdout[:600]}{done.stderr[:300]}"


def operators(model):
    """How many inserted nodes a model has, by operator."""
    return Counter(node.op_type for graph in all_graphs(model) for node in graph.node if node.name.startswith(PREFIX))


def with_insertions(path, seed):
    """The model with nodes that change nothing, and how many of each kind were inserted."""
    model, rng = onnx.load(path), random.Random(seed)
    scopes = list(scopes_of(model))
    counts = Counter()
    for number in range(rng.randint(1, MOST_INSERTIONS)):
        candidates = [scope for scope in scopes if scope.opset and scope.uses()]
        if candidates:
            scope = rng.choice(candidates)
            counts.update(scope.insert(rng, f"{PREFIX}{number}"))
    return model, counts


class Scope:
    """A graph or function body, with the types of the values that its nodes see."""

    def __init__(self, graph, types, opset, may_have_initializers):
        self.graph, self.types, self.opset, self.may_have_initializers = graph, types, opset, may_have_initializers

    def uses(self):
        """(node, input index) of each use of a value."""
        return [(node, index) for node in self.graph.node for index, name in enumerate(node.input) if name]

    def insert(self, rng, name):
        """Inserts nodes of a random kind in front of one consumer, or all; the kinds."""
        user, index = rng.choice(self.uses())
        value = user.input[index]
        kinds = [(kind, make) for kind in KINDS for make in [MAKERS[kind](self, self.types.get(value), rng)] if make]
        if not kinds:
            return []
        kind, make = rng.choice(kinds)
        nodes = make(value, name)
        for number, node in enumerate(nodes):
            node.name = f"{name}_{number}"
        position = next(at for at, node in enumerate(self.graph.node) if node is user or node == user)
        if rng.random() < 0.5:
            user.input[index] = nodes[-1].output[0]
        else:
            position = next((at + 1 for at, node in enumerate(self.graph.node) if value in node.output), 0)
            rename_uses(self.graph, value, nodes[-1].output[0])
        following = [onnx.NodeProto.FromString(node.SerializeToString()) for node in self.graph.node[position:]]
        del self.graph.node[position:]
        self.graph.node.extend([*nodes, *following])
        return [kind]

    def admits(self, operator, type_proto):
        """Whether the opset's operator takes a value of a type as its first input."""
        schema = schema_of(operator, self.opset)
        return bool(schema and type_proto is not None and type_name(type_proto) in schema.inputs[0].types)


def rename_uses(graph, old, new):
    """Changes what nodes read, in subgraphs too, except where these define the name again."""
    for node in graph.node:
        for index, name in enumerate(node.input):
            node.input[index] = new if name == old else name
        for subgraph in subgraphs(node):
            defined = {value.name for value in [*subgraph.input, *subgraph.initializer]}
            if old not in defined | {name for inner in subgraph.node for name in inner.output}:
                rename_uses(subgraph, old, new)


@functools.cache
def schema_of(operator, opset):
    try:
        return defs.get_schema(operator, opset, "")
    except defs.SchemaError:
        return None


# Makers: for a scope, the type of a value and a source of choices, a function of the value's name and a prefix for new names that
# returns the nodes, whose last output equals the value; or None.


def identity(scope, value_type, rng):
    is_known = value_type is not None
    if is_known and not scope.admits("Identity", value_type):
        return None
    # What is not known may be a sequence or an optional: these have an Identity since opset 16.
    if not is_known and scope.opset < 16:
        return None
    return lambda value, name: [helper.make_node("Identity", [value], [name])]


def same_cast(scope, value_type, rng):
    dtype = scope.admits("Cast", value_type) and element(value_type)
    if not dtype or not admitted_by_cast(dtype, scope.opset):
        return None
    return lambda value, name: [cast_node(scope.opset, value, name, dtype)]


def casts(scope, value_type, rng):
    """To a type that has every value, perhaps on to another one, perhaps with an Identity between, and back."""
    dtype = scope.admits("Cast", value_type) and element(value_type)
    chains = exact_chains(dtype, scope.opset) if dtype else ()
    if not chains:
        return None
    chain = rng.choice(chains)
    with_identity = rng.random() < 0.3
    with_like = schema_of("CastLike", scope.opset) and scope.admits("CastLike", value_type) and rng.random() < 0.3

    def make(value, name):
        nodes, last = [], value
        for number, middle in enumerate(chain):
            nodes.append(cast_node(scope.opset, last, f"{name}_to_{number}", middle))
            last = nodes[-1].output[0]
        if with_identity:
            nodes.append(helper.make_node("Identity", [last], [f"{name}_between"]))
            last = nodes[-1].output[0]
        back = helper.make_node("CastLike", [last, value], [name]) if with_like else cast_node(scope.opset, last, name, dtype)
        return [*nodes, back]

    return make


def cast_like(scope, value_type, rng):
    dtype = schema_of("CastLike", scope.opset) and scope.admits("CastLike", value_type) and element(value_type)
    if not dtype or not admitted_by_cast(dtype, scope.opset):
        return None
    options = {"saturate": 0} if dtype == "FLOAT8E5M2" else {}
    return lambda value, name: [helper.make_node("CastLike", [value, value], [name], **options)]


def reshape(scope, value_type, rng):
    dims = shape(value_type) if scope.opset >= 5 and scope.admits("Reshape", value_type) else None
    if dims is None:
        return None
    # A 0 copies any dimension, and one -1 stands for the remaining one, if the others are positive.
    wanted = [0 if dim is None or rng.random() < 0.3 else dim for dim in dims]
    rest = rng.randrange(len(dims)) if dims and rng.random() < 0.5 else None
    if rest is not None and all(dim for at, dim in enumerate(dims) if at != rest):
        wanted[rest] = -1
    tensor = helper.make_tensor("", TensorProto.INT64, [len(wanted)], wanted)
    as_initializer = scope.may_have_initializers and rng.random() < 0.5

    def make(value, name):
        node = helper.make_node("Reshape", [value, f"{name}_shape"], [name])
        if not as_initializer:
            return [helper.make_node("Constant", [], [f"{name}_shape"], value=tensor), node]
        scope.graph.initializer.add().CopyFrom(tensor)
        scope.graph.initializer[-1].name = f"{name}_shape"
        return [node]

    return make


def transpose(scope, value_type, rng):
    dims = shape(value_type) if scope.admits("Transpose", value_type) else None
    # An empty `perm` is the same as none.
    return (lambda value, name: [helper.make_node("Transpose", [value], [name], perm=range(len(dims)))]) if dims else None


MAKERS = dict(zip(KINDS, (identity, same_cast, casts, cast_like, reshape, transpose)))


def cast_node(opset, value, name, dtype):
    """FLOAT8E5M2 is the one type that a cast to itself changes, unless it does not saturate."""
    options = {"saturate": 0} if dtype == "FLOAT8E5M2" else {}
    to = dtype if opset < 6 else TensorProto.DataType.Value(dtype)
    return helper.make_node("Cast", [value], [name], to=to, **options)


@functools.cache
def exact_chains(dtype, opset):
    """The types through which a cast and back changes nothing: one, or two in a row."""
    types = [each for each in NUMERIC if admitted_by_cast(each, opset)]
    single = [(middle,) for middle in types if middle != dtype and is_exact(dtype, middle)]
    pairs = [(*first, second) for first in single for second in types if second not in (dtype, *first)]
    return single + [pair for pair in pairs if is_exact(dtype, *pair)]


def admitted_by_cast(dtype, opset):
    schema = schema_of("Cast", opset)
    # Before opset 6, the type of the result is a string.
    return f"tensor({dtype.lower()})" in next(each.allowed_type_strs for each in schema.type_constraints if each.type_param_str == "T2")


@functools.cache
def is_exact(dtype, *middles):
    """Whether every value of a type survives casts to other types and back."""
    return dtype in NUMERIC and all(survives(code, dtype, middles) for code in critical_codes(dtype))


def survives(code, dtype, middles):
    current, steps = code, zip((dtype, *middles), (*middles, dtype))
    for source, target in steps:
        answer = cast(current, source, target, 28)
        if answer.kind != "defined":
            return False
        current = answer.text
    return current == code or (is_nan(code, dtype) and is_nan(current, dtype))


def critical_codes(dtype):
    """All codes of a narrow type; of a wide one, those of the first to be lost: the longest mantissas of every exponent, and the ends."""
    width = bits_of(dtype)
    if dtype == "BOOL":
        return (0, 1)
    if width <= 8:
        return range(1 << width)
    if dtype in INTEGERS:
        return sorted({code % (1 << width) for power in range(width) for code in ((1 << power) - 1, 1 << power, (1 << power) + 1, -1)})
    mantissa_bits = FLOATS[dtype].mantissa_bits
    mantissas = (0, 1, (1 << mantissa_bits) - 1)
    return [high << mantissa_bits | low for high in range(1 << (width - mantissa_bits)) for low in mantissas]


def scopes_of(model):
    """The graph, its subgraphs and the function bodies."""
    opset = opset_of(model)
    try:
        inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    except Exception:
        inferred = model
    yield from scopes_of_graph(model.graph, inferred.graph, {}, opset, model.ir_version >= 4)
    for function in model.functions:
        yield from scopes_of_graph(function, function, {}, opset_of(function), False)


def scopes_of_graph(graph, inferred, outer, opset, may_have_initializers):
    types = dict(outer)
    for node in graph.node:
        types.update(dict.fromkeys(node.output, None) | stated_types(node, opset))
    if isinstance(inferred, onnx.GraphProto):
        for tensor in inferred.initializer:
            types[tensor.name] = helper.make_tensor_type_proto(tensor.data_type, list(tensor.dims))
        for value in [*inferred.value_info, *inferred.output, *inferred.input]:
            types[value.name] = value.type if value.type.WhichOneof("value") else None
        for tensor in inferred.sparse_initializer:
            types[tensor.values.name] = None
    yield Scope(graph, types, opset, may_have_initializers and isinstance(graph, onnx.GraphProto))
    for node, twin in zip(graph.node, inferred.node):
        for inner, inner_inferred in zip(subgraphs(node), subgraphs(twin)):
            yield from scopes_of_graph(inner, inner_inferred, types, opset, may_have_initializers)


def stated_types(node, opset):
    """Types of results that depend on the node alone."""
    schema = schema_of(node.op_type, opset) if opset and not node.domain else None
    if schema is None or node.op_type == "Constant":
        return {}
    if node.op_type == "Cast":
        to = [attribute.i for attribute in node.attribute if attribute.name == "to" and attribute.i]
        return {node.output[0]: helper.make_tensor_type_proto(to[0], None)} if to else {}
    single = [(name, output.types) for name, output in zip(node.output, schema.outputs) if len(output.types) == 1]
    named = {name: next(iter(types)) for name, types in single}
    known = {f"tensor({key.lower()})": value for key, value in TensorProto.DataType.items()}
    return {name: helper.make_tensor_type_proto(known[each], None) for name, each in named.items() if each in known}


def opset_of(owner):
    """The opset of ai.onnx; 0 if none or several are stated."""
    stated = {entry.version for entry in owner.opset_import if entry.domain in ("", "ai.onnx")}
    return stated.pop() if len(stated) == 1 else 0


def type_name(type_proto):
    """As schemas write it; empty for what they do not have."""
    kind = type_proto.WhichOneof("value")
    if kind == "tensor_type":
        return f"tensor({TensorProto.DataType.Name(type_proto.tensor_type.elem_type).lower()})"
    if kind == "sequence_type":
        return f"seq({type_name(type_proto.sequence_type.elem_type)})"
    if kind == "optional_type":
        return f"optional({type_name(type_proto.optional_type.elem_type)})"
    return ""


def element(type_proto):
    return TensorProto.DataType.Name(type_proto.tensor_type.elem_type)


def shape(type_proto):
    """The dimensions of a tensor, None for unknown ones; None if the rank is unknown."""
    if not type_proto.tensor_type.HasField("shape"):
        return None
    return [dim.dim_value if dim.HasField("dim_value") else None for dim in type_proto.tensor_type.shape.dim]
