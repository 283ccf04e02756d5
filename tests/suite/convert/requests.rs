//! What may be asked for, and what the model must state.

use onnx_recast::convert::{IrVersion, Options};

use super::convert_text;
use crate::support::expect_no_failures;

#[test]
fn the_ir_version_is_what_opset_and_contents_need() {
    let source = |ir: i64, opset: i64, metadata: &str| {
        format!(
            r#"<ir_version: {ir}, opset_import: ["": {opset}]{metadata}> g (float[2] x) => (float[2] y) <float[2] w = {{1, 2}}> {{ y = Relu (x) }}"#
        )
    };
    let metadata = r#", metadata_props: ["k": "v"]"#;
    let cases = [
        (8, 13, 21, IrVersion::Auto, "", Ok(10)),
        (13, 13, 21, IrVersion::Auto, "", Ok(13)),
        (10, 21, 13, IrVersion::Auto, "", Ok(7)),
        (10, 21, 13, IrVersion::Auto, metadata, Ok(7)),
        (10, 21, 8, IrVersion::Auto, "", Ok(4)),
        // The initializer is no input.
        (3, 7, 8, IrVersion::Auto, "", Ok(4)),
        (10, 21, 13, IrVersion::Keep, "", Ok(10)),
        (8, 13, 21, IrVersion::Number(12), "", Ok(12)),
        (
            8,
            13,
            21,
            IrVersion::Number(9),
            "",
            Err("IR version 9 is too low: opset 21 needs 10"),
        ),
    ];
    let mut failures = Vec::new();
    for (ir, from, to, ir_version, metadata, expected) in cases {
        let options = Options::to(to).ir_version(ir_version);
        let found = ir_version_after(&source(ir, from, metadata), &options);
        if !is_as_expected(&found, expected) {
            failures.push(format!(
                "IR {ir}, opset {from} to {to}, {ir_version:?}: {found:?}, not {expected:?}"
            ));
        }
    }
    expect_no_failures(failures);
}

/// The IR version of a converted model, or the error.
fn ir_version_after(source: &str, options: &Options) -> Result<i64, String> {
    let converted = convert_text(source, options);
    converted
        .map(|conversion| conversion.model.ir_version())
        .map_err(|error| error.to_string())
}

/// Whether a version is the expected one, or an error contains the expected text.
fn is_as_expected(found: &Result<i64, String>, expected: Result<i64, &str>) -> bool {
    match (found, expected) {
        (Ok(found), Ok(expected)) => *found == expected,
        (Err(found), Err(expected)) => found.contains(expected),
        _ => false,
    }
}

#[test]
fn opsets_of_other_domains_need_their_ir_version_too() {
    for (domain, version, operator, from, to, expected) in [
        ("ai.onnx.ml", 5, "ai.onnx.ml.Scaler (x)", 21, 15, 10),
        ("ai.onnx.ml", 5, "Relu (x)", 21, 15, 8),
        ("ai.onnx.ml", 2, "ai.onnx.ml.Scaler (x)", 21, 8, 6),
        (
            "ai.onnx.preview.training",
            1,
            "ai.onnx.preview.training.Adam (r, t, x, x, x, x)",
            21,
            9,
            7,
        ),
        ("local", 9, "local.F (x)", 21, 15, 8),
    ] {
        let source = format!(
            r#"<ir_version: 10, opset_import: ["": {from}, "{domain}": {version}]> g (float[2] x, float r, int64 t) => (float[2] y) {{ y = {operator} }}"#
        );
        let ir = convert_text(&source, &Options::to(to))
            .unwrap()
            .model
            .ir_version();
        assert_eq!(ir, expected, "{domain} {version} {operator}");
    }
}

#[test]
fn an_opset_of_ai_onnx_that_is_not_imported_needs_no_ir_version() {
    let cases = [
        ("", IrVersion::Number(8), Ok(8)),
        ("", IrVersion::AtMost(8), Ok(8)),
        ("", IrVersion::Auto, Ok(9)),
        // Opset 3 of ai.onnx.ml needs 8.
        (
            "",
            IrVersion::Number(7),
            Err("IR version 7 is too low: opset 3 of ai.onnx.ml needs 8"),
        ),
        (
            r#", "": 15"#,
            IrVersion::Number(8),
            Err("IR version 8 is too low: opset 20 needs 9"),
        ),
    ];
    let mut failures = Vec::new();
    for (import, ir_version, expected) in cases {
        let source = format!(
            r#"<ir_version: 9, opset_import: ["ai.onnx.ml": 3{import}]> g (float[2] x) => (float[2] y) {{ y = ai.onnx.ml.Scaler (x) }}"#
        );
        let found = ir_version_after(&source, &Options::to(20).ir_version(ir_version));
        if !is_as_expected(&found, expected) {
            failures.push(format!(
                "{import} {ir_version:?}: {found:?}, not {expected:?}"
            ));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn an_old_model_without_opset_is_one_of_opset_1_and_either_name_of_the_domain_is_good() {
    let nodes = "g (float[2] x) => (float[2] y) { y = Relu (x) }";
    let old = convert_text(
        &format!("<ir_version: 2, opset_import: []> {nodes}"),
        &Options::to(9),
    )
    .unwrap()
    .model
    .into_proto();
    assert_eq!((old.ir_version(), old.opset_import[0].version()), (4, 9));
    let alias = convert_text(
        &format!(r#"<ir_version: 8, opset_import: ["ai.onnx": 13]> {nodes}"#),
        &Options::to(14),
    )
    .unwrap();
    assert_eq!(alias.model.proto().opset_import[0].version(), 14);
}
