"""Random models with constants of 0.1 to 24 MB in every storage, and what a command must make of them.

Names, doc strings and other constants have random lengths, so that constants begin at any offset of their file. The elements of a constant
repeat after a few thousand random ones: a period that no part of a file has.
"""

import functools
import math
from collections import namedtuple

import numpy as np
import onnx
from onnx import TensorProto, defs, helper

from support.cast_rules import NUMERIC
from support.elements import drawn, has_values, number_of, packed, set_typed_field, stored_bits
from support.models import external_tensor

OPSET, IR_VERSION = 28, 14
LEAST_BYTES, MOST_BYTES = 100_000, 24_000_000
# An element of two bits takes a byte of numpy, and one of a typed field more in Python.
MOST_ELEMENTS, MOST_TYPED_ELEMENTS = 24_000_000, 1_500_000
PERIODS = (5_000, 20_000)
STORAGES, SHARES = ("raw", "typed", "data file"), (0.5, 0.15, 0.35)
LONGEST_TEXT, LONGEST_GAP = 6_000, 5_000
ALL_SIZES = 1 << 30

# By name: a command, its options as the Python module has them, and the types that constants have before and after it, if not any.
Command = namedtuple("Command", "verb options types")
PRECISIONS = [("FLOAT", "FLOAT16"), ("FLOAT", "BFLOAT16"), ("FLOAT16", "FLOAT"), ("BFLOAT16", "FLOAT")]
COMMANDS = {
    "fold": Command("fold", {}, None),
    "exact passes": Command("fold", {"passes": ["exact"], "max_growth": ALL_SIZES}, None),
    **{f"{source} to {to}": Command("precision", {"to": to, "io": "convert"}, (source, to)) for source, to in PRECISIONS},
    **{f"weights to {to}": Command("precision", {"to": to, "weights_only": True}, ("FLOAT", to)) for to in ("FLOAT16", "BFLOAT16")},
}

# What a command must write: the model without its constants, and these, by name.
Expected = namedtuple("Expected", "model constants")
Constant = namedtuple("Constant", "type_name codes doc_string")


def write_large_model(rng, command_name, folder, most_bytes=MOST_BYTES):
    """Writes model.onnx and its data files into a folder; returns what the command must make of it."""
    command = COMMANDS[command_name]
    draft = Draft(rng, folder, most_bytes)
    kept_types = [each for each in NUMERIC if command.verb == "fold" or each not in ("FLOAT", "FLOAT16", "BFLOAT16")]
    for index in range(rng.integers(0, 3)):
        add_kept(draft, f"kept{index}", str(rng.choice(kept_types)))
    for index in range(rng.integers(1, 4)):
        if command.types:
            add_weight(draft, index, *command.types)
        else:
            add_casts(draft, index, is_computed_further=command_name == "exact passes")
    return draft.written(command)


class Draft:
    """The parts of a model, and of what a command makes of it."""

    def __init__(self, rng, folder, most_bytes):
        self.rng, self.folder, self.most_bytes = rng, folder, most_bytes
        self.folded_nodes, self.nodes = [], []
        self.inputs, self.outputs = [], []
        self.tensors, self.constants = [], {}

    def add_tensor(self, name, type_name, codes):
        """Adds an initializer; returns its doc string."""
        tensor = stored_tensor(self.rng, name, type_name, codes, self.folder)
        self.tensors.append(tensor)
        return tensor.doc_string

    def add_output(self, name, type_name, shape):
        """Makes a constant an output of the model, or the input of a Gather that depends on an input of the model."""
        if type_name in types_of("Gather") and self.rng.random() < 0.5:
            self.nodes.append(helper.make_node("Gather", [name, "rows"], [f"{name}_rows"], f"gather_{name}"))
            name, shape = f"{name}_rows", (3, *shape[1:])
            if not any(value.name == "rows" for value in self.inputs):
                self.inputs.append(declared("rows", "INT64", (3,)))
        self.outputs.append(declared(name, type_name, shape))

    def written(self, command):
        graph = helper.make_graph(
            [*self.folded_nodes, *self.nodes],
            text(self.rng, 1),
            self.inputs,
            self.outputs,
            self.tensors,
            doc_string=text(self.rng),
        )
        imports = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, opset_imports=imports, ir_version=IR_VERSION, producer_name=text(self.rng))
        helper.set_model_props(model, {"key": text(self.rng)})
        (self.folder / "model.onnx").write_bytes(model.SerializeToString())
        del model.graph.initializer[:], model.graph.node[:]
        model.graph.node.extend(self.nodes)
        if command.options.get("io") == "convert":
            change_types(model.graph, *command.types)
        return Expected(model, self.constants)


def add_kept(draft, name, type_name):
    """A constant that no command changes."""
    (codes,) = random_arrays(draft.rng, [type_name], 1, draft.most_bytes)
    draft.constants[name] = Constant(type_name, codes, draft.add_tensor(name, type_name, codes))
    draft.add_output(name, type_name, codes.shape)


def add_weight(draft, index, source, to):
    """A constant that `precision` casts, beside an input."""
    name = f"w{index}"
    codes, result = random_arrays(draft.rng, [source, to], most_bytes=draft.most_bytes)
    draft.constants[name] = Constant(to, result, draft.add_tensor(name, source, codes))
    draft.inputs.append(declared(f"x{index}", source, codes.shape))
    draft.outputs.append(declared(f"y{index}", source, codes.shape))
    draft.nodes.append(helper.make_node("Add", [f"x{index}", name], [f"y{index}"], f"add{index}"))


def add_casts(draft, index, is_computed_further):
    """A constant and one or two casts of it, and with the exact passes another operator that these compute."""
    rng = draft.rng
    types = random_types(rng)
    while not has_values(types):
        types = random_types(rng)
    arrays = random_arrays(rng, types, most_bytes=draft.most_bytes)
    name = f"c{index}"
    doc_string = draft.add_tensor(name, types[0], arrays[0])
    if rng.random() < 0.25:
        draft.constants[name] = Constant(types[0], arrays[0], doc_string)
        draft.add_output(name, types[0], arrays[0].shape)
    for step, type_name in enumerate(types[1:]):
        result = f"{name}_{type_name}"
        draft.folded_nodes.append(helper.make_node("Cast", [name], [result], f"cast{index}_{step}", to=number_of(type_name)))
        name = result
    codes = arrays[-1]
    operator = rng.choice([each for each in COMPUTED if types[-1] in types_of(each)] or [None])
    if is_computed_further and operator:
        inputs, attributes, compute = COMPUTED[operator]
        codes = np.ascontiguousarray(compute(codes)).astype(codes.dtype)
        draft.folded_nodes.append(helper.make_node(operator, [name] * inputs, [f"{name}_{operator}"], f"computed{index}", **attributes))
        name = f"{name}_{operator}"
    draft.constants[name] = Constant(types[-1], codes, "")
    draft.add_output(name, types[-1], codes.shape)


def random_types(rng):
    return [str(each) for each in rng.choice(NUMERIC, rng.integers(2, 4), replace=False)]


# Operators that the exact passes compute, of results that are not larger: how many inputs, all of them the same constant, attributes, and the
# bit patterns of the result.
COMPUTED = {
    "Transpose": (1, {}, np.transpose),
    "Flatten": (1, {"axis": 0}, lambda codes: codes.reshape(1, -1)),
    "Max": (2, {}, lambda codes: codes),
    "BitwiseNot": (1, {}, np.invert),
    "Not": (1, {}, np.logical_not),
}


@functools.cache
def types_of(operator):
    """The types of an operator's elements; of Max those for which it is computed."""
    names = defs.get_schema(operator, OPSET).type_constraints[0].allowed_type_strs
    found = {name.removeprefix("tensor(").removesuffix(")").upper() for name in names if name.startswith("tensor(")}
    return {name for name in found if operator != "Max" or "INT" in name}


def random_arrays(rng, types, least_bytes=LEAST_BYTES, most_bytes=MOST_BYTES):
    """The bit patterns of a constant of a random shape, and of its casts to each of the other types in turn."""
    # More large ones than small ones: most thresholds are about 1 MiB.
    size = least_bytes * (most_bytes / least_bytes) ** math.sqrt(rng.random())
    count = int(size * 8) // max(map(stored_bits, types))
    shape = random_shape(rng, min(count, MOST_ELEMENTS))
    period = drawn(rng, types, int(rng.integers(*PERIODS)))
    return [np.resize(codes, shape) for codes in period]


def random_shape(rng, count):
    """A list, or a matrix, of about as many elements."""
    columns = int(rng.integers(1, 100))
    return (count // columns, columns) if count > 100 and rng.random() < 0.5 else (count,)


def stored_tensor(rng, name, type_name, codes, folder):
    """A tensor with a random doc string in a random storage."""
    storage = rng.choice(STORAGES, p=SHARES)
    if storage == "data file":
        data = packed(codes, type_name)
        location = str(rng.choice(["first.bin", "second.bin"]))
        offset = append_after_gap(rng, folder / location, data)
        tensor = external_tensor(name, number_of(type_name), codes.shape, location, offset, data.size)
    else:
        tensor = TensorProto(name=name, data_type=number_of(type_name), dims=codes.shape)
        if storage == "raw" or codes.size > MOST_TYPED_ELEMENTS:
            tensor.raw_data = packed(codes, type_name).tobytes()
        else:
            set_typed_field(tensor, codes, type_name)
    tensor.doc_string = text(rng)
    return tensor


def append_after_gap(rng, path, data):
    """Adds bytes to a file at a random offset beyond its end, which is odd most of the time; returns the offset."""
    with open(path, "ab") as file:
        offset = file.tell() + int(rng.integers(1, LONGEST_GAP))
        if rng.random() < 0.75:
            offset |= 1
        file.truncate(offset)
        file.seek(offset)
        data.tofile(file)
    return offset


def text(rng, least=0):
    """A text of a random length, most often a short one."""
    return "t" * int(rng.integers(least, rng.choice([least + 1, 40, LONGEST_TEXT]), endpoint=True))


def declared(name, type_name, shape):
    return helper.make_tensor_value_info(name, number_of(type_name), shape)


def change_types(graph, source, to):
    for value in [*graph.input, *graph.output]:
        if value.type.tensor_type.elem_type == number_of(source):
            value.type.tensor_type.elem_type = number_of(to)
