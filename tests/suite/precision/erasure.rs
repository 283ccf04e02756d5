//! The verification by erasure finds what does not belong to the change.

use onnx_recast::Model;
use onnx_recast::internals::onnx_text;
use onnx_recast::precision::{Io, OnOverflow, Options, Report};
use onnx_recast::proto::raw::type_proto::Value;
use onnx_recast::verify::Verification;

use super::{all, parsed};

const BEFORE: &str = "g (float[2] x) => (float[2] y) <float[2] w = {0.5, 2}> { p = Add (x, w) q = Sub (p, x) y = Sin (q) }";

#[test]
fn a_declaration_without_an_element_type_stays_so() {
    let mut proto =
        parsed("g (float[2] x) => (float[2] y) <float[2] p> { p = Sin (x) y = Cos (p) }")
            .proto()
            .clone();
    let graph = proto.graph.as_mut().unwrap();
    let Some(Value::TensorType(tensor)) =
        graph.value_info[0].r#type.as_mut().unwrap().value.as_mut()
    else {
        unreachable!()
    };
    tensor.elem_type = Some(0);
    let before = Model::new(proto).unwrap();
    let mut after = before.clone();
    let report = after.change_precision(&all()).unwrap();
    assert!(!report.is_unchanged());
    Verification::of_precision(&before, &report)
        .check(&after)
        .unwrap();
}

#[test]
fn a_declaration_of_another_type_stays_so() {
    let before = parsed("g (float[2] x) => (float[2] y, bool[2] y) { p = Sin (x) y = Cos (p) }");
    let mut after = before.clone();
    let report = after.change_precision(&all().io(Io::Convert)).unwrap();
    assert!(!report.is_unchanged());
    let text = onnx_text::print(after.proto());
    assert!(text.contains("(float16[2] y, bool[2] y)"), "{text}");
    Verification::of_precision(&before, &report)
        .check(&after)
        .unwrap();
}

#[test]
fn a_constant_that_is_declared_with_another_type_stays_so() {
    let declared =
        parsed("g (float[1] x, float[1] w) => (float[1] y) { p = Add (x, w) y = Sin (x) }");
    let mut proto = declared.proto().clone();
    let stored = parsed("g () => () <int64[1] w = {5}> {}");
    proto
        .graph
        .as_mut()
        .unwrap()
        .initializer
        .clone_from(&stored.proto().graph.as_ref().unwrap().initializer);
    let before = Model::new(proto).unwrap();
    let mut after = before.clone();
    let report = after.change_precision(&all().io(Io::Convert)).unwrap();
    assert!(!report.is_unchanged());
    assert_eq!(
        after.proto().graph.as_ref().unwrap().initializer,
        before.proto().graph.as_ref().unwrap().initializer
    );
    Verification::of_precision(&before, &report)
        .check(&after)
        .unwrap();
}

/// Faults that are planted into the result of a change: name, text, what replaces it, and a part of
/// the fault that is found.
type Planted = (
    &'static str,
    &'static str,
    &'static str,
    Option<&'static str>,
);

/// Plants faults into the result of a change.
pub fn expect_faults(before: &str, options: &Options, planted: &[Planted]) {
    let before = parsed(before);
    let mut after = before.clone();
    let report = after.change_precision(options).unwrap();
    let text = onnx_text::print(after.proto());
    let mut failures = Vec::new();
    for &(name, from, to, fault) in planted {
        assert!(text.contains(from), "{name}: {text}");
        failures.extend(other_fault(
            name,
            &before,
            &report,
            &text.replacen(from, to, 1),
            fault,
        ));
    }
    crate::support::expect_no_failures(failures);
}

/// What the verification finds in a model of a text, if it is not what is expected.
fn other_fault(
    name: &str,
    before: &Model,
    report: &Report,
    text: &str,
    fault: Option<&str>,
) -> Option<String> {
    let found = Verification::of_precision(before, report)
        .check(&parsed(text))
        .err()
        .map(|faults| faults.to_string());
    let is_expected = match (fault, &found) {
        (None, None) => true,
        (Some(fault), Some(found)) => found.contains(fault),
        _ => false,
    };
    (!is_expected).then(|| format!("{name}: expected {fault:?}, found {found:?}"))
}

#[test]
fn what_was_not_reported_is_a_fault() {
    expect_faults(
        BEFORE,
        &all(),
        &[
            ("nothing", "w", "w", None),
            (
                "a weight",
                "{0.5, 2}",
                "{0.5, 3}",
                Some("graph/w: element 1 is not the original, rounded"),
            ),
            (
                "an input",
                "Sub (p, x_to_FLOAT16)",
                "Sub (p, p)",
                Some("input 1, 'p', is not the value that it was"),
            ),
            ("an operator", "q = Sub", "q = Mul", Some("Mul")),
            (
                "a cast",
                "q = Sub",
                "[z] z = Cast <to: int = 1> (p) q = Sub",
                Some("has 4 nodes apart from reported casts; must have 3"),
            ),
            (
                "the type of a cast",
                "x_to_FLOAT16 = Cast <to: int = 10>",
                "x_to_FLOAT16 = Cast <to: int = 16>",
                Some("is not the cast that was reported"),
            ),
            (
                "a declared type",
                "=> (float[2] y)",
                "=> (float16[2] y)",
                Some("graph/y_to_FLOAT"),
            ),
            (
                "a shape",
                "g (float[2] x)",
                "g (float[3] x)",
                Some("cannot be broadcast"),
            ),
        ],
    );
}

#[test]
fn numbers_beyond_the_range_become_what_the_report_says() {
    let before = parsed(
        "g (float[2] x) => (float[2] y) <float[2] w = {0.5, 70000}> { p = Add (x, w) y = Sin (p) }",
    );
    let mut after = before.clone();
    let report = after
        .change_precision(&all().on_overflow(OnOverflow::Infinity))
        .unwrap();
    let text = onnx_text::print(after.proto());
    let written = "{0.5, inf}";
    assert!(text.contains(written), "{text}");
    let mut failures = Vec::new();
    for (overflowed, bound, numbers, fault) in [
        (1, None, written, None),
        (
            0,
            None,
            written,
            Some("a finite number that becomes infinite"),
        ),
        (1, Some(65504.0), "{0.5, 65504}", None),
        (1, Some(32752.0), "{0.5, 32752}", None),
        (
            1,
            Some(65504.0),
            written,
            Some("graph/w: element 1 is not the original, rounded"),
        ),
        (
            1,
            Some(1.0),
            "{0.5, 1}",
            Some("graph/w: numbers beyond the range of FLOAT16 became ±1"),
        ),
    ] {
        let mut report = report.clone();
        (report.tensors[0].overflowed, report.tensors[0].bound) = (overflowed, bound);
        let name = format!("{numbers}, {overflowed}, {bound:?}");
        failures.extend(other_fault(
            &name,
            &before,
            &report,
            &text.replacen(written, numbers, 1),
            fault,
        ));
    }
    crate::support::expect_no_failures(failures);
}

#[test]
fn a_copy_of_a_function_is_the_function() {
    expect_faults(
        r#"<ir_version: 10, opset_import: ["": 21, "f": 1]>
        g (float[2] x, double[2] d) => (float[2] y, double[2] z) { y = f.F (x) z = f.F (d) }
        <domain: "f", opset_import: ["": 21]> F (a) => (b) { c = Sin (a) b = Cos (c) }"#,
        &all(),
        &[
            ("nothing", "x", "x", None),
            (
                "a node of the copy",
                "F_FLOAT16 (a) => (b) {\n  c = Sin",
                "F_FLOAT16 (a) => (b) {\n  c = Tan",
                Some("Tan"),
            ),
            (
                "a node of the function",
                "F (a) => (b) {\n  c = Sin",
                "F (a) => (b) {\n  c = Tan",
                Some("Tan"),
            ),
            (
                "the name of the copy",
                "F_FLOAT16 (a) =>",
                "G (a) =>",
                Some("function/f:F_FLOAT16: was removed"),
            ),
            (
                "a call of the function",
                "z = f.F (d)",
                "z = f.F_FLOAT16 (d)",
                Some("graph"),
            ),
        ],
    );
}
