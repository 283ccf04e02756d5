//! `fold-casts`, as models before and after.

use onnx_recast::internals::elements::cast::Contested;
use onnx_recast::internals::graph::Model;
use onnx_recast::internals::passes::{self, Options};
use onnx_recast::internals::protobuf::raw;
use onnx_recast::internals::protobuf::schema::ModelProto;

use crate::support::{difference, expect_no_failures, fold, model};

struct Case {
    name: &'static str,
    before: &'static str,
    after: &'static str,
}

/// Folding `before` gives `after`; folding that changes nothing.
fn run(cases: &[Case], options: &Options) {
    let mut failures = Vec::new();
    for case in cases {
        let (folded, _) = fold(model(case.before), options);
        failures.extend(difference(case.name, &model(case.after), &folded));
        let (again, report) = fold(folded.clone(), options);
        failures.extend(difference(&format!("{}, folded again", case.name), &folded, &again));
        if !report.folded().is_empty() {
            failures.push(format!("== {}: a second run folds {:?}", case.name, report.folded()));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn constants_become_what_the_cast_computes() {
    run(
        &[
            Case {
                name: "an initializer",
                before: r#"<ir_version: 10, opset_import: ["": 21]> g (float16[2] x) => (float16[2] y) <float[2] w = {1.5, -2}, float[2] other = {1, 2}>
                    { h = Cast <to = 10> (w) z = Cast <to = 10> (other) s = Add (x, h) y = Add (s, z) }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21]> g (float16[2] x) => (float16[2] y) <float16[2] h = {0x3e00, 0xc000}, float16[2] z = {1, 2}>
                    { s = Add (x, h) y = Add (s, z) }"#,
            },
            Case {
                name: "a chain rounds at each step: 1 + 2^-11 + 2^-24 is above the tie for FLOAT16, but FLOAT rounds it onto the tie",
                before: r#"<ir_version: 10, opset_import: ["": 21]> g (float16 x) => (float16 y, float16 z) <double w = {1.0004882813}>
                    { a = Cast <to = 10> (w) f = Cast <to = 16> (w) b = Cast <to = 10> (f) y = Add (x, a) z = Add (x, b) }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21]> g (float16 x) => (float16 y, float16 z) <float16 a = {0x3c01}, float16 b = {0x3c00}>
                    { y = Add (x, a) z = Add (x, b) }"#,
            },
            Case {
                name: "a constant used elsewhere stays",
                before: r#"<ir_version: 10, opset_import: ["": 21]> g (float x) => (float y, float16 h) <float w = {2}> { h = Cast <to = 10> (w) y = Add (x, w) }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21]> g (float x) => (float y, float16 h) <float w = {2}, float16 h = {2}> { y = Add (x, w) }"#,
            },
            Case {
                name: "a constant that was unused before stays",
                before: r#"<ir_version: 10, opset_import: ["": 21]> g () => (float16 h) <float unused = {1}, float w = {2}> { h = Cast <to = 10> (w) }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21]> g () => (float16 h) <float unused = {1}, float16 h = {2}> { }"#,
            },
            Case {
                name: "an initializer that is an output stays",
                before: r#"<ir_version: 10, opset_import: ["": 21]> g () => (float w, float16 h) <float w = {2}> { h = Cast <to = 10> (w) }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21]> g () => (float w, float16 h) <float w = {2}, float16 h = {2}> { }"#,
            },
            Case {
                name: "equal casts share a result, except one that is an output",
                before: r#"<ir_version: 10, opset_import: ["": 21]> g (float16 x) => (float16 y, float16 c) <float w = {2}>
                    { a = Cast <to = 10> (w) b = Cast <to = 10> (w) c = Cast <to = 10> (w) d = Cast <to = 16> (w) e = Cast <to = 10> (d) s = Add (a, b) t = Add (s, e) y = Add (x, t) }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21]> g (float16 x) => (float16 y, float16 c) <float16 c = {2}, float16 e = {2}>
                    { s = Add (c, c) t = Add (s, e) y = Add (x, t) }"#,
            },
            Case {
                name: "a cast whose result nobody uses goes without one",
                before: r#"<ir_version: 10, opset_import: ["": 21]> g (float x) => (float y) <float w = {2}> { h = Cast <to = 10> (w) y = Relu (x) }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21]> g (float x) => (float y) { y = Relu (x) }"#,
            },
            Case {
                name: "what the graph states of values stays, but of those that are gone",
                before: r#"<ir_version: 10, opset_import: ["": 21]> g (float16 x) => (float16 y) <float w = {2}, float w, float m, float16 h, float16 s>
                    { m = Cast <to = 1> (w) h = Cast <to = 10> (m) s = Relu (x) y = Add (s, h) }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21]> g (float16 x) => (float16 y) <float16 h = {2}, float16 h, float16 s>
                    { s = Relu (x) y = Add (s, h) }"#,
            },
            Case {
                name: "both names of ONNX's domain, and a cast of another domain",
                before: r#"<ir_version: 10, opset_import: ["ai.onnx": 21, "my": 1]> g () => (float16 a, float16 b, float16 c) <float w = {2}>
                    { a = Cast <to = 10> (w) b = ai.onnx.Cast <to = 16> (w) c = my.Cast <to = 10> (w) }"#,
                after: r#"<ir_version: 10, opset_import: ["ai.onnx": 21, "my": 1]> g () => (float16 a, float16 b, float16 c) <float w = {2}, float16 a = {2}, bfloat16 b = {2}>
                    { c = my.Cast <to = 10> (w) }"#,
            },
            Case {
                name: "the type of CastLike's second input, stated, constant, or cast",
                before: r#"<ir_version: 10, opset_import: ["": 21]> g (float16 x, float q) => (float16 a, bfloat16 b, float8e4m3fn c) <float w = {2}, bfloat16 like = {0}>
                    { a = CastLike (w, x) b = CastLike (w, like) n = Cast <to = 17> (q) c = CastLike (w, n) }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21]> g (float16 x, float q) => (float16 a, bfloat16 b, float8e4m3fn c) <float16 a = {2}, bfloat16 b = {2}, float8e4m3fn c = {2}>
                    { n = Cast <to = 17> (q) }"#,
            },
            Case {
                name: "the type of CastLike's second input, where it follows from what the model states",
                before: r#"<ir_version: 10, opset_import: ["": 21]> g (float16 x) => (float16 h) <float w = {2}> { s = Relu (x) t = Abs (s) h = CastLike (w, t) }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21]> g (float16 x) => (float16 h) <float16 h = {2}> { s = Relu (x) t = Abs (s) }"#,
            },
            Case {
                name: "an opset that is imported twice, under both names of ONNX's domain",
                before: r#"<ir_version: 10, opset_import: ["": 19, "ai.onnx": 19]> g () => (float8e4m3fn h) <float w = {2}> { h = Cast <to = 17> (w) }"#,
                after: r#"<ir_version: 10, opset_import: ["": 19, "ai.onnx": 19]> g () => (float8e4m3fn h) <float8e4m3fn h = {0x40}> { }"#,
            },
            Case {
                name: "float8 stays float8, saturated or not",
                before: r#"<ir_version: 10, opset_import: ["": 21]> g () => (float8e4m3fn a, float8e4m3fn b, float8e4m3fnuz c, float8e5m2 d, float8e5m2fnuz e) <float[4] w = {1, -2, 500, 0.1}>
                    { a = Cast <to = 17> (w) b = Cast <to = 17, saturate = 0> (w) c = Cast <to = 18> (w) d = Cast <to = 19> (w) e = Cast <to = 20> (w) }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21]> g () => (float8e4m3fn a, float8e4m3fn b, float8e4m3fnuz c, float8e5m2 d, float8e5m2fnuz e)
                    <float8e4m3fn[4] a = {0x38, 0xc0, 0x7e, 0x1d}, float8e4m3fn[4] b = {0x38, 0xc0, 0x7f, 0x1d}, float8e4m3fnuz[4] c = {0x40, 0xc8, 0x7f, 0x25},
                     float8e5m2[4] d = {0x3c, 0xc0, 0x60, 0x2e}, float8e5m2fnuz[4] e = {0x40, 0xc4, 0x64, 0x32}> { }"#,
            },
            Case {
                name: "packed types with odd counts, no elements, a scalar",
                before: r#"<ir_version: 14, opset_import: ["": 28]> g () => (int4 a, uint2 b, float6e2m3 c, float16 d, int4 e) <int32[3] w = {-8, 7, 1}, int32[5] v = {0, 1, 2, 3, 1}, float[3] u = {0.125, 7.5, -1}, float[0] none = {}, int8 s = {-3}>
                    { a = Cast <to = 22> (w) b = Cast <to = 25> (v) c = Cast <to = 27> (u) d = Cast <to = 10> (none) e = Cast <to = 22> (s) }"#,
                after: r#"<ir_version: 14, opset_import: ["": 28]> g () => (int4 a, uint2 b, float6e2m3 c, float16 d, int4 e)
                    <int4[3] a = {-8, 7, 1}, uint2[5] b = {0, 1, 2, 3, 1}, float6e2m3[3] c = {0x1, 0x1f, 0x28}, float16[0] d = {}, int4 e = {-3}> { }"#,
            },
            Case {
                name: "strings",
                before: r#"<ir_version: 10, opset_import: ["": 21]> g () => (float a, string b) <string[3] w = {"1.5", "-INF", "2e3"}, int8[2] v = {-7, 0}> { a = Cast <to = 1> (w) b = Cast <to = 8> (v) }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21]> g () => (float a, string b) <float[3] a = {1.5, -inf, 2000}, string[2] b = {"-7", "0"}> { }"#,
            },
            Case {
                name: "a local function named Cast is no cast",
                before: r#"<ir_version: 10, opset_import: ["": 21]> g () => (float h) <float w = {2}> { h = Cast <to = 10> (w) }
                    <domain: "", opset_import: ["": 21]> Cast <to> (x) => (y) { y = Neg (x) }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21]> g () => (float h) <float w = {2}> { h = Cast <to = 10> (w) }
                    <domain: "", opset_import: ["": 21]> Cast <to> (x) => (y) { y = Neg (x) }"#,
            },
            Case {
                name: "nodes before those they depend on",
                before: r#"<ir_version: 10, opset_import: ["": 21]> g (float16 x) => (float16 y) <float w = {2}> { y = Add (x, h) h = Cast <to = 10> (m) m = Cast <to = 16> (w) }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21]> g (float16 x) => (float16 y) <float16 h = {2}> { y = Add (x, h) }"#,
            },
        ],
        &Options::default(),
    );
}

#[test]
fn constant_nodes_are_constants_in_every_form() {
    let forms = [
        ("value = float[2] {1, 2}", "float16[2] h = {1, 2}"),
        ("value_float = 1.5", "float16 h = {1.5}"),
        ("value_floats = [1.5, 2.5]", "float16[2] h = {1.5, 2.5}"),
        ("value_int = 3", "float16 h = {3}"),
        ("value_ints = [3, 4]", "float16[2] h = {3, 4}"),
        (r#"value_string = "0.5""#, "float16 h = {0.5}"),
        (r#"value_strings = ["0.5", "1"]"#, "float16[2] h = {0.5, 1}"),
    ];
    let header = r#"<ir_version: 10, opset_import: ["": 21]> g () => (float16 h)"#;
    let mut failures = Vec::new();
    for (attribute, initializer) in forms {
        let before = format!("{header} {{ c = Constant <{attribute}> () h = Cast <to = 10> (c) }}");
        let (folded, report) = fold(model(&before), &Options::default());
        failures.extend(difference(attribute, &model(&format!("{header} <{initializer}> {{ }}")), &folded));
        if report.removed_constants().iter().map(|removed| removed.path()).collect::<Vec<_>>() != ["graph/c"] {
            failures.push(format!("{attribute}: removed {:?}", report.removed_constants()));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_constant_node_with_a_second_output_is_none() {
    let before = model(
        r#"<ir_version: 10, opset_import: ["": 21]> g () => (h, k) { c, k = Constant <value_int = 3> () h = Cast <to = 10> (c) }"#,
    );
    let (folded, report) = fold(before.clone(), &Options::default());
    assert_eq!((folded, report.kept()[0].reason.to_string().as_str()), (before, "its input is not constant"));
}

#[test]
fn every_scope_is_folded_under_its_own_names() {
    run(
        &[
            Case {
                name: "branches of an If with equal inner names",
                before: r#"<ir_version: 10, opset_import: ["": 21]> g (bool c, float16 x) => (float16 y)
                    {
                        y = If (c) <
                            then_branch = t () => (float16 r) <float w = {2}> { h = Cast <to = 10> (w) r = Add (x, h) },
                            else_branch = e () => (float16 r) <float w = {3}> { h = Cast <to = 10> (w) r = Add (x, h) }
                        >
                    }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21]> g (bool c, float16 x) => (float16 y)
                    {
                        y = If (c) <
                            then_branch = t () => (float16 r) <float16 h = {2}> { r = Add (x, h) },
                            else_branch = e () => (float16 r) <float16 h = {3}> { r = Add (x, h) }
                        >
                    }"#,
            },
            Case {
                name: "a constant that is captured: its casts inside share the result outside",
                before: r#"<ir_version: 10, opset_import: ["": 21]> g (bool c, float16 x) => (float16 y) <float w = {1}>
                    {
                        k = Cast <to = 10> (w)
                        s = Add (x, k)
                        y = If (c) <
                            then_branch = t () => (float16 r) { i = Cast <to = 10> (w) r = Add (s, i) },
                            else_branch = e () => (float16 r) { i = Cast <to = 16> (w) j = Cast <to = 10> (i) r = Add (s, j) }
                        >
                    }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21]> g (bool c, float16 x) => (float16 y) <float16 k = {1}>
                    {
                        s = Add (x, k)
                        y = If (c) <
                            then_branch = t () => (float16 r) { r = Add (s, k) },
                            else_branch = e () => (float16 r) <float16 j = {1}> { r = Add (s, j) }
                        >
                    }"#,
            },
            Case {
                name: "equal casts in branches share a result beside the constant, those that are outputs have their own",
                before: r#"<ir_version: 10, opset_import: ["": 21]> g (bool c, float16 x, float16 i_shared) => (float16 y, float16 z) <float w = {1}>
                    {
                        y = If (c) <
                            then_branch = t () => (float16 r) { i = Cast <to = 10> (w) j = Cast <to = 10> (w) s = Add (x, i) r = Add (s, j) },
                            else_branch = e () => (float16 r) { r = If (c) <then_branch = u () => (float16 q) { i = Cast <to = 10> (w) q = Add (x, i) }> }
                        >
                        z = If (c) <then_branch = v () => (float16 r) { r = Cast <to = 10> (w) }>
                    }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21]> g (bool c, float16 x, float16 i_shared) => (float16 y, float16 z) <float16 i_shared_1 = {1}>
                    {
                        y = If (c) <
                            then_branch = t () => (float16 r) { s = Add (x, i_shared_1) r = Add (s, i_shared_1) },
                            else_branch = e () => (float16 r) { r = If (c) <then_branch = u () => (float16 q) { q = Add (x, i_shared_1) }> }
                        >
                        z = If (c) <then_branch = v () => (float16 r) <float16 r = {1}> { }>
                    }"#,
            },
            Case {
                name: "names that shadow and names that are shadowed are left alone, and results do not go where they would be shadowed",
                before: r#"<ir_version: 10, opset_import: ["": 21]> g (bool c, float16 x) => (float16 y, float16 k, float16 h) <float w = {1}, float v = {4}>
                    {
                        k = Cast <to = 10> (w)
                        h = Cast <to = 10> (v)
                        y = If (c) <
                            then_branch = t () => (float16 r) <float w = {2}> { g = Cast <to = 10> (w) r = Add (x, g) },
                            else_branch = e () => (float16 r) { h = Neg (x) i = Cast <to = 10> (v) r = Add (h, i) }
                        >
                    }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21]> g (bool c, float16 x) => (float16 y, float16 k, float16 h) <float w = {1}, float v = {4}>
                    {
                        k = Cast <to = 10> (w)
                        h = Cast <to = 10> (v)
                        y = If (c) <
                            then_branch = t () => (float16 r) <float w = {2}> { g = Cast <to = 10> (w) r = Add (x, g) },
                            else_branch = e () => (float16 r) <float16 i = {4}> { h = Neg (x) r = Add (h, i) }
                        >
                    }"#,
            },
            Case {
                name: "a name that a branch defines before the graph around it does",
                before: r#"<ir_version: 10, opset_import: ["": 21]> g (bool c, float16 x) => (float16 y, float16 z) <float w = {1}>
                    {
                        y = If (c) <then_branch = t () => (float16 r) { h = Neg (x) r = Neg (h) }, else_branch = e () => (float16 r) { i = Cast <to = 10> (w) r = Neg (i) }>
                        h = Cast <to = 10> (w)
                        z = Neg (h)
                    }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21]> g (bool c, float16 x) => (float16 y, float16 z) <float w = {1}>
                    {
                        y = If (c) <then_branch = t () => (float16 r) { h = Neg (x) r = Neg (h) }, else_branch = e () => (float16 r) <float16 i = {1}> { r = Neg (i) }>
                        h = Cast <to = 10> (w)
                        z = Neg (h)
                    }"#,
            },
            Case {
                name: "a name that a branch defines before, and nothing else uses",
                before: r#"<ir_version: 10, opset_import: ["": 21]> g (bool c, float16 x) => (float16 y) <float w = {1}>
                    { y = If (c) <then_branch = t () => (float16 r) { h = Cast <to = 10> (w) r = Neg (h) }> h = Cast <to = 10> (w) }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21]> g (bool c, float16 x) => (float16 y) <float w = {1}>
                    { y = If (c) <then_branch = t () => (float16 r) { h = Cast <to = 10> (w) r = Neg (h) }> h = Cast <to = 10> (w) }"#,
            },
            Case {
                name: "a constant that shadows another, and that CastLike needs no more",
                before: r#"<ir_version: 10, opset_import: ["": 21]> g (bool c, float16 x) => (float16 y, float16 z) <float w = {1}, float v = {2}>
                    {
                        y = If (c) <then_branch = t () => (float16 r) <float16 w = {0}> { i = CastLike (v, w) r = Add (x, i) }>
                        z = Cast <to = 10> (w)
                    }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21]> g (bool c, float16 x) => (float16 y, float16 z) <float w = {1}>
                    {
                        y = If (c) <then_branch = t () => (float16 r) <float16 w = {0}, float16 i = {2}> { r = Add (x, i) }>
                        z = Cast <to = 10> (w)
                    }"#,
            },
            Case {
                name: "the bodies of Loop and Scan: their inputs are no constants",
                before: r#"<ir_version: 10, opset_import: ["": 21]> g (int64 n, bool c, float16 x, float[N] xs) => (float16 y, float16 z) <float w = {1}>
                    {
                        y = Loop (n, c, x) <body = b (int64 i, bool go, float16 v) => (bool go2, float16 v2) { go2 = Identity (go) h = Cast <to = 10> (w) f = Cast <to = 10> (i) u = Add (v, h) v2 = Add (u, f) }>
                        z = Scan <num_scan_inputs = 1, body = s (float16 a, float e) => (float16 b) <float k = {2}> { h = Cast <to = 10> (k) f = Cast <to = 10> (e) u = Add (a, f) b = Add (u, h) }> (x, xs)
                    }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21]> g (int64 n, bool c, float16 x, float[N] xs) => (float16 y, float16 z)
                    {
                        y = Loop (n, c, x) <body = b (int64 i, bool go, float16 v) => (bool go2, float16 v2) <float16 h = {1}> { go2 = Identity (go) f = Cast <to = 10> (i) u = Add (v, h) v2 = Add (u, f) }>
                        z = Scan <num_scan_inputs = 1, body = s (float16 a, float e) => (float16 b) <float16 h = {2}> { f = Cast <to = 10> (e) u = Add (a, f) b = Add (u, h) }> (x, xs)
                    }"#,
            },
            Case {
                name: "lists of graphs under a domain that is not known",
                before: r#"<ir_version: 10, opset_import: ["": 21, "my": 1]> g (float16 x) => (float16 y)
                    { y = my.Choose (x) <cases = [a () => (float16 r) <float w = {1}> { h = Cast <to = 10> (w) r = Add (x, h) }, b () => (float16 r) <float w = {2}> { r = Cast <to = 10> (w) }]> }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21, "my": 1]> g (float16 x) => (float16 y)
                    { y = my.Choose (x) <cases = [a () => (float16 r) <float16 h = {1}> { r = Add (x, h) }, b () => (float16 r) <float16 r = {2}> { }]> }"#,
            },
            Case {
                name: "a function: the result is a Constant node in the cast's place",
                before: r#"<ir_version: 10, opset_import: ["": 21, "my": 1]> g (float16 x) => (float16 y) { y = my.Fn (x) }
                    <domain: "my", opset_import: ["": 21]> Fn (x) => (y) { c = Constant <value_float = 1.5> () [half] h = Cast <to = 10> (c) i = Cast <to = 10> (c) s = Add (x, h) y = Add (s, i) }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21, "my": 1]> g (float16 x) => (float16 y) { y = my.Fn (x) }
                    <domain: "my", opset_import: ["": 21]> Fn (x) => (y) { [half] h = Constant <value = float16 {1.5}> () s = Add (x, h) y = Add (s, h) }"#,
            },
            Case {
                name: "a branch in a function captures a cast of the function",
                before: r#"<ir_version: 10, opset_import: ["": 21, "my": 1]> g (bool b, float16 x) => (float16 y) { y = my.Fn (b, x) }
                    <domain: "my", opset_import: ["": 21]> Fn (b, x) => (y) { c = Constant <value_float = 1.5> () h = Cast <to = 10> (c)
                        y = If (b) <then_branch = t () => (float16 r) { k = Cast <to = 10> (c) r = Add (x, k) }, else_branch = e () => (float16 r) { r = Add (x, h) }> }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21, "my": 1]> g (bool b, float16 x) => (float16 y) { y = my.Fn (b, x) }
                    <domain: "my", opset_import: ["": 21]> Fn (b, x) => (y) { h = Constant <value = float16 {1.5}> ()
                        y = If (b) <then_branch = t () => (float16 r) { k = Constant <value = float16 {1.5}> () r = Add (x, k) }, else_branch = e () => (float16 r) { r = Add (x, h) }> }"#,
            },
            Case {
                name: "`to` by attribute reference, where all callers agree: one states the default of the other",
                before: r#"<ir_version: 10, opset_import: ["": 21, "my": 1]> g () => (float16 y, float16 z) { y = my.Fn () z = my.Fn <kind = 10> () }
                    <domain: "my", opset_import: ["": 21]> Fn <kind: int = 10> () => (y) { c = Constant <value_float = 1.5> () y = Cast <to: int = @kind> (c) }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21, "my": 1]> g () => (float16 y, float16 z) { y = my.Fn () z = my.Fn <kind = 10> () }
                    <domain: "my", opset_import: ["": 21]> Fn <kind: int = 10> () => (y) { y = Constant <value = float16 {1.5}> () }"#,
            },
        ],
        &Options::default(),
    );
}

#[test]
fn old_models_keep_their_form() {
    run(
        &[
            Case {
                name: "IR 3: every initializer is an input and a constant; so is the result",
                before: r#"<ir_version: 3, opset_import: ["": 8]> g (float16[2] x, float[2] w) => (float16[2] y) <float[2] w = {1, 2}> { h = Cast <to = 10> (w) y = Add (x, h) }"#,
                after: r#"<ir_version: 3, opset_import: ["": 8]> g (float16[2] x, float16[2] h) => (float16[2] y) <float16[2] h = {1, 2}> { y = Add (x, h) }"#,
            },
            Case {
                name: "IR 3: branches share a result that the graph around them lists",
                before: r#"<ir_version: 3, opset_import: ["": 8]> g (bool c, float w) => (float16 y) <float w = {1}> { y = If (c) <then_branch = t () => (float16 r) { h = Cast <to = 10> (w) r = Neg (h) }, else_branch = e () => (float16 r) { h = Cast <to = 10> (w) r = Abs (h) }> }"#,
                after: r#"<ir_version: 3, opset_import: ["": 8]> g (bool c, float16 h_shared) => (float16 y) <float16 h_shared = {1}> { y = If (c) <then_branch = t () => (float16 r) { r = Neg (h_shared) }, else_branch = e () => (float16 r) { r = Abs (h_shared) }> }"#,
            },
            Case {
                name: "IR 3: a branch of an If cannot list one, and gets a Constant",
                before: r#"<ir_version: 3, opset_import: ["": 8]> g (bool c) => (float16 y) { y = If (c) <then_branch = t (float w) => (float16 r) <float w = {1}> { r = Cast <to = 10> (w) }, else_branch = e (float w) => (float16 r) <float w = {2}> { r = Cast <to = 10> (w) }> }"#,
                after: r#"<ir_version: 3, opset_import: ["": 8]> g (bool c) => (float16 y) { y = If (c) <then_branch = t () => (float16 r) { r = Constant <value = float16 {1}> () }, else_branch = e () => (float16 r) { r = Constant <value = float16 {2}> () }> }"#,
            },
            Case {
                name: "opset 5: `to` is a name, in any letter case",
                before: r#"<ir_version: 3, opset_import: ["": 5]> g (float w) => (float16 y, double z) <float w = {2}> { y = Cast <to = "FLOAT16"> (w) z = Cast <to = "double"> (w) }"#,
                after: r#"<ir_version: 3, opset_import: ["": 5]> g (float16 y, double z) => (float16 y, double z) <float16 y = {2}, double z = {2}> { }"#,
            },
            Case {
                name: "IR 2 states no opset: it is 1",
                before: r#"<ir_version: 2> g (float w) => (float16 y) <float w = {2}> { y = Cast <to = "FLOAT16"> (w) }"#,
                after: r#"<ir_version: 2> g (float16 y) => (float16 y) <float16 y = {2}> { }"#,
            },
        ],
        &Options::default(),
    );
}

#[test]
fn what_stays_is_reported_with_its_reason() {
    let cases = [
        (
            "an overridable initializer",
            r#"<ir_version: 10, opset_import: ["": 21]> g (float w) => (float16 h) <float w = {1}> { h = Cast <to = 10> (w) }"#,
            "a caller can override the initializer, which is also an input",
        ),
        (
            "an input",
            r#"<ir_version: 10, opset_import: ["": 21]> g (float x) => (float16 h) { h = Cast <to = 10> (x) }"#,
            "its input is not constant",
        ),
        (
            "undefined values",
            r#"<ir_version: 10, opset_import: ["": 21]> g () => (int8 h) <float[3] w = {1, 300, nan}> { h = Cast <to = 3> (w) }"#,
            "2 of its results are undefined, the first at element 1: ",
        ),
        (
            "contested values",
            r#"<ir_version: 10, opset_import: ["": 21]> g () => (int4 h) <float[2] w = {1, 1.5}> { h = Cast <to = 22> (w) }"#,
            "1 of its results is contested, the first at element 1: ",
        ),
        (
            "a type that the opset's cast does not support",
            r#"<ir_version: 10, opset_import: ["": 18]> g () => (float8e4m3fn h) <float w = {1}> { h = Cast <to = 17> (w) }"#,
            "Cast does not support FLOAT8E4M3FN before opset 19; the opset is 18",
        ),
        (
            "a type that Cast admits and CastLike does not",
            r#"<ir_version: 14, opset_import: ["": 28]> g (float6e2m3 x) => (float6e2m3 h) <float w = {1}> { h = CastLike (w, x) }"#,
            "CastLike of opset 28 does not support FLOAT to FLOAT6E2M3",
        ),
        (
            "an opset that is not known",
            r#"<ir_version: 10, opset_import: ["": 29]> g () => (float16 h) <float w = {1}> { h = Cast <to = 10> (w) }"#,
            "the casts of opset 29 are not known; the known opsets are 1 to 28",
        ),
        (
            "no opset",
            r#"<ir_version: 10, opset_import: ["my": 1]> g () => (float16 h) <float w = {1}> { h = Cast <to = 10> (w) }"#,
            "no opset of ai.onnx is imported",
        ),
        (
            "a CastLike whose type is not stated",
            r#"<ir_version: 10, opset_import: ["": 21]> g (x) => (h) <float w = {1}> { h = CastLike (w, x) }"#,
            "the type of 'x', which CastLike copies, is unknown",
        ),
        (
            "callers that disagree",
            r#"<ir_version: 10, opset_import: ["": 21, "my": 1]> g () => (float16 y, bfloat16 z) { y = my.Fn <kind = 10> () z = my.Fn <kind = 16> () }
            <domain: "my", opset_import: ["": 21]> Fn <kind> () => (y) { c = Constant <value_float = 1.5> () y = Cast <to: int = @kind> (c) }"#,
            "`to` refers to an attribute of the function, and its calls do not all give it the same value",
        ),
        (
            "a function that nobody calls",
            r#"<ir_version: 10, opset_import: ["": 21, "my": 1]> g (float x) => (float y) { y = Relu (x) }
            <domain: "my", opset_import: ["": 21]> Fn <kind> () => (y) { c = Constant <value_float = 1.5> () y = Cast <to: int = @kind> (c) }"#,
            "`to` refers to an attribute of the function, and its calls do not all give it the same value",
        ),
        (
            "a type that no call gives",
            r#"<ir_version: 10, opset_import: ["": 21, "my": 1]> g () => (y) { y = my.Fn () }
            <domain: "my", opset_import: ["": 21]> Fn <kind> () => (y) { c = Constant <value_float = 1.5> () y = Cast <to: int = @kind> (c) }"#,
            "`to` refers to an attribute of the function, and its calls do not all give it the same value",
        ),
        (
            "a Constant whose value is the caller's",
            r#"<ir_version: 10, opset_import: ["": 21, "my": 1]> g () => (float16 y) { y = my.Fn <v = 1.5> () }
            <domain: "my", opset_import: ["": 21]> Fn <v> () => (y) { c = Constant <value_float: float = @v> () y = Cast <to = 10> (c) }"#,
            "the value of the Constant is an attribute of the function",
        ),
        (
            "a string that is no number",
            r#"<ir_version: 10, opset_import: ["": 21]> g () => (float h) <string[2] w = {"1", "1_000"}> { h = Cast <to = 1> (w) }"#,
            "1_000",
        ),
        (
            "a Constant of opset 8 in a branch cannot be an integer",
            r#"<ir_version: 3, opset_import: ["": 8]> g (bool c) => (int32 y) { y = If (c) <then_branch = t (float w) => (int32 r) <float w = {1}> { r = Cast <to = 6> (w) }, else_branch = e () => (int32 r) { r = Foo () }> }"#,
            "Constant of this opset does not support INT32",
        ),
    ];
    let mut failures = Vec::new();
    for (name, text, reason) in cases {
        let before = model(text);
        let (after, report) = fold(before.clone(), &Options::default());
        let reasons: Vec<String> = report.kept().iter().map(|skipped| skipped.reason.to_string()).collect();
        if !reasons.iter().any(|found| found.contains(reason)) || !report.folded().is_empty() {
            failures.push(format!("== {name}: expected '{reason}', found {reasons:?}, folded {:?}", report.folded()));
        }
        failures.extend(difference(name, &before, &after));
    }
    expect_no_failures(failures);
}

#[test]
fn the_user_decides_on_undefined_and_contested_values() {
    let text = r#"<ir_version: 10, opset_import: ["": 21]> g () => (int8 a, int4 b) <float[3] w = {1, 300, nan}, float[2] v = {1.5, 2.5}> { a = Cast <to = 3> (w) b = Cast <to = 22> (v) }"#;
    let after = |a: &str, b: &str| {
        model(&format!(
            r#"<ir_version: 10, opset_import: ["": 21]> g () => (int8 a, int4 b) <int8[3] a = {{{a}}}, int4[2] b = {{{b}}}> {{ }}"#
        ))
    };
    let options = |contested| Options::default().undefined(true).contested(Some(contested));
    let (text_values, _) = fold(model(text), &options(Contested::Text));
    let (runtime_values, _) = fold(model(text), &options(Contested::Runtime));
    let failures = [
        difference("text", &after("1, 127, 0", "2, 2"), &text_values),
        difference("runtime", &after("1, 127, 0", "1, 2"), &runtime_values),
    ];
    expect_no_failures(failures.into_iter().flatten().collect());
}

#[test]
fn a_model_grows_by_no_more_than_allowed() {
    let text = r#"<ir_version: 10, opset_import: ["": 21]> g () => (float a, float b, double c) <float16[4] w = {1, 2, 3, 4}, float16[8] v = {1, 2, 3, 4, 5, 6, 7, 8}, float[2] u = {1, 2}>
        { a = Cast <to = 1> (w) b = Cast <to = 1> (v) c = Cast <to = 11> (u) }"#;
    // FLOAT16 to FLOAT frees 2 bytes an element and takes 4; FLOAT to DOUBLE frees 4 and takes 8.
    let cases: [(u64, &[&str]); 5] = [(7, &[]), (8, &["w"]), (16, &["w", "u"]), (31, &["w", "v"]), (32, &["w", "v", "u"])];
    for (max_growth, expected) in cases {
        let (_, report) = fold(model(text), &Options::default().max_growth(Some(max_growth)));
        let mut folded: Vec<&str> = report.folded().iter().map(|folded| folded.input.as_str()).collect();
        folded.sort_unstable();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(folded, expected, "--max-growth {max_growth}");
    }
}

#[test]
fn every_copy_that_is_stored_counts_as_growth() {
    let branches = |then: &str, other: &str| {
        format!(
            r#"<ir_version: 10, opset_import: ["": 21]> g (bool b) => (double y) <float[4] w = {{1, 2, 3, 4}}>
            {{ y = If (b) <then_branch = t () => (double r) {{ {then} }}, else_branch = e () => (double r) {{ {other} }}> }}"#
        )
    };
    let shared = |call: &str, name: &str| branches(call, &format!("{name} = Cast <to = 11> (w) r = Neg ({name})"));
    let casts = "i = Cast <to = 11> (w) r = Neg (i)";
    let long = "h".repeat(300);
    // The constant takes 16 bytes, and goes with its last cast; a result takes 32.
    let cases = [
        ("outputs of both branches", branches("r = Cast <to = 11> (w)", "r = Cast <to = 11> (w)"), 48),
        ("one result for both branches", shared(casts, "j"), 32),
        ("a name that is not for others, and one that is not for it", shared(casts, &long), 48),
    ];
    let mut failures = Vec::new();
    for (name, text, growth) in cases {
        for (max_growth, folds_all) in [(growth, true), (growth - 1, false)] {
            let (after, report) = fold(model(&text), &Options::default().max_growth(Some(max_growth)));
            if report.kept().is_empty() != folds_all {
                failures.push(format!(
                    "{name}, {max_growth}: {:?} in {}",
                    report.kept(),
                    onnx_recast::internals::onnx_text::print(&after)
                ));
            }
        }
    }
    expect_no_failures(failures);
}

#[test]
fn annotated_and_trained_constants_stay() {
    let mut before: ModelProto = model(
        r#"<ir_version: 10, opset_import: ["": 21]> g (float16 x) => (float16 y) <float scale = {2}, float weight = {3}, float plain = {4}>
        { a = Cast <to = 10> (scale) b = Cast <to = 10> (weight) c = Cast <to = 10> (plain) s = Add (x, a) t = Add (s, b) y = Add (t, c) }"#,
    );
    let entry = |key: &str, value: &str| raw::StringStringEntryProto { key: Some(key.into()), value: Some(value.into()) };
    let annotation = raw::TensorAnnotation {
        tensor_name: Some("x".into()),
        quant_parameter_tensor_names: vec![entry("SCALE_TENSOR", "scale").into()],
    };
    let training = raw::TrainingInfoProto {
        algorithm: model(r#"g () => (float new) { new = Neg (weight) }"#).into_known().graph,
        update_binding: vec![entry("weight", "new").into()],
        ..Default::default()
    };
    before.graph.as_mut().unwrap().quantization_annotation.push(annotation.into());
    before.training_info.push(training.into());
    let (after, report) = fold(before, &Options::default());
    let names: Vec<&str> = after.graph.as_ref().unwrap().initializer.iter().map(|tensor| tensor.name()).collect();
    assert_eq!(names, ["scale", "weight", "a", "c"]);
    assert_eq!(report.kept().len(), 1);
    assert_eq!(report.kept()[0].reason.to_string(), "training updates the initializer");
}

/// The initializers to which a binding assigns may also be those of the training algorithm.
#[test]
fn trained_constants_of_an_algorithm_stay() {
    let algorithm = r#"alg () => (float next, float16 c, int64 later) <float step = {0}, int64 count = {0}, int64 one = {1}, int64 same = {0}>
        { c = Cast <to = 10> (step) next = Add (step, step) later = Add (count, one) other = Add (same, one) }"#;
    let entry = |key: &str, value: &str| raw::StringStringEntryProto { key: Some(key.into()), value: Some(value.into()) };
    let training = raw::TrainingInfoProto {
        algorithm: model(algorithm).into_known().graph,
        initialization_binding: vec![entry("same", "one").into()],
        update_binding: vec![entry("step", "next").into(), entry("count", "later").into()],
        ..Default::default()
    };
    let mut before: ModelProto = model(r#"<ir_version: 10, opset_import: ["": 21]> g (float x) => (float y) { y = Neg (x) }"#);
    before.training_info.push(training.into());
    for passes in [passes::DEFAULT, passes::EXACT] {
        let (after, _) = passes::run(Model::new(before.clone()).unwrap(), passes, &Options::default()).unwrap();
        let algorithm = after.proto().training_info[0].algorithm.as_ref().unwrap();
        let names: Vec<&str> = algorithm.initializer.iter().map(|tensor| tensor.name()).collect();
        assert_eq!(names, ["step", "count", "one", "same"]);
        assert!(algorithm.node.iter().any(|node| node.op_type() == "Cast"));
    }
}

#[test]
fn what_a_branch_annotates_stays_wherever_it_is_defined() {
    let mut before = model(
        r#"<ir_version: 10, opset_import: ["": 21]> g (bool c, float16 x) => (float16 y) <float w = {1}, float v = {2}>
        { y = If (c) <then_branch = t () => (float16 r) { i = Cast <to = 10> (w) r = Add (x, i) }> s = Cast <to = 10> (v) u = Cast <to = 10> (v) z = Add (s, u) }"#,
    );
    let entry = |value: &str| raw::StringStringEntryProto { key: Some("SCALE_TENSOR".into()), value: Some(value.into()) };
    let annotation = raw::TensorAnnotation {
        tensor_name: Some("r".into()),
        quant_parameter_tensor_names: vec![entry("w").into(), entry("u").into()],
    };
    let branch = before.graph.as_mut().unwrap().node[0].attribute[0].g.as_mut().unwrap();
    branch.quantization_annotation.push(annotation.into());
    let (after, _) = fold(before, &Options::default());
    let names: Vec<&str> = after.graph.as_ref().unwrap().initializer.iter().map(|tensor| tensor.name()).collect();
    assert_eq!(names, ["w", "u"]);
}

#[test]
fn sparse_constants_are_recognised_and_stay() {
    let mut before = model(
        r#"<ir_version: 10, opset_import: ["": 21]> g () => (float16 a, float16 b) { c = Constant () a = Cast <to = 10> (c) b = Cast <to = 10> (s) }"#,
    );
    let parts = model("g () => () <float[1] s = {2}, int64[1] at = {3}> { }").into_known().graph.unwrap().initializer.clone();
    let sparse = raw::SparseTensorProto { values: Some(parts[0].clone()), indices: Some(parts[1].clone()), dims: vec![5] };
    let mut attribute = raw::AttributeProto {
        name: Some("sparse_value".into()),
        r#type: Some(raw::attribute_proto::AttributeType::SparseTensor.into()),
        ..Default::default()
    };
    attribute.tail_mut().sparse_tensor = Some(sparse.clone().into());
    let graph = before.graph.as_mut().unwrap();
    graph.sparse_initializer.push(sparse.into());
    graph.node[0].attribute.push(attribute.into());
    let (after, report) = fold(before.clone(), &Options::default());
    let reasons: Vec<String> = report.kept().iter().map(|skipped| skipped.reason.to_string()).collect();
    assert_eq!(reasons, ["the constant is sparse"; 2]);
    assert!(after == before);
}

#[test]
fn a_sparse_initializer_may_be_an_input_too() {
    for (ir, opset) in [(10, 21), (3, 8)] {
        let mut before = model(&format!(
            r#"<ir_version: {ir}, opset_import: ["": {opset}]> g (float[5] s) => (float16[5] y, float[5] z) {{ y = Cast <to = 10> (s) z = Neg (s) }}"#
        ));
        let parts = model("g () => () <float[1] s = {2}, int64[1] at = {3}> { }").into_known().graph.unwrap().initializer.clone();
        let sparse = raw::SparseTensorProto { values: Some(parts[0].clone()), indices: Some(parts[1].clone()), dims: vec![5] };
        before.graph.as_mut().unwrap().sparse_initializer.push(sparse.clone().into());
        let (after, report) = fold(before.clone(), &Options::default());
        assert_eq!(report.kept()[0].reason.to_string(), "the constant is sparse");
        assert!(after == before);
        before.graph.as_mut().unwrap().sparse_initializer.push(sparse.into());
        let error = onnx_recast::internals::graph::Model::new(before).unwrap_err();
        assert!(error.to_string().contains("the name 's' is defined twice"), "{error}");
    }
}

#[test]
fn the_sharding_of_an_input_takes_its_new_name() {
    let mut before = model(
        r#"<ir_version: 11, opset_import: ["": 23]> g (float16[2] x) => (float16[2] y) <float[2] w = {1, 2}>
        { a = Cast <to = 10> (w) b = Cast <to = 10> (w) s = Add (x, a) y = Mul (s, b) }"#,
    );
    let spec =
        |name: &str| raw::ShardingSpecProto { tensor_name: Some(name.into()), device: vec![0, 1], ..Default::default() }.into();
    let configuration = raw::NodeDeviceConfigurationProto { sharding_spec: vec![spec("b"), spec("y")], ..Default::default() };
    before.graph.as_mut().unwrap().node[3].device_configurations.push(configuration.into());
    let (after, _) = fold(before, &Options::default());
    let node = &after.graph.as_ref().unwrap().node[1];
    let specs: Vec<&str> = node.device_configurations[0].sharding_spec.iter().map(|spec| spec.tensor_name()).collect();
    assert_eq!((node.input[1].as_str(), specs), ("a", vec!["a", "y"]));
}

#[test]
fn saturate_is_an_integer_of_two_values() {
    for (value, is_sound) in [("0", true), ("1", true), ("2", false), ("1.0", false), ("\"1\"", false), ("[1]", false)] {
        let text = format!(
            r#"<ir_version: 10, opset_import: ["": 21]> g () => (float8e4m3fn h) <float w = {{2}}> {{ [c] h = Cast <to = 17, saturate = {value}> (w) }}"#
        );
        let model = onnx_recast::internals::graph::Model::new(model(&text)).unwrap();
        let outcome = onnx_recast::internals::passes::run(model, onnx_recast::internals::passes::DEFAULT, &Options::default());
        let message = outcome.map(|_| ()).map_err(|error| error.to_string());
        assert_eq!(message.is_ok(), is_sound, "{value}: {message:?}");
        assert!(message.err().is_none_or(|message| message.contains("graph/c: `saturate`")), "{value}");
    }
}

#[test]
fn a_cast_or_constant_that_holds_a_graph_is_none() {
    let fold = |text: &str| {
        let model = onnx_recast::internals::graph::Model::new(model(text)).unwrap();
        onnx_recast::internals::passes::run(model, onnx_recast::internals::passes::DEFAULT, &Options::default())
    };
    let graph = "inside = t () => (float16 r) { h = Neg (x) r = Neg (h) }";
    let cast = format!(
        r#"<ir_version: 10, opset_import: ["": 21]> g (float16 x) => (float16 y) <float w = {{2}}> {{ [c] y = Cast <to = 10, {graph}> (w) }}"#
    );
    assert_eq!(fold(&cast).unwrap_err().to_string(), "graph/c: the cast has a subgraph");
    let constant = format!(
        r#"<ir_version: 10, opset_import: ["": 21]> g (float16 x) => (float16 y) {{ w = Constant <value_float = 1.5, {graph}> () y = Cast <to = 10> (w) }}"#
    );
    assert_eq!(fold(&constant).unwrap().1.kept()[0].reason.to_string(), "its input is not constant");
}

#[test]
fn a_newer_ir_is_no_error_for_what_needs_no_knowledge_of_it() {
    let mut before = model(
        r#"<ir_version: 15, opset_import: ["": 21]> g () => (float16 h, float16 k) <float[1] new = {1}, float w = {2}> { h = Cast <to = 10> (w) k = Neg (h) }"#,
    );
    before.graph.as_mut().unwrap().initializer[0].data_type = Some(99);
    let (after, report) = fold(before.clone(), &Options::default());
    assert_eq!(report.folded().len(), 1);
    assert!(after.graph.as_ref().unwrap().initializer[0] == before.graph.as_ref().unwrap().initializer[0]);
}
