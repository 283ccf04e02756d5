//! `opset_import` with a domain that is listed more than once.

use super::{Folder, recast, said};
use crate::support::expect_no_failures;

const BODY: &str = "g (float[2] x) => (float16[2] y) { h = l.F (x) y = Cast <to = 10> (h) }";

fn source(model: &str, function: &str) -> String {
    format!(
        r#"<ir_version: 8, opset_import: [{model}, "l": 1]> {BODY}
        <domain: "l", opset_import: [{function}]> F (v) => (w) {{ w = Relu (v) }}"#
    )
}

/// skl2onnx lists `ai.onnx` twice by default, and some exporters list both of its names.
#[test]
fn a_domain_may_be_listed_again_at_the_same_version() {
    let lists = [
        (r#""": 13, "": 13"#, r#""": 14, "": 14"#),
        (r#""": 13, "ai.onnx": 13"#, r#""ai.onnx": 14, "": 14"#),
    ];
    let folder = Folder::new();
    let mut failures = Vec::new();
    for (model, function) in lists {
        let input = folder.put("m.onnx", &source(model, function));
        let before = folder.read("m.onnx");
        for command in [
            &["fold"][..],
            &["convert", "--opset", "15"],
            &["convert", "--opset", "13"],
        ] {
            let output = folder.named("out.onnx");
            let done = recast(&[command, &[&input, "-o", &output]].concat());
            if done.status.code() != Some(0) {
                failures.push(format!("{model}: {command:?}: {}", said(&done)));
                continue;
            }
            let mut after = folder.read("out.onnx");
            if let [_, _, opset] = command {
                let opset = opset.parse().unwrap();
                let imports = |imports: &[onnx_recast::proto::OperatorSetIdProto]| {
                    imports
                        .iter()
                        .map(|import| (import.domain().to_owned(), import.version()))
                        .collect::<Vec<_>>()
                };
                let expected = |imports: Vec<(String, i64)>| {
                    let moved =
                        imports
                            .into_iter()
                            .map(|(domain, version)| match domain.as_str() {
                                "l" => (domain, version),
                                _ => (domain, opset),
                            });
                    moved.collect::<Vec<_>>()
                };
                if imports(&after.opset_import) != expected(imports(&before.opset_import))
                    || imports(&after.functions[0].opset_import)
                        != expected(imports(&before.functions[0].opset_import))
                {
                    failures.push(format!(
                        "{model}: {command:?}: {:?}",
                        imports(&after.opset_import)
                    ));
                }
                after.opset_import.clone_from(&before.opset_import);
                after.functions[0]
                    .opset_import
                    .clone_from(&before.functions[0].opset_import);
                after.ir_version = before.ir_version;
            }
            if after != before {
                failures.push(format!("{model}: {command:?} changed more than the opset"));
            }
        }
        for (command, code) in [
            (&["lint", "--isolated"][..], 0),
            (&["inspect"], 0),
            (&["diff", &input], 0),
        ] {
            let done = recast(&[command, &[&input]].concat());
            if done.status.code() != Some(code) {
                failures.push(format!("{model}: {command:?}: {}", said(&done)));
            }
        }
    }
    expect_no_failures(failures);
}

#[test]
fn two_versions_of_a_domain_are_an_error() {
    let cases = [
        (
            r#""": 13, "": 14"#,
            r#""": 13"#,
            "opset_import: imports two versions of ai.onnx, 13 and 14",
        ),
        (
            r#""": 13, "ai.onnx": 14"#,
            r#""": 13"#,
            "opset_import: imports two versions of ai.onnx, 13 and 14",
        ),
        (
            r#""": 13, "my": 1, "my": 2"#,
            r#""": 13"#,
            "opset_import: imports two versions of my, 1 and 2",
        ),
        (
            r#""": 13"#,
            r#""": 13, "ai.onnx": 12"#,
            "function/l:F: imports two versions of ai.onnx, 13 and 12",
        ),
    ];
    let folder = Folder::new();
    let output = folder.named("out.onnx");
    let mut failures = Vec::new();
    for (model, function, message) in cases {
        let input = folder.put("m.onnx", &source(model, function));
        for command in [
            &["fold", "-o", &output][..],
            &["convert", "--opset", "15", "-o", &output],
            &["lint", "--isolated"],
            &["inspect"],
            &["diff", &input],
        ] {
            let done = recast(&[command, &[&input]].concat());
            if done.status.code() != Some(2)
                || !said(&done).contains(message)
                || folder.path("out.onnx").exists()
            {
                failures.push(format!(
                    "{model}: {command:?}: {:?} {}",
                    done.status.code(),
                    said(&done)
                ));
            }
        }
    }
    expect_no_failures(failures);
}
