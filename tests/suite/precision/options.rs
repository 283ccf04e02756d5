//! Each option, and what it changes.

use std::collections::BTreeMap;

use onnx_recast::DType;
use onnx_recast::precision::{Io, ObservedRange, OnOverflow, OnUnderflow, Options, Policy};

use super::{all, casts, changed, parsed};
use crate::support::expect_no_failures;

/// Nodes that keep their types, with the codes of the reasons.
type Kept = Vec<(String, &'static str)>;

fn kept(text: &str, options: &Options) -> Kept {
    let mut failures = Vec::new();
    let (_, report) = changed("options", &parsed(text), options, &mut failures);
    expect_no_failures(failures);
    report
        .kept
        .into_iter()
        .map(|kept| (kept.node, kept.reason.code()))
        .collect()
}

fn one(node: &str, code: &'static str) -> Kept {
    vec![(node.to_owned(), code)]
}

const CHAIN: &str =
    "g (float[2] x) => (float[2] y) { [a] p = Exp (x) [b] q = Sin (p) [c] y = Cos (q) }";

#[test]
fn nodes_and_values_are_kept_by_name() {
    let cases: [(&str, Options, Kept); 6] = [
        (
            "stable",
            Options::to(DType::Float16),
            [
                one("graph/a", "sensitive-operator"),
                one("graph/b", "unsafe-exponential"),
            ]
            .concat(),
        ),
        ("all", all(), Vec::new()),
        (
            "keep_ops",
            all().keep_ops(vec!["Sin".to_owned()]),
            one("graph/b", "kept-by-option"),
        ),
        (
            "keep_nodes",
            all().keep_nodes(vec!["graph/[bc]".to_owned()]),
            [
                one("graph/b", "kept-by-option"),
                one("graph/c", "kept-by-option"),
            ]
            .concat(),
        ),
        (
            "keep_values",
            all().keep_values(vec!["p".to_owned()]),
            one("graph/a", "kept-by-option"),
        ),
        (
            "only_nodes",
            all().only_nodes(vec!["c".to_owned()]),
            [
                one("graph/a", "kept-by-option"),
                one("graph/b", "kept-by-option"),
            ]
            .concat(),
        ),
    ];
    for (name, options, expected) in cases {
        assert_eq!(kept(CHAIN, &options), expected, "{name}");
    }
}

#[test]
fn the_signature_changes_on_request() {
    let mut failures = Vec::new();
    for (name, options, expected) in [
        ("keep", all(), 2),
        ("convert", all().io(Io::Convert), 0),
        (
            "one",
            all().signature(vec![("x".to_owned(), DType::Float16)]),
            1,
        ),
        (
            "all but one",
            all()
                .io(Io::Convert)
                .signature(vec![("y".to_owned(), DType::Float)]),
            1,
        ),
    ] {
        let (after, _) = changed(
            name,
            &parsed("g (float[2] x) => (float[2] y) { y = Sin (x) }"),
            &options,
            &mut failures,
        );
        if casts(&after) != expected {
            failures.push(format!(
                "{name}: {} casts, expected {expected}",
                casts(&after)
            ));
        }
    }
    expect_no_failures(failures);
    for (name, dtype, message) in [
        (
            "z",
            DType::Float16,
            "'z' is not an input or output of the model",
        ),
        ("x", DType::Int8, "INT8"),
    ] {
        let options = all().signature(vec![(name.to_owned(), dtype)]);
        let error = parsed(CHAIN).change_precision(&options).unwrap_err();
        assert!(error.to_string().contains(message), "{name}: {error}");
    }
}

const MASK: &str = "g (float[2] x, bool[2] c) => (float[2] y) <float w = {-3.4e38}> { p = Where (c, x, w) q = Sin (p) y = Cos (q) }";

#[test]
fn constants_beyond_the_range_follow_the_option() {
    let cases: [(&str, &str, OnOverflow, Option<f32>, usize); 8] = [
        ("a mask", MASK, OnOverflow::Mask, Some(32752.0), 0),
        ("saturated", MASK, OnOverflow::Saturate, Some(65504.0), 0),
        ("infinite", MASK, OnOverflow::Infinity, None, 0),
        ("kept", MASK, OnOverflow::Keep, None, 1),
        (
            "a bound",
            "g (float[2] x) => (float[2] y) <float w = {3.4e38}> { p = Min (x, w) y = Cos (p) }",
            OnOverflow::Mask,
            Some(65504.0),
            0,
        ),
        (
            "a factor of a matrix",
            "g (float[2, 2] x) => (float[2, 2] y) <float[2, 2] w = {1e9, 1, 2, 3}> { p = MatMul (x, w) y = Cos (p) }",
            OnOverflow::Mask,
            None,
            1,
        ),
        (
            "a mask that is moved first",
            "g (float[2] x) => (float[2] y) <float w = {-3.4e38}, int64[1] s = {2}> { e = Expand (w, s) p = Add (x, e) y = Cos (p) }",
            OnOverflow::Mask,
            Some(32752.0),
            0,
        ),
        (
            "a mask that is also a factor",
            "g (float[2, 2] x) => (float[2, 2] y) <float[2, 2] w = {1e9, 1, 2, 3}> { m = MatMul (x, w) p = Add (m, w) y = Cos (p) }",
            OnOverflow::Mask,
            None,
            2,
        ),
    ];
    let mut failures = Vec::new();
    for (name, text, on_overflow, bound, kept) in cases {
        let (_, report) = changed(
            name,
            &parsed(text),
            &all().on_overflow(on_overflow),
            &mut failures,
        );
        let bounds: Vec<Option<f32>> = report
            .tensors
            .iter()
            .filter(|tensor| tensor.overflowed > 0)
            .map(|tensor| tensor.bound)
            .collect();
        let nodes = report.kept.len();
        if nodes != kept || (kept == 0 && bounds != [bound]) {
            failures.push(format!(
                "{name}: {nodes} kept, {bounds:?}: {:?}",
                report.kept
            ));
        }
    }
    expect_no_failures(failures);
    let error = parsed(MASK)
        .change_precision(&all().on_overflow(OnOverflow::Refuse))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("graph/w: 1 finite numbers are beyond the range of FLOAT16"),
        "{error}"
    );
}

#[test]
fn scalars_that_keep_divisors_from_zero_stay() {
    let text = "g (float[2] x) => (float[2] y) <float e = {1e-12}, float[2] w = {1e-12, 1}> { p = Add (x, e) q = Sqrt (p) r = Sin (q) y = Mul (r, w) }";
    let [by_default, kept] = [OnUnderflow::Allow, OnUnderflow::Keep]
        .map(|option| kept(text, &all().on_underflow(option)).len());
    assert_eq!(
        (by_default, kept),
        (2, 2),
        "the sum and the root, or the sum and the product"
    );
    let error = parsed(text)
        .change_precision(&all().on_underflow(OnUnderflow::Refuse))
        .unwrap_err();
    assert!(error.to_string().contains("would become zero"), "{error}");
}

#[test]
fn constants_alone_change_with_one_cast_each() {
    let text = "g (float[2] x) => (float[2] y) <float[2] w = {1.5, 0.1}, float s = {2}> { p = Add (x, w) q = Mul (p, w) y = Mul (q, s) }";
    let mut failures = Vec::new();
    let (after, report) = changed(
        "weights",
        &parsed(text),
        &all().weights_only(true),
        &mut failures,
    );
    expect_no_failures(failures);
    assert_eq!(
        (casts(&after), report.tensors.len()),
        (1, 1),
        "a scalar is not worth a cast"
    );
}

#[test]
fn observed_ranges_keep_values() {
    let range_of_p = |range: ObservedRange| all().ranges(BTreeMap::from([("p".to_owned(), range)]));
    let options = |limit: f64| range_of_p([0.0, limit].into());
    assert_eq!(kept(CHAIN, &options(65504.0)), Vec::new());
    assert_eq!(
        kept(CHAIN, &options(65505.0)).len(),
        2,
        "the producer and the consumer"
    );
    assert_eq!(
        kept(CHAIN, &options(65505.0).range_limit(Some(1e9))).len(),
        2,
        "the range of the type"
    );
    assert_eq!(
        kept(CHAIN, &options(512.0).range_limit(Some(512.0))),
        Vec::new()
    );
    assert_eq!(
        kept(CHAIN, &options(513.0).range_limit(Some(512.0))).len(),
        2,
        "a lower limit"
    );
    assert_eq!(kept(CHAIN, &options(6.2e-5)), Vec::new());
    assert_eq!(
        kept(CHAIN, &options(6.1e-5)).len(),
        2,
        "all numbers would be subnormal or zero"
    );
    assert_eq!(kept(CHAIN, &options(0.0)), Vec::new(), "zeros remain");
    let divided =
        "g (float[2] x) => (float[2] y) { p = Relu (x) q = Sin (p) r = Div (q, p) y = Cos (r) }";
    let least = |text: &str, least: f64| {
        let range = ObservedRange {
            min: 0.0,
            max: 1.0,
            least: Some(least),
        };
        kept(text, &range_of_p(range)).len()
    };
    let halfway = 2.0_f64.powi(-25);
    assert_eq!(least(divided, halfway * 1.01), 0, "it does not become zero");
    assert_eq!(least(divided, halfway), 2, "the producer and the division");
    assert_eq!(least(CHAIN, halfway), 0, "nothing divides by it");
    let error = parsed(CHAIN)
        .change_precision(&all().range_limit(Some(-1.0)))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("a range limit of -1 keeps all values"),
        "{error}"
    );
}

#[test]
fn a_later_opset_is_named() {
    let text = r#"<ir_version: 7, opset_import: ["": 13]> g (float[2] x) => (float[2] y) { p = Relu (x) q = Sin (p) y = Cos (q) }"#;
    let mut model = parsed(text);
    let report = model
        .change_precision(&Options::to(DType::Bfloat16).policy(Policy::All))
        .unwrap();
    let later = &serde_json::to_value(report).unwrap()["later_opset"];
    assert_eq!(*later, serde_json::json!({"opset": 22, "nodes": 2}));
}
