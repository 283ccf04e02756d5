"""Small models for fold_equal.py, each with the number of casts that must stay after `recast fold` without options.

A case is ONNX text; what the text syntax cannot say is added by a function of the case's name at the end of this file.
"""

from onnx import TensorProto, helper, parser

FLOAT8 = ["float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"]

# {name: (casts that stay, model)}; a text without a header is the graph of a model of opset 21.
CASES = {
    "chain_rounds_at_each_step": (0, """g (float16[2] x) => (float16[2] y) <double[2] w = {1.00048828126, 65519.999}> {
        single = Cast <to = 1> (w)  half = Cast <to = 10> (single)  y = Add(x, half) }"""),
    "same_constant_twice": (0, """g (float16[2] x) => (float16[2] y) <float[2] w = {0.1, 0.2}> {
        one = Cast <to = 10> (w)  two = Cast <to = 10> (w)  sum = Add(x, one)  y = Mul(sum, two) }"""),
    "constant_used_elsewhere": (0, """g (float[2] x) => (float[2] y, float16[2] z) <float[2] w = {0.1, 0.2}> {
        z = Cast <to = 10> (w)  y = Add(x, w) }"""),
    "overridable": (1, """g (float16[2] x, float[2] w) => (float16[2] y) <float[2] w = {0.1, 0.2}> { half = Cast <to = 10> (w)  y = Add(x, half) }"""),
    "ir_3_lists_constants_as_inputs": (0, """<ir_version: 3, opset_import: ["": 8]>
        g (float16[2] x, float[2] w) => (float16 y) <float[2] w = {0.1, 0.2}> { half = Cast <to = 10> (w)  y = MatMul(x, half) }"""),
    "initializer_is_output": (0, """g (float16[2] x) => (float16[2] y, float[2] w) <float[2] w = {0.1, 0.2}> { half = Cast <to = 10> (w)  y = Add(x, half) }"""),
    "cast_is_output": (0, """g (float16[2] x) => (float16[2] y, float16[2] half) <float[2] w = {0.1, 0.2}> { half = Cast <to = 10> (w)  y = Add(x, half) }"""),
    "constant_nodes": (0, """g () => (float16[2] a, float16 b, float16[2] c, float16 d, int32[2] e) {
        value = Constant <value = float[2] {0.1, 0.2}> ()  a = Cast <to = 10> (value)
        value_float = Constant <value_float = 0.3> ()  b = Cast <to = 10> (value_float)
        value_floats = Constant <value_floats = [0.1, 0.2]> ()  c = Cast <to = 10> (value_floats)
        value_int = Constant <value_int = 3> ()  d = Cast <to = 10> (value_int)
        value_ints = Constant <value_ints = [4, 5]> ()  e = Cast <to = 6> (value_ints) }"""),
    "constant_strings": (0, """g () => (float a, int64[2] b) {
        value_string = Constant <value_string = "-1.5e2"> ()  a = Cast <to = 1> (value_string)
        value_strings = Constant <value_strings = ["12", "-7"]> ()  b = Cast <to = 7> (value_strings) }"""),
    "numbers_to_strings": (1, """g () => (string[2] a, string[2] b) <int64[2] whole = {-3, 4}, float[2] fraction = {0.1, 100}> {
        a = Cast <to = 8> (whole)  b = Cast <to = 8> (fraction) }"""),
    "branches_with_equal_names": (0, """g (bool c) => (float16[1] y) <float[1] w = {0.1}, float[1] v = {0.3}> { y = If (c) <
        then_branch = t () => (float16[1] r) { h = Cast <to = 10> (w)  r = Identity(h) },
        else_branch = e () => (float16[1] r) { h = Cast <to = 10> (v)  r = Neg(h) }> }"""),
    "branch_has_its_own_constant": (0, """g (bool c) => (float16[1] y) { y = If (c) <
        then_branch = t () => (float16[1] r) <float[1] w = {0.1}> { h = Cast <to = 10> (w)  r = Identity(h) },
        else_branch = e () => (float16[1] r) <float[1] w = {0.3}> { h = Cast <to = 10> (w)  r = Neg(h) }> }"""),
    "cast_captured_by_a_branch": (0, """g (bool c) => (float16[1] y) <float[1] w = {0.1}> { h = Cast <to = 10> (w)  y = If (c) <
        then_branch = t () => (float16[1] r) { r = Identity(h) }, else_branch = e () => (float16[1] s) { s = Neg(h) }> }"""),
    "cast_is_branch_output": (0, """g (bool c) => (float16[1] y) <float[1] w = {0.1}> { y = If (c) <
        then_branch = t () => (float16[1] r) { r = Cast <to = 10> (w) }, else_branch = e () => (float16[1] s) { s = Cast <to = 10> (w) }> }"""),
    # Runtimes read the outer constant here, some the inner one: no fold can be right for all.
    "name_shadowed_in_a_branch": (1, """g (bool c) => (float16[1] y) <float[1] w = {0.1}> { y = If (c) <
        then_branch = t () => (float16[1] r) <float[1] w = {0.7}> { h = Cast <to = 10> (w)  r = Identity(h) },
        else_branch = e () => (float16[1] s) { h = Cast <to = 10> (w)  s = Neg(h) }> }"""),
    "loop_body": (1, """g (int64 n, float16[1] x) => (float16[1] y) <bool on = {1}, float[1] w = {0.1}> { y = Loop (n, on, x) <
        body = b (int64 i, bool go, float16[1] s) => (bool more, float16[1] next) {
            more = Identity(go)  h = Cast <to = 10> (w)  j = Cast <to = 10> (i)  k = Mul(h, j)  next = Add(s, k) }> }"""),
    "scan_body": (0, """g (float16[1] x, float16[3, 1] xs) => (float16[1] y, float16[3, 1] ys) <float[1] w = {0.1}> { y, ys = Scan <num_scan_inputs = 1,
        body = b (float16[1] s, float16[1] element) => (float16[1] next, float16[1] out) {
            h = Cast <to = 10> (w)  k = Mul(h, element)  next = Add(s, k)  out = Identity(next) }> (x, xs) }"""),
    "function_body": (0, """<ir_version: 9, opset_import: ["": 18, "local": 1]> g (float16[1] x) => (float16[1] y) { y = local.F(x) }
        <domain: "local", opset_import: ["": 18]> F (a) => (b) { c = Constant <value_float = 0.1> ()  h = Cast <to = 10> (c)  b = Add(a, h) }"""),
    "function_reads_to_from_callers_that_disagree": (1, """<ir_version: 9, opset_import: ["": 18, "local": 1]>
        g () => (float16 y, double z) { y = local.F <to = 10> ()  z = local.F <to = 11> () }
        <domain: "local", opset_import: ["": 18]> F <to> () => (b) { c = Constant <value_float = 0.1> ()  b = Cast <to: int = @to> (c) }"""),
    "function_named_cast": (1, """<ir_version: 9, opset_import: ["": 18, "local": 1]>
        g (float[1] x) => (float[1] y) <float[1] w = {0.1}> { h = local.Cast <to = 10> (w)  y = Add(x, h) }
        <domain: "local", opset_import: ["": 18]> Cast (a) => (b) { b = Neg(a) }"""),
    "domain_alias": (0, """<ir_version: 8, opset_import: ["ai.onnx": 18]> g (float16[1] x) => (float16[1] y) <float[1] w = {0.1}> {
        h = ai.onnx.Cast <to = 10> (w)  y = Add(x, h) }"""),
    "empty_and_scalar": (0, """g () => (float16[0] a, float16 b, int4[0] c) <float[0] none = {}, float one = {0.1}> {
        a = Cast <to = 10> (none)  b = Cast <to = 10> (one)  c = Cast <to = 22> (none) }"""),
    "odd_counts_of_four_bits": (0, """g (float[3] x) => (float[3] y) <float[3] w = {-8, 7, 3}, int32[3] v = {15, 0, 9}, float s = {0.5}> {
        signed = Cast <to = 22> (w)  a = DequantizeLinear(signed, s)  unsigned = Cast <to = 21> (v)  b = DequantizeLinear(unsigned, s)
        c = Add(a, b)  y = Add(x, c) }"""),
    "odd_counts_of_two_bits": (0, """<ir_version: 13, opset_import: ["": 25]> g (float[5] x) => (float[5] y)
        <int8[5] w = {-2, -1, 0, 1, 1}, uint8[5] v = {3, 2, 1, 0, 3}, float s = {0.5}> {
        signed = Cast <to = 26> (w)  a = DequantizeLinear(signed, s)  unsigned = Cast <to = 25> (v)  b = DequantizeLinear(unsigned, s)
        c = Add(a, b)  y = Add(x, c) }"""),
    "odd_counts_of_six_bits": (0, """<ir_version: 14, opset_import: ["": 28]> g () => (float[5] a, float[3] b) <float[5] w = {-7.5, 0.1, 1, 2.25, 3}, float[3] v = {28, 0.07, -1}> {
        c = Cast <to = 27> (w)  a = Cast <to = 1> (c)  d = Cast <to = 28> (v)  b = Cast <to = 1> (d) }"""),
    "out_of_range_is_undefined": (2, """g () => (uint8[2] a, int4[2] b, int8[2] c) <float[2] w = {300, 1}, float[2] v = {9, 1}, int32[2] wraps = {300, -200}> {
        a = Cast <to = 2> (w)  b = Cast <to = 22> (v)  c = Cast <to = 3> (wraps) }"""),
    "cast_like": (1, """g (float16[2] x, float[2] z) => (float16[2] y, float16[2] t) <float[2] w = {0.1, 0.2}> {
        h = CastLike(w, x)  y = Add(x, h)  t = CastLike(z, x) }"""),
    "sparse_constant": (1, """g (float16[4] x) => (float16[4] y) { h = Cast <to = 10> (w)  y = Add(x, h) }"""),
    "bool_bytes": (0, """g () => (float[3] a, bool[3] b) <bool[3] w = {1, 0, 1}, float[3] v = {-0.0, 0.5, -2}> { a = Cast <to = 1> (w)  b = Cast <to = 9> (v) }"""),
    **{f"{name}_dequantized": (0, f"""g (float[4] x) => (float[4] y) <float[4] c = {{1, -2, 500, 0.1}}, float s = {{0.5}}> {{
        w = Cast <to = {17 + index}> (c)  d = DequantizeLinear(w, s)  y = Add(x, d) }}""") for index, name in enumerate(FLOAT8)},
    **{f"{name}_is_output": (0, f"""g () => ({name}[4] y) <float[4] c = {{1, -2, 500, 0.1}}> {{ y = Cast <to = {17 + index}> (c) }}""")
       for index, name in enumerate(FLOAT8)},
    **{f"{name}_not_saturated": (0, f"""g (float[4] x) => (float[4] y) <float[4] c = {{1, -2, 500, 1e6}}, float s = {{0.5}}> {{
        w = Cast <to = {17 + index}, saturate = 0> (c)  d = DequantizeLinear(w, s)  y = Add(x, d) }}""") for index, name in enumerate(FLOAT8)},
}


def make(name):
    """The model of one case."""
    text = CASES[name][1]
    model = parser.parse_model(text if text.startswith("<") else f'<ir_version: 10, opset_import: ["": 21]> {text}')
    if name in COMPLETIONS:
        COMPLETIONS[name](model)
    return model


def add_sparse_constant(model):
    values = helper.make_tensor("w", TensorProto.FLOAT, [2], [0.1, 0.2])
    indices = helper.make_tensor("w_indices", TensorProto.INT64, [2], [1, 3])
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [4]))


COMPLETIONS = {"sparse_constant": add_sparse_constant}
