//! `--from-opset`: models that state another opset than the one they are written in.

use super::{Folder, document, recast, said};
use crate::support::expect_no_failures;

const WINDOW: &str = "g (int64 n) => (float[l] y) { [window] y = HannWindow (n) }";
const QUANTIZE: &str = "g (float[2,4] x, float[4] s, uint8[4] z) => (uint8[2,4] y) { y = QuantizeLinear <axis = 1> (x, s, z) }";

#[test]
fn the_model_is_read_as_if_it_imported_the_opset() {
    let function = r#" <domain: "l", opset_import: ["": 14]> F (x) => (y) { y = Mish (x) }
        <domain: "l", opset_import: ["": 12]> G (x) => (y) { y = Relu (x) }"#;
    let calls = "g (float[2] x) => (float[2] y) { h = l.F (x) y = l.G (h) }";
    // What the model states and holds, the two options, and what it states afterwards.
    let cases = [
        (r#""": 14"#, WINDOW.to_owned(), "17", "17", r#""": 17"#),
        (r#""": 14"#, WINDOW.to_owned(), "17", "21", r#""": 21"#),
        (r#""": 11"#, QUANTIZE.to_owned(), "13", "18", r#""": 18"#),
        (
            r#""": 14, "ai.onnx": 14"#,
            WINDOW.to_owned(),
            "17",
            "17",
            r#""": 17, "ai.onnx": 17"#,
        ),
        (
            r#""com.example": 1"#,
            WINDOW.to_owned(),
            "17",
            "18",
            r#""com.example": 1, "": 18"#,
        ),
        (
            r#""": 14, "l": 1"#,
            format!("{calls} {function}"),
            "18",
            "18",
            r#""": 18, "l": 1"#,
        ),
    ];
    let folder = Folder::new();
    let output = folder.named("out.onnx");
    let mut failures = Vec::new();
    for (imports, body, from, to, after) in cases {
        let source = |imports: &str, body: &str| {
            format!("<ir_version: 11, opset_import: [{imports}]> {body}")
        };
        let input = folder.put("m.onnx", &source(imports, &body));
        let done = recast(&[
            "convert",
            &input,
            "--from-opset",
            from,
            "--opset",
            to,
            "-o",
            &output,
            "--format",
            "json",
        ]);
        if done.status.code() != Some(0) {
            failures.push(format!("{imports}: {}", said(&done)));
            continue;
        }
        let body = body
            .replace(r#""": 14"#, &format!(r#""": {to}"#))
            .replace(r#""": 12"#, &format!(r#""": {to}"#));
        let expected = crate::support::model(&source(after, &body));
        failures.extend(crate::support::difference(
            imports,
            &expected,
            &folder.read("out.onnx"),
        ));
        let model = &document(&done)["models"][0];
        if model["from"]["ai.onnx"].as_i64() != from.parse().ok() {
            failures.push(format!("{imports}: {model}"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn the_report_says_both_opsets_and_a_refusal_names_the_option() {
    let folder = Folder::new();
    let input = folder.put(
        "m.onnx",
        &format!(r#"<ir_version: 8, opset_import: ["": 14]> {WINDOW}"#),
    );
    let refused = recast(&["convert", &input, "--opset", "18", "--dry-run"]);
    assert_eq!(refused.status.code(), Some(1));
    for part in [
        "opset 14 of ai.onnx has no operator 'HannWindow', which is new in opset 17",
        "if its opset import is wrong, use --from-opset 17",
    ] {
        assert!(said(&refused).contains(part), "{}", said(&refused));
    }
    let done = recast(&[
        "convert",
        &input,
        "--from-opset",
        "17",
        "--opset",
        "18",
        "--dry-run",
    ]);
    assert!(
        said(&done).contains("  opset 17 (stated: 14) -> 18, IR version 8\n"),
        "{}",
        said(&done)
    );
    let json = document(&recast(&[
        "convert",
        &input,
        "--from-opset",
        "17",
        "--opset",
        "18",
        "--dry-run",
        "--format",
        "json",
    ]));
    assert_eq!(json["models"][0]["stated_opset"], 14);
    // The expansion of Gelu lacks Erf; the model's own opset has Gelu.
    let gelu = r#"<ir_version: 9, opset_import: ["": 20]> g (float[2] x) => (float[2] y) { y = Gelu (x) }"#;
    let refused = recast(&[
        "convert",
        &folder.put("gelu.onnx", gelu),
        "--opset",
        "8",
        "--dry-run",
    ]);
    assert!(
        said(&refused).contains("Erf is new in opset 9")
            && !said(&refused).contains("--from-opset"),
        "{}",
        said(&refused)
    );
    let unknown = recast(&[
        "convert",
        &input,
        "--from-opset",
        "99",
        "--opset",
        "18",
        "--dry-run",
    ]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        said(&unknown).contains("'99' for '--from-opset <N>': there is no opset 99"),
        "{}",
        said(&unknown)
    );
}
