//! What is reported of many findings, and of known ones, and where.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use super::command::{Folder, SILENT, stderr, stdout};

/// A model with some casts that do not state `saturate`.
fn casts(count: usize) -> String {
    let mut text =
        String::from("<ir_version: 9, opset_import: [\"\": 19]> g (float[4] x) => () {\n");
    for index in 0..count {
        writeln!(text, "  [c{index}] y{index} = Cast <to = 17> (x)").unwrap();
    }
    text + "}"
}

#[test]
fn of_many_findings_of_a_rule_the_first_three_are_shown() {
    let cases = [
        (10, false, 10, ""),
        (11, false, 3, ": 8 more, which --verbose lists"),
        (11, true, 11, ""),
    ];
    for (count, is_verbose, shown, hidden) in cases {
        let folder = Folder::new();
        folder.model("m.onnx", &casts(count));
        let output = folder.recast(if is_verbose {
            &["lint", "--verbose"]
        } else {
            &["lint"]
        });
        let text = stdout(&output);
        assert_eq!(
            text.matches("--> m.onnx").count(),
            shown,
            "{count} findings: {text}"
        );
        let expected = format!("warning[RC101] float8-cast-missing-saturate{hidden}\n");
        assert_eq!(
            text.contains(&expected),
            !hidden.is_empty(),
            "{count} findings: {text}"
        );
        assert!(
            stderr(&output).starts_with(&format!("{count} findings in 1 of 1 model")),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn statistics_count_findings_by_rule() {
    let folder = Folder::new();
    folder.model("a.onnx", &casts(11));
    folder.model("b.onnx", SILENT);
    folder.model(
        "c.onnx",
        r#"<ir_version: 9, opset_import: ["": 19]> g (float[4] x) => (float8e5m2[4] y) { y = Cast <to = 19, saturate = 0> (x) }"#,
    );
    let table = "12 warning[RC101] float8-cast-missing-saturate: in 2 models, 12 fixable with --fix
 1 warning[RC103] float8-overflow-not-saturated: in 1 model
";
    for format in ["full", "concise"] {
        assert_eq!(
            stdout(&folder.recast(&["lint", "--statistics", "--format", format])),
            table,
            "{format}"
        );
    }
    let output = folder.recast(&["lint", "--statistics", "--format", "json"]);
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let row = |code: &str, name: &str, findings: usize, models: usize, fixable: usize| {
        json!({ "code": code, "name": name, "severity": "warning", "findings": findings, "models": models, "fixable": fixable,
            "unsafely_fixable": 0 })
    };
    let expected = [
        row("RC101", "float8-cast-missing-saturate", 12, 2, 12),
        row("RC103", "float8-overflow-not-saturated", 1, 1, 0),
    ];
    assert_eq!(document["statistics"], json!(expected));
    assert_eq!(document["findings"].as_array().map(Vec::len), Some(13));
    for format in ["sarif", "github", "gitlab", "junit", "jsonl"] {
        let output = folder.recast(&["lint", "--statistics", "--format", format]);
        assert_eq!(output.status.code(), Some(2), "{format}");
        assert!(
            stderr(&output).contains(
                "--statistics counts findings in the formats full, concise and json only"
            ),
            "{format}"
        );
    }
}

#[test]
fn findings_are_written_to_a_file_as_to_standard_output() {
    let folder = Folder::new();
    folder.model("m.onnx", &casts(11));
    for format in [
        "full", "concise", "json", "jsonl", "github", "gitlab", "junit", "sarif",
    ] {
        let expected = stdout(&folder.recast(&["lint", "m.onnx", "--format", format]));
        // The second run replaces the file.
        for _ in 0..2 {
            let output = folder.recast(&["lint", "m.onnx", "--format", format, "-o", "found.txt"]);
            assert_eq!(
                (output.status.code(), stdout(&output).as_str()),
                (Some(1), ""),
                "{format}: {}",
                stderr(&output)
            );
            assert_eq!(
                fs::read_to_string(folder.path("found.txt")).unwrap(),
                expected,
                "{format}"
            );
        }
        let output = folder.recast(&["lint", "m.onnx", "--format", format, "-o", "-"]);
        assert_eq!(stdout(&output), expected, "{format}");
    }
}

#[test]
fn findings_do_not_replace_a_file_of_the_run() {
    let folder = Folder::new();
    folder.model("m.onnx", SILENT);
    folder.model("other/n.onnx", SILENT);
    folder.write("recast.toml", b"[lint]\nbaseline = \"known.json\"\n");
    folder.write("known.json", b"{\"version\": 1, \"findings\": []}");
    let used = "is also an input or output of this run; use another name for the findings";
    let cases = [
        ("m.onnx", used),
        ("recast.toml", used),
        ("known.json", used),
        (
            "other/n.onnx",
            "is a model; use another name for the findings",
        ),
        (
            "none/found.txt",
            "the folder none does not exist; create it first",
        ),
    ];
    let mut failures = Vec::new();
    for (file, reason) in cases {
        let before = fs::read(folder.path(file)).ok();
        let output = folder.recast(&["lint", "m.onnx", "-o", file]);
        let message = format!("recast: {file}: {reason}\n");
        if (output.status.code(), stderr(&output)) != (Some(2), message)
            || fs::read(folder.path(file)).ok() != before
        {
            failures.push(format!(
                "{file}: {:?}: {}",
                output.status.code(),
                stderr(&output)
            ));
        }
    }
    crate::support::expect_no_failures(failures);
}

#[test]
fn a_configuration_names_the_baseline_of_its_models() {
    let folder = Folder::new();
    for part in ["a", "b"] {
        folder.model(&format!("{part}/m.onnx"), &casts(2));
        let baseline = format!("{part}/known.json");
        assert_eq!(
            folder
                .recast(&["lint", part, "--baseline", &baseline, "--write-baseline"])
                .status
                .code(),
            Some(0)
        );
        folder.write(
            &format!("{part}/recast.toml"),
            b"[lint]\nbaseline = \"known.json\"\n",
        );
    }
    folder.model("b/m.onnx", &casts(3));
    folder.model("c/m.onnx", SILENT);
    let cases: [(&[&str], i32, &str); 5] = [
        (
            &["a"],
            0,
            "no findings in 1 model; 2 known findings in the baseline\n",
        ),
        (
            &["b"],
            1,
            "1 finding in 1 of 1 model; 1 fixable with `--fix`; 2 known findings in the baseline\n",
        ),
        (
            &["."],
            1,
            "2 findings in 2 of 3 models; 2 fixable with `--fix`; 4 known findings in the baseline\n",
        ),
        (
            &["a", "--isolated"],
            1,
            "2 findings in 1 of 1 model; 2 fixable with `--fix`\n",
        ),
        (
            &["b", "--baseline", "a/known.json"],
            1,
            "3 findings in 1 of 1 model; 3 fixable with `--fix`\n",
        ),
    ];
    let mut failures = Vec::new();
    for (arguments, code, summary) in cases {
        let output = folder.recast(&[&["lint"], arguments].concat());
        if (output.status.code(), stderr(&output).as_str()) != (Some(code), summary) {
            failures.push(format!(
                "{arguments:?}: {:?}: {}",
                output.status.code(),
                stderr(&output)
            ));
        }
    }
    let document: Value =
        serde_json::from_str(&stdout(&folder.recast(&["lint", "b", "--format", "json"]))).unwrap();
    assert_eq!(document["known_findings"], 2);
    fs::remove_file(folder.path("b/m.onnx")).unwrap();
    folder.model("b/n.onnx", SILENT);
    let gone = stderr(&folder.recast(&["lint", "b"]));
    assert!(
        gone.starts_with(
            "recast: b/known.json: contains 2 obsolete findings; use --write-baseline to update it\n"
        ),
        "{gone}"
    );
    folder.write("a/known.json", b"[]");
    assert!(
        stderr(&folder.recast(&["lint", "a"]))
            .starts_with("recast: a/known.json: is not a baseline")
    );
    crate::support::expect_no_failures(failures);
}

#[test]
fn patterns_that_match_no_file_are_told() {
    let folder = Folder::new();
    folder.model("models/m.onnx", SILENT);
    folder.model("old/m.onnx", SILENT);
    let none = "recast: no file matches 'none' of --exclude\nrecast: no file matches 'x/*' of --per-file-ignores\n";
    let cases: [(&[&str], &str); 5] = [
        (&[".", "--exclude", "old"], ""),
        (
            &[".", "--exclude", "none", "--per-file-ignores", "x/*:RC1"],
            none,
        ),
        (&[".", "--exclude", "none", "--quiet"], ""),
        // No pattern excludes files that are named.
        (
            &["models/m.onnx", "--exclude", "none"],
            "recast: --exclude has no effect on files that are named\n",
        ),
        (&[".", "--per-file-ignores", "old/*:RC1"], ""),
    ];
    let mut failures = Vec::new();
    for (arguments, notes) in cases {
        let output = folder.recast(&[&["lint", "--format", "json"], arguments].concat());
        if (output.status.code(), stderr(&output).as_str()) != (Some(1), notes) {
            failures.push(format!(
                "{arguments:?}: {:?}: {}",
                output.status.code(),
                stderr(&output)
            ));
        }
    }
    let output = folder.recast(&["lint", ".", "--exclude", "none", "--format", "json"]);
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(document["unmatched"], json!(["none"]));
    let output = folder.recast(&["lint", ".", "--exclude", "none", "--strict"]);
    let message = "recast: no file matches 'none' of --exclude, which --strict does not permit\n";
    assert_eq!(
        (output.status.code(), stderr(&output).as_str()),
        (Some(2), message)
    );
    crate::support::expect_no_failures(failures);
}
