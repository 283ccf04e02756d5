"""Random models of nested graphs and functions, for the check `nested_graphs_keep_outputs`.

A model is built from the inside: a body (the graph, a subgraph or a function) knows the type and shape of every value that its nodes
see, and adds nodes that fit, from the templates of `nodes.py` and `subgraphs.py`. Nothing is run, so that a model takes a few
milliseconds. Equal seeds give equal models.

`.venv/bin/python -m generators.bodies SEED FILE`, in `conformance/`, writes a model.
"""

import contextlib
import functools
import random
import sys
from collections import Counter
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, defs, helper, numpy_helper

from generators.nodes import TEMPLATES
from generators.subgraphs import CONTROL_FLOW, call

# The reference evaluator alone runs those that onnxruntime does not know.
OPSETS = [*range(7, 27), *range(17, 27), 28]
LARGEST_IR_VERSION = 13
MOST_DEPTH, MOST_FUNCTIONS = 3, 3
WIDE = ("FLOAT", "DOUBLE", "FLOAT16", "INT32", "INT64", "BOOL", "UINT8", "INT8")
RARE = (
    "UINT16", "INT16", "UINT32", "UINT64", "BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "UINT4", "INT4",
    "UINT2", "INT2", "FLOAT8E8M0", "STRING", "FLOAT4E2M1",
)  # fmt: skip
# The bits of element types that are made from random codes.
NARROW = {
    "FLOAT16": 16, "BFLOAT16": 16, "FLOAT8E4M3FN": 8, "FLOAT8E4M3FNUZ": 8, "FLOAT8E5M2": 8, "FLOAT8E5M2FNUZ": 8, "FLOAT8E8M0": 8, "FLOAT4E2M1": 4,
}  # fmt: skip
EDGES = (
    0.0, -0.0, 1.0, -1.0, 0.1, 2.5, 3.5, -7.5, 448.0, 464.0, 465.0, 57344.0, 61440.0, 65504.0, 65519.0, 65520.0, 1e5, -1e5, 1e-3, 1e-8, 6e-8, 1e-20,
    3e38, -3e38, 1e-45, 1 + 2**-11, 1 + 2**-12, 16777217.0, 2147483648.0, 9.3e18, float("inf"), float("-inf"), float("nan"),
)  # fmt: skip


class Unfit(Exception):
    """An operator does not support a type in this opset. Nodes that were already added remain."""


@dataclass(frozen=True)
class Value:
    """What a body knows of a value. Its shape is that of this run, also where the model declares a name or nothing."""

    name: str
    dtype: str
    shape: tuple


@dataclass
class Function:
    """A function that bodies can call; an output type of `@to` is that of the attribute."""

    name: str
    inputs: list
    outputs: list
    attributes: dict


class Model:
    """The choices that all bodies of a model share."""

    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.opset = rng.choice(OPSETS)
        oldest = helper.find_min_ir_version_for([helper.make_opsetid("", min(self.opset, 26))])
        # The Constant of older opsets has no integers, which functions need.
        self.has_functions = self.opset >= 9 and rng.random() < 0.4
        oldest = max(oldest, 4, 8 if self.has_functions else 0)
        self.ir_version = rng.randint(oldest, max(oldest, LARGEST_IR_VERSION))
        self.has_empty = rng.random() < 0.2
        self.has_edges = rng.random() < 0.35
        self.has_names = rng.random() < 0.5
        admitted = cast_types(self.opset)
        types = rng.sample(WIDE, rng.randint(2, 5)) + (rng.sample(RARE, rng.randint(1, 3)) if rng.random() < 0.35 else [])
        self.types = ["FLOAT"] * 2 + [dtype for dtype in types if dtype in admitted]
        self.sizes = rng.sample((1, 2, 3, 4), 2) + ([0] if self.has_empty else [])
        self.functions, self.protos = [], []
        self.constructs = Counter()

    def type(self):
        return self.rng.choice(self.types)

    def shape(self, most=3):
        return tuple(self.rng.choice(self.sizes) for _ in range(self.rng.choice((0, 1, 1, 2, 2, 3, 4)[: 3 + most])))

    def array(self, dtype, shape, may_have_edges=False):
        """Random values; constants can have those at which casts differ."""
        rng, count = self.rng, int(np.prod(shape))
        with_edges = may_have_edges and self.has_edges
        if dtype == "STRING":
            return np.array([str(rng.randint(-3, 9)) for _ in range(count)], object).reshape(shape)
        target = helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(dtype))
        if dtype in NARROW and with_edges:
            codes = [rng.getrandbits(NARROW[dtype]) for _ in range(count)]
            return np.array(codes, f"u{target.itemsize}").view(target).reshape(shape)
        if dtype in ("FLOAT", "DOUBLE") and with_edges:
            return np.array([rng.choice((*EDGES, rng.uniform(-300, 300))) for _ in range(count)], np.float64).astype(target).reshape(shape)
        if dtype == "BOOL":
            return np.array([rng.random() < 0.5 for _ in range(count)], bool).reshape(shape)
        if "INT" in dtype:
            bits = int(dtype.lstrip("UINT"))
            low, high = (0, 2**bits - 1) if dtype.startswith("U") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
            edges = (low, high, high // 2 + 1, rng.randint(low, high))
            numbers = [rng.choice(edges) if with_edges and rng.random() < 0.5 else rng.randint(max(low, -2), min(high, 4)) for _ in range(count)]
            return np.array(numbers, np.int64 if low < 0 else np.uint64).astype(target).reshape(shape)
        numbers = [rng.choice((0.5, 1, 2, 4)) if dtype == "FLOAT8E8M0" else round(rng.uniform(-3, 3), 2) for _ in range(count)]
        return np.array(numbers, np.float32).astype(target).reshape(shape)

    def attribute_values(self, name):
        """The kind of a function's attribute, and values for it."""
        return ATTRIBUTES[name]

    def declared(self, name, dtype, shape, may_be_unknown=True):
        """A value_info, whose dimensions can be names, nothing, or missing altogether."""
        rng = self.rng
        if may_be_unknown and rng.random() < 0.1:
            dims = None
        elif self.has_names:
            dims = [rng.choice((size, size, f"d{size}", None)) for size in shape]
        else:
            dims = list(shape)
        return helper.make_tensor_value_info(name, TensorProto.DataType.Value(dtype), dims)


class Body:
    """A graph, a subgraph or a function that is being built."""

    def __init__(self, model, outer=None, is_function=False):
        self.model, self.rng, self.outer, self.is_function = model, model.rng, outer, is_function
        self.depth = outer.depth + 1 if outer else 0
        self.last = outer.last if outer else 0
        self.values, self.nodes, self.initializers, self.inputs, self.attributes = [], [], [], [], {}
        self.constants = {}
        self.given = {}

    @property
    def opset(self):
        return self.model.opset

    def name(self, prefix="v"):
        """New in this body and in those around it; bodies beside each other have the same names."""
        self.last += 1
        return f"{prefix}{self.last}"

    def finished(self, inner):
        """After a subgraph: names of this body are new there, too."""
        self.last = max(self.last, inner.last)

    def visible(self):
        body, values = self, []
        while body:
            values = [*body.values, *values]
            body = body.outer
        return values

    def captured(self, name):
        """Whether a value is of an enclosing body."""
        return all(value.name != name for value in self.values)

    # Values.

    def take(self, dtypes=None, fits=lambda value: True):
        """A value of some type that fits, preferably a late one; None if there is none."""
        values = [value for value in self.visible() if (dtypes is None or value.dtype in dtypes) and fits(value)]
        if not values:
            return None
        value = self.rng.choice(values[-6:] if self.rng.random() < 0.5 else values)
        if self.outer and self.captured(value.name):
            self.model.constructs["capture"] += 1
        return value

    def want(self, dtypes, shape=None):
        """A value of one of some types, and of a shape if one is given; it is cast or made where there is none."""
        dtypes = [dtype for dtype in dtypes if dtype in cast_types(self.opset)]
        value = self.take(dtypes, lambda value: shape is None or value.shape == shape) if self.rng.random() < 0.8 else None
        if value:
            return value
        fits = lambda value: (shape is None or value.shape == shape) and value.dtype != "STRING"
        other = self.take(None, fits) if self.rng.random() < 0.7 else None
        dtype = self.rng.choice([each for each in dtypes if each in self.model.types] or dtypes)
        if other and dtype != "STRING":
            return self.cast(other, dtype)
        return self.constant(dtype, self.model.shape() if shape is None else shape)

    def reshaped(self, dtype, shape):
        """A value of a type and shape, made from another one where that is possible."""
        count = int(np.prod(shape))
        value = self.take(None, lambda value: value.dtype != "STRING" and (value.shape == shape or (int(np.prod(value.shape)) == count and count)))
        if value is None or dtype == "STRING":
            return self.want([dtype], shape)
        if value.dtype != dtype:
            value = self.cast(value, dtype)
        if value.shape != shape:
            value = self.reshape(value, shape)
        return value

    def reshape(self, value, shape):
        return self.add("Reshape", [value, self.integers(shape)], [(value.dtype, shape)])[0]

    def cast(self, value, dtype, **options):
        if dtype.startswith("FLOAT8") and self.opset >= 19 and self.rng.random() < 0.3:
            options["saturate"] = self.rng.choice((0, 1))
        if dtype == "FLOAT8E8M0" and self.rng.random() < 0.3:
            options["round_mode"] = self.rng.choice(("up", "down", "nearest"))
        self.model.constructs["cast"] += 1
        return self.add("Cast", [value], [(dtype, value.shape)], to=TensorProto.DataType.Value(dtype), **options)[0]

    def integers(self, numbers):
        """A constant list, such as a shape or axes."""
        return self.constant_of("INT64", np.array(numbers, np.int64))

    def constant(self, dtype, shape):
        """A constant, perhaps one that is used elsewhere."""
        shared = [value for value in self.visible() if value.name in self.constants and (value.dtype, value.shape) == (dtype, shape)]
        if shared and self.rng.random() < 0.4:
            return self.rng.choice(shared)
        return self.constant_of(dtype, self.model.array(dtype, shape, may_have_edges=True))

    def constant_of(self, dtype, array):
        rng, value = self.rng, Value(self.name("c"), dtype, array.shape)
        self.values.append(value)
        self.constants[value.name] = array
        if array.size == 0:
            self.model.constructs["empty constant"] += 1
        has_node = f"tensor({dtype.lower()})" in self.schema("Constant").outputs[0].types
        if self.is_function or (has_node and rng.random() < 0.4):
            self.nodes.append(constant_node(rng, self.opset, value, array))
            return value
        self.initializers.append(tensor_of(rng, value, array))
        # An IR version of 3 would require this of all of them.
        if self.depth == 0 and array.dtype.kind != "O" and not value.name.startswith("i") and rng.random() < 0.1 and dtype != "INT64":
            self.inputs.append(self.model.declared(value.name, dtype, array.shape, may_be_unknown=False))
            self.model.constructs["overridable"] += 1
            if rng.random() < 0.5:
                self.given[value.name] = self.model.array(dtype, array.shape)
        return value

    # Nodes.

    def schema(self, op):
        return schema_of(op, self.opset)

    def admits(self, op, index, dtype):
        schema = self.schema(op)
        return bool(schema) and f"tensor({dtype.lower()})" in schema.inputs[index].types

    def admitted(self, op, index=0):
        """The types of an operator's input."""
        schema = self.schema(op)
        return [dtype for dtype in (*WIDE, *RARE) if schema and f"tensor({dtype.lower()})" in schema.inputs[index].types]

    def add(self, op, inputs, outputs, domain="", references=None, **attributes):
        """Adds a node; an output is a type and a shape, or None for one that is left out. Returns the values of those that are there."""
        names = [each if isinstance(each, str) else each.name for each in inputs]
        while names and not names[-1]:
            names.pop()
        self.require_types(op, domain, inputs, outputs)
        values = [each and Value(self.name(), *each) for each in outputs]
        node = helper.make_node(op, names, [value.name if value else "" for value in values], domain=domain, **attributes)
        if self.rng.random() < 0.7:
            node.name = f"n{self.last}"
        for name, (referred, kind) in (references or {}).items():
            node.attribute.append(onnx.AttributeProto(name=name, ref_attr_name=referred, type=kind))
        self.nodes.append(node)
        made = [value for value in values if value]
        self.values += [value for value in made if value.dtype[0] not in "@["]
        for value in made:
            self.model.constructs["empty tensor"] += 0 in value.shape
            self.model.constructs["scalar"] += value.shape == ()
        return made

    def require_types(self, op, domain, inputs, outputs):
        """Raises if the schema does not have the types; onnx.checker leaves out some."""
        schema = None if domain else self.schema(op)
        if domain:
            return
        if schema is None:
            raise Unfit(f"{op} in opset {self.opset}")
        types = [each.dtype if isinstance(each, Value) else None for each in inputs], [each and each[0] for each in outputs]
        for formals, actuals in zip((schema.inputs, schema.outputs), types):
            for index, dtype in enumerate(actuals):
                formal = formals[min(index, len(formals) - 1)]
                if dtype and dtype[0] not in "@[" and f"tensor({dtype.lower()})" not in formal.types:
                    raise Unfit(f"{dtype} of {op} in opset {self.opset}")

    def grow(self, count):
        """Adds nodes by random templates, as far as they fit."""
        for _ in range(count):
            may_nest = self.depth < MOST_DEPTH and self.rng.random() < 0.2 / (1 + self.depth)
            template = self.rng.choice(CONTROL_FLOW if may_nest else (*TEMPLATES, call, call, call))
            with contextlib.suppress(Unfit):
                template(self)

    def inner(self):
        return Body(self.model, self)

    def entered(self, dtype, shape):
        """A new input of this body."""
        self.values.append(Value(self.name("x"), dtype, shape))
        return self.values[-1]

    def graph(self, name, inputs, outputs):
        """The graph of what was built. The shapes of scalars are declared: onnxruntime requires those of a Loop's first inputs."""
        declare = lambda each: self.model.declared(each.name, each.dtype, each.shape, may_be_unknown=self.depth > 0 and each.shape != ())
        return helper.make_graph(self.nodes, name, [declare(each) for each in inputs], [declare(each) for each in outputs], self.initializers)

    def own(self, value):
        """A value that this body computes: what a subgraph returns cannot be a value of the graphs around it."""
        produced = {name for node in self.nodes for name in node.output}
        return value if value.name in produced else self.add("Identity", [value], [(value.dtype, value.shape)])[0]


def random_model(seed):
    """A model, its inputs and what it contains."""
    model = Model(seed)
    rng = model.rng
    if model.has_functions:
        for index in range(rng.randint(1, MOST_FUNCTIONS)):
            random_function(model, f"F{index}")
    body = Body(model)
    for _ in range(rng.randint(1, 3)):
        shape, dtype = model.shape(), model.type()
        value = Value(body.name("x"), dtype, shape)
        body.values.append(value)
        body.inputs.append(model.declared(value.name, dtype, shape, may_be_unknown=False))
        body.given[value.name] = model.array(dtype, shape)
    body.grow(rng.randint(3, 10))
    produced = [value for value in body.values if any(value.name in node.output for node in body.nodes)]
    if not produced:
        produced = [body.cast(body.values[0], "DOUBLE")] if body.values[0].dtype != "STRING" else [body.own(body.values[0])]
    chosen = {value.name: value for value in [*rng.sample(produced, min(len(produced), rng.randint(1, 4))), produced[-1]]}
    # Constants can be outputs as they are.
    for tensor in body.initializers:
        if rng.random() < 0.04:
            chosen[tensor.name] = next(value for value in body.values if value.name == tensor.name)
            model.constructs["constant output"] += 1
    graph = body.graph("g", [], [chosen[name] for name in sorted(chosen)])
    graph.input.extend(body.inputs)
    for value in produced:
        if value.name not in chosen and rng.random() < 0.15:
            graph.value_info.append(model.declared(value.name, value.dtype, value.shape))
    annotate(rng, graph, body)
    imports = [helper.make_opsetid("", model.opset)] + ([helper.make_opsetid("local", 1)] if model.protos else [])
    proto = helper.make_model(graph, functions=model.protos, opset_imports=imports, ir_version=model.ir_version)
    return proto, body.given, model.constructs


def annotate(rng, graph, body):
    """Adds what no node uses: documentation, metadata, and annotations that name tensors."""
    if rng.random() < 0.2:
        graph.doc_string = "a random graph"
    if rng.random() < 0.2:
        for node in rng.sample(list(graph.node), 1):
            node.doc_string = "a node"
            if body.model.ir_version >= 10:
                node.metadata_props.add(key="kind", value=node.op_type)
    if rng.random() < 0.15 and body.initializers and graph.node:
        value = rng.choice([name for node in graph.node for name in node.output if name])
        annotation = graph.quantization_annotation.add(tensor_name=value)
        annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value=rng.choice(body.initializers).name)
        body.model.constructs["annotation"] += 1


def random_function(model, name):
    """Adds a function, whose nodes refer to its attributes and call the functions before it."""
    rng, body = model.rng, Body(model, is_function=True)
    inputs = [Value(body.name("a"), model.type(), model.shape(2)) for _ in range(rng.randint(1, 2))]
    body.values += inputs
    body.attributes = {each: kind for each, kind in ATTRIBUTES.items() if rng.random() < 0.6}
    body.grow(rng.randint(1, 3))
    outputs = []
    castable = body.take(None, lambda value: value.dtype != "STRING")
    if "to" in body.attributes and castable:
        references = {"to": ("to", onnx.AttributeProto.INT)}
        outputs += body.add("Cast", [castable], [("@to", castable.shape)], references=references)
        model.constructs["attribute reference"] += 1
    else:
        body.attributes.pop("to", None)
    body.grow(rng.randint(0, 2))
    for _ in range(rng.randint(0 if outputs else 1, 2)):
        outputs.append(body.own(body.take()))
    outputs = list({value.name: value for value in outputs}.values())
    defaults = {each for each in body.attributes if each != "to" and model.ir_version >= 9 and rng.random() < 0.5}
    imports = [helper.make_opsetid("", model.opset), helper.make_opsetid("local", 1)]
    proto = helper.make_function(
        "local", name, [value.name for value in inputs], [value.name for value in outputs], body.nodes, imports,
        [each for each in body.attributes if each not in defaults],
        [helper.make_attribute(each, ATTRIBUTES[each][1][0]) for each in sorted(defaults)],
    )  # fmt: skip
    model.protos.append(proto)
    model.functions.append(Function(name, inputs, outputs, {each: each not in defaults for each in body.attributes}))


# Attributes of functions: their kind and some values.
ATTRIBUTES = {
    "to": (onnx.AttributeProto.INT, ()),
    "alpha": (onnx.AttributeProto.FLOAT, (0.5, 1.5)),
    "number": (onnx.AttributeProto.FLOAT, (0.1, 2.0, -1.0)),
    "axis": (onnx.AttributeProto.INT, (0, -1)),
    "list": (onnx.AttributeProto.INTS, ([1, 2], [3], [1])),
}


@functools.cache
def schema_of(op, opset):
    try:
        return defs.get_schema(op, opset, "")
    except defs.SchemaError:
        return None


@functools.cache
def cast_types(opset):
    """What the opset's Cast takes and gives."""
    schema = schema_of("Cast", opset)
    return {dtype for dtype in (*WIDE, *RARE) if f"tensor({dtype.lower()})" in schema.inputs[0].types}


def tensor_of(rng, value, array):
    number = TensorProto.DataType.Value(value.dtype)
    if value.dtype in ("FLOAT", "DOUBLE", "INT32", "INT64", "BOOL", "UINT8", "INT8", "STRING") and rng.random() < 0.4:
        return helper.make_tensor(value.name, number, array.shape, array.flatten().tolist())
    return numpy_helper.from_array(array, value.name)


def constant_node(rng, opset, value, array):
    attributes = {}
    if opset >= 12 and rng.random() < 0.3 and array.ndim < 2:
        kind = {"FLOAT": "float", "INT64": "int", "STRING": "string"}.get(value.dtype)
        if kind:
            attributes[f"value_{kind}{'s' if array.ndim else ''}"] = array.tolist() if array.size else None
    attributes = {name: each for name, each in attributes.items() if each is not None}
    if not attributes:
        tensor = tensor_of(rng, value, array)
        tensor.ClearField("name")
        attributes = {"value": tensor}
    return helper.make_node("Constant", [], [value.name], **attributes)


if __name__ == "__main__":
    onnx.save(random_model(int(sys.argv[1]))[0], sys.argv[2])
