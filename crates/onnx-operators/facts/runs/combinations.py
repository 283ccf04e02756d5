"""Models of several nodes that look like one operator and compute something else: a factor is another value than the one that the function was
computed from, a constant is another one, a value between the nodes is an output. Beside them, those that are the operator. And reductions of integers,
with a node behind them that a runtime computes together with them.

Each model tests its last node, or the reduction. The entry `combination` of its `metadata_props` names the operator for which
src/ops/kernels/combination.rs takes the nodes, or `Elementwise`."""

import re

import numpy as np
from onnx import helper, parser

from runs.boundaries import by_onnxruntime, by_reference, save_test, versions_of

KEY = "combination"
# The combination of a reduction with the node behind it.
ELEMENTWISE = "Elementwise"
# The reductions of integers that onnxruntime runs, and the first opset that it runs.
FIRST_OPSET = 7
OF_INTEGERS = ("ReduceL1", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare")

SWISH = "h = HardSigmoid <alpha = 0.16666667, beta = 0.5>"
GELU = "d = Div (b, root) e = Erf (d) p = Add (e, one)"
GELU_NUMBERS = "float root = {1.4142135}, float one = {1.0}, float half = {0.5}"
NORM = "s = ReduceL2 <axes = [1], keepdims = 1>"
AXES = "int64[1] axes = {1}"
SOFTMAX = "m = ReduceMax <axes = [1], keepdims = 1> (b) d = Sub (a, m) e = Exp (d) s = ReduceSum <keepdims = 1> (e, axes)"
LAYER_NUMBERS = "float two = {2.0}, float eps = {0.00001}, float[3] scale = {1.0, 2.0, 3.0}, float[3] bias = {0.5, 1.0, -1.0}"
LAYER = "m = ReduceMean <axes = [-1]> (b) d = Sub (a, m) q = Pow (d, two) v = ReduceMean <axes = [-1]> (q) w = Add (v, eps) r = Sqrt (w) z = Div (d, r) u = Mul (z, scale) y = Add (u, bias)"
# By name: the operator, or `-` for one that is what it looks like; the opsets; outputs; initializers; the nodes.
MODELS = {
    "swish": ("-", (14,), "y", "", f"{SWISH} (a) y = Mul (a, h)"),
    "swish_other": ("HardSwish", (7, 13, 14), "y", "", f"{SWISH} (b) y = Mul (a, h)"),
    "swish_other_first": ("HardSwish", (14,), "y", "", f"{SWISH} (b) y = Mul (h, a)"),
    "swish_output": ("HardSwish", (14,), "y h", "", f"{SWISH} (a) y = Mul (a, h)"),
    "swish_other_alpha": ("-", (14,), "y", "", "h = HardSigmoid (b) y = Mul (a, h)"),
    "mish": ("-", (14,), "y", "", "s = Softplus (a) h = Tanh (s) y = Mul (a, h)"),
    "mish_other": ("Mish", (7, 13, 14), "y", "", "s = Softplus (b) h = Tanh (s) y = Mul (a, h)"),
    "mish_output": ("Mish", (14,), "y s", "", "s = Softplus (a) h = Tanh (s) y = Mul (a, h)"),
    "gelu": ("-", (14,), "y", GELU_NUMBERS, f"{GELU.replace('(b,', '(a,')} m = Mul (a, p) y = Mul (m, half)"),
    "gelu_other": ("Gelu", (9, 13, 14), "y", GELU_NUMBERS, f"{GELU} m = Mul (a, p) y = Mul (m, half)"),
    "gelu_output": ("Gelu", (14,), "y e", GELU_NUMBERS, f"{GELU.replace('(b,', '(a,')} m = Mul (a, p) y = Mul (m, half)"),
    "norm": ("-", (14,), "y", "", f"{NORM} (a) y = Div (a, s)"),
    "norm_other": ("LpNormalization", (7, 13, 14), "y", "", f"{NORM} (b) y = Div (a, s)"),
    "norm_other_axes": ("-", (18,), "y", "", f"{NORM} (b) y = Div (a, s)"),
    "norm_output": ("LpNormalization", (14,), "y s", "", f"{NORM} (a) y = Div (a, s)"),
    "softplus": ("-", (13,), "y", "float c = {1.0}", "e = Exp (a) p = Add (e, c) y = Log (p)"),
    "softplus_two": ("Softplus", (7, 13), "y", "float c = {2.0}", "e = Exp (a) p = Add (e, c) y = Log (p)"),
    "softplus_computed": ("Softplus", (13,), "y", "", "e = Exp (a) f = Exp (b) p = Add (e, f) y = Log (p)"),
    "softplus_output": ("Softplus", (13,), "y e", "float c = {1.0}", "e = Exp (a) p = Add (e, c) y = Log (p)"),
    "softmax": ("-", (14,), "y", AXES, f"{SOFTMAX.replace('(b)', '(a)')} y = Div (e, s)"),
    "softmax_other": ("Softmax", (13, 14), "y", AXES, f"{SOFTMAX} y = Div (e, s)"),
    "softmax_other_axes": ("-", (12, 18), "y", AXES, f"{SOFTMAX} y = Div (e, s)"),
    "softmax_other_axis": ("Softmax", (14,), "y", AXES, f"{SOFTMAX.replace('(b)', '(a)').replace('[1]', '[2]')} y = Div (e, s)"),
    "softmax_output": ("Softmax", (14,), "y d", AXES, f"{SOFTMAX.replace('(b)', '(a)')} y = Div (e, s)"),
    "log_softmax": ("-", (14,), "y", AXES, f"{SOFTMAX.replace('(b)', '(a)')} l = Log (s) y = Sub (d, l)"),
    "log_softmax_other": ("LogSoftmax", (13, 14), "y", AXES, f"{SOFTMAX} l = Log (s) y = Sub (d, l)"),
    "log_softmax_other_axes": ("-", (12, 18), "y", AXES, f"{SOFTMAX} l = Log (s) y = Sub (d, l)"),
    "log_softmax_output": ("LogSoftmax", (14,), "y e", AXES, f"{SOFTMAX.replace('(b)', '(a)')} l = Log (s) y = Sub (d, l)"),
    "layer": ("-", (14,), "y", LAYER_NUMBERS, LAYER.replace("(b)", "(a)")),
    "layer_other": ("LayerNormalization", (7, 13, 14), "y", LAYER_NUMBERS, LAYER),
    "layer_other_axes": ("-", (18,), "y", LAYER_NUMBERS, LAYER),
    "layer_fourth_power": ("-", (14,), "y", LAYER_NUMBERS.replace("{2.0}", "{4.0}", 1), LAYER.replace("(b)", "(a)")),
    "layer_output": ("LayerNormalization", (14,), "y z", LAYER_NUMBERS, LAYER.replace("(b)", "(a)")),
    "reshape": ("-", (14,), "y", "int64[3] first = {2, 6, 6}, int64[2] second = {2, -1}", "c = Reshape (a, first) y = Reshape (c, second)"),
    "reshape_copied": ("Reshape", (7, 13, 14, 19, 21, 23, 24, 25), "y", "int64[3] first = {2, 6, 6}, int64[3] second = {2, 0, -1}", "c = Reshape (a, first) y = Reshape (c, second)"),
    "reshape_used": ("-", (14,), "y z", "int64[3] first = {2, 6, 6}, int64[3] second = {2, 0, -1}", "c = Reshape (a, first) z = Neg (c) y = Reshape (c, second)"),
}


def write(folder):
    """A `model.onnx` for each, beside a folder with its data."""
    random = np.random.default_rng(0)
    arrays = {name: (random.standard_normal((2, 4, 3, 3)) * 3).astype(np.float32) for name in "ab"}
    for name, (operator, opsets, outputs, numbers, nodes) in MODELS.items():
        for opset in opsets:
            inputs = {name: array for name, array in arrays.items() if f"({name}" in nodes or f" {name})" in nodes}
            model = model_of(opset, inputs, outputs.split(), numbers, nodes)
            helper.set_model_props(model, {KEY: operator})
            results = by_reference(model, inputs)
            for value, array in zip(model.graph.output, results):
                for length in array.shape:
                    value.type.tensor_type.shape.dim.add().dim_value = length
            save_test(folder / f"combination_{name}_{opset}", model, inputs.values(), results)
    for op in OF_INTEGERS:
        for opset in versions_of(op):
            for dtype in ("int32", "int64"):
                write_elementwise(folder, op, max(opset, FIRST_OPSET), dtype)


def write_elementwise(folder, op, opset, dtype):
    """A reduction of integers along the middle one of three axes, and a quotient of the result. Means are integers."""
    has_input = opset >= (13 if op == "ReduceSum" else 18)
    axes, argument = ("", ", axes") if has_input else ("axes = [1], ", "")
    constants = f"<{dtype} c = {{4}}{', int64[1] axes = {1}' if has_input else ''}>"
    graph = f"({dtype}[2,3,4] x) => ({dtype}[2,1,4] y) {constants} {{ r = {op} <{axes}keepdims = 1> (x{argument}) y = Div (r, c) }}"
    x = np.random.default_rng(0).integers(1, 9, (2, 3, 4)).astype(dtype) * 3
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}]> g {graph}')
    expected = by_onnxruntime(model, {"x": x})
    helper.set_model_props(model, {KEY: ELEMENTWISE})
    save_test(folder / f"combination_{op.lower()}_{dtype}_{opset}", model, [x], expected)


def model_of(opset, inputs, outputs, numbers, nodes):
    """The axes of a sum are an input from opset 13 on, those of other reductions from 18 on."""
    if opset < 13 and "axes)" in nodes:
        nodes, numbers = nodes.replace("keepdims = 1> (e, axes)", "axes = [1], keepdims = 1> (e)"), ""
    if opset >= 18 and "<axes" in nodes:
        axis = re.search(r"<axes = \[(-?\d)", nodes)[1]
        nodes, numbers = re.sub(r"<axes = \[-?\d\](, keepdims = 1)?> \((\w)\)", r"<keepdims = 1> (\2, axis)", nodes), ", ".join(filter(None, [numbers, f"int64[1] axis = {{{axis}}}"]))
    arguments = ", ".join(f"float[2,4,3,3] {name}" for name in inputs)
    results = ", ".join(f"float[] {name}" for name in outputs)
    return parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}]> g ({arguments}) => ({results}) {f"<{numbers}>" if numbers else ""} {{ {nodes} }}')


def combination(model):
    """What the node of a model looks like, or is combined with; none if the model has no such nodes."""
    return next((entry.value for entry in model.metadata_props if entry.key == KEY), None)


def node_of(model):
    """The node that a combination tests."""
    return model.graph.node[0 if combination(model) == ELEMENTWISE else -1]
