"""Models of one random node of any version of any operator, valid or not: shapes that fit each other or do not, constants and attributes
in and out of range. Equal seeds give equal models."""

import functools
import random

from onnx import TensorProto, defs, helper

from generators import typed_nodes

LATEST = 28
IR_VERSIONS = (3, 4, 7, 8, 10)
FIRST_OPSET_OF_IR_12, IR_12 = 23, 12
WITH_BODIES = ("If", "Loop", "Scan", "SequenceMap")
TYPES = {f"tensor({name})": number for name, number in typed_nodes.NUMBERS.items()}
LENGTHS = (1, 1, 2, 3, 3, 4, 0)
LISTED = {TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL}
NUMBERS = (0, 1, 2, 3, -1, -2, 4)
WORDS = ("constant", "linear", "nearest", "reflect", "edge", "NOTSET", "SAME_UPPER", "VALID", "forward", "mean", "sum", "none", "bilinear")
KINDS, OPTIONS = defs.OpSchema.AttrType, defs.OpSchema.FormalParameterOption


def any_node(seed):
    """A model; some operators have none for some seeds."""
    return next(model for attempt in range(100) if (model := Node(random.Random(f"{seed} {attempt}")).model()))


@functools.cache
def schemas():
    """Every version of every operator without bodies, and the newest opset that has it."""
    versions = []
    for schema in typed_nodes.all_schemas():
        if schema.domain == "" and schema.name not in WITH_BODIES and not schema.deprecated:
            later = [each.since_version for each in typed_nodes.history("", schema.name) if each.since_version > schema.since_version]
            versions.append((schema, min(later) - 1 if later else LATEST))
    return sorted(versions, key=lambda version: (version[0].name, version[0].since_version))


class Node:
    def __init__(self, choices):
        self.choices = choices
        self.schema, self.last = choices.choice(schemas())
        self.common = self.shape()
        self.names, self.inputs, self.constants = [], [], []

    def model(self):
        """None if the operator needs an input or an attribute that is not made here."""
        types = {each.type_param_str: self.one_of(each.allowed_type_strs) for each in self.schema.type_constraints}
        for index, formal in enumerate(self.schema.inputs):
            if index >= self.schema.min_input and self.choices.random() < 0.4:
                break
            number = TYPES.get(types.get(formal.type_str, formal.type_str))
            if number is None:
                return None
            for _ in range(self.choices.randint(1, 3) if formal.option == OPTIONS.Variadic else 1):
                self.add_input(number)
        attributes = {name: self.value(name, fact) for name, fact in self.schema.attributes.items() if fact.required or self.choices.random() < 0.4}
        if any(value is None and self.schema.attributes[name].required for name, value in attributes.items()):
            return None
        most = max(self.schema.min_output, min(self.schema.max_output, 3))
        outputs = [f"output_{index}" for index in range(max(1, self.choices.randint(self.schema.min_output, most)))]
        given = {name: value for name, value in attributes.items() if value is not None}
        node = helper.make_node(self.schema.name, self.names, outputs, **given)
        graph = helper.make_graph([node], "g", self.inputs, [helper.make_empty_tensor_value_info(name) for name in outputs], self.constants)
        opset = self.choices.randint(self.schema.since_version, self.last)
        ir_version = self.choices.choice(IR_VERSIONS) if opset < FIRST_OPSET_OF_IR_12 else IR_12
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version)

    def one_of(self, types):
        known = sorted(set(types) & TYPES.keys())
        return self.choices.choice(known) if known else None

    def shape(self):
        rank = self.choices.choice((0, 1, 1, 2, 2, 3, 4, 4, 5))
        return [self.choices.choice(LENGTHS) if self.choices.random() < 0.9 else None for _ in range(rank)]

    def shape_beside(self):
        """The common shape, one that is broadcast to it, or another one."""
        kind = self.choices.random()
        if kind < 0.5:
            return self.common
        return [length if self.choices.random() < 0.7 else 1 for length in self.common] if kind < 0.65 else self.shape()

    def add_input(self, number):
        name, shape = f"input_{len(self.names)}", self.shape_beside()
        self.names.append(name)
        if number in LISTED and None not in shape and len(shape) < 3 and self.choices.random() < 0.35:
            values = [self.choices.choice(NUMBERS) for _ in range(functools.reduce(int.__mul__, shape, 1))]
            values = [value & 1 for value in values] if number == TensorProto.BOOL else values
            self.constants.append(helper.make_tensor(name, number, shape, values))
        else:
            lengths = [self.choices.choice(["a", "b", None]) if length is None else length for length in shape]
            self.inputs.append(helper.make_tensor_value_info(name, number, lengths))

    def value(self, name, fact):
        """The value of an attribute; none if its kind is not made here."""
        pick = self.choices.choice
        match fact.type:
            case KINDS.INT:
                return pick((1, 6, 7, 9, 10, 11)) if name in ("to", "dtype") else pick((0, 1, 1, 2, -1, 3, -2, 7))
            case KINDS.INTS:
                return [pick((0, 1, 1, 2, -1, 3)) for _ in range(pick((len(self.common), 2, 4, 1, max(1, len(self.common) - 2))))] or [1]
            case KINDS.FLOAT:
                return pick((0.0, 1.0, 0.5, -1.0))
            case KINDS.FLOATS:
                return [1.0, 2.0]
            case KINDS.STRING:
                return pick(WORDS)
            case KINDS.STRINGS:
                return ["a", "b"]
            case KINDS.TENSOR:
                return helper.make_tensor("value", pick((TensorProto.FLOAT, TensorProto.INT64)), [1], [1])
        return None
