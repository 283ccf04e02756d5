"""Attributes with which onnxruntime refuses a node although it has a kernel for its types: measured by loading these models."""

from onnx import TensorProto, checker, parser

# Operator, since-versions, conditions, and a model. The value `*` is any, `-` is an absent attribute.
RECURRENT = """(float[2,1,3] x, float[1,{rows},3] w, float[1,{rows},2] r) => (float[2,1,1,2] y)
    {{ y = {operator}<hidden_size=2, layout=1>(x, w, r) }}"""
ROTARY = """(float[2,4,3,8] x, float[9,2] c, float[9,2] s, int64[2,3] p) => (float[2,4,3,8] y)
    { y = RotaryEmbedding<rotary_embedding_dim=4>(x, c, s, p) }"""
INVERSE = "(float[1,6,2] x) => (float[1,10,1] y) { y = DFT<axis=1, inverse=1, onesided=1>(x) }"
INVERSE_20 = "(float[1,6,2] x, int64 a) => (float[1,10,1] y) { y = DFT<inverse=1, onesided=1>(x, , a) }"
ONESIDED = {"inverse": ("1",), "onesided": ("1",)}
LAYOUT, ROTARY_DIM = {"layout": ("1",)}, {"num_heads": ("-",), "rotary_embedding_dim": ("*",)}
LIMITS = [
    *((operator, (14, 22), LAYOUT, RECURRENT.format(operator=operator, rows=rows)) for operator, rows in (("GRU", 6), ("LSTM", 8), ("RNN", 2))),
    ("RotaryEmbedding", (23,), ROTARY_DIM, ROTARY),
    ("DFT", (17,), ONESIDED, INVERSE),
    ("DFT", (20,), ONESIDED, INVERSE_20),
]
# `saturate` = 0 is refused where the result is not a float8.
SATURATE = {
    "Cast": "(float[2] x) => ({kind}[2] y) {{ y = Cast<to={number}{saturate}>(x) }}",
    "CastLike": "(float[2] x, {kind}[2] t) => ({kind}[2] y) {{ y = CastLike{saturate}(x, t) }}",
}


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
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> g {text}')
    checker.check_model(model, full_check=True)
    return runtime.why_not_loaded(model.SerializeToString()) is None
