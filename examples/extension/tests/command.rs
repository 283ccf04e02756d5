//! The command with the passes, the rule and the adapter of this crate.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

const MODEL: &str = r#"<ir_version: 9, opset_import: ["": 20, "my.runtime": 1]>
g (float[2] x) => (float[2] y) { [first] a = Identity (x)  y = Gelu (a) }"#;

/// What a run prints, and its exit code.
fn recast(folder: &Path, arguments: &str) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_recast-extended"))
        .args(arguments.split(' '))
        .current_dir(folder)
        .output()
        .unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(printed).unwrap())
}

#[test]
fn the_command_knows_what_the_crate_adds() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("m.onnxtxt"), MODEL).unwrap();
    std::fs::write(
        folder.path().join("recast.toml"),
        "[lint]\nseverity = { X101 = \"error\" }\n",
    )
    .unwrap();
    let cases = [
        (
            "lint m.onnxtxt --select X101",
            1,
            "error[X101] unnamed-node",
        ),
        ("lint m.onnxtxt --ignore unnamed-node", 0, ""),
        ("lint m.onnxtxt --select X102", 2, "did you mean X101?"),
        ("explain X101", 0, "# X101 unnamed-node"),
        ("explain", 0, "X101  unnamed-node"),
        (
            "passes",
            0,
            "added by this command; run by name only\n  remove-identities",
        ),
        ("passes require-known-domains", 0, "Fails if a node calls"),
        (
            "fold m.onnxtxt -o f.onnx --passes remove-identities",
            0,
            "removed",
        ),
        (
            "fold m.onnxtxt -o f.onnx --passes remove-identity",
            2,
            "remove-identities",
        ),
        (
            "convert m.onnxtxt --opset 17 -o c.onnx",
            0,
            "opset 20 -> 17",
        ),
        ("inspect c.onnx", 0, "my.runtime:Gelu 1"),
    ];
    let mut failures = Vec::new();
    for (arguments, code, part) in cases {
        let (found, printed) = recast(folder.path(), arguments);
        if found != Some(code) || !printed.contains(part) {
            failures.push(format!("{arguments}: {found:?}\n{printed}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn sarif_has_the_rule_and_no_link_for_it() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("m.onnxtxt"), MODEL).unwrap();
    let (_, printed) = recast(folder.path(), "lint m.onnxtxt --select X101 --format sarif");
    let log: Value = serde_json::from_str(&printed).unwrap();
    let rule = &log["runs"][0]["tool"]["driver"]["rules"][0];
    assert_eq!(
        (&rule["id"], &rule["helpUri"]),
        (&"X101".into(), &Value::Null)
    );
}
