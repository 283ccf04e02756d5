"""Models whose values leave the range of FLOAT16 and come back, as those of common exporters do: small graphs that stand for a class each.

Each is written as the body of a function of `x`, so that it can also stand in a branch of an If or in a function.
"""

import re
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import helper, parser
from onnx.reference import ReferenceEvaluator


@dataclass(frozen=True)
class Body:
    """Nodes in ONNX text that compute `y` from `x`, and the constants that they use."""

    name: str
    nodes: str
    x: np.ndarray
    constants: dict = field(default_factory=dict)
    opset: int = 18


def floats(*shape, scale=1.0, seed=0):
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def scalar(number):
    return np.float32(number)


ROWS = floats(4, 64, seed=1)
LARGE = floats(4, 64, scale=300, seed=2)
ZERO_ROWS = np.where(np.arange(4)[:, None] == 2, 0, floats(4, 64, seed=3)).astype(np.float32)
POSITIONS = np.arange(2000, 2064, dtype=np.int64).reshape(4, 16)
FREQUENCIES = (10000.0 ** (-np.arange(16) / 16)).astype(np.float32)

QUANTIZED = """
  q, s, z = DynamicQuantizeLinear (x)
  i = MatMulInteger (q, w, z)
  f = Cast <to = 1> (i)
  k = Mul (s, ws)
  m = Mul (f, k)
  y = Add (m, b)
"""
WEIGHTS = {
    "w": np.random.default_rng(4).integers(-127, 128, (64, 32)).astype(np.int8),
    "ws": scalar(0.01),
    "b": floats(32, seed=5),
}

BODIES = [
    Body("quantize_dynamic", QUANTIZED, floats(4, 64, scale=3), WEIGHTS),
    Body(
        "convolution of integers",
        """q, s, z = DynamicQuantizeLinear (x) i = ConvInteger <kernel_shape = [3, 3]> (q, w, z) f = Cast <to = 1> (i)
        k = Mul (s, ws) y = Mul (f, k)""",
        floats(1, 64, 8, 8, scale=3),
        {"w": np.random.default_rng(4).integers(0, 256, (8, 64, 3, 3)).astype(np.uint8), "ws": scalar(0.01)},
    ),
    Body("magnitude", "a = Mul (x, x) c = Add (a, a) y = Sqrt (c)", LARGE),
    Body("magnitude by Pow", "a = Pow (x, two) c = Add (a, a) y = Sqrt (c)", LARGE, {"two": scalar(2)}),
    Body(
        "decomposed LayerNormalization",
        """m = ReduceMean <keepdims = 1> (x, axes) d = Sub (x, m) p = Mul (d, d) v = ReduceMean <keepdims = 1> (p, axes)
        e = Add (v, eps) r = Sqrt (e) n = Div (d, r) y = Mul (n, g)""",
        LARGE,
        {"axes": np.array([-1]), "eps": scalar(1e-5), "g": floats(64, seed=6)},
    ),
    Body(
        "LayerNormalization by sums",
        """s = ReduceSum <keepdims = 1> (x, axes) m = Mul (s, n) d = Sub (x, m) p = Mul (d, d)
        t = ReduceSum <keepdims = 1> (p, axes) v = Mul (t, n) e = Add (v, eps) r = Sqrt (e) y = Div (d, r)""",
        LARGE,
        {"axes": np.array([-1]), "eps": scalar(1e-5), "n": scalar(1 / 64)},
    ),
    Body(
        "variance as a difference of squares",
        """m = ReduceMean <keepdims = 1> (x, axes) a = Mul (x, x) s = ReduceMean <keepdims = 1> (a, axes) q = Mul (m, m)
        v = Sub (s, q) e = Add (v, eps) r = Sqrt (e) d = Sub (x, m) y = Div (d, r)""",
        (floats(4, 64, seed=7) + 20).astype(np.float32),
        {"axes": np.array([-1]), "eps": scalar(1e-5)},
    ),
    Body(
        "log spectrum",
        "r = MatMul (x, wr) i = MatMul (x, wi) a = Mul (r, r) b = Mul (i, i) c = Add (a, b) f = Max (c, e) y = Log (f)",
        floats(4, 64, scale=30),
        {"wr": floats(64, 32, seed=8), "wi": floats(64, 32, seed=9), "e": scalar(1e-10)},
    ),
    Body(
        "distances to a codebook",
        """a = Mul (x, x) s = ReduceSum <keepdims = 1> (a, axes) p = MatMul (x, c) q = Mul (p, two) d = Sub (s, q)
        t = Add (d, n) y = Sqrt (t)""",
        LARGE,
        {"axes": np.array([-1]), "c": floats(64, 8, seed=10, scale=300), "two": scalar(2), "n": scalar(6e6)},
    ),
    Body(
        "normalization of zero rows",
        "n = ReduceL2 <keepdims = 1> (x, axes) a = Clip (n, low) h = Shape (x) b = Expand (a, h) y = Div (x, b)",
        ZERO_ROWS,
        {"axes": np.array([-1]), "low": scalar(1e-12)},
    ),
    Body(
        "guard by Max behind Unsqueeze",
        """n = ReduceL2 <keepdims = 0> (x, axes) a = Max (n, low) u = Unsqueeze (a, axes) t = Transpose (u)
        t2 = Transpose (t) y = Div (x, t2)""",
        ZERO_ROWS,
        {"axes": np.array([1]), "low": scalar(1e-12)},
    ),
    Body(
        "guard by Add of a vector",
        "n = ReduceL2 <keepdims = 1> (x, axes) a = Add (n, low) y = Div (x, a)",
        ZERO_ROWS,
        {"axes": np.array([-1]), "low": np.full((4, 1), 1e-12, np.float32)},
    ),
    Body(
        "guard by Where",
        "n = ReduceL2 <keepdims = 1> (x, axes) l = Less (n, low) a = Where (l, low, n) y = Div (x, a)",
        ZERO_ROWS,
        {"axes": np.array([-1]), "low": scalar(1e-12)},
    ),
    Body(
        "reciprocal of a guard",
        "n = ReduceL2 <keepdims = 1> (x, axes) a = Max (n, low) r = Reciprocal (a) y = Mul (x, r)",
        ZERO_ROWS,
        {"axes": np.array([-1]), "low": scalar(1e-12)},
    ),
    Body(
        "rotary angles",
        "f = Cast <to = 1> (x) u = Unsqueeze (f, axes) a = Mul (u, w) s = Sin (a) c = Cos (a) y = Concat <axis = -1> (s, c)",
        POSITIONS,
        {"axes": np.array([-1]), "w": FREQUENCIES},
    ),
    Body(
        "rotary angles by MatMul",
        "f = Cast <to = 1> (x) u = Unsqueeze (f, axes) a = MatMul (u, w) s = Sin (a) c = Cos (a) y = Concat <axis = -1> (s, c)",
        POSITIONS,
        {"axes": np.array([-1]), "w": FREQUENCIES[None, :]},
    ),
    Body(
        "timesteps",
        "u = Unsqueeze (x, axes) a = Mul (u, w) s = Sin (a) c = Cos (a) e = Concat <axis = -1> (s, c) y = MatMul (e, p)",
        np.array([999, 731, 12, 3], np.float32),
        {"axes": np.array([-1]), "w": FREQUENCIES, "p": floats(32, 8, seed=11)},
    ),
    Body("large factor", "a = Mul (x, c) y = Tanh (a)", (ROWS * 1e-5).astype(np.float32), {"c": scalar(1e5)}),
    Body("large factor and back", "a = Mul (x, c) b = Add (a, x) y = Mul (b, d)", ROWS, {"c": scalar(1e6), "d": scalar(1e-6)}),
    Body(
        "small factor of integers",
        "f = Cast <to = 1> (x) y = Mul (f, c)",
        np.arange(-(2**31), 2**31, 2**26).astype(np.int32).reshape(4, 16),
        {"c": scalar(2.0**-31)},
    ),
    Body(
        "mask of attention",
        """o = Cast <to = 1> (x) d = Sub (one, o) m = Mul (d, c) u = Unsqueeze (m, axes) t = Add (s, u) y = Softmax <axis = -1> (t)""",
        np.array([[1, 1, 0, 0], [1, 0, 0, 0]], np.int64),
        {"one": scalar(1), "c": scalar(-3.4028235e38), "axes": np.array([1]), "s": floats(2, 3, 4, seed=12)},
    ),
    Body(
        "softmax by Exp",
        "m = ReduceMax <keepdims = 1> (x) d = Sub (x, m) e = Exp (x) s = ReduceSum <keepdims = 1> (e, axes) y = Div (e, s)",
        floats(4, 64, scale=5, seed=13),
        {"axes": np.array([-1])},
    ),
    Body(
        "log of sums of exponentials",
        "e = Exp (x) s = ReduceSum (e, axes) y = Log (s)",
        floats(4, 64, scale=6, seed=14),
        {"axes": np.array([-1])},
    ),
    Body(
        "mean as a sum",
        "s = ReduceSum <keepdims = 1> (x, axes) y = Mul (s, n)",
        (floats(4, 4096, seed=15) + 40).astype(np.float32),
        {"axes": np.array([-1]), "n": scalar(1 / 4096)},
    ),
    Body(
        "gelu by Pow",
        "p = Pow (x, k) a = Mul (p, c) b = Add (x, a) d = Mul (b, s) t = Tanh (d) o = Add (t, one) y = Mul (x, o)",
        floats(4, 64, scale=30, seed=16),
        {"k": scalar(3), "c": scalar(0.044715), "s": scalar(0.79788), "one": scalar(1)},
    ),
    Body(
        "relative positions",
        "f = Cast <to = 1> (x) d = Div (f, c) a = Abs (d) l = Log (a) y = Mul (l, k)",
        (POSITIONS * 100).astype(np.int64),
        {"c": scalar(16), "k": scalar(3)},
    ),
    Body(
        "energy",
        "a = Mul (x, x) s = ReduceMean <keepdims = 1> (a, axes) r = Sqrt (s) y = Div (x, r)",
        LARGE,
        {"axes": np.array([-1])},
    ),
    Body(
        "generalized divisive normalization",
        "a = Mul (x, x) c = Conv (a, w, b) r = Sqrt (c) y = Div (x, r)",
        floats(1, 8, 6, 6, scale=300, seed=17),
        {"w": np.abs(floats(8, 8, 1, 1, seed=18)), "b": np.ones(8, np.float32)},
    ),
]


def models():
    """(name, model, feeds, type): each body alone, in a branch, in a function and with symbolic shapes; angles in BFLOAT16 too."""
    for body in BODIES:
        for kind, build in (("plain", plain), ("in a branch", branch), ("in a function", function)):
            yield f"{body.name}, {kind}", build(body), {"x": body.x} | ({"t": np.array(True)} if build is branch else {}), "FLOAT16"
        if "angle" in body.name or body.name == "timesteps":
            yield f"{body.name}, BFLOAT16", plain(body), {"x": body.x}, "BFLOAT16"


def plain(body):
    return assembled(body, body.nodes, [])


def branch(body):
    """In both branches of an If; the constants are around it."""
    both = ", ".join(
        f"{name} = {name[0]} () => ({prefix}y) {{ {renamed(body.nodes, prefix)} }}"
        for name, prefix in (("then_branch", "p_"), ("else_branch", "q_"))
    )
    return assembled(body, f"y = If (t) <{both}>", [("t", onnx.TensorProto.BOOL, [])])


def function(body):
    names = ", ".join(["x", *body.constants])
    imports = f'"": {body.opset}'
    text = f"""<ir_version: 9, opset_import: [{imports}, "own": 1]> g (float x) => (float y) {{ y = own.F ({names}) }}
        <domain: "own", opset_import: [{imports}]> F ({names}) => (y) {{ {body.nodes} }}"""
    model = parser.parse_model(text)
    return with_signature(model, body, [])


def renamed(nodes, prefix):
    """Nodes whose results have other names."""
    results = {name for names in re.findall(r"([\w, ]+?) = [A-Z]\w*", nodes) for name in re.split(r"[,\s]+", names.strip())}
    return re.sub(r"\b([a-z]\w*)\b(?!\s*=\s*[\[\d-])", lambda match: prefix + match[1] if match[1] in results else match[1], nodes)


def assembled(body, nodes, more):
    text = f'<ir_version: 9, opset_import: ["": {body.opset}]> g (float x) => (float y) {{ {nodes} }}'
    return with_signature(parser.parse_model(text), body, more)


def with_signature(model, body, more):
    """The model with the types of its inputs, without lengths, and its constants."""
    del model.graph.input[:]
    kind = helper.np_dtype_to_tensor_dtype(body.x.dtype)
    shape = [f"n{axis}" if axis == 0 else length for axis, length in enumerate(body.x.shape)]
    model.graph.input.append(helper.make_tensor_value_info("x", kind, shape))
    model.graph.input.extend(helper.make_tensor_value_info(*one) for one in more)
    model.graph.initializer.extend(onnx.numpy_helper.from_array(np.asarray(array), name) for name, array in body.constants.items())
    model.graph.output[0].type.tensor_type.ClearField("shape")
    feeds = {"x": body.x, "t": np.array(True)}
    result = ReferenceEvaluator(model).run(None, {one.name: feeds[one.name] for one in model.graph.input})[0]
    lengths = [f"m{axis}" for axis in range(result.ndim)]
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, lengths))
    onnx.checker.check_model(model)
    return model
