//! Models of the kinds that other tools were reported to break, rebuilt from the descriptions in
//! these reports.

use onnx_recast::DType;
use onnx_recast::internals::onnx_text;
use onnx_recast::precision::{Options, Policy};

use super::{all, casts, changed, parsed};
use crate::support::expect_no_failures;

struct Case {
    /// What is right.
    name: &'static str,
    before: &'static str,
    options: Options,
    casts: usize,
    kept: &'static [&'static str],
    /// Parts of the result.
    contains: &'static [&'static str],
}

fn run(cases: Vec<Case>) {
    let mut failures = Vec::new();
    for Case {
        name,
        before,
        options,
        casts: expected,
        kept,
        contains,
    } in cases
    {
        let (after, report) = changed(name, &parsed(before), &options, &mut failures);
        let found: Vec<&str> = report.kept.iter().map(|kept| kept.reason.code()).collect();
        let text = onnx_text::print(after.proto());
        let absent: Vec<&&str> = contains
            .iter()
            .filter(|part| !text.contains(**part))
            .collect();
        if (casts(&after), &found[..]) != (expected, kept) || !absent.is_empty() {
            failures.push(format!(
                "== {name}: {} casts, expected {expected}; kept {found:?}, expected {kept:?}; absent {absent:?}\n{text}",
                casts(&after)
            ));
        }
    }
    expect_no_failures(failures);
}

/// microsoft/onnxconverter-common #208, #266, #272, #304, #320, #323 and #331.
#[test]
fn reports_to_onnxconverter_common() {
    run(vec![
        Case {
            name: "#304: a constant of a changed node and of a kept one stays FLOAT, and is cast for the former",
            before: "g (float[2] x) => (float[2] y, float[2] z) <float[2] w = {1, 2}> { [kept] y = Add (x, w) p = Mul (x, w) z = Sin (p) }",
            options: all().keep_nodes(vec!["kept".to_owned()]),
            casts: 3,
            kept: &["kept-by-option"],
            contains: &["  float[2] w = {1, 2}", "Mul (x_to_FLOAT16, w_to_FLOAT16)"],
        },
        Case {
            name: "#320 and #331: a cast of integers to FLOAT states the type that its result has now",
            before: "g (int64[2] i, float[2] x) => (float[2] y) { f = Cast <to = 1> (i) p = Mul (f, x) y = Sin (p) }",
            options: all(),
            casts: 3,
            kept: &[],
            contains: &["f = Cast <to: int = 10> (i)"],
        },
        Case {
            name: "#323: a mean is in the range of its elements; runtimes add them up in FLOAT",
            before: "g (float[1, 8, 64, 64] x) => (float[1, 8, 1, 1] y) <int64[2] a = {2, 3}> { p = Relu (x) m = ReduceMean (p, a) y = Sigmoid (m) }",
            options: Options::to(DType::Float16),
            casts: 2,
            kept: &[],
            contains: &["ReduceMean (p, a)"],
        },
        Case {
            name: "#208: a cast of an input is before the nodes that use it, and CumSum, which opset 13 has without FLOAT16, stays FLOAT",
            before: r#"<ir_version: 7, opset_import: ["": 13]> g (float[4] x) => (float[4] y) <int64 a = {0}> { p = Sin (x) q = CumSum (p, a) y = Cos (q) }"#,
            options: all(),
            casts: 4,
            kept: &["type-not-supported"],
            contains: &[
                "x_to_FLOAT16 = Cast <to: int = 10> (x)\n  p = Sin (x_to_FLOAT16)",
                "CumSum (p_to_FLOAT, a)",
            ],
        },
        Case {
            name: "#266: Resize by sizes in a Loop keeps its scales empty",
            before: r#"<ir_version: 8, opset_import: ["": 15]> g (float[1, 1, 2, 2] x, int64 n, bool c) => (float[1, 1, 2, 2] y) <float[0] e = {}, int64[4] s = {1, 1, 2, 2}>
                { p = Sin (x) l = Loop (n, c, p) <body = b (int64 i, bool d, float[1, 1, 2, 2] v) => (bool k, float[1, 1, 2, 2] r) { k = Identity (d) q = Cos (v) r = Resize (q, , e, s) }> y = Tanh (l) }"#,
            options: all(),
            casts: 2,
            kept: &[],
            contains: &[
                "float[0] e",
                "Resize (q, \"\", e, s)",
                "float16[1, 1, 2, 2] r",
            ],
        },
        Case {
            name: "#272: Resize by sizes keeps its scales empty",
            before: r#"<ir_version: 6, opset_import: ["": 11]> g (float[1, 1, 2, 2] x) => (float[1, 1, 4, 4] y) <float[0] r = {}, float[0] e = {}, int64[4] s = {1, 1, 4, 4}>
                { p = Sin (x) q = Resize (p, r, e, s) y = Cos (q) }"#,
            options: all(),
            casts: 2,
            kept: &[],
            contains: &["float[0] e", "Resize (p, r, e, s)"],
        },
    ]);
}

/// microsoft/onnxruntime #6501, #7981, #14827, #20189 and #20570.
#[test]
fn reports_to_onnxruntime() {
    run(vec![
        Case {
            name: "#6501: an epsilon that is added has the type of what it is added to",
            before: "g (float[2, 8] x) => (float[2, 8] y) <int64[1] a = {1}> { p = Abs (x) m = ReduceMax (p, a) e = Constant <value = float {1e-5}> () q = Add (m, e) f = Constant <value = float {1}> () d = Mul (q, f) y = Div (x, d) }",
            options: all(),
            casts: 2,
            kept: &[],
            contains: &[
                "e = Constant <value: tensor = float16",
                "f = Constant <value: tensor = float16",
            ],
        },
        Case {
            name: "#7981: the states of a Loop have one type outside of the body and in it",
            before: "g (float[2] x, int64 n, bool c) => (float[2] y) { p = Sin (x) s = Loop (n, c, p) <body = b (int64 i, bool d, float[2] a) => (bool k, float[2] r) { k = Identity (d) r = Cos (a) }> y = Tanh (s) }",
            options: all(),
            casts: 2,
            kept: &[],
            contains: &["float16[2] a", "float16[2] r"],
        },
        Case {
            name: "#14827: Resize keeps its scales FLOAT, and nodes without names get casts of different names",
            before: r#"<ir_version: 7, opset_import: ["": 13]> g (float[1, 1, 2, 2] x, float[1, 1, 2, 2] z) => (float[1, 1, 4, 4] y, float[1, 1, 8, 8] v) <float[4] s = {1, 1, 2, 2}, float[4] t = {1, 1, 4, 4}>
                { y = Resize (x, , s) v = Resize (z, , t) }"#,
            options: all(),
            casts: 4,
            kept: &[],
            contains: &[
                "  float[4] s",
                "  float[4] t",
                "x_to_FLOAT16",
                "z_to_FLOAT16",
            ],
        },
        Case {
            name: "#20189: the branches of a merged decoder return their results in one type",
            before: "g (float[1, 2] x, float[1, 2] past, bool c) => (float[1, 2] y, float[1, 2] present) <float[2, 2] w = {1, 2, 3, 4}> { p = MatMul (x, w) y, present = If (c) <then_branch = t () => (float[1, 2] a, float[1, 2] b) { a = Sin (p) b = Identity (past) }, else_branch = e () => (float[1, 2] d, float[1, 2] f) { d = Cos (p) f = MatMul (p, w) }> }",
            options: all(),
            casts: 3,
            kept: &["fewer-casts", "fewer-casts"],
            contains: &["float16[2, 2] w"],
        },
        Case {
            name: "#20570: RandomNormalLike states the type that its declared result has",
            before: "g (float[2] x) => (float[2] y) { p = Sin (x) q = RandomNormalLike <dtype = 1> (p) r = RandomNormalLike (p) s = Add (q, r) y = Add (p, s) }",
            options: all(),
            casts: 2,
            kept: &[],
            contains: &[
                "q = RandomNormalLike <dtype: int = 10> (p)",
                "r = RandomNormalLike (p)",
            ],
        },
    ]);
}

/// NVIDIA/Model-Optimizer #436, #757, #1627, #1628 and #1946.
#[test]
fn reports_to_model_optimizer() {
    run(vec![
        Case {
            name: "#436: scales of a Resize that are computed from integers stay FLOAT",
            before: "g (float[1, 1, 2, 2] x, int64[4] i) => (float[1, 1, 4, 4] y) { p = Sin (x) s = Cast <to = 1> (i) q = Resize (p, , s) y = Cos (q) }",
            options: all(),
            casts: 3,
            kept: &["integers-in-floats"],
            contains: &["s = Cast <to: int = 1> (i)", "Resize (p, \"\", s)"],
        },
        Case {
            name: "#757: a constant that is the scales of a Resize and an operand of another node stays FLOAT, and is cast for the latter",
            before: "g (float[1, 1, 2, 2] x) => (float[1, 1, 4, 4] y) <float[4] s = {1, 1, 2, 2}> { p = Sin (x) q = Resize (p, , s) r = Mul (q, s) y = Cos (r) }",
            options: all(),
            casts: 3,
            kept: &[],
            contains: &[
                "  float[4] s",
                "Resize (p, \"\", s)",
                "Mul (q, s_to_FLOAT16)",
            ],
        },
        Case {
            name: "#1627: an output that is declared as a scalar, and is none, stays as it is declared",
            before: "g (float[2, 3] x) => (float y) <int64[1] k = {1}> { p = Sin (x) q, i = TopK (p, k) y = Cos (q) }",
            options: all(),
            casts: 2,
            kept: &[],
            contains: &["=> (float y)"],
        },
        Case {
            name: "#1628: weights in a branch have the type of the captured value that they are multiplied by",
            before: "g (float[1, 2] x, bool c) => (float[1, 2] y) { p = Sin (x) y = If (c) <then_branch = t () => (float[1, 2] a) <float[2, 2] w = {1, 2, 3, 4}, float[2] b = {0, 1}> { a = Gemm (p, w, b) }, else_branch = e () => (float[1, 2] d) { d = Cos (p) }> }",
            options: all(),
            casts: 2,
            kept: &[],
            contains: &["float16[2, 2] w", "float16[2] b"],
        },
        Case {
            name: "#1628: the scales of a Resize in a branch stay FLOAT",
            before: "g (float[1, 1, 2, 2] x, bool c) => (float[1, 1, 4, 4] y) { p = Sin (x) y = If (c) <then_branch = t () => (float[1, 1, 4, 4] a) <float[4] s = {1, 1, 2, 2}> { a = Resize (p, , s) }, else_branch = e () => (float[1, 1, 4, 4] b) <float[4] t = {1, 1, 2, 2}> { q = Resize (p, , t) b = Cos (q) }> }",
            options: all(),
            casts: 2,
            kept: &[],
            contains: &["float[4] s", "float[4] t"],
        },
        Case {
            name: "#1946: FLOAT16 stays where FLOAT becomes BFLOAT16, also in a branch",
            before: r#"<ir_version: 10, opset_import: ["": 22]> g (float16[2] x, float[2] z, bool c) => (float16[2] y, float[2] v) <float16[2] w = {1, 2}>
                { y = If (c) <then_branch = t () => (float16[2] a) <float16[2] u = {3, 4}> { a = Add (x, u) }, else_branch = e () => (float16[2] b) { b = Add (x, w) }> p = Sin (z) v = Cos (p) }"#,
            options: Options::to(DType::Bfloat16).policy(Policy::All),
            casts: 2,
            kept: &[],
            contains: &[
                "float16[2] w = {1, 2}",
                "float16[2] u = {3, 4}",
                "Sin (z_to_BFLOAT16)",
            ],
        },
    ]);
}

/// apple/coremltools #2669.
#[test]
fn a_mask_of_the_lowest_number_stays_finite() {
    let text = "g (float[1, 4] scores, float[1, 4] m) => (float[1, 4] y) <float one = {1}, float low = {-3.4028235e38}>
        { i = Sub (one, m) b = Mul (i, low) s = Add (scores, b) y = Softmax <axis = -1> (s) }";
    let mut failures = Vec::new();
    let (_, report) = changed("mask", &parsed(text), &all(), &mut failures);
    expect_no_failures(failures);
    assert_eq!(report.kept, []);
    let bounds: Vec<(&str, Option<f32>)> = report
        .tensors
        .iter()
        .map(|tensor| (tensor.tensor.as_str(), tensor.bound))
        .collect();
    assert_eq!(bounds, [("graph/one", None), ("graph/low", Some(32752.0))]);
}
