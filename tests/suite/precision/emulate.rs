//! Models that emulate a type: everything stays FLOAT, and what would be narrow is rounded.

use onnx_recast::DType;
use onnx_recast::internals::onnx_text;
use onnx_recast::precision::{Io, Options};
use onnx_recast::proto::ModelProto;

use super::erasure::expect_faults;
use super::{all, changed, parsed};
use crate::support::{difference, expect_no_failures};

const HEADER: &str = r#"<ir_version: 10, opset_import: ["": 21, "onnx_recast": 1]>"#;

/// A name, options, and the graphs before and after. `R` is the function that rounds.
type Case<'c> = (&'c str, Options, &'c str, &'c str);

fn emulated() -> Options {
    all().emulate(true)
}

fn run(cases: &[Case]) {
    let mut failures = Vec::new();
    for (name, options, before, after) in cases {
        let (found, report) = changed(name, &parsed(before), options, &mut failures);
        let report = serde_json::to_value(report).unwrap();
        let function = report["emulation"]["function"].as_str().expect("it is one");
        let after = after.replace("R (", &format!("{} (", function.replace(':', ".")));
        let text = if after.starts_with('<') {
            after
        } else {
            format!("{HEADER} {after}")
        };
        let mut rest: ModelProto = found.proto().clone();
        let rounding = rest.functions.remove(0);
        assert_eq!(
            format!("{}:{}", rounding.domain(), rounding.name()),
            function,
            "{name}"
        );
        let expected = onnx_text::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        failures.extend(difference(name, &expected, &rest));
    }
    expect_no_failures(failures);
}

#[test]
fn results_of_arithmetic_are_rounded_behind_their_nodes() {
    run(&[
        (
            "an input is rounded for its users, and an output keeps its name",
            emulated(),
            "g (float[2] x) => (float[2] y) { y = Sin (x) }",
            "g (float[2] x) => (float[2] y) { [x_to_FLOAT16] x_to_FLOAT16 = R (x) y_FLOAT = Sin (x_to_FLOAT16) [y_to_FLOAT16] y = R (y_FLOAT) }",
        ),
        (
            "BFLOAT16",
            emulated().dtype(DType::Bfloat16),
            "g (float[2] x) => (float[2] y) <float[2] w = {0.1, 2}> { y = Add (x, w) }",
            "g (float[2] x) => (float[2] y) <float[2] w = {0.10009765625, 2}> {
                [x_to_BFLOAT16] x_to_BFLOAT16 = R (x) y_FLOAT = Add (x_to_BFLOAT16, w) [y_to_BFLOAT16] y = R (y_FLOAT) }",
        ),
        (
            "constants are rounded, in initializers and in attributes",
            emulated(),
            "g (float[2] x) => (float[2] y) <float[2] w = {0.1, 1e-8}, float[2] exact = {0.5, 2}> {
                c = Constant <value_float = 0.1> () d = ConstantOfShape <value = float[1] {0.1}> (s) a = Add (x, w) b = Mul (a, exact) e = Add (b, c) y = Add (e, d) s = Shape (x) }",
            "g (float[2] x) => (float[2] y) <float[2] w = {0.0999755859375, 0}, float[2] exact = {0.5, 2}> {
                [x_to_FLOAT16] x_to_FLOAT16 = R (x)
                c = Constant <value = float {0.0999755859375}> ()
                d = ConstantOfShape <value = float[1] {0.0999755859375}> (s)
                a_FLOAT = Add (x_to_FLOAT16, w) [a_to_FLOAT16] a = R (a_FLOAT)
                b_FLOAT = Mul (a, exact) [b_to_FLOAT16] b = R (b_FLOAT)
                e_FLOAT = Add (b, c) [e_to_FLOAT16] e = R (e_FLOAT)
                y_FLOAT = Add (e, d) [y_to_FLOAT16] y = R (y_FLOAT)
                s = Shape (x) }",
        ),
        (
            "data movement and selections are not rounded",
            emulated(),
            "g (float[2, 2] x) => (float[2, 2] y) { s = Sin (x) t = Transpose (s) r = Relu (t) m = Max (r, s) n = Neg (m) y = Concat <axis = 0> (n) }",
            "g (float[2, 2] x) => (float[2, 2] y) { [x_to_FLOAT16] x_to_FLOAT16 = R (x) s_FLOAT = Sin (x_to_FLOAT16) [s_to_FLOAT16] s = R (s_FLOAT)
                t = Transpose (s) r = Relu (t) m = Max (r, s) n = Neg (m) y = Concat <axis = 0> (n) }",
        ),
        (
            "a node that keeps its type gets rounded values, and is rounded for its users",
            emulated().keep_ops(vec!["Exp".to_owned()]),
            "g (float[2] x) => (float[2] y, float[2] e) { s = Sin (x) e = Exp (s) y = Cos (e) }",
            "g (float[2] x) => (float[2] y, float[2] e) { [x_to_FLOAT16] x_to_FLOAT16 = R (x) s_FLOAT = Sin (x_to_FLOAT16) [s_to_FLOAT16] s = R (s_FLOAT)
                e = Exp (s) [e_to_FLOAT16] e_to_FLOAT16 = R (e) y_FLOAT = Cos (e_to_FLOAT16) [y_to_FLOAT16] y = R (y_FLOAT) }",
        ),
    ]);
}

#[test]
fn inputs_and_outputs_that_would_change_are_rounded_and_stay_float() {
    let convert = || emulated().io(Io::Convert);
    run(&[
        (
            "an input and an output",
            convert().keep_ops(vec!["Exp".to_owned()]),
            "g (float[2] x) => (float[2] y, float[2] z) { y = Exp (x) z = Sin (x) }",
            "g (float[2] x) => (float[2] y, float[2] z) { [x_to_FLOAT16] x_to_FLOAT16 = R (x) y_FLOAT = Exp (x_to_FLOAT16) [y_to_FLOAT16] y = R (y_FLOAT)
                z_FLOAT = Sin (x_to_FLOAT16) [z_to_FLOAT16] z = R (z_FLOAT) }",
        ),
        (
            "an initializer that callers can override",
            convert(),
            "g (float[1] x, float[1] w) => (float[1] y) <float[1] w = {0.1}> { y = Add (x, w) }",
            "g (float[1] x, float[1] w) => (float[1] y) <float[1] w = {0.0999755859375}> {
                [x_to_FLOAT16] x_to_FLOAT16 = R (x) [w_to_FLOAT16] w_to_FLOAT16 = R (w)
                y_FLOAT = Add (x_to_FLOAT16, w_to_FLOAT16) [y_to_FLOAT16] y = R (y_FLOAT) }",
        ),
        (
            "functions need IR version 8",
            convert(),
            r#"<ir_version: 3, opset_import: ["": 9]> g (float[1] x, float[1] w) => (float[1] y) <float[1] w = {0.1}> { y = Add (x, w) }"#,
            r#"<ir_version: 8, opset_import: ["": 9, "onnx_recast": 1]> g (float[1] x, float[1] w) => (float[1] y) <float[1] w = {0.0999755859375}> {
                [x_to_FLOAT16] x_to_FLOAT16 = R (x) y_FLOAT = Add (x_to_FLOAT16, w) [y_to_FLOAT16] y = R (y_FLOAT) }"#,
        ),
    ]);
}

#[test]
fn bodies_and_functions_round() {
    run(&[
        (
            "branches round what they compute",
            emulated(),
            "g (float[2] x, bool c) => (float[2] y) { s = Sin (x) y = If (c) <
                then_branch = t () => (float[2] p) { p = Cos (s) }, else_branch = e () => (float[2] q) { q = Identity (s) }> }",
            "g (float[2] x, bool c) => (float[2] y) { [x_to_FLOAT16] x_to_FLOAT16 = R (x) s_FLOAT = Sin (x_to_FLOAT16) [s_to_FLOAT16] s = R (s_FLOAT) y = If (c) <
                then_branch = t () => (float[2] p) { p_FLOAT = Cos (s) [p_to_FLOAT16] p = R (p_FLOAT) },
                else_branch = e () => (float[2] q) { q = Identity (s) }> }",
        ),
        (
            "what a loop carries is rounded in each iteration",
            emulated(),
            "g (int64 n, float[2] x) => (float[2] y) <bool c = {1}> { y = Loop (n, c, x) <
                body = b (int64 i, bool k, float[2] v) => (bool l, float[2] w) { l = Identity (k) w = Sin (v) }> }",
            "g (int64 n, float[2] x) => (float[2] y) <bool c = {1}> { [x_to_FLOAT16] x_to_FLOAT16 = R (x) y = Loop (n, c, x_to_FLOAT16) <
                body = b (int64 i, bool k, float[2] v) => (bool l, float[2] w) { l = Identity (k) w_FLOAT = Sin (v) [w_to_FLOAT16] w = R (w_FLOAT) }> }",
        ),
        (
            "functions import the domain and come behind the one that rounds",
            emulated(),
            r#"<ir_version: 10, opset_import: ["": 21, "l": 1]> g (float[2] x) => (float[2] y) { y = l.f (x) }
            <domain: "l", opset_import: ["": 21]> f (a) => (b) { c = Sin (a) b = Relu (c) }"#,
            r#"<ir_version: 10, opset_import: ["": 21, "l": 1, "onnx_recast": 1]>
            g (float[2] x) => (float[2] y) { [x_to_FLOAT16] x_to_FLOAT16 = R (x) y = l.f (x_to_FLOAT16) }
            <domain: "l", opset_import: ["": 21, "onnx_recast": 1]> f (a) => (b) { c_FLOAT = Sin (a) [c_to_FLOAT16] c = R (c_FLOAT) b = Relu (c) }"#,
        ),
        (
            "elements of sequences are rounded before",
            emulated(),
            "g (float[2] x, int64 i) => (float[2] y) { s = Sin (x) q = SequenceConstruct (s, s) r = SequenceAt (q, i) y = Cos (r) }",
            "g (float[2] x, int64 i) => (float[2] y) { [x_to_FLOAT16] x_to_FLOAT16 = R (x) s_FLOAT = Sin (x_to_FLOAT16) [s_to_FLOAT16] s = R (s_FLOAT)
                q = SequenceConstruct (s, s) r = SequenceAt (q, i) y_FLOAT = Cos (r) [y_to_FLOAT16] y = R (y_FLOAT) }",
        ),
    ]);
}

#[test]
fn casts_of_the_model_stay_if_they_change_a_type() {
    run(&[
        (
            "values that are narrow already",
            emulated(),
            "g (float[2] x) => (float[2] y) { h = Cast <to = 10> (x) t = Tanh (h) f = Cast <to = 1> (t) s = Sin (f) y = Cos (x) z = Add (s, y) }",
            "g (float[2] x) => (float[2] y) { [x_to_FLOAT16] x_to_FLOAT16 = R (x) h = Cast <to = 10> (x) t = Tanh (h) f = Cast <to = 1> (t)
                s_FLOAT = Sin (f) [s_to_FLOAT16] s = R (s_FLOAT) y_FLOAT = Cos (x_to_FLOAT16) [y_to_FLOAT16] y = R (y_FLOAT)
                z_FLOAT = Add (s, y) [z_to_FLOAT16] z = R (z_FLOAT) }",
        ),
        (
            "a cast of a type to itself, and one of integers",
            emulated(),
            "g (float[2] x, int64[2] i) => (float[2] y) { s = Sin (x) f = Cast <to = 1> (s) d = Cast <to = 1> (i) y = Div (f, d) }",
            "g (float[2] x, int64[2] i) => (float[2] y) { [x_to_FLOAT16] x_to_FLOAT16 = R (x) s_FLOAT = Sin (x_to_FLOAT16) [s_to_FLOAT16] s = R (s_FLOAT)
                d_FLOAT = Cast <to = 1> (i) [d_to_FLOAT16] d = R (d_FLOAT) y_FLOAT = Div (s, d) [y_to_FLOAT16] y = R (y_FLOAT) }",
        ),
    ]);
}

#[test]
fn constants_alone_need_no_function() {
    let mut failures = Vec::new();
    let text = "g (float[2] x) => (float[2] y) <float[2] w = {0.1, 2}, float[2] v = {0.5, 2}> { a = Add (x, w) y = Mul (a, v) }";
    let (after, report) = changed(
        "weights",
        &parsed(text),
        &emulated().weights_only(true),
        &mut failures,
    );
    let expected = parsed(&text.replace("0.1", "0.0999755859375"));
    failures.extend(difference("weights", expected.proto(), after.proto()));
    expect_no_failures(failures);
    assert_eq!(report.tensors.len(), 1, "{report:?}");
}

#[test]
fn what_cannot_be_emulated_is_refused() {
    let sequence =
        "g (seq(float[2]) x, int64 i) => (float[2] y) { a = SequenceAt (x, i) y = Sin (a) }";
    let mut again = parsed("g (float[2] x) => (float[2] y) { y = Sin (x) }");
    again.change_precision(&emulated()).unwrap();
    let again = onnx_text::print(again.proto());
    let old =
        r#"<ir_version: 8, opset_import: ["": 8]> g (float[2] x) => (float[2] y) { y = Sin (x) }"#;
    let mut failures = Vec::new();
    for (name, text, options, message) in [
        (
            "FLOAT",
            sequence,
            emulated().dtype(DType::Float),
            "FLOAT is not emulated, FLOAT16 and BFLOAT16 are",
        ),
        (
            "a sequence",
            sequence,
            emulated().io(Io::Convert),
            "'x' is not a tensor, and cannot be rounded",
        ),
        (
            "opset 8",
            old,
            emulated(),
            "opset 8 has no Where, by which values are rounded",
        ),
        (
            "a runtime",
            &old.replace("8]", "12]").replace(": 8,", ": 6,"),
            emulated().target(Some("onnxruntime@1.5.2".parse().unwrap())),
            "loads IR versions up to 6; functions, which round, need 8",
        ),
        (
            "an emulation",
            &again,
            all(),
            "the model emulates FLOAT16, and rounds to it",
        ),
        (
            "an emulation of another type",
            &again,
            emulated().dtype(DType::Bfloat16),
            "the model emulates FLOAT16",
        ),
    ] {
        let found = parsed(text)
            .change_precision(&options)
            .map(|_| String::new())
            .unwrap_or_else(|error| error.to_string());
        if found.is_empty() || !found.contains(message) {
            failures.push(format!("{name}: {found}"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn the_verification_finds_what_is_no_rounding() {
    expect_faults(
        "g (float[2] x, float[2] z) => (float[2] y) <float[2] w = {0.1, 2}, float[2] v = {3, 0.3}> { p = Add (x, w) q = Sub (p, z) r = Cast <to = 10> (q) s = Cast <to = 1> (r) t = Mul (s, v) y = Sin (t) }",
        &emulated(),
        &[
            ("nothing", "w", "w", None),
            (
                "a weight",
                "0.0999755859375",
                "0.1",
                Some("graph/w: element 0 is not the original, rounded"),
            ),
            (
                "a weight that is exact",
                "{3, ",
                "{4, ",
                Some("graph/v: element 0 is not the original, rounded"),
            ),
            ("the function", "12288", "12289", Some("RoundToFloat16")),
            (
                "the body of the function",
                "Min (magnitude, most)",
                "Min (most, magnitude)",
                Some("RoundToFloat16"),
            ),
            (
                "an input of a rounding",
                "RoundToFloat16 (x)",
                "RoundToFloat16 (z)",
                Some("reported"),
            ),
            (
                "another input",
                "Sub (p, z_to_FLOAT16)",
                "Sub (p, x_to_FLOAT16)",
                Some("input 1, 'x_to_FLOAT16', is not the value that it was"),
            ),
            ("an operator", "q_FLOAT = Sub", "q_FLOAT = Mul", Some("Mul")),
            (
                "a cast",
                "r = Cast <to: int = 10>",
                "r = Cast <to: int = 16>",
                Some("to"),
            ),
            (
                "the type of an output",
                "=> (float[2] y)",
                "=> (float16[2] y)",
                Some("is float16[2]; must be float[2]"),
            ),
            (
                "a rounding more",
                "q_FLOAT = Sub",
                "zz = onnx_recast.RoundToFloat16 (p) q_FLOAT = Sub",
                Some("nodes apart from reported casts"),
            ),
            (
                "an import",
                r#""onnx_recast": 1"#,
                r#""onnx_recast": 2"#,
                Some("version"),
            ),
            (
                "the IR version",
                "ir_version: 10",
                "ir_version: 11",
                Some("ir_version"),
            ),
        ],
    );
}
