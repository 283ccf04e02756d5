//! `recast precision`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use prost::Message;

use crate::support::model;

const MODEL: &str = r#"<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float[2] y) <float[2] w = {0.5, -3.4e38}, float[2] e = {1e-12, 2}>
    { [a] p = Add (x, w) [b] q = Exp (p) [c] y = Mul (q, e) }"#;

fn recast(folder: &Path, arguments: &[&str]) -> Output {
    fs::write(folder.join("m.onnx"), model(MODEL).encode_to_vec()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_recast"))
        .arg("precision")
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    crate::schemas::expect_valid(&[&["precision"], arguments].concat(), &output);
    output
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn a_second_run_writes_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let first = recast(
        folder.path(),
        &["m.onnx", "--to", "float16", "-o", "a.onnx", "--verify"],
    );
    assert_eq!(first.status.code(), Some(0), "{first:?}");
    let text = stdout(&first);
    for line in [
        "cast 1 constant of 2 elements: 1 beyond the range (up to 3.4e38), now ±32752",
        "graph/w: 1 beyond the range (up to 3.4e38), now ±32752",
        "kept the types of 2 nodes\n    graph/b: its result commonly needs the range or the digits of a wider type",
        "graph/c: its values are exponentials, and leave the range before a division or a logarithm",
        "verified 5 nodes and 1 new constant of 2 elements",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let second = recast(
        folder.path(),
        &["a.onnx", "--to", "FLOAT16", "-o", "b.onnx"],
    );
    assert!(stdout(&second).contains("nothing to change"), "{second:?}");
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(
        (second.status.code(), read("a.onnx")),
        (Some(0), read("b.onnx"))
    );
}

#[test]
fn the_report_is_one_document() {
    let folder = tempfile::tempdir().unwrap();
    let output = recast(
        folder.path(),
        &[
            "m.onnx",
            "--to",
            "FLOAT16",
            "--policy",
            "all",
            "--dry-run",
            "--format",
            "json",
        ],
    );
    let document: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let report = &document["models"][0];
    assert_eq!(report["tensors"][0]["bound"], 32752.0);
    assert_eq!(
        (&report["to"], &report["output"]),
        (&serde_json::json!("FLOAT16"), &serde_json::Value::Null)
    );
    assert_eq!(report["casts_added"][0]["node"], "graph/x_to_FLOAT16");
}

#[test]
fn invalid_options_are_errors_that_name_them() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("ranges.json"),
        r#"{"p": {"min": 0, "max": 1e6}, "x": [0, 1, 1e-9]}"#,
    )
    .unwrap();
    for (arguments, code, message) in [
        (
            &["--to", "INT8"][..],
            2,
            "INT8 is not supported as the type of values; use FLOAT16, BFLOAT16 or FLOAT",
        ),
        (
            &["--to", "FLOAT16", "--io", "z=FLOAT16"],
            2,
            "'z' is not an input or output of the model",
        ),
        (
            &["--to", "FLOAT16", "--keep-node", "[a"],
            2,
            "invalid pattern",
        ),
        (
            &["--to", "FLOAT16", "--on-overflow", "refuse"],
            2,
            "graph/w: 1 finite numbers are beyond the range of FLOAT16",
        ),
        (
            &["--to", "FLOAT16", "--ranges", "none.json"],
            2,
            "none.json",
        ),
        (&["--to", "FLOAT16", "--ranges", "m.onnx"], 2, "m.onnx"),
        (&["--to", "FLOAT16", "--ranges", "ranges.json"], 0, ""),
        (&["--to", "BFLOAT16", "--opset", "auto"], 0, ""),
    ] {
        let output = recast(
            folder.path(),
            &[&["m.onnx", "--dry-run", "-q"], arguments].concat(),
        );
        let found = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {found}");
        assert!(found.contains(message), "{arguments:?}: {found}");
        assert_eq!(found.is_empty(), code == 0, "{arguments:?}: {found}");
    }
}
