//! Of several rules that report a node for the same reason, the most specific is shown.

use super::{Folder, document, recast};
use crate::support::expect_no_failures;

#[test]
fn a_more_specific_rule_hides_the_others_unless_all_are_asked_for() {
    // A model, the rules that are selected, and what is shown by default and with the option.
    let cases = [
        (
            r#"<ir_version: 8, opset_import: ["": 18]> g () => (float[1] y) <float[1] w = {1}> { y = Cast <to = 1> (w) }"#,
            "RC401,RC402",
            "RC401",
            "RC401 RC402",
        ),
        (
            r#"<ir_version: 8, opset_import: ["": 18]> g () => (float[1] y) <float[1] w = {1}> { y = Cast <to = 1> (w) }"#,
            "RC402",
            "RC402",
            "RC402",
        ),
        (
            r#"<ir_version: 8, opset_import: ["": 18]> g (float[2] x) => (float[2] y)
                { h = Cast <to = 10> (x) a = Cast <to = 1> (h) b = Cast <to = 1> (h) y = Add (a, b) }"#,
            "RC305,RC404",
            "RC305 RC305",
            "RC305 RC305 RC404",
        ),
        (
            r#"<ir_version: 8, opset_import: ["": 12]> g (float[2] x) => (float[2] y) { y = CastLike (x, x) z = Erfc (x) }"#,
            "RC202,RC210",
            "RC202 RC210",
            "RC202 RC210 RC210",
        ),
    ];
    let folder = Folder::new();
    let mut failures = Vec::new();
    for (text, select, shown, all) in cases {
        let input = folder.put("m.onnx", text);
        for (option, expected) in [(&[][..], shown), (&["--show-overlapping"], all)] {
            let done = recast(
                &[
                    &[
                        "lint",
                        "--isolated",
                        "--select",
                        select,
                        "--format",
                        "json",
                        &input,
                    ],
                    option,
                ]
                .concat(),
            );
            let document = document(&done);
            let codes: Vec<&str> = document["findings"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| one["code"].as_str().unwrap())
                .collect();
            if codes.join(" ") != expected {
                failures.push(format!(
                    "{select} {option:?}: {}, not {expected}\n{text}",
                    codes.join(" ")
                ));
            }
        }
    }
    expect_no_failures(failures);
}

/// Findings that a report hides are fixed too.
#[test]
fn fixes_are_applied_whatever_is_shown() {
    let folder = Folder::new();
    let text = r#"<ir_version: 8, opset_import: ["": 18]> g (float[2] x) => (float[2] y)
        { h = Cast <to = 10> (x) a = Cast <to = 1> (h) b = Cast <to = 1> (h) y = Add (a, b) }"#;
    let input = folder.put("m.onnx", text);
    recast(&[
        "lint",
        "--isolated",
        "--select",
        "RC305,RC404",
        "--fix",
        "--unsafe-fixes",
        &input,
    ]);
    assert_eq!(folder.read("m.onnx").graph.as_ref().unwrap().node.len(), 3);
}
