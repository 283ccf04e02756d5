"""Attributes and types with which onnxruntime refuses a node although it has a kernel, or loads it and fails when it runs: measured by loading
and running these models."""

import numpy as np
from onnx import TensorProto, checker, helper, parser
from support.onnxruntimes import model_and_values

# Operator, since-versions, conditions, and a model. The value `*` is any, `-` is an absent attribute; others may be defaults.
RECURRENT = """(float[2,1,3] x, float[1,{rows},3] w, float[1,{rows},2] r) => (float[2,1,1,2] y)
    {{ y = {operator}<hidden_size=2, layout=1>(x, w, r) }}"""
ROTARY = """(float[2,4,3,8] x, float[9,2] c, float[9,2] s, int64[2,3] p) => (float[2,4,3,8] y)
    { y = RotaryEmbedding<rotary_embedding_dim=4>(x, c, s, p) }"""
INVERSE = "(float[1,6,2] x) => (float[1,10,1] y) { y = DFT<axis=1, inverse=1, onesided=1>(x) }"
INVERSE_20 = "(float[1,6,2] x, int64 a) => (float[1,10,1] y) { y = DFT<inverse=1, onesided=1>(x, , a) }"


def resized(kind, attributes):
    return f"""({kind}[1,1,4,4] x) => ({kind}[1,1,2,2] y) <float[0] roi = {{}}, float[4] s = {{1, 1, 0.5, 0.5}}>
    {{ y = Resize<{attributes}>(x, roi, s) }}"""


# The body gives the probabilities in `softmax_precision`, not in the type of the output.
PROBABILITIES = {"T1": ("double",), "output:qk_matmul_output": ("*",), "qk_matmul_output_mode": ("3",), "softmax_precision": ("1",)}
ATTENTION = """(double[1,2,3,4] q, double[1,2,3,4] k, double[1,2,3,4] v) => (double[1,2,3,4] y, double[1,2,3,3] p)
    { y, , , p = Attention<qk_matmul_output_mode=3, softmax_precision=1>(q, k, v) }"""
ONESIDED = {"inverse": ("1",), "onesided": ("1",)}
LAYOUT, ROTARY_DIM = {"layout": ("1",)}, {"num_heads": ("-",), "rotary_embedding_dim": ("*",)}
LIMITS = [
    *((operator, (14, 22), LAYOUT, RECURRENT.format(operator=operator, rows=rows)) for operator, rows in (("GRU", 6), ("LSTM", 8), ("RNN", 2))),
    ("RotaryEmbedding", (23,), ROTARY_DIM, ROTARY),
    ("DFT", (17,), ONESIDED, INVERSE),
    ("DFT", (20,), ONESIDED, INVERSE_20),
    ("Attention", (23, 24, 25), PROBABILITIES, ATTENTION),
    *(
        ("Resize", sinces, {name: ("1",), "mode": (mode,)}, resized("float", f"{name}=1{words}"))
        for sinces, name, mode, words in (
            ((11, 13, 18, 19), "exclude_outside", "linear", ', mode="linear"'),
            ((18, 19), "antialias", "nearest", ', mode="nearest"'),
            ((18, 19), "antialias", "nearest", ""),
        )
    ),
]
# `saturate` = 0 is refused where the result is not a float8.
SATURATE = {
    "Cast": "(float[2] x) => ({kind}[2] y) {{ y = Cast<to={number}{saturate}>(x) }}",
    "CastLike": "(float[2] x, {kind}[2] t) => ({kind}[2] y) {{ y = CastLike{saturate}(x, t) }}",
}
# A type of those that are tried.
KIND = "KIND"


def scattered(operator, reduction, shape):
    return f"""({KIND}[2,2] x, int64[{shape}] i, {KIND}[1,2] u) => ({KIND}[2,2] y)
    {{ y = {operator}<reduction="{reduction}">(x, i, u) }}"""


def recurrent(operator, rows):
    return f"""({KIND}[2,1,3] x, {KIND}[1,{rows},3] w, {KIND}[1,{rows},2] r) => ({KIND}[2,1,1,2] y)
    {{ y = {operator}<hidden_size=2>(x, w, r) }}"""


def quantized(scale):
    return f"({KIND}[4] x, {scale} s) => (uint8[4] y) {{ y = QuantizeLinear(x, s) }}"


def dequantized(kind):
    return f"(uint8[4] x, {KIND} s) => ({kind}[4] y) {{ y = DequantizeLinear<output_dtype={TensorProto.DataType.Value(kind.upper())}>(x, s) }}"


SCALES = ("float", "float16", "bfloat16")
# Operator, since-versions, conditions, the type variable whose types are tried, and a model.
FAILURES = [
    *(
        (operator, sinces, {"reduction": (reduction,)}, "T", scattered(operator, reduction, shape))
        for operator, shape in (("ScatterElements", "1,2"), ("ScatterND", "1,1"))
        for sinces, reductions in (((16, 18), ("add", "mul")), ((18,), ("max", "min")))
        for reduction in reductions
    ),
    *((operator, (7, 14, 22), {}, "T", recurrent(operator, rows)) for operator, rows in (("GRU", 6), ("LSTM", 8), ("RNN", 2))),
    ("Resize", (11, 13), {"mode": ("cubic",)}, "T1", resized(KIND, 'mode="cubic"')),
    *(("Resize", (18, 19), {"antialias": ("0",), "mode": ("cubic",)}, "T1", resized(KIND, f'{words}mode="cubic"')) for words in ("", "antialias=0, ")),
    *(("QuantizeLinear", (23, 24, 25), {"T2": (kind,)}, "T1", quantized(kind)) for kind in SCALES),
    *(("DequantizeLinear", (23, 24, 25), {"T3": (kind,)}, "T2", dequantized(kind)) for kind in SCALES),
]


def failures_of(runtime, newest_opset, allowed_types):
    """Like `limits_of`, of what a version loads but cannot run."""
    found = []
    for operator, sinces, conditions, variable, text in FAILURES:
        for since in (since for since in sinces if since <= newest_opset):
            refused = {kind for kind in allowed_types("", operator, since)[variable] if fails(runtime, since, text.replace(KIND, kind))}
            if refused:
                found.append((operator, since, conditions | {variable: refused}))
    return found


def fails(runtime, opset, text):
    """Whether a model loads and fails when it runs."""
    return outcome_of(runtime, model_of(opset, text)) == "fails"


def outcome_of(runtime, model):
    """Whether a version `runs` a model, loads it and `fails`, or has `no kernel`."""
    if runtime.why_not_loaded(model.SerializeToString()) is not None:
        return "no kernel"
    inputs = {each.name: small_numbers(each) for each in model.graph.input}
    return "fails" if isinstance(runtime.run(*model_and_values(model, inputs), False), str) else "runs"


def model_of(opset, text):
    return parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> g {text}')


def small_numbers(value):
    """Ones; an index is 0."""
    shape, number = [dim.dim_value for dim in value.type.tensor_type.shape.dim], value.type.tensor_type.elem_type
    numbers = np.zeros(shape, int) if value.name == "i" else np.ones(shape, int)
    return numbers.astype(str).astype(object) if number == TensorProto.STRING else numbers.astype(helper.tensor_dtype_to_np_dtype(number))


def limits_of(runtime, newest_opset, casts):
    """[(operator, since-version, {attribute: values, or type variable: types})] of what a version refuses; `casts` are the Cast and
    CastLike that it knows, as (operator, since-version, types of T2)."""
    found = []
    for operator, sinces, condition, text in LIMITS:
        found += [(operator, since, condition) for since in sinces if since <= newest_opset and not loads(runtime, since, text)]
    for operator, since, kinds in casts:
        refused = {kind for kind in kinds if refuses_saturate(runtime, operator, since, kind)}
        if refused:
            found.append((operator, since, {"saturate": ("0",), "T2": refused}))
    return found


def refuses_saturate(runtime, operator, since, kind):
    number = TensorProto.DataType.Value(kind.upper())
    plain, saturated = {"Cast": ("", ", saturate=0"), "CastLike": ("", "<saturate=0>")}[operator]
    models = [SATURATE[operator].format(kind=kind, number=number, saturate=words) for words in (plain, saturated)]
    return [loads(runtime, since, model) for model in models] == [True, False]


def loads(runtime, opset, text):
    model = model_of(opset, text)
    checker.check_model(model, full_check=True)
    return runtime.why_not_loaded(model.SerializeToString()) is None
