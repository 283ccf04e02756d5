//! Models without operators of ai.onnx: XGBoost, LightGBM and CatBoost exports hold only
//! ai.onnx.ml.

use super::{Folder, document, recast, said};
use crate::support::expect_no_failures;

const BODY: &str = "g (float[1,2] x) => (float[1,2] y) { y = ai.onnx.ml.Scaler (x) }";

#[test]
fn only_the_import_and_the_ir_version_change() {
    // IR version and imports before, the target, and both after.
    let cases = [
        (
            8,
            r#""": 15, "ai.onnx.ml": 3"#,
            21,
            10,
            r#""": 21, "ai.onnx.ml": 3"#,
        ),
        (
            10,
            r#""": 21, "ai.onnx.ml": 1"#,
            9,
            4,
            r#""": 9, "ai.onnx.ml": 1"#,
        ),
        (
            10,
            r#""": 21, "ai.onnx.ml": 3"#,
            9,
            8,
            r#""": 9, "ai.onnx.ml": 3"#,
        ),
        (
            8,
            r#""": 99, "ai.onnx.ml": 1"#,
            21,
            10,
            r#""": 21, "ai.onnx.ml": 1"#,
        ),
        // Without an import of ai.onnx there is none to change.
        (8, r#""ai.onnx.ml": 3"#, 21, 8, r#""ai.onnx.ml": 3"#),
        (10, r#""ai.onnx.ml": 1"#, 9, 4, r#""ai.onnx.ml": 1"#),
        (5, r#""ai.onnx.ml": 3"#, 9, 8, r#""ai.onnx.ml": 3"#),
    ];
    let folder = Folder::new();
    let output = folder.named("out.onnx");
    let mut failures = Vec::new();
    for (ir, imports, opset, ir_after, imports_after) in cases {
        let input = folder.put(
            "m.onnx",
            &format!("<ir_version: {ir}, opset_import: [{imports}]> {BODY}"),
        );
        let done = recast(&[
            "convert",
            &input,
            "--opset",
            &opset.to_string(),
            "-o",
            &output,
            "--format",
            "json",
        ]);
        if done.status.code() != Some(0) {
            failures.push(format!("{imports} to {opset}: {}", said(&done)));
            continue;
        }
        let expected = crate::support::model(&format!(
            "<ir_version: {ir_after}, opset_import: [{imports_after}]> {BODY}"
        ));
        if folder.read("out.onnx") != expected {
            failures.push(format!(
                "{imports} to {opset}: {}",
                folder.read_text("out.onnx")
            ));
        }
        let model = &document(&done)["models"][0];
        if model["from"].get("ai.onnx").is_some() != imports.contains(r#""":"#)
            || !model["changes"].as_array().unwrap().is_empty()
        {
            failures.push(format!("{imports} to {opset}: {model}"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn the_report_says_that_there_was_nothing_to_convert() {
    let folder = Folder::new();
    let input = folder.put(
        "m.onnx",
        &format!(r#"<ir_version: 8, opset_import: ["ai.onnx.ml": 3]> {BODY}"#),
    );
    let done = recast(&["convert", &input, "--opset", "13", "--dry-run"]);
    assert_eq!(done.status.code(), Some(0));
    assert!(
        said(&done).contains("ai.onnx is neither imported nor used, IR version 8\n"),
        "{}",
        said(&done)
    );
}

#[test]
fn one_such_model_does_not_stop_a_batch() {
    let folder = Folder::new();
    let inputs = [
        folder.put("ml.onnx", &format!(r#"<ir_version: 8, opset_import: ["ai.onnx.ml": 3]> {BODY}"#)),
        folder.put(
            "own.onnx",
            r#"<ir_version: 8, opset_import: ["com.example": 1]> g (float x) => (float y) { y = com.example.F (x) }"#,
        ),
        folder.put("plain.onnx", r#"<ir_version: 8, opset_import: ["": 13]> g (float x) => (float y) { y = Relu (x) }"#),
    ];
    let out = folder.named("out");
    let arguments: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let done = recast(
        &[
            &["convert", "--opset", "15", "--out-dir", &out],
            arguments.as_slice(),
        ]
        .concat(),
    );
    assert_eq!(done.status.code(), Some(0), "{}", said(&done));
    assert!(folder.path("out/plain.onnx").exists());
}
