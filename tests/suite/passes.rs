//! Passes, as models before and after.

use onnx_recast::internals::graph::Model;
use onnx_recast::internals::passes::{self, Options, Pass};
use onnx_recast::verify::Verification;

use crate::support::{difference, expect_no_failures, model, rewrite};

struct Case {
    name: &'static str,
    before: &'static str,
    after: &'static str,
}

/// The passes give `after`, which is verified; running them again changes nothing.
fn run(names: &str, cases: &[Case]) {
    let passes: Vec<Pass> = passes::selected(names.split(',')).unwrap();
    let header = r#"<ir_version: 10, opset_import: ["": 21]> "#;
    let mut failures = Vec::new();
    for Case { name, before, after } in cases {
        let [before, after] =
            [before, after].map(|text| model(&if text.starts_with('<') { (*text).to_owned() } else { format!("{header}{text}") }));
        let (changed, _) = rewrite(before.clone(), &passes, &Options::default());
        failures.extend(difference(name, &after, &changed));
        let [before, result] = [before, changed.clone()].map(|model| Model::new(model).unwrap());
        let verified = Verification::of_passes(&before, &passes, &Options::default()).check(&result);
        failures.extend(verified.err().map(|error| format!("== {name}\n{error}")));
        let (again, _) = rewrite(changed.clone(), &passes, &Options::default());
        failures.extend(difference(&format!("{name}, again"), &changed, &again));
    }
    expect_no_failures(failures);
}

#[test]
fn what_leads_from_constants_to_casts_folds_with_them() {
    run(
        "default",
        &[
            Case {
                name: "a constant behind an Identity",
                before: "g (float16[2] x) => (float16[2] y) <float[2] w = {1.5, -2}> { i = Identity (w) h = Cast <to = 10> (i) y = Add (x, h) }",
                after: "g (float16[2] x) => (float16[2] y) <float16[2] h = {0x3e00, 0xc000}> { y = Add (x, h) }",
            },
            Case {
                name: "casts of a constant and of its Identity share a result",
                before: "g (float16[2] x) => (float16[2] y) <float[2] w = {1.5, -2}>
                    { a = Cast <to = 10> (w) i = Identity (w) b = Cast <to = 10> (i) s = Add (x, a) y = Add (s, b) }",
                after: "g (float16[2] x) => (float16[2] y) <float16[2] a = {0x3e00, 0xc000}> { s = Add (x, a) y = Add (s, a) }",
            },
            Case {
                name: "a node whose result is used elsewhere stays",
                before: "g (float[2] x) => (float[2] y, float16[2] h) <float[2] w = {1.5, -2}> { i = Neg (w) j = Identity (w) h = Cast <to = 10> (j) y = Add (x, j) }",
                after: "g (float[2] x) => (float[2] y, float16[2] h) <float[2] w = {1.5, -2}, float16[2] h = {0x3e00, 0xc000}> { i = Neg (w) j = Identity (w) y = Add (x, j) }",
            },
            Case {
                name: "moves of elements, between two casts",
                before: "g (float[2, 3] x) => (float[2, 3] y) <int64[6] w = {1, 2, 3, 4, 5, 6}, int64[2] s = {3, -1}>
                    { f = Cast <to = 10> (w) r = Reshape (f, s) t = Transpose <perm = [1, 0]> (r) h = Cast <to = 1> (t) y = Add (x, h) }",
                after: "g (float[2, 3] x) => (float[2, 3] y) <float[2, 3] h = {1, 3, 5, 2, 4, 6}> { y = Add (x, h) }",
            },
            Case {
                name: "a constant that is cast before a move whose shape is not known",
                before: "g (float16[n] x, int64[1] s) => (float16[n] y) <float[1] w = {1.5}> { h = Cast <to = 10> (w) e = Expand (h, s) y = Add (x, e) }",
                after: "g (float16[n] x, int64[1] s) => (float16[n] y) <float16[1] h = {0x3e00}> { e = Expand (h, s) y = Add (x, e) }",
            },
            Case {
                name: "what leads to no cast stays",
                before: "g (float[1, 2] x) => (float[1, 2] y) <float[2] w = {1.5, -2}, int64[2] s = {1, 2}> { r = Reshape (w, s) y = Add (x, r) }",
                after: "g (float[1, 2] x) => (float[1, 2] y) <float[2] w = {1.5, -2}, int64[2] s = {1, 2}> { r = Reshape (w, s) y = Add (x, r) }",
            },
            Case {
                name: "arithmetic of floats stays",
                before: "g (float16 x) => (float16 y) <float w = {1.5}> { s = Add (w, w) h = Cast <to = 10> (s) y = Add (x, h) }",
                after: "g (float16 x) => (float16 y) <float w = {1.5}> { s = Add (w, w) h = Cast <to = 10> (s) y = Add (x, h) }",
            },
            Case {
                name: "a cast that is kept keeps what leads to it",
                before: "g (int8 x) => (int8 y) <float w = {300}> { i = Identity (w) c = Cast <to = 3> (i) y = Add (x, c) }",
                after: "g (int8 x) => (int8 y) <float w = {300}> { i = Identity (w) c = Cast <to = 3> (i) y = Add (x, c) }",
            },
            Case {
                name: "both parts of a Split",
                before: "g (float16[1] x) => (float16[1] y) <float[2] w = {1, 2}>
                    { a, b = Split <num_outputs = 2> (w) c = Cast <to = 10> (a) d = Cast <to = 10> (b) s = Add (x, c) y = Add (s, d) }",
                after: "g (float16[1] x) => (float16[1] y) <float16[1] c = {1}, float16[1] d = {2}> { s = Add (x, c) y = Add (s, d) }",
            },
        ],
    );
}

#[test]
fn nodes_that_are_exact_by_nature_are_computed() {
    run(
        "fold-constants",
        &[
            Case {
                name: "a shape that is known",
                before: "g (float[2, 3] x) => (float[n] y) <int64[1] m = {-1}>
                    { s = Shape (x) p = Gather <axis = 0> (s, m) q = Mul (p, p) y = Expand (x, q) }",
                after: "g (float[2, 3] x) => (float[n] y) <int64[1] q = {9}> { y = Expand (x, q) }",
            },
            Case {
                name: "signs of integers",
                before: "g () => (int32[3] a, int32[3] b, int32[3] c) <int32[3] w = {-2, 0, 7}> { a = Abs (w) b = Neg (w) c = Sign (w) }",
                after: "g () => (int32[3] a, int32[3] b, int32[3] c) <int32[3] a = {2, 0, 7}, int32[3] b = {2, 0, -7}, int32[3] c = {-1, 0, 1}> { }",
            },
            Case {
                name: "a result that overflows stays",
                before: "g (int8[1] x) => (int8[1] y) <int8[1] w = {100}> { s = Add (w, w) y = Add (x, s) }",
                after: "g (int8[1] x) => (int8[1] y) <int8[1] w = {100}> { s = Add (w, w) y = Add (x, s) }",
            },
            Case {
                name: "attributes out of all bounds stay",
                before: "g () => (float[m] y, float[0] z, float[n] u) <float[2] w = {1, 2}, float[0] e = {}, int64[1] s = {0}, int64[1] t = {9223372036854775807}>
                    { y = Slice (w, s, t, s, t) z, z2 = Split <num_outputs = 9223372036854775807> (e) u = Expand (w, t) }",
                after: "g () => (float[m] y, float[0] z, float[n] u) <float[2] w = {1, 2}, float[0] e = {}, int64[1] t = {9223372036854775807}, float[1] y = {1}>
                    { z, z2 = Split <num_outputs = 9223372036854775807> (e) u = Expand (w, t) }",
            },
            Case {
                name: "a division by zero stays",
                before: "g () => (int8[1] y) <int8[1] w = {100}, int8[1] z = {0}> { y = Div (w, z) }",
                after: "g () => (int8[1] y) <int8[1] w = {100}, int8[1] z = {0}> { y = Div (w, z) }",
            },
        ],
    );
}

#[test]
fn nodes_that_return_their_input_are_removed() {
    run(
        "identity",
        &[
            Case {
                name: "a chain",
                before: "g (float[n] x) => (float[n] y) { a = Identity (x) b = Identity (a) c = Relu (a) y = Add (b, c) }",
                after: "g (float[n] x) => (float[n] y) { c = Relu (x) y = Add (x, c) }",
            },
            Case {
                name: "the name of an output stays",
                before: "g (float[n] x) => (float[n] y) { a = Identity (x) y = Identity (a) }",
                after: "g (float[n] x) => (float[n] y) { y = Identity (x) }",
            },
            Case {
                name: "moves that keep every element in its place",
                before: "g (float[n, 3] x) => (float[n, 3] y, float[3, n] z) <int64[2] s = {0, 3}, int64[2] r = {-1, 3}, int64[2] t = {3, -1}>
                    { a = Transpose <perm = [0, 1]> (x) b = Reshape (a, s) c = Reshape (b, r) y = Relu (c) z = Reshape (c, t) }",
                after: "g (float[n, 3] x) => (float[n, 3] y, float[3, n] z) <int64[2] s = {0, 3}, int64[2] r = {-1, 3}, int64[2] t = {3, -1}>
                    { y = Relu (x) z = Reshape (x, t) }",
            },
            Case {
                name: "a shape behind an Identity",
                before: "g (float[n, 3] x) => (float[n, 3] y) <int64[2] s = {0, 3}> { t = Identity (s) a = Reshape (x, t) y = Relu (a) }",
                after: "g (float[n, 3] x) => (float[n, 3] y) <int64[2] s = {0, 3}> { y = Relu (x) }",
            },
            Case {
                name: "an Identity of a local function",
                before: r#"<ir_version: 10, opset_import: ["": 21, "local": 1]> g (float[n] x) => (float[n] y) { a = local.Identity (x) y = Relu (a) }
                    <opset_import: ["": 21], domain: "local"> Identity (a) => (b) { b = Neg (a) }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21, "local": 1]> g (float[n] x) => (float[n] y) { a = local.Identity (x) y = Relu (a) }
                    <opset_import: ["": 21], domain: "local"> Identity (a) => (b) { b = Neg (a) }"#,
            },
            Case {
                name: "a value of an enclosing graph, whose name an inner graph does not define",
                before: "g (bool c, float[n] x) => (float[n] y)
                    { a = Identity (x) y = If (c) <then_branch = t () => (float[n] p) { p = Relu (a) }, else_branch = e () => (float[n] q) { q = Neg (a) }> }",
                after: "g (bool c, float[n] x) => (float[n] y)
                    { y = If (c) <then_branch = t () => (float[n] p) { p = Relu (x) }, else_branch = e () => (float[n] q) { q = Neg (x) }> }",
            },
        ],
    );
}

#[test]
fn casts_that_change_nothing_are_removed() {
    run(
        "redundant-casts",
        &[
            Case {
                name: "to the same type",
                before: "g (float[n] x) => (float[n] y) { a = Cast <to = 1> (x) b = CastLike (a, x) y = Relu (b) }",
                after: "g (float[n] x) => (float[n] y) { y = Relu (x) }",
            },
            Case {
                name: "FLOAT8E5M2 to itself saturates infinities",
                before: "g (float8e5m2[n] x) => (float8e5m2[n] y, float8e5m2[n] z) { a = Cast <to = 19> (x) b = Cast <to = 19, saturate = 0> (x) y = Identity (a) z = Identity (b) }",
                after: "g (float8e5m2[n] x) => (float8e5m2[n] y, float8e5m2[n] z) { a = Cast <to = 19> (x) y = Identity (a) z = Identity (x) }",
            },
            Case {
                name: "wider and back",
                before: "g (float16[n] x) => (float16[n] y) { a = Cast <to = 1> (x) b = Cast <to = 10> (a) y = Relu (b) }",
                after: "g (float16[n] x) => (float16[n] y) { y = Relu (x) }",
            },
            Case {
                name: "wider, through two types, and back",
                before: "g (float16[n] x) => (float16[n] y) { a = Cast <to = 11> (x) b = Cast <to = 1> (a) c = Cast <to = 10> (b) y = Relu (c) }",
                after: "g (float16[n] x) => (float16[n] y) { y = Relu (x) }",
            },
            Case {
                name: "narrower and back",
                before: "g (float[n] x) => (float[n] y) { a = Cast <to = 10> (x) b = Cast <to = 1> (a) y = Relu (b) }",
                after: "g (float[n] x) => (float[n] y) { a = Cast <to = 10> (x) b = Cast <to = 1> (a) y = Relu (b) }",
            },
            Case {
                name: "a chain of three becomes one cast; the first one is still used",
                before: "g (float16[n] x) => (double[n] y, float[n] z) { a = Cast <to = 1> (x) b = Cast <to = 11> (a) c = Cast <to = 11> (b) y = Relu (c) z = Relu (a) }",
                after: "g (float16[n] x) => (double[n] y, float[n] z) { a = Cast <to = 1> (x) b = Cast <to = 11> (x) y = Relu (b) z = Relu (a) }",
            },
            Case {
                name: "CastLike keeps its second input, which may be a redundant cast itself",
                before: "g (float16[n] x, float[n] z) => (float[n] y) { a = Cast <to = 11> (x) like = Cast <to = 1> (z) b = CastLike (a, like) y = Relu (b) }",
                after: "g (float16[n] x, float[n] z) => (float[n] y) { b = CastLike (x, z) y = Relu (b) }",
            },
            Case {
                name: "a cast that is only the second input of CastLike stays",
                before: "g (float16[n] x) => (double[n] y) { a = Cast <to = 1> (x) like = Cast <to = 11> (x) b = CastLike (a, like) y = Relu (b) }",
                after: "g (float16[n] x) => (double[n] y) { like = Cast <to = 11> (x) b = CastLike (x, like) y = Relu (b) }",
            },
            Case {
                name: "integers through a type that keeps their low bits",
                before: "g (int64[n] x) => (int64[n] y, int8[n] z) { a = Cast <to = 13> (x) b = Cast <to = 7> (a) c = Cast <to = 6> (x) d = Cast <to = 3> (c) y = Neg (b) z = Neg (d) }",
                after: "g (int64[n] x) => (int64[n] y, int8[n] z) { d = Cast <to = 3> (x) y = Neg (x) z = Neg (d) }",
            },
            Case {
                name: "integers through a narrower type",
                before: "g (int64[n] x) => (int64[n] y) { a = Cast <to = 6> (x) b = Cast <to = 7> (a) y = Neg (b) }",
                after: "g (int64[n] x) => (int64[n] y) { a = Cast <to = 6> (x) b = Cast <to = 7> (a) y = Neg (b) }",
            },
            Case {
                name: "to the same type, of a cast that is needed",
                before: "g (float[n] x) => (float16[n] y) { a = Cast <to = 10> (x) b = Cast <to = 10> (a) c = Cast <to = 10> (b) y = Relu (c) }",
                after: "g (float[n] x) => (float16[n] y) { a = Cast <to = 10> (x) y = Relu (a) }",
            },
            Case {
                name: "back to a type that is between the first one and one that is used",
                before: "g (float16[n] x) => (float[n] y, double[n] z) { a = Cast <to = 1> (x) b = Cast <to = 11> (a) c = Cast <to = 1> (b) y = Relu (c) z = Relu (b) }",
                after: "g (float16[n] x) => (float[n] y, double[n] z) { a = Cast <to = 1> (x) b = Cast <to = 11> (x) y = Relu (a) z = Relu (b) }",
            },
            Case {
                name: "every cast of a chain that is undone",
                before: "g (float16[n] x) => (float16[n] y) { a = Cast <to = 1> (x) b = Cast <to = 11> (a) c = Cast <to = 1> (b) d = Cast <to = 10> (c) y = Relu (d) }",
                after: "g (float16[n] x) => (float16[n] y) { y = Relu (x) }",
            },
            Case {
                name: "back to a type that is an output",
                before: "g (float16[n] x) => (float16[n] y) { a = Cast <to = 1> (x) y = Cast <to = 10> (a) }",
                after: "g (float16[n] x) => (float16[n] y) { a = Cast <to = 1> (x) y = Cast <to = 10> (a) }",
            },
        ],
    );
}

#[test]
fn casts_move_behind_moves_of_elements_where_that_saves_one() {
    run(
        "sink-casts,redundant-casts",
        &[
            Case {
                name: "through a Reshape and a Transpose, back to the first type",
                before: "g (float16[6] x) => (float16[3, 2] y) <int64[2] s = {2, 3}>
                    { a = Cast <to = 1> (x) r = Reshape (a, s) t = Transpose <perm = [1, 0]> (r) b = Cast <to = 10> (t) y = Relu (b) }",
                after: "g (float16[6] x) => (float16[3, 2] y) <int64[2] s = {2, 3}> { r = Reshape (x, s) t = Transpose <perm = [1, 0]> (r) y = Relu (t) }",
            },
            Case {
                name: "to a third type",
                before: "g (float16[6] x) => (double[6] y) <int64[1] s = {6}> { a = Cast <to = 1> (x) r = Expand (a, s) b = Cast <to = 11> (r) y = Relu (b) }",
                after: "g (float16[6] x) => (double[6] y) <int64[1] s = {6}> { r = Expand (x, s) b = Cast <to = 11> (r) y = Relu (b) }",
            },
            Case {
                name: "a cast that loses digits stays",
                before: "g (float[6] x) => (float[6] y) <int64[1] s = {6}> { a = Cast <to = 10> (x) r = Expand (a, s) b = Cast <to = 1> (r) y = Relu (b) }",
                after: "g (float[6] x) => (float[6] y) <int64[1] s = {6}> { a = Cast <to = 10> (x) r = Expand (a, s) b = Cast <to = 1> (r) y = Relu (b) }",
            },
            Case {
                name: "a result that is used without a cast stays",
                before: "g (float16[6] x) => (float[6] y, float[6] z) <int64[1] s = {6}> { a = Cast <to = 1> (x) r = Expand (a, s) b = Cast <to = 10> (r) y = Relu (r) c = Cast <to = 1> (b) z = Neg (c) }",
                after: "g (float16[6] x) => (float[6] y, float[6] z) <int64[1] s = {6}> { a = Cast <to = 1> (x) r = Expand (a, s) b = Cast <to = 10> (r) y = Relu (r) c = Cast <to = 1> (b) z = Neg (c) }",
            },
            Case {
                name: "the first cast is still used",
                before: "g (float16[6] x) => (float16[6] y, float[6] z) <int64[1] s = {6}> { a = Cast <to = 1> (x) r = Expand (a, s) b = Cast <to = 10> (r) y = Relu (b) z = Neg (a) }",
                after: "g (float16[6] x) => (float16[6] y, float[6] z) <int64[1] s = {6}> { a = Cast <to = 1> (x) r = Expand (x, s) y = Relu (r) z = Neg (a) }",
            },
            Case {
                name: "a Concat of equal casts is cast once",
                before: "g (float16[2] x, float16[3] z) => (float[5] y) { a = Cast <to = 1> (x) b = Cast <to = 1> (z) y = Concat <axis = 0> (a, b) }",
                after: "g (float16[2] x, float16[3] z) => (float[5] y) { y_before_cast = Concat <axis = 0> (x, z) y = Cast <to = 1> (y_before_cast) }",
            },
            Case {
                name: "a Concat of casts of different types stays",
                before: "g (float16[2] x, double[3] z) => (float[5] y) { a = Cast <to = 1> (x) b = Cast <to = 1> (z) y = Concat <axis = 0> (a, b) }",
                after: "g (float16[2] x, double[3] z) => (float[5] y) { a = Cast <to = 1> (x) b = Cast <to = 1> (z) y = Concat <axis = 0> (a, b) }",
            },
            Case {
                name: "a Concat that is cast back takes what was cast, also a cast of its own",
                before: "g (float16[2] x, float16[3] z) => (float16[5] y) { a = Cast <to = 1> (x) b = Cast <to = 1> (z) c = Concat <axis = 0> (a, b) d = Cast <to = 10> (c) y = Relu (d) }",
                after: "g (float16[2] x, float16[3] z) => (float16[5] y) { c = Concat <axis = 0> (x, z) y = Relu (c) }",
            },
            Case {
                name: "an operator that does not support the first type keeps the cast",
                before: r#"<ir_version: 10, opset_import: ["": 12]> g (bfloat16[6] x) => (bfloat16[6] y) <int64[1] s = {6}> { a = Cast <to = 1> (x) r = Expand (a, s) b = Cast <to = 10> (r) y = Cast <to = 16> (b) }"#,
                after: r#"<ir_version: 10, opset_import: ["": 12]> g (bfloat16[6] x) => (bfloat16[6] y) <int64[1] s = {6}> { a = Cast <to = 1> (x) r = Expand (a, s) b = Cast <to = 10> (r) y = Cast <to = 16> (b) }"#,
            },
            Case {
                name: "the declared types follow",
                before: "g (float16[6] x) => (float16[2, 3] y) <int64[2] s = {2, 3}, float[2, 3] r> { a = Cast <to = 1> (x) r = Reshape (a, s) b = Cast <to = 10> (r) y = Relu (b) }",
                after: "g (float16[6] x) => (float16[2, 3] y) <int64[2] s = {2, 3}, float16[2, 3] r> { r = Reshape (x, s) y = Relu (r) }",
            },
        ],
    );
}

#[test]
fn equal_casts_of_all_parts_move_before_the_split() {
    run(
        "hoist-casts",
        &[
            Case {
                name: "two parts",
                before: "g (float16[4] x) => (float[2] y) { a, b = Split <num_outputs = 2> (x) c = Cast <to = 1> (a) d = Cast <to = 1> (b) y = Add (c, d) }",
                after: "g (float16[4] x) => (float[2] y) { x_cast = Cast <to = 1> (x) a, b = Split <num_outputs = 2> (x_cast) y = Add (a, b) }",
            },
            Case {
                name: "a part that is used without its cast",
                before: "g (float16[4] x) => (float[2] y, float16[2] z) { a, b = Split <num_outputs = 2> (x) c = Cast <to = 1> (a) d = Cast <to = 1> (b) y = Add (c, d) z = Neg (a) }",
                after: "g (float16[4] x) => (float[2] y, float16[2] z) { a, b = Split <num_outputs = 2> (x) c = Cast <to = 1> (a) d = Cast <to = 1> (b) y = Add (c, d) z = Neg (a) }",
            },
            Case {
                name: "a cast that is an output",
                before: "g (float16[4] x) => (float[2] y, float[2] d) { a, b = Split <num_outputs = 2> (x) c = Cast <to = 1> (a) d = Cast <to = 1> (b) y = Add (c, d) }",
                after: "g (float16[4] x) => (float[2] y, float[2] d) { a, b = Split <num_outputs = 2> (x) c = Cast <to = 1> (a) d = Cast <to = 1> (b) y = Add (c, d) }",
            },
            Case {
                name: "casts to different types",
                before: "g (float16[4] x) => (float[2] y, double[2] z) { a, b = Split <num_outputs = 2> (x) c = Cast <to = 1> (a) d = Cast <to = 11> (b) y = Relu (c) z = Relu (d) }",
                after: "g (float16[4] x) => (float[2] y, double[2] z) { a, b = Split <num_outputs = 2> (x) c = Cast <to = 1> (a) d = Cast <to = 11> (b) y = Relu (c) z = Relu (d) }",
            },
            Case {
                name: "a Split of a part",
                before: "g (float16[8] x) => (float[2] y) { a, b = Split <num_outputs = 2> (x) c = Cast <to = 1> (a) d = Cast <to = 1> (b)
                    e, f = Split <num_outputs = 2> (c) g, h = Split <num_outputs = 2> (d) i = Add (e, f) j = Add (g, h) y = Add (i, j) }",
                after: "g (float16[8] x) => (float[2] y) { x_cast = Cast <to = 1> (x) a, b = Split <num_outputs = 2> (x_cast)
                    e, f = Split <num_outputs = 2> (a) g, h = Split <num_outputs = 2> (b) i = Add (e, f) j = Add (g, h) y = Add (i, j) }",
            },
        ],
    );
}

#[test]
fn nodes_compute_outputs_directly() {
    run(
        "direct-outputs,dead-nodes",
        &[
            Case {
                name: "an Identity and a cast to the same type",
                before: "g (float[n] x) => (float[n] y, float[n] z) { a = Relu (x) y = Identity (a) b = Neg (a) z = Cast <to = 1> (b) }",
                after: "g (float[n] x) => (float[n] y, float[n] z) { y = Relu (x) z = Neg (y) }",
            },
            Case {
                name: "a cast whose result is cast to the same type",
                before: "g (float[n] x) => (int64[n] y) { [one] a = Cast <to = 7> (x) [two] y = Cast <to = 7> (a) }",
                after: "g (float[n] x) => (int64[n] y) { [one] y = Cast <to = 7> (x) }",
            },
            Case {
                name: "an input, a constant and another output stay",
                before: "g (float[n] x) => (float[n] y, float[2] z, float[n] u, float[n] v) <float[2] w = {1, 2}> { y = Identity (x) z = Identity (w) u = Relu (x) v = Identity (u) }",
                after: "g (float[n] x) => (float[n] y, float[2] z, float[n] u, float[n] v) <float[2] w = {1, 2}> { y = Identity (x) z = Identity (w) u = Relu (x) v = Identity (u) }",
            },
            Case {
                name: "a cast that changes the type stays",
                before: "g (float[n] x) => (float16[n] y) { a = Relu (x) y = Cast <to = 10> (a) }",
                after: "g (float[n] x) => (float16[n] y) { a = Relu (x) y = Cast <to = 10> (a) }",
            },
            Case {
                name: "one of several results, in a branch, with a declared type",
                before: "g (float[4] x, bool c) => (float[2] y)
                    { y = If (c) <then_branch = t () => (float[2] p) <float[2] a> { a, b = Split <num_outputs = 2> (x) p = Identity (a) },
                                  else_branch = e () => (float[2] q) { d, f = Split <num_outputs = 2> (x) q = Identity (f) }> }",
                after: "g (float[4] x, bool c) => (float[2] y)
                    { y = If (c) <then_branch = t () => (float[2] p) { p, b = Split <num_outputs = 2> (x) },
                                  else_branch = e () => (float[2] q) { d, q = Split <num_outputs = 2> (x) }> }",
            },
            Case {
                name: "a value of an enclosing graph stays",
                before: "g (float[4] x, bool c) => (float[4] y)
                    { a = Relu (x) y = If (c) <then_branch = t () => (float[4] p) { p = Identity (a) }, else_branch = e () => (float[4] q) { q = Neg (a) }> }",
                after: "g (float[4] x, bool c) => (float[4] y)
                    { a = Relu (x) y = If (c) <then_branch = t () => (float[4] p) { p = Identity (a) }, else_branch = e () => (float[4] q) { q = Neg (a) }> }",
            },
        ],
    );
}

#[test]
fn equal_casts_are_merged() {
    run(
        "merge-casts",
        &[
            Case {
                name: "two of one value",
                before: "g (float[n] x) => (float16[n] y) { a = Cast <to = 10> (x) b = Cast <to = 10> (x) y = Mul (a, b) }",
                after: "g (float[n] x) => (float16[n] y) { a = Cast <to = 10> (x) y = Mul (a, a) }",
            },
            Case {
                name: "another `saturate` is another cast",
                before: "g (float[n] x) => (float8e5m2[n] y, float8e5m2[n] z) { a = Cast <to = 19> (x) b = Cast <to = 19, saturate = 0> (x) c = Cast <to = 19, saturate = 1> (x) y = Identity (b) z = Identity (c) }",
                after: "g (float[n] x) => (float8e5m2[n] y, float8e5m2[n] z) { a = Cast <to = 19> (x) b = Cast <to = 19, saturate = 0> (x) y = Identity (b) z = Identity (a) }",
            },
            Case {
                name: "casts of equal casts",
                before: "g (double[n] x) => (float[n] y) { a = Cast <to = 10> (x) b = Cast <to = 10> (x) c = Cast <to = 1> (a) d = Cast <to = 1> (b) y = Mul (c, d) }",
                after: "g (double[n] x) => (float[n] y) { a = Cast <to = 10> (x) c = Cast <to = 1> (a) y = Mul (c, c) }",
            },
        ],
    );
}

#[test]
fn what_is_not_used_is_removed() {
    run(
        "dead-nodes,merge-initializers,dead-initializers",
        &[
            Case {
                name: "a chain of nodes, and a constant",
                before: "g (float[n] x) => (float[n] y) <float u = {1}> { a = Neg (x) b = Abs (a) c = Constant <value_float = 1.0> () y = Relu (x) }",
                after: "g (float[n] x) => (float[n] y) { y = Relu (x) }",
            },
            Case {
                name: "a node with subgraphs that use values of the enclosing graph",
                before: "g (bool c, float[n] x) => (float[n] y)
                    { a = Neg (x) z = If (c) <then_branch = t () => (float[n] p) { p = Relu (a) }, else_branch = e () => (float[n] q) { q = Neg (a) }> y = Relu (x) }",
                after: "g (bool c, float[n] x) => (float[n] y) { y = Relu (x) }",
            },
            Case {
                name: "what a subgraph uses",
                before: "g (bool c, float[n] x) => (float[n] y)
                    { a = Neg (x) y = If (c) <then_branch = t () => (float[n] p) { r = Abs (a) p = Relu (a) }, else_branch = e () => (float[n] q) { q = Neg (x) }> }",
                after: "g (bool c, float[n] x) => (float[n] y)
                    { a = Neg (x) y = If (c) <then_branch = t () => (float[n] p) { p = Relu (a) }, else_branch = e () => (float[n] q) { q = Neg (x) }> }",
            },
            Case {
                name: "a result, and a node with a subgraph that defines its name again",
                before: "g (bool c, float[n] x) => (float[n] y)
                    { v = Abs (x) z = If (c) <then_branch = t () => (float[n] p) { v = Tanh (x) p = Neg (v) }, else_branch = e () => (float[n] q) { q = Neg (x) }> y = Relu (x) }",
                after: "g (bool c, float[n] x) => (float[n] y) { y = Relu (x) }",
            },
            Case {
                name: "a node whose subgraphs define a name twice",
                before: "g (bool c, float[n] x) => (float[n] y)
                    { z = If (c) <then_branch = t () => (float[n] p) { v = Abs (x) p = If (c) <then_branch = u () => (float[n] r) { v = Tanh (x) r = Neg (v) }, else_branch = f () => (float[n] s) { s = Neg (x) }> },
                                  else_branch = e () => (float[n] q) { q = Neg (x) }> y = Relu (x) }",
                after: "g (bool c, float[n] x) => (float[n] y) { y = Relu (x) }",
            },
            Case {
                name: "operators of other domains may have effects",
                before: r#"<ir_version: 10, opset_import: ["": 21, "mine": 1]> g (float[n] x) => (float[n] y) { a = Neg (x) b = mine.Print (a) y = Relu (x) }"#,
                after: r#"<ir_version: 10, opset_import: ["": 21, "mine": 1]> g (float[n] x) => (float[n] y) { a = Neg (x) b = mine.Print (a) y = Relu (x) }"#,
            },
            Case {
                name: "equal initializers: not of another type or shape, nor 0 and -0",
                before: "g (float[2] x) => (float[2] y) <float[2] a = {1, 0}, float[2] b = {1, 0}, float[2] c = {1, -0.0}, float[1, 2] d = {1, 0}, int32[2] e = {1, 0}>
                    { p = Add (x, a) q = Add (p, b) r = Add (q, c) s = Add (r, d) f = Cast <to = 1> (e) y = Add (s, f) }",
                after: "g (float[2] x) => (float[2] y) <float[2] a = {1, 0}, float[2] c = {1, -0.0}, float[1, 2] d = {1, 0}, int32[2] e = {1, 0}>
                    { p = Add (x, a) q = Add (p, a) r = Add (q, c) s = Add (r, d) f = Cast <to = 1> (e) y = Add (s, f) }",
            },
            Case {
                name: "an initializer that a caller can override stays",
                before: "g (float x, float w) => (float y) <float w = {1}, float v = {1}> { y = Add (x, v) }",
                after: "g (float x, float w) => (float y) <float w = {1}, float v = {1}> { y = Add (x, v) }",
            },
        ],
    );
}

/// Runtimes differ in the definition that the branch uses. Each pass alone, and all exact ones together.
#[test]
fn both_definitions_of_a_name_are_kept() {
    const INNER: &str = "y = If (c) <then_branch = t () => (float[2] p) { v = Tanh (x) p = Neg (v) },
                                     else_branch = e () => (float[2] q) { q = Neg (x) }>";
    let nested = format!(
        "y = If (c) <then_branch = t () => (float[2] o) {{ v = Abs (x) {} o = Neg (k) }},
                     else_branch = f () => (float[2] s) {{ s = Neg (x) }}>",
        INNER.replace("y = If", "k = If")
    );
    let models = [
        ("a result that nothing uses", "", "v = Abs (x)", INNER),
        ("a result that is defined after the branch", "", INNER, "v = Abs (x)"),
        ("a result that a removed node uses", "", "v = Abs (x) u = Neg (v)", INNER),
        ("what a shadowed result is computed from", "", "u = Abs (x) v = Neg (u)", INNER),
        ("one of two results", "int64[1] k = {1}", "v, i = TopK (x, k)", INNER),
        ("a result in a branch", "", "", &nested),
        ("an initializer that nothing uses", "float[2] v = {1, 2}", "", INNER),
        (
            "an initializer that is equal to another",
            "float[2] u = {1, 2}, float[2] v = {1, 2}",
            "a = Add (x, u) z = Add (a, v)",
            INNER,
        ),
        ("an Identity", "", "v = Identity (x) z = Abs (v)", INNER),
        ("the input of an Identity", "", "v = Abs (x) z = Identity (v)", INNER),
        ("a cast to the same type", "", "v = Cast <to = 1> (x) z = Abs (v)", INNER),
        ("a cast that another one undoes", "", "v = Cast <to = 11> (x) w = Cast <to = 1> (v) z = Abs (w)", INNER),
        ("a narrower cast that another one undoes", "", "v = Cast <to = 10> (x) w = Cast <to = 1> (v) z = Abs (w)", INNER),
        (
            "the second of two equal casts",
            "",
            "u = Cast <to = 7> (x) v = Cast <to = 7> (x) a = Add (u, v) z = Cast <to = 1> (a)",
            INNER,
        ),
        ("a cast before a move", "int64[1] s = {2}", "v = Cast <to = 11> (x) r = Reshape (v, s) z = Cast <to = 1> (r)", INNER),
        ("a move between casts", "int64[1] s = {2}", "u = Cast <to = 11> (x) v = Reshape (u, s) z = Cast <to = 1> (v)", INNER),
        ("casts of a Concat", "", "u = Cast <to = 11> (x) v = Cast <to = 11> (x) z = Concat <axis = 0> (u, v)", INNER),
        (
            "casts of parts",
            "",
            "a, b = Split <num_outputs = 2> (x) v = Cast <to = 11> (a) w = Cast <to = 11> (b) z = Add (v, w)",
            INNER,
        ),
        ("a constant that is cast", "float[2] w = {1, 2}", "v = Cast <to = 11> (w) z = Neg (v)", INNER),
        ("a Constant of which a cast is folded", "", "v = Constant <value_floats = [1.0, 2.0]> () z = Cast <to = 11> (v)", INNER),
    ];
    let definitions = |model: &Model| model.values().filter(|&value| model.name(value) == "v").count();
    let names = passes::all().map(|(_, pass)| pass.name).chain(["exact"]);
    let mut failures = Vec::new();
    for name in names {
        let selected: Vec<Pass> = passes::selected([name]).unwrap();
        for (what, initializers, before, after) in models {
            let outputs = if before.contains("z = ") { "float[2] y, z" } else { "float[2] y" };
            let source = format!(
                r#"<ir_version: 10, opset_import: ["": 21]> g (float[2] x, bool c) => ({outputs}) <{initializers}> {{ {before} {after} }}"#
            );
            let model = Model::new(model(&source)).unwrap();
            let expected = definitions(&model);
            match passes::run(model, &selected, &Options::default()) {
                Ok((model, _)) if expected == 2 && definitions(&model) == expected => {}
                Ok((model, _)) => failures.push(format!("{name}: {what}: {} of {expected} definitions", definitions(&model))),
                Err(error) => failures.push(format!("{name}: {what}: {error}")),
            }
        }
    }
    expect_no_failures(failures);
}

#[test]
fn all_exact_passes_together() {
    run(
        "exact",
        &[Case {
            name: "a constant whose casts change nothing keeps its name",
            before: "g (float16[2] x) => (float16[2] y) <float16[2] w = {1, 2}> { a = Cast <to = 10> (w) b = Cast <to = 1> (a) c = Cast <to = 10> (b) y = Add (x, c) }",
            after: "g (float16[2] x) => (float16[2] y) <float16[2] w = {1, 2}> { y = Add (x, w) }",
        }, Case {
            name: "each pass makes work for another one",
            before: "g (float16[2, 3] x) => (float[6] y, float[6] z) <float w = {1}, int64[1] m = {-1}>
                { a = Cast <to = 1> (x) i = Identity (a) b = Cast <to = 10> (i) c = Cast <to = 10> (a) s = Shape (c) p = ReduceProd (s)
                  r = Reshape (b, m) t = Reshape (c, m) d = Cast <to = 1> (r) e = Cast <to = 1> (r) u = Add (d, w) y = Relu (d) z = Relu (e) }",
            after: "g (float16[2, 3] x) => (float[6] y, float[6] z) <int64[1] m = {-1}> { r = Reshape (x, m) d = Cast <to = 1> (r) y = Relu (d) z = Relu (d) }",
        }],
    );
}

#[test]
fn casts_that_lose_digits_are_removed_by_name_only() {
    let text = "g (float[n] x) => (float[n] y) { a = Cast <to = 10> (x) b = Cast <to = 1> (a) y = Relu (b) }";
    run("exact", &[Case { name: "not by the exact passes", before: text, after: text }]);
    let after = "g (float[n] x) => (float[n] y) { y = Relu (x) }";
    run("lossy-casts,dead-nodes", &[Case { name: "by name", before: text, after }]);
}

#[test]
fn every_pass_has_a_name_of_its_own_and_a_documentation() {
    let names: Vec<&str> = passes::all().map(|(_, pass)| pass.name).collect();
    let mut failures = Vec::new();
    for (_, pass) in passes::all() {
        let documentation = pass.docs;
        if names.iter().filter(|name| **name == pass.name).count() != 1 {
            failures.push(format!("{} is the name of several passes", pass.name));
        }
        if pass.summary().len() < 10 || pass.name != "fold-casts" && !documentation.contains("\n1. ") {
            failures.push(format!("{} has no cases in its documentation: {documentation}", pass.name));
        }
    }
    expect_no_failures(failures);
}

/// Several nodes may have one name, and then their subgraphs have one path; a value may have an empty name.
#[test]
fn folds_of_equal_paths_are_told_apart() {
    let branch = |output: &str, constant: &str, other: &str| {
        format!(
            "[n] {output} = If (c) <then_branch = a () => (float16[1] h) {{ {constant} }}, else_branch = b () => (float16[1] h) {{ {other} }}>"
        )
    };
    let folds = "w = Constant <value = float[1] {1}> () h = Cast <to = 10> (w)";
    let stays = "h = Cast <to = 10> (x)";
    let source = format!(
        r#"<ir_version: 8, opset_import: ["": 18]> g (bool c, float[1] x) => (float16[1] y, float16[1] z) {{ {} {} }}"#,
        branch("y", folds, stays),
        branch("z", stays, folds)
    );
    let (_, report) = passes::run(Model::new(model(&source)).unwrap(), passes::DEFAULT, &Options::default()).unwrap();
    assert_eq!(report.folded().len(), 2);

    let source = r#"<ir_version: 8, opset_import: ["": 18]> g (float[1] x) => (float[1] y)
        { w = Constant <value = float[1] {1}> () h = Cast <to = 10> (w) y = Relu (x) }"#;
    let mut proto = crate::support::model(source);
    let graph = proto.graph.as_mut().unwrap();
    graph.input[0].name = Some(String::new());
    graph.node[1].output[0] = String::new();
    graph.node[2].input[0] = "w".to_owned();
    passes::run(Model::new(proto).unwrap(), passes::DEFAULT, &Options::default()).unwrap();
}
