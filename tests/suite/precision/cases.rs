//! Models before and after, in FLOAT16.

use onnx_recast::precision::{Io, OnUnderflow, Options};
use onnx_recast::{DType, Model};

use super::{all, changed, parsed};
use crate::support::{difference, expect_no_failures, trained};

struct Case<'c> {
    name: &'c str,
    before: &'c str,
    after: &'c str,
}

fn run(options: &Options, cases: &[Case]) {
    let mut failures = Vec::new();
    for Case {
        name,
        before,
        after,
    } in cases
    {
        let (found, _) = changed(name, &parsed(before), options, &mut failures);
        let expected: Model = parsed(after);
        failures.extend(difference(name, expected.proto(), found.proto()));
    }
    expect_no_failures(failures);
}

#[test]
fn values_have_types_and_nodes_do_not() {
    run(
        &all(),
        &[
            Case {
                name: "inputs and outputs keep their types and names",
                before: "g (float[2] x) => (float[2] y) { y = Sin (x) }",
                after: "g (float[2] x) => (float[2] y) { [x_to_FLOAT16] x_to_FLOAT16 = Cast <to = 10> (x) y_FLOAT16 = Sin (x_to_FLOAT16) [y_to_FLOAT] y = Cast <to = 1> (y_FLOAT16) }",
            },
            Case {
                name: "a weight is cast when the file is written, and a model without arithmetic stays as it is",
                before: "g (float[2] x) => (float[2] y, float[2] z) <float[2] w = {0.1, 1e-8}> { z = Identity (x) y = Add (x, w) }",
                after: "g (float[2] x) => (float[2] y, float[2] z) <float16[2] w = {0x2e66, 0}> { [x_to_FLOAT16] x_to_FLOAT16 = Cast <to = 10> (x) z = Identity (x) y_FLOAT16 = Add (x_to_FLOAT16, w) [y_to_FLOAT] y = Cast <to = 1> (y_FLOAT16) }",
            },
        ],
    );
}

/// In the main graph, the training graph and a branch in it.
#[test]
fn training_graphs_and_what_they_use_keep_their_types() {
    let algorithm = r#"t (bool c) => (float[2] new) { n = Neg (w) new = If (c) <
        then_branch = b () => (float[2] p) { p = Sin (n) }, else_branch = e () => (float[2] q) { r = Abs (n) q = Cos (r) }> }"#;
    let main = "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}, float[2] v = {1, 2}> { a = Add (x, w) y = Mul (a, v) }";
    let before = Model::new(trained(parsed(main).into_proto(), algorithm)).unwrap();
    let mut failures = Vec::new();
    let (after, report) = changed("training", &before, &all(), &mut failures);
    let expected = parsed(
        "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}, float16[2] v = {1, 2}> {
            [x_to_FLOAT16] x_to_FLOAT16 = Cast <to = 10> (x) [w_to_FLOAT16] w_to_FLOAT16 = Cast <to = 10> (w)
            a = Add (x_to_FLOAT16, w_to_FLOAT16) y_FLOAT16 = Mul (a, v) [y_to_FLOAT] y = Cast <to = 1> (y_FLOAT16) }",
    );
    failures.extend(difference("training", expected.proto(), after.proto()));
    expect_no_failures(failures);
    assert_eq!(before.proto().training_info, after.proto().training_info);
    assert_eq!(report.changed_values, 3);
}

#[test]
fn a_function_that_some_calls_use_as_it_is_has_a_copy_for_the_others() {
    let functions = r#"<domain: "f", opset_import: ["": 21]> Inner (a) => (b) { b = Sin (a) }"#;
    let head = r#"<ir_version: 10, opset_import: ["": 21, "f": 1]>"#;
    let before = format!(
        "{head} g (float[2] x, double[2] d) => (float[2] y, double[2] z) {{ y = f.Inner (x) z = f.Inner (d) }} {functions}"
    );
    let after = format!(
        r#"{head} g (float[2] x, double[2] d) => (float[2] y, double[2] z) {{
            [x_to_FLOAT16] x_to_FLOAT16 = Cast <to = 10> (x) y_FLOAT16 = f.Inner_FLOAT16 (x_to_FLOAT16)
            [y_to_FLOAT] y = Cast <to = 1> (y_FLOAT16) z = f.Inner (d)
        }} {functions} {}"#,
        functions.replace("Inner", "Inner_FLOAT16"),
    );
    run(
        &all(),
        &[Case {
            name: "called with FLOAT and DOUBLE",
            before: &before,
            after: &after,
        }],
    );
    let before = format!(
        "{head} g (float[2] x) => (float[2] y, float[2] z) {{ y = f.Inner (x) [kept] z = f.Inner (x) }} {functions}"
    );
    let after = format!(
        r#"{head} g (float[2] x) => (float[2] y, float[2] z) {{
            [x_to_FLOAT16] x_to_FLOAT16 = Cast <to = 10> (x) y_FLOAT16 = f.Inner_FLOAT16 (x_to_FLOAT16)
            [y_to_FLOAT] y = Cast <to = 1> (y_FLOAT16) [kept] z = f.Inner (x)
        }} {functions} {}"#,
        functions.replace("Inner", "Inner_FLOAT16"),
    );
    run(
        &all().keep_nodes(vec!["kept".to_owned()]),
        &[Case {
            name: "a call that an option keeps",
            before: &before,
            after: &after,
        }],
    );
    // Nothing of the function could change.
    let sign = r#"<domain: "f", opset_import: ["": 21]> Inner (a) => (b) { b = NonMaxSuppression (a, a) }"#;
    let same = format!(
        "{head} g (float[1,1,4] x, double[1,1,4] d) => (int64[?,3] y) {{ y = f.Inner (x) z = f.Inner (d) }} {sign}"
    );
    run(
        &all(),
        &[Case {
            name: "a copy without a use",
            before: &same,
            after: &same,
        }],
    );
}

/// A model, the casts that it has in FLOAT16, and the codes of the nodes that keep their types.
struct Counted {
    name: &'static str,
    before: &'static str,
    casts: usize,
    kept: &'static [&'static str],
}

fn count(options: &Options, cases: &[Counted]) {
    let mut failures = Vec::new();
    for Counted {
        name,
        before,
        casts,
        kept,
    } in cases
    {
        let (after, report) = changed(name, &parsed(before), options, &mut failures);
        let found: Vec<&str> = report.kept.iter().map(|kept| kept.reason.code()).collect();
        let text = onnx_recast::internals::onnx_text::print(after.proto());
        if (super::casts(&after), &found[..]) != (*casts, kept) {
            failures.push(format!(
                "== {name}: {} casts, expected {casts}; kept {found:?}, expected {kept:?}\n{text}",
                super::casts(&after)
            ));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn casts_are_the_fewest_in_every_scope() {
    count(
        &all(),
        &[
            Counted {
                name: "an input of both types",
                before: "g (float[2] x) => (float[2] y, float[2] z) { [a] p = Sin (x) [b] q = Cos (x) y = Add (p, q) z = Mul (p, p) }",
                casts: 3,
                kept: &[],
            },
            Counted {
                name: "moves between outputs and inputs",
                before: "g (float[2, 2] x) => (float[2, 2] y) { t = Transpose <perm = [1, 0]> (x) p = Sin (t) y = Transpose <perm = [1, 0]> (p) }",
                casts: 2,
                kept: &[],
            },
            Counted {
                name: "the smaller tensor is cast",
                before: "g (float[8] x) => (float[2] y) <int64[1] s = {0}, int64[1] e = {2}> { p = Slice (x, s, e) y = Sin (p) }",
                casts: 2,
                kept: &["fewer-casts"],
            },
            Counted {
                name: "a name that is taken",
                before: "g (float[2] x, float[2] x_to_FLOAT16) => (float[2] y) { p = Sin (x) y = Add (p, x_to_FLOAT16) }",
                casts: 3,
                kept: &[],
            },
            Counted {
                name: "an output that is used",
                before: "g (float[2] x) => (float[2] y, float[2] z) { y = Sin (x) z = Cos (y) }",
                casts: 3,
                kept: &[],
            },
            Counted {
                name: "If with captures",
                before: "g (float[2] x, bool c) => (float[2] y) { p = Sin (x) q = If (c) <then_branch = t () => (float[2] a) { a = Cos (p) }, else_branch = e () => (float[2] b) { b = Add (p, x) }> y = Tanh (q) }",
                casts: 2,
                kept: &[],
            },
            Counted {
                name: "a branch that returns a captured value",
                before: "g (float[2] x, bool c) => (float[2] y) { p = Sin (x) q = If (c) <then_branch = t () => (float[2] p) { }, else_branch = e () => (float[2] b) { b = Cos (p) }> y = Tanh (q) }",
                casts: 2,
                kept: &[],
            },
            Counted {
                name: "a branch that returns a value twice",
                before: "g (float[2] x, bool c) => (float[2] y) { p, q = If (c) <then_branch = t () => (float[2] a, float[2] a) { a = Cos (x) }, else_branch = e () => (float[2] b, float[2] d) { b = Sin (x) d = Tanh (x) }> y = Add (p, q) }",
                casts: 2,
                kept: &[],
            },
            Counted {
                name: "Loop with a float state",
                before: "g (float[2] x, int64 n, bool c) => (float[2] y, float[m, 2] z) { s, z = Loop (n, c, x) <body = b (int64 i, bool d, float[2] a) => (bool k, float[2] r, float[2] o) { k = Identity (d) r = Sin (a) o = Cos (a) }> y = Tanh (s) }",
                casts: 3,
                kept: &[],
            },
            Counted {
                name: "Scan",
                before: "g (float[2] x, float[5, 2] v) => (float[2] y, float[5, 2] z) { y, z = Scan <num_scan_inputs = 1, body = b (float[2] s, float[2] e) => (float[2] t, float[2] o) { t = Add (s, e) o = Sin (t) }> (x, v) }",
                casts: 4,
                kept: &[],
            },
            Counted {
                name: "a sequence",
                before: "g (float[2] x) => (float[2] y) <int64 i = {0}> { p = Sin (x) s = SequenceConstruct (p, p) q = SequenceAt (s, i) y = Cos (q) }",
                casts: 2,
                kept: &[],
            },
            Counted {
                name: "a sequence that is an output",
                before: "g (float[2] x) => (seq(float[2]) s) { p = Sin (x) s = SequenceConstruct (p, p) }",
                casts: 2,
                kept: &["signature"],
            },
            Counted {
                name: "nested functions",
                before: r#"<ir_version: 10, opset_import: ["": 21, "f": 1]> g (float[2] x) => (float[2] y) { p = f.Outer (x) y = f.Inner (p) }
                    <domain: "f", opset_import: ["": 21]> Inner (a) => (b) { b = Sin (a) }
                    <domain: "f", opset_import: ["": 21, "f": 1]> Outer (a) => (b) { c = f.Inner (a) b = Cos (c) }"#,
                casts: 2,
                kept: &[],
            },
            Counted {
                name: "a function that is called with two types",
                before: r#"<ir_version: 10, opset_import: ["": 21, "f": 1]> g (float[2] x, float16[2] h) => (float[2] y, float16[2] z) { p = Sin (x) y = f.Inner (p) z = f.Inner (h) }
                    <domain: "f", opset_import: ["": 21]> Inner (a) => (b) { b = Sin (a) }"#,
                casts: 2,
                kept: &[],
            },
            Counted {
                name: "a function that is called with two types, and calls another one",
                before: r#"<ir_version: 10, opset_import: ["": 21, "f": 1]> g (float[2] x, double[2] d) => (float[2] y, double[2] z) { p = Sin (x) y = f.Outer (p) z = f.Outer (d) }
                    <domain: "f", opset_import: ["": 21]> Inner (a) => (b) { b = Sin (a) }
                    <domain: "f", opset_import: ["": 21, "f": 1]> Outer (a) => (b) { c = f.Inner (a) b = Cos (c) }"#,
                casts: 2,
                kept: &[],
            },
            Counted {
                name: "integers of two types beside the same floats need no copy",
                before: r#"<ir_version: 10, opset_import: ["": 21, "f": 1]> g (float[2,2] x, int32[1] i, int64[1] j) => (float[?,2] y) { p = f.Inner (x, i) q = f.Inner (x, j) y = Add (p, q) }
                    <domain: "f", opset_import: ["": 21]> Inner (a, i) => (b) { c = Sin (a) b = Gather (c, i) }"#,
                casts: 2,
                kept: &[],
            },
            Counted {
                name: "an island of FLOAT16",
                before: "g (float[2] x) => (float[2] y) { p = Sin (x) h = Cast <to = 10> (p) i = Cos (h) q = Cast <to = 1> (i) y = Tanh (q) }",
                casts: 2,
                kept: &[],
            },
            Counted {
                name: "a cast that other consumers share",
                before: "g (float[2] x) => (float[2] y, float16[2] z) { h = Cast <to = 10> (x) z = Cos (h) y = Sin (x) }",
                casts: 2,
                kept: &[],
            },
            Counted {
                name: "a model in FLOAT16",
                before: "g (float16[2] x) => (float16[2] y) { y = Sin (x) }",
                casts: 0,
                kept: &[],
            },
        ],
    );
}

#[test]
fn a_root_of_a_mean_of_squares_stays_in_a_second_run() {
    count(
        &Options::to(DType::Float16),
        &[Counted {
            name: "squares, their mean and its root; what the model computes with the root is in FLOAT16",
            before: "g (float[1, 1, 2, 2] x) => (float[1, 1, 2, 2] y) <float e = {0.001}> { p = Relu (x) q = Mul (p, p) m = GlobalAveragePool (q) a = Add (m, e) s = Sqrt (a) t = Tanh (s) y = Div (p, t) }",
            casts: 4,
            kept: &[
                "unsafe-square",
                "unsafe-square",
                "unsafe-square",
                "unsafe-square",
            ],
        }],
    );
}

#[test]
fn a_name_that_nothing_defines_is_refused() {
    let cases = [
        (
            r#"<ir_version: 11, opset_import: ["": 23]> g (float[2,4,24] k, float[2,6,24] v) => (float[2,4,24] y) { y = Attention <kv_num_heads = 3, q_num_heads = 3> (q, k, v) }"#,
            "graph/#0:Attention: input 'q' is not defined",
        ),
        (
            "g (float[2] x) => (float[2] y) { p = Sin (x) [sum] q = Add (p, missing) y = Cos (p) }",
            "graph/sum: input 'missing' is not defined",
        ),
        (
            "g (float[2] x) => (float[2] y, float[2] z) { y = Sin (x) }",
            "graph: output 'z' is not defined",
        ),
        (
            r#"<ir_version: 10, opset_import: ["": 21, "f": 1]> g (float[2] x, double[2] d) => (float[2] y, double[2] z) { y = f.Inner (x) z = f.Inner (d) }
            <domain: "f", opset_import: ["": 21]> Inner (a) => (b) { [sum] b = Add (a, missing) }"#,
            "function/f:Inner/sum: input 'missing' is not defined",
        ),
    ];
    let mut failures = Vec::new();
    for (text, expected) in cases {
        let before = parsed(text);
        let mut model = before.clone();
        match model.change_precision(&all()) {
            Ok(_) => failures.push(format!("{expected}: the model is changed")),
            Err(error) if error.to_string() != expected => {
                failures.push(format!("{expected}: {error}"))
            }
            Err(_) => failures.extend(difference(expected, before.proto(), model.proto())),
        }
    }
    expect_no_failures(failures);
}

#[test]
fn an_output_that_is_declared_with_a_wrong_shape_gets_the_same_cast_in_a_second_run() {
    count(
        &Options::to(DType::Bfloat16)
            .io(Io::Convert)
            .on_underflow(OnUnderflow::Keep),
        &[Counted {
            name: "a wrong length",
            before: "g () => (float[3] y) <float[4] c = {1e-45, 1, 1, 1}> { v = Identity (c) y = Cast <to = 1> (v) }",
            casts: 1,
            kept: &["constant-underflows"],
        }],
    );
}

#[test]
fn types_that_operators_imply_are_stated() {
    count(
        &all(),
        &[
            Counted {
                name: "ConstantOfShape, EyeLike and Constant",
                before: "g (int64[2] s, int32[2, 2] e, float[2, 2] x) => (float[2, 2] y) { a = ConstantOfShape (s) b = EyeLike <dtype = 1> (e) c = Constant <value_float = 1.5> () p = Add (a, b) q = Add (p, c) y = Add (q, x) }",
                casts: 2,
                kept: &[],
            },
            Counted {
                name: "EyeLike of an input that keeps its type",
                before: "g (float[2, 2] x) => (float[2, 2] y) { b = EyeLike (x) p = Sin (b) y = Cos (p) }",
                casts: 1,
                kept: &[],
            },
            Counted {
                name: "a cast of booleans",
                before: "g (bool[2] m, float[2] x) => (float[2] y) { f = Cast <to = 1> (m) y = Mul (f, x) }",
                casts: 3,
                kept: &[],
            },
            Counted {
                name: "CastLike of a constant",
                before: "g (float[2] x) => (float[2] y) { c = Constant <value = float {0.5}> () d = CastLike (c, x) p = Mul (x, d) y = Sin (p) }",
                casts: 3,
                kept: &[],
            },
            Counted {
                name: "BatchNormalization keeps mean and variance",
                before: "g (float[1, 2, 3] x) => (float[1, 2, 3] y) <float[2] s = {1, 1}, float[2] b = {0, 0}, float[2] m = {0, 0}, float[2] v = {70000, 1}> { y = BatchNormalization (x, s, b, m, v) }",
                casts: 2,
                kept: &[],
            },
            Counted {
                name: "integers on their way to a shape",
                before: "g (float[n] x) => (float[m] y) <float h = {0.5}> { s = Shape (x) f = Cast <to = 1> (s) d = Mul (f, h) i = Cast <to = 7> (d) p = Expand (x, i) y = Sin (p) }",
                casts: 4,
                kept: &["integers-in-floats", "integers-in-floats"],
            },
            Counted {
                name: "QuantizeLinear and DequantizeLinear, opset 21",
                before: "g (float[2] x) => (float[2] y) <float s = {0.1}, int8 z = {0}> { p = Sin (x) q = QuantizeLinear (p, s, z) d = DequantizeLinear (q, s, z) y = Cos (d) }",
                casts: 4,
                kept: &["quantization-scale"],
            },
            Counted {
                name: "QuantizeLinear and DequantizeLinear, opset 23",
                before: r#"<ir_version: 10, opset_import: ["": 23]> g (float[2] x) => (float[2] y) <float s = {0.1}, int8 z = {0}> { p = Sin (x) q = QuantizeLinear (p, s, z) d = DequantizeLinear (q, s, z) y = Cos (d) }"#,
                casts: 4,
                kept: &["quantization-scale"],
            },
            Counted {
                name: "shared weights",
                before: "g (float[2] x) => (float[2] y, float[2] z) <float[2] w = {1, 2}> { p = Add (x, w) y = Sin (p) z = Mul (x, w) }",
                casts: 3,
                kept: &[],
            },
            Counted {
                name: "a weight of both types",
                before: r#"<ir_version: 10, opset_import: ["": 21, "other": 1]> g (float[2] x) => (float[2] y, float[2] z) <float[2] w = {1, 2}> { y = Add (x, w) z = other.Op (w) }"#,
                casts: 3,
                kept: &["foreign-domain"],
            },
            Counted {
                name: "an operator that is defined in FLOAT alone",
                before: "g (float[1, 1, 2, 2] x) => (float[1, 1, 2, 2] y) { p = Sin (x) y = MeanVarianceNormalization (p) }",
                casts: 2,
                kept: &["type-not-supported"],
            },
            Counted {
                name: "an operator with bodies of other types",
                before: r#"<ir_version: 10, opset_import: ["": 21, "other": 1]> g (float[2] x) => (float[2] y) { p = Sin (x) q = other.Op <body = b (float[2] a) => (float[2] r) { r = Cos (a) }> (p) y = Tanh (q) }"#,
                casts: 4,
                kept: &["type-unknown"],
            },
            Counted {
                name: "operators of com.microsoft, of which one has no FLOAT16",
                before: r#"<ir_version: 10, opset_import: ["": 21, "com.microsoft": 1]> g (float[2, 2] x) => (float[2, 2] y) { p = Sin (x) q = com.microsoft.Gelu (p) y = com.microsoft.CDist (q, q) }"#,
                casts: 2,
                kept: &["type-not-supported"],
            },
            Counted {
                name: "the present state of LinearAttention has the type of its inputs if there is no past state",
                before: r#"<ir_version: 14, opset_import: ["": 27]> g (float[1, 2, 4] x) => (float[1, 2, 4] y) { p = Sin (x) q, s = LinearAttention <q_num_heads = 1, kv_num_heads = 1, update_rule = "linear"> (p, p, p) y = Cos (q) }"#,
                casts: 2,
                kept: &[],
            },
            Counted {
                name: "a CastLike between an input and an output stays as it is",
                before: "g (int32[2] x, float[2] w) => (float[2] y) { y = CastLike (x, w) }",
                casts: 1,
                kept: &["fewer-casts"],
            },
            Counted {
                name: "a CastLike of an output keeps its result, and no later pass removes it",
                before: "g (float[2] x) => (float[2] y) { p = Sin (x) q = Cos (p) y = CastLike (q, p) }",
                casts: 3,
                kept: &["fewer-casts"],
            },
            Counted {
                name: "a CastLike beside values of FLOAT16 has their type",
                before: "g (int32[2] x, float[2] w) => (float[2] y) { p = Sin (w) q = CastLike (x, p) y = Add (p, q) }",
                casts: 3,
                kept: &[],
            },
            Counted {
                name: "the declared type of a cast that is removed leaves with it",
                before: "g (float[2] x) => (float16[2] y) <float[2] p, float16[2] a, float16[2] b> { p = Sin (x) a = Cast <to = 10> (p) b = Cos (a) y = Sin (b) }",
                casts: 1,
                kept: &[],
            },
            Counted {
                name: "Equal before opset 11",
                before: r#"<ir_version: 5, opset_import: ["": 10]> g (float[2] x) => (bool[2] y) { p = Sin (x) q = Sin (p) y = Greater (p, q) }"#,
                casts: 1,
                kept: &[],
            },
            Counted {
                name: "Cast before opset 6",
                before: r#"<ir_version: 3, opset_import: ["": 5]> g (float[2] x) => (float[2] y) { y = Tanh (x) }"#,
                casts: 2,
                kept: &[],
            },
        ],
    );
}

#[test]
fn resize_keeps_its_scales_in_every_opset() {
    let mut failures = Vec::new();
    for opset in [10, 11, 13, 18, 19, 21, 25, 28] {
        let roi = if opset == 10 { "" } else { "r, " };
        let text = format!(
            r#"<ir_version: 10, opset_import: ["": {opset}]> g (float[1, 1, 2, 2] x) => (float[1, 1, 4, 4] y) <float[8] r = {{0, 0, 0, 0, 1, 1, 1, 1}}, float[4] s = {{1, 1, 2, 2}}> {{ y = Resize (x, {roi}s) }}"#
        );
        let (after, report) = changed(&text, &parsed(&text), &all(), &mut failures);
        let casts = super::casts(&after);
        if (casts, report.tensors.len()) != (2, 0) {
            failures.push(format!(
                "opset {opset}: {casts} casts, {:?}",
                report.tensors
            ));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_model_becomes_wider() {
    let to_float = Options::to(DType::Float);
    count(
        &to_float,
        &[
            Counted {
                name: "casts around a narrow model go, except those that name an output",
                before: "g (float[2] x) => (float[2] y) <float16[2] w = {0x3c00, 0x4000}> { h = Cast <to = 10> (x) p = Add (h, w) q = Cast <to = 1> (p) y = Sin (q) }",
                casts: 0,
                kept: &[],
            },
            Counted {
                name: "inputs and outputs keep their types",
                before: "g (float16[2] x) => (float16[2] y) { y = Sin (x) }",
                casts: 2,
                kept: &[],
            },
        ],
    );
}
