"""Random graphs with values of the types that older opsets lack: quantized weights, quantized activations, and casts.

The elements of a weight are moved before it is dequantized (by tensor, axis or blocks) and squared. Activations are quantized, moved and
dequantized, or cast to a type and back; some pass the branches of an If, or are the state of a Loop.
"""

from dataclasses import dataclass, field

import numpy as np
from onnx import TensorProto, helper

# The opset from which all operators of the models have a type, and whether activations get it: casts to FLOAT4E2M1 are contested, as are
# those to the types with one zero before opset 24.
TYPES = {
    "INT4": (21, True),
    "UINT4": (21, True),
    "INT2": (25, True),
    "UINT2": (25, True),
    "FLOAT8E4M3FN": (21, True),
    "FLOAT8E5M2": (21, True),
    "FLOAT8E4M3FNUZ": (24, True),
    "FLOAT8E5M2FNUZ": (24, True),
    "FLOAT4E2M1": (23, False),
    "BFLOAT16": (16, True),
}
NEWEST = 26  # The newest opset that onnxruntime runs.
ROWS, COLUMNS = 8, 6


def quantized_graph(seed):
    """A model, whose input is FLOAT."""
    rng = np.random.default_rng(seed)
    name = list(TYPES)[seed % len(TYPES)]
    since, is_computed = TYPES[name]
    draft = Draft(rng, name, int(rng.integers(since, NEWEST + 1)))
    for _ in range(int(rng.integers(1, 3))):
        draft.weight()
    if is_computed:
        draft.activation()
        if rng.random() < 0.5:
            draft.branches()
        if rng.random() < 0.3:
            draft.loop()
    return draft.model()


@dataclass
class Draft:
    rng: np.random.Generator
    name: str
    opset: int
    nodes: list = field(default_factory=list)
    constants: list = field(default_factory=list)
    outputs: list = field(default_factory=list)

    def __post_init__(self):
        self.kind = getattr(TensorProto, self.name)
        self.dtype = helper.tensor_dtype_to_np_dtype(self.kind)
        self.is_integer = "INT" in self.name
        self.x = self.node("Mul", ["x", self.constant(np.float32(self.rng.choice([0.1, 1, 30, 1e5])), TensorProto.FLOAT)])

    def model(self):
        value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [f"{name}_rows", f"{name}_columns"])
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, ROWS])
        graph = helper.make_graph(self.nodes, "quantized", [x], [value(name) for name in self.outputs], self.constants)
        imports = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, opset_imports=imports, ir_version=helper.find_min_ir_version_for(imports))

    def node(self, op, inputs, **attributes):
        result = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [result], **attributes))
        return result

    def constant(self, array, kind):
        result = f"constant_{len(self.constants)}"
        self.constants.append(helper.make_tensor(result, kind, array.shape, array.flatten()))
        return result

    def numbers(self, shape):
        """Random numbers of the type, not infinite and not NaN."""
        if self.is_integer:
            bits = int(self.name[-1])
            low = -(1 << bits - 1) if self.name.startswith("INT") else 0
            return self.rng.integers(low, low + (1 << bits), shape)
        return (self.rng.standard_normal(shape) * self.rng.choice([0.01, 1, 2])).astype(np.float32).astype(self.dtype).astype(np.float32)

    def scales(self, shape):
        return self.constant(self.rng.uniform(0.01, 1, shape).astype(np.float32), TensorProto.FLOAT)

    def indices(self, *numbers):
        return self.constant(np.array(numbers, np.int64), TensorProto.INT64)

    def moved(self, value, shape):
        """A value after up to three nodes that move its elements, and its shape."""
        for _ in range(int(self.rng.integers(0, 4))):
            # Of these types, the last three operators take BFLOAT16 alone.
            moves = ["Transpose", "Reshape", "Identity"] + ["Slice", "Gather", "Concat"] * (self.name == "BFLOAT16")
            move = self.rng.choice(moves)
            if move == "Transpose":
                value, shape = self.node("Transpose", [value], perm=[1, 0]), shape[::-1]
            elif move == "Reshape":
                shape = (shape[0] * shape[1] // 2, 2)
                value = self.node("Reshape", [value, self.indices(*shape)])
            elif move == "Slice":
                value, shape = self.node("Slice", [value, self.indices(0), self.indices(2), self.indices(1)]), (shape[0], 2)
            elif move == "Gather":
                value, shape = self.node("Gather", [value, self.indices(1, 0, 1, 1)], axis=0), (4, shape[1])
            elif move == "Concat":
                value, shape = self.node("Concat", [value, value], axis=1), (shape[0], 2 * shape[1])
            else:
                value = self.node("Identity", [value])
        return value, shape

    def dequantized(self, value, shape):
        """FLOAT numbers of a value of the type."""
        if self.name == "BFLOAT16":
            return self.node("Cast", [value], to=TensorProto.FLOAT)
        has_zero = self.rng.random() < 0.5 and self.name != "FLOAT4E2M1"
        form = self.rng.choice(["tensor", "axis", "blocks"])
        if form == "tensor":
            size, attributes = (), {}
        elif form == "axis":
            axis = int(self.rng.integers(0, 2))
            size, attributes = (shape[axis],), {"axis": axis}
        else:
            size, attributes = (-(-shape[0] // 2), shape[1]), {"axis": 0, "block_size": 2}
        inputs = [value, self.scales(size)]
        if has_zero:
            zeros = self.numbers(size) if self.is_integer else np.zeros(size, np.float32)
            inputs.append(self.constant(np.asarray(zeros), self.kind))
        return self.node("DequantizeLinear", inputs, **attributes)

    def weight(self):
        """A weight and its square, whose elements every runtime rounds alike."""
        value, shape = self.moved(self.constant(self.numbers((ROWS, COLUMNS)), self.kind), (ROWS, COLUMNS))
        numbers = self.dequantized(value, shape)
        self.outputs.append(numbers)
        self.outputs.append(self.node("Mul", [numbers, numbers]))

    def quantized(self):
        """The input in the type."""
        if self.is_integer or self.name != "BFLOAT16" and self.rng.random() < 0.5:
            zero = self.numbers(()) if self.is_integer else np.zeros((), np.float32)
            return self.node("QuantizeLinear", [self.x, self.scales(()), self.constant(np.asarray(zero), self.kind)])
        saturate = {"saturate": int(self.rng.integers(0, 2))} if self.name.startswith("FLOAT8") else {}
        return self.node("Cast", [self.x], to=self.kind, **saturate)

    def activation(self):
        value, shape = self.moved(self.quantized(), (3, ROWS))
        self.outputs.append(self.dequantized(value, shape))

    def branches(self):
        """An If whose branches give values of the type."""
        branches = []
        value = self.quantized()
        condition = self.node("Less", [self.node("ReduceSum", ["x"], keepdims=0), self.constant(np.float32([0]), TensorProto.FLOAT)])
        for index in range(2):
            name = f"branch_{index}"
            kind = helper.make_tensor_value_info(name, self.kind, ["rows", "columns"])
            node = helper.make_node("Transpose" if index else "Identity", [value], [name])
            branches.append(helper.make_graph([node], f"graph_{index}", [], [kind]))
        result = self.node("If", [condition], then_branch=branches[0], else_branch=branches[1])
        self.outputs.append(self.node("Cast", [result], to=TensorProto.FLOAT))

    def loop(self):
        """A Loop whose state has the type."""
        state, number, condition, result = (
            helper.make_tensor_value_info(name, kind, shape)
            for name, kind, shape in (
                ("state", self.kind, ["rows", "columns"]),
                ("number", TensorProto.INT64, []),
                ("condition", TensorProto.BOOL, []),
                ("result", self.kind, ["rows", "columns"]),
            )
        )
        goes_on = helper.make_tensor_value_info("goes_on", TensorProto.BOOL, [])
        nodes = [helper.make_node("Identity", ["condition"], ["goes_on"]), helper.make_node("Transpose", ["state"], ["result"])]
        body = helper.make_graph(nodes, "body", [number, condition, state], [goes_on, result])
        count = self.constant(np.array(int(self.rng.integers(0, 4))), TensorProto.INT64)
        # The reference evaluator takes an omitted condition for false.
        always = self.constant(np.array(True), TensorProto.BOOL)
        self.outputs.append(self.node("Cast", [self.node("Loop", [count, always, self.quantized()], body=body)], to=TensorProto.FLOAT))
