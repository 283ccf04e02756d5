//! Runtimes that have to load the models: the option `--target` and the setting `target`.

use super::command::{Folder, stderr, stdout};
use crate::support::expect_no_failures;

const MODEL: &str =
    r#"<ir_version: 8, opset_import: ["": 19]> g (float[4] x) => (float[4] y) { y = Relu (x) }"#;

#[test]
fn a_target_enables_the_rule() {
    let cases: &[(&str, &str, &[&str], &[&str])] = &[
        ("without a target", "", &["--select", "ALL"], &[]),
        (
            "the option",
            "",
            &["--target", "tensorrt@8.6"],
            &["tensorrt 8.4 to 8.6; its newest is 17"],
        ),
        (
            "a target that loads the model",
            "",
            &["--target", "onnxruntime@1.17"],
            &[],
        ),
        (
            "several",
            "",
            &["--target", "tensorrt@8.6,windowsml@11"],
            &["tensorrt 8.4", "windowsml 11; its newest is 12"],
        ),
        (
            "the setting",
            "target = 'rknn@1.5.2'",
            &[],
            &["rknn 1.5.2; its newest is 12"],
        ),
        (
            "a list",
            "target = ['rknn@1.5.2', 'onnxruntime@1.5.2']",
            &[],
            &["rknn", "opset 19", "IR version 8"],
        ),
        (
            "the option replaces the setting",
            "target = 'rknn@1.5.2'",
            &["--target", "onnxruntime@1.20"],
            &[],
        ),
        (
            "beside other rules",
            "target = 'rknn@1.5.2'\nselect = ['RC101']",
            &[],
            &["rknn"],
        ),
        (
            "ignored",
            "target = 'rknn@1.5.2'\nignore = ['RC501']",
            &[],
            &[],
        ),
        (
            "ignored by the option",
            "target = 'rknn@1.5.2'",
            &["--ignore", "RC5"],
            &[],
        ),
        (
            "a severity",
            "target = 'rknn@1.5.2'\n[lint.severity]\nRC501 = 'info'",
            &["--fail-on", "info"],
            &["RC501 info"],
        ),
    ];
    let mut failures = Vec::new();
    for (name, settings, options, expected) in cases {
        let folder = Folder::new();
        folder.model("m.onnx", MODEL);
        folder.write("recast.toml", format!("[lint]\n{settings}\n").as_bytes());
        let done = folder.recast(&[&["lint", "m.onnx", "--format", "concise"], *options].concat());
        let (found, code) = (stdout(&done), done.status.code());
        if !expected.iter().all(|part| found.contains(part))
            || code != Some(i32::from(!expected.is_empty()))
        {
            failures.push(format!(
                "{name}: exit code {code:?}\n{found}{}",
                stderr(&done)
            ));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn an_unknown_target_is_an_error() {
    let cases = [
        (
            "target = 'onnxruntime'",
            "recast.toml: line 2, column 10: target: expected RUNTIME@VERSION, for instance onnxruntime@1.32",
        ),
        (
            "target = 'tflite@2'",
            "recast.toml: line 2, column 10: target: unknown runtime 'tflite'; known runtimes are onnxruntime",
        ),
        (
            "target = ['onnxruntime@0.1']",
            "target: unknown version '0.1'; known are onnxruntime 1.5.2",
        ),
        (
            "target = 17",
            "expected RUNTIME@VERSION or a list of these, for instance \"onnxruntime@1.17\"",
        ),
    ];
    let mut failures = Vec::new();
    for (settings, expected) in cases {
        let folder = Folder::new();
        folder.model("m.onnx", MODEL);
        folder.write("recast.toml", format!("[lint]\n{settings}\n").as_bytes());
        let done = folder.recast(&["lint", "m.onnx"]);
        if !stderr(&done).contains(expected) || done.status.code() != Some(2) {
            failures.push(format!("{settings}: {}", stderr(&done)));
        }
    }
    expect_no_failures(failures);
}
