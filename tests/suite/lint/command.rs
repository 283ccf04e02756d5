//! The commands `recast lint` and `recast explain`.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use onnx_recast::internals::onnx_text;
use onnx_recast::proto::ModelProto;
use prost::Message;
use serde_json::Value;
use tempfile::TempDir;

use crate::schemas::expect_valid;
use crate::support::model;

/// A folder that commands run in.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub fn model(&self, name: &str, text: &str) {
        self.write(name, &model(text).encode_to_vec());
    }

    pub fn text(&self, name: &str) -> String {
        onnx_text::print(
            &ModelProto::decode(fs::read(self.path(name)).unwrap().as_slice()).unwrap(),
        )
    }

    pub fn recast(&self, arguments: &[&str]) -> Output {
        let output = self
            .command(arguments)
            .output()
            .expect("the command starts");
        expect_valid(arguments, &output);
        output
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_recast"));
        command
            .args(arguments)
            .current_dir(self.0.path())
            .env("NO_COLOR", "1");
        command
    }

    fn recast_with_input(&self, arguments: &[&str], input: &[u8]) -> Output {
        let mut command = self.command(arguments);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that rejects its arguments exits before it reads.
        let written = child.stdin.take().unwrap().write_all(input);
        assert!(
            written.is_ok() || written.is_err_and(|error| error.kind() == ErrorKind::BrokenPipe)
        );
        child.wait_with_output().unwrap()
    }
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The codes and places of a run in JSON.
fn findings(output: &Output) -> Vec<String> {
    let document: Value = serde_json::from_str(&stdout(output))
        .unwrap_or_else(|error| panic!("{error}: {}", stderr(output)));
    let found = document["findings"].as_array().unwrap().iter();
    found
        .map(|found| {
            let place = found["node"]
                .as_str()
                .or(found["value"].as_str())
                .unwrap_or("model");
            format!(
                "{} {} {place}",
                found["path"].as_str().unwrap(),
                found["code"].as_str().unwrap()
            )
        })
        .collect()
}

pub const SILENT: &str = r#"<ir_version: 9, opset_import: ["": 19]> g (float[4] x) => (float8e4m3fn[4] y) { [quantize] y = Cast <to = 17> (x) }"#;
const STATED: &str = r#"<ir_version: 9, opset_import: ["": 19]> g (float[4] x) => (float8e4m3fn[4] y) { [quantize] y = Cast <to = 17, saturate = 1> (x) }"#;
/// Has a finding of each severity: RC201 error, RC101 warning, RC106 info (on request).
const MIXED: &str = r#"<ir_version: 9, opset_import: ["": 19]>
    g (float[4] x) => (float16[4] a, float8e5m2[4] b, float16[4] c) { [bare] a = Cast (x) [silent] b = Cast <to = 19> (x) [idle] c = Cast <to = 10, saturate = 1> (x) }"#;

#[test]
fn the_exit_code_reflects_the_findings() {
    let folder = Folder::new();
    folder.model("silent.onnx", SILENT);
    folder.model("stated.onnx", STATED);
    folder.model("mixed.onnx", MIXED);
    folder.write("broken.onnx", b"no model");
    let cases: [(&[&str], i32); 16] = [
        (&["stated.onnx"], 0),
        (&["silent.onnx"], 1),
        (&["silent.onnx", "--exit-zero"], 0),
        (&["silent.onnx", "--fail-on", "error"], 0),
        (
            &[
                "silent.onnx",
                "--fail-on",
                "error",
                "--severity",
                "RC1=error",
            ],
            1,
        ),
        (&["mixed.onnx", "--fail-on", "error"], 1),
        (&["mixed.onnx", "--select", "RC106"], 0),
        (&["mixed.onnx", "--select", "RC106", "--fail-on", "info"], 1),
        (&["broken.onnx"], 2),
        (&["broken.onnx", "silent.onnx", "--exit-zero"], 2),
        (&["missing.onnx"], 2),
        (&["no*match.onnx"], 2),
        (&["stated.onnx", "--select", "RC999"], 2),
        (&["stated.onnx", "--fail-on", "fatal"], 2),
        (&["stated.onnx", "--config", "none.toml"], 2),
        (&["stated.onnx", "--write-baseline"], 2),
    ];
    let mut failures = Vec::new();
    for (arguments, expected) in cases {
        let output = folder.recast(&[&["lint"], arguments].concat());
        if output.status.code() != Some(expected) {
            failures.push(format!(
                "{arguments:?}: {:?}, not {expected}: {}",
                output.status.code(),
                stderr(&output)
            ));
        }
    }
    crate::support::expect_no_failures(failures);
}

#[test]
fn invalid_files_are_reported_and_the_others_linted() {
    let folder = Folder::new();
    folder.write("a.onnx", b"\x3a\xff");
    folder.model("b.onnx", SILENT);
    folder.write("c.onnx", b"");
    folder.model("d.onnx", SILENT);
    let output = folder.recast(&["lint", "--format", "json"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        findings(&output),
        ["b.onnx RC101 graph/quantize", "d.onnx RC101 graph/quantize"]
    );
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let errors: Vec<&str> = document["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["path"].as_str().unwrap())
        .collect();
    assert_eq!(errors, ["a.onnx", "c.onnx"]);
    let codes: Vec<&Value> = document["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| &error["code"])
        .collect();
    assert_eq!(codes, ["malformed-protobuf", "not-a-model"]);
    assert!(
        stderr(&output).contains("recast: a.onnx: "),
        "{}",
        stderr(&output)
    );
    assert!(
        stderr(&output).contains("recast: c.onnx: is empty"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn files_come_from_folders_patterns_lists_and_standard_input() {
    let folder = Folder::new();
    for name in [
        "b.onnx",
        "a.onnx",
        "deep/er/c.onnx",
        ".hidden/d.onnx",
        "e.txt",
    ] {
        folder.model(name, SILENT);
    }
    folder.write("list.txt", b"deep\nb.onnx\n\n");
    let paths = |arguments: &[&str]| {
        let output = folder.recast(&[&["lint", "--format", "json"], arguments].concat());
        findings(&output)
            .iter()
            .map(|found| found.split(' ').next().unwrap().to_owned())
            .collect::<Vec<String>>()
    };
    assert_eq!(paths(&[]), ["a.onnx", "b.onnx", "deep/er/c.onnx"]);
    assert_eq!(
        paths(&["b.onnx", "./b.onnx", "."]),
        ["b.onnx", "a.onnx", "deep/er/c.onnx"]
    );
    assert_eq!(
        paths(&["**/*.onnx"]),
        ["a.onnx", "b.onnx", "deep/er/c.onnx"].map(|path| path.to_owned())
    );
    assert_eq!(paths(&["e.txt"]), ["e.txt"]);
    assert_eq!(
        paths(&["--file-list", "list.txt"]),
        ["deep/er/c.onnx", "b.onnx"]
    );
    assert_eq!(paths(&[".", "--exclude", "deep,a.*"]), ["b.onnx"]);
    assert_eq!(paths(&["a.onnx", "--exclude", "a.*"]), ["a.onnx"]);
    // A comma in braces belongs to the pattern.
    assert_eq!(paths(&[".", "--exclude", "{a,none}.onnx,deep"]), ["b.onnx"]);
    assert_eq!(
        paths(&[".", "--per-file-ignores", "{a,b}.onnx:RC1,deep/*:RC1"]),
        [""; 0]
    );
    let from_input = folder.recast_with_input(
        &["lint", "-", "--format", "json"],
        &model(SILENT).encode_to_vec(),
    );
    assert_eq!(
        (from_input.status.code(), findings(&from_input)),
        (Some(1), vec!["- RC101 graph/quantize".to_owned()])
    );
    let listed = folder.recast_with_input(
        &["lint", "--file-list", "-", "--format", "json"],
        b"a.onnx\n",
    );
    assert_eq!(findings(&listed), ["a.onnx RC101 graph/quantize"]);
}

#[test]
fn the_nearest_configuration_applies_and_the_command_line_overrides_it() {
    let folder = Folder::new();
    folder.model("m.onnx", MIXED);
    folder.model("inside/m.onnx", MIXED);
    folder.model("inside/legacy/m.onnx", MIXED);
    folder.write("recast.toml", b"[lint]\nselect = [\"RC106\"]\n");
    folder.write("inside/recast.toml", b"[lint]\nignore = [\"RC201\"]\n[lint.per-file-ignores]\n\"legacy/*.onnx\" = [\"RC1\"]\n[lint.severity]\nRC101 = \"error\"\n");
    let run = |arguments: &[&str]| {
        findings(&folder.recast(&[&["lint", "--format", "json"], arguments].concat()))
    };
    assert_eq!(
        run(&[]),
        [
            "inside/m.onnx RC101 graph/silent",
            "m.onnx RC106 graph/idle"
        ]
    );
    assert_eq!(
        run(&["m.onnx", "--isolated"]),
        ["m.onnx RC201 graph/bare", "m.onnx RC101 graph/silent"]
    );
    assert_eq!(
        run(&["m.onnx", "--select", "RC201"]),
        ["m.onnx RC201 graph/bare"]
    );
    assert_eq!(
        run(&["m.onnx", "--extend-select", "RC201"]),
        ["m.onnx RC201 graph/bare", "m.onnx RC106 graph/idle"]
    );
    assert_eq!(
        run(&["m.onnx", "--config", "inside/recast.toml"]),
        ["m.onnx RC101 graph/silent"]
    );
    assert_eq!(
        run(&["m.onnx", "--per-file-ignores", "m.onnx:RC106"]),
        [""; 0]
    );
    let severity = stdout(&folder.recast(&["lint", "inside/m.onnx", "--format", "concise"]));
    assert!(severity.contains("RC101 error"), "{severity}");
}

#[test]
fn each_model_fails_the_run_by_the_severity_of_its_own_configuration() {
    let folder = Folder::new();
    folder.model("strict/m.onnx", SILENT);
    folder.model("mild/m.onnx", SILENT);
    folder.write("mild/recast.toml", b"[lint]\nfail-on = \"error\"\n");
    let run = |arguments: &[&str]| folder.recast(&[&["lint"], arguments].concat());
    let code = |arguments: &[&str]| run(arguments).status.code();
    assert_eq!(code(&["mild"]), Some(0));
    assert_eq!(code(&["mild", "strict"]), Some(1));
    assert_eq!(
        code(&["mild", "--fail-on", "warning"]),
        Some(1),
        "the command line overrides it"
    );
    assert_eq!(code(&["mild", "--severity", "RC101=error"]), Some(1));
    assert_eq!(
        stdout(&run(&["mild", "strict", "--format", "junit"]))
            .matches("<failure")
            .count(),
        1
    );
}

#[test]
fn an_invalid_configuration_skips_its_own_models_only() {
    let nested = format!("{}a{}", "{a,".repeat(150), "}".repeat(150));
    let (excluded, ignored) = (
        format!("[lint]\nexclude = [\"{nested}\"]\n"),
        format!("[lint.per-file-ignores]\n\"{nested}\" = [\"RC1\"]\n"),
    );
    let cases = [
        (&*excluded, "line 2, column 12: invalid pattern '{a,{a,"),
        (&*ignored, "line 2, column 1: invalid pattern '{a,{a,"),
        (
            "[lint]\nselekt = [\"RC1\"]\n",
            "line 2, column 1: unknown name `selekt`; did you mean `select`?",
        ),
        (
            "[lint]\nselect = [\n  \"RC999\"]\n",
            "line 3, column 3: unknown rule or prefix 'RC999'; examples: RC101",
        ),
        (
            "[lint]\nignore = [\"RC101x\"]\n",
            "line 2, column 11: unknown rule or prefix 'RC101x'; did you mean RC101?",
        ),
        (
            "[lint]\nignore = [\"redundant-casts\"]\n",
            "line 2, column 11: unknown rule or prefix 'redundant-casts'; did you mean redundant-cast?",
        ),
        (
            "[lint.severity]\nRC101 = \"fatal\"\n",
            "line 2, column 9: unknown variant `fatal`, expected one of",
        ),
        (
            "[lint.severity]\nRC101 = \"warn\"\n",
            "line 2, column 9: unknown name `warn`; did you mean `warning`?",
        ),
        (
            "[lint.severity]\n\nRC999 = \"info\"\n",
            "line 3, column 1: unknown rule or prefix 'RC999'",
        ),
        (
            "[lnit]\n",
            "line 1, column 2: unknown name `lnit`; did you mean `lint`?",
        ),
        (
            "[lint.per-file-ignores]\n\"a[\" = [\"RC1\"]\n",
            "line 2, column 1: invalid pattern 'a[': unclosed character class",
        ),
        (
            "[lint]\nexclude = [\"a\",\n\"b[\"]\n",
            "line 3, column 1: invalid pattern 'b[': unclosed character class",
        ),
        (
            "[lint]\ntarget = \"onnxruntime@0\"\n",
            "line 2, column 10: target: ",
        ),
        ("[lint]\nfail-on = 3\n", "line 2, column 11: "),
    ];
    for (text, part) in cases {
        let folder = Folder::new();
        folder.model("bad/m.onnx", SILENT);
        folder.model("bad/inside/m.onnx", SILENT);
        folder.model("good/m.onnx", SILENT);
        folder.write("bad/recast.toml", text.as_bytes());
        let output = folder.recast(&["lint", "--format", "json"]);
        assert_eq!(
            (output.status.code(), findings(&output)),
            (Some(2), vec!["good/m.onnx RC101 graph/quantize".to_owned()]),
            "{text}"
        );
        let message = stderr(&output);
        // One error, for all models that the configuration is for.
        assert!(
            message.starts_with(&format!("recast: bad/recast.toml: {part}")),
            "{text}: {message}"
        );
        assert_eq!(message.lines().count(), 1, "{text}: {message}");
        let named = folder.recast(&["lint", "good", "--config", "bad/recast.toml"]);
        assert_eq!(
            (named.status.code(), stdout(&named).as_str()),
            (Some(2), ""),
            "{text}"
        );
    }
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_models_of_a_folder() {
    use std::os::unix::fs::symlink;

    let folder = Folder::new();
    folder.model("models/a.onnx", SILENT);
    folder.model("elsewhere/b.onnx", SILENT);
    let made = Command::new("mkfifo")
        .arg(folder.path("models/pipe.onnx"))
        .status();
    assert!(made.is_ok_and(|status| status.success()));
    symlink(folder.path("elsewhere"), folder.path("models/folder.onnx")).unwrap();
    symlink(
        folder.path("elsewhere/b.onnx"),
        folder.path("models/link.onnx"),
    )
    .unwrap();
    symlink("pipe.onnx", folder.path("models/link_to_pipe.onnx")).unwrap();
    for named in ["models", "models/*.onnx"] {
        let output = folder.recast(&["lint", named, "--format", "json"]);
        let mut expected = vec!["models/a.onnx RC101 graph/quantize"];
        // A pattern names folders too, and over a link.
        expected.extend(
            named
                .contains('*')
                .then_some("models/folder.onnx/b.onnx RC101 graph/quantize"),
        );
        expected.push("models/link.onnx RC101 graph/quantize");
        assert_eq!(
            (output.status.code(), findings(&output)),
            (Some(1), expected.into_iter().map(str::to_owned).collect()),
            "{named}"
        );
    }
    symlink("nowhere", folder.path("models/broken.onnx")).unwrap();
    let output = folder.recast(&["lint", "models"]);
    assert!(
        output.status.code() == Some(2)
            && stderr(&output)
                .contains("models/broken.onnx: is a link to nowhere, which does not exist"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn fix_saves_and_reports_remaining_findings() {
    let folder = Folder::new();
    folder.model("silent.onnx", SILENT);
    folder.model("mixed.onnx", MIXED);
    folder.model("stated.onnx", STATED);
    let stated = fs::read(folder.path("stated.onnx")).unwrap();
    let output = folder.recast(&["lint", "--fix", "--format", "json"]);
    assert_eq!(
        (output.status.code(), findings(&output)),
        (Some(1), vec!["mixed.onnx RC201 graph/bare".to_owned()])
    );
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(document["fixed"].as_array().unwrap().len(), 2);
    assert_eq!(folder.text("silent.onnx"), onnx_text::print(&model(STATED)));
    assert_eq!(fs::read(folder.path("stated.onnx")).unwrap(), stated);
    assert_eq!(document["verified"], true);
    let again = folder.recast(&["lint", "silent.onnx", "--fix"]);
    assert_eq!(
        (
            again.status.code(),
            stdout(&again).as_str(),
            stderr(&again).as_str()
        ),
        (Some(0), "", "no findings in 1 model\n")
    );
    let refused = folder.recast_with_input(&["lint", "-", "--fix"], &model(SILENT).encode_to_vec());
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn fixes_that_are_not_verified_are_reported_as_such() {
    let folder = Folder::new();
    folder.model("silent.onnx", SILENT);
    let output = folder.recast(&[
        "lint",
        "silent.onnx",
        "--fix",
        "--no-verify",
        "--format",
        "json",
    ]);
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(
        (
            &document["verified"],
            document["fixed"].as_array().map(Vec::len)
        ),
        (&Value::Bool(false), Some(1))
    );
    // Nothing is written.
    let output = folder.recast(&[
        "lint",
        "silent.onnx",
        "--fix",
        "--no-verify",
        "--format",
        "json",
    ]);
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(document["verified"], Value::Null);
    folder.model("silent.onnx", SILENT);
    let output = folder.recast(&["lint", "silent.onnx", "--fix", "--no-verify"]);
    assert_eq!(stderr(&output), "fixed 1 finding; not verified\n");
}

#[test]
fn unsafe_fixes_require_an_option() {
    let folder = Folder::new();
    let twice = r#"<ir_version: 8, opset_import: ["": 18]> g (float[4] x) => (float16[4] y) { a = Cast <to = 10> (x) b = Cast <to = 10> (x) y = Add (a, b) }"#;
    folder.model("m.onnx", twice);
    let fix = |options: &[&str]| {
        stderr(&folder.recast(&[&["lint", "--fix", "--select", "RC404"], options].concat()))
    };
    let offered = "1 finding in 1 of 1 model; 1 fixable with `--fix --unsafe-fixes`\n";
    assert_eq!(fix(&[]), offered);
    assert_eq!(folder.text("m.onnx"), onnx_text::print(&model(twice)));
    assert_eq!(fix(&["--unsafe-fixes"]), "fixed 1 finding\n");
    let once = twice.replace(" b = Cast <to = 10> (x)", "");
    let once = once.replace("Add (a, b)", "Add (a, a)");
    assert_eq!(folder.text("m.onnx"), onnx_text::print(&model(&once)));
}

#[test]
fn diff_shows_the_model_as_text_and_writes_nothing() {
    let folder = Folder::new();
    folder.model("m.onnx", SILENT);
    let before = fs::read(folder.path("m.onnx")).unwrap();
    let output = folder.recast(&["lint", "--diff"]);
    let expected = "--- m.onnx\n+++ m.onnx\n@@ -4,4 +4,4 @@\n >\n g (float[4] x) => (float8e4m3fn[4] y) {\n\
        -  [quantize] y = Cast <to: int = 17> (x)\n+  [quantize] y = Cast <to: int = 17, saturate: int = 1> (x)\n }\n";
    assert_eq!(
        (output.status.code(), stdout(&output).as_str()),
        (Some(1), expected)
    );
    assert_eq!(fs::read(folder.path("m.onnx")).unwrap(), before);
    folder.model("m.onnx", STATED);
    let output = folder.recast(&["lint", "--diff"]);
    assert_eq!(
        (output.status.code(), stdout(&output).as_str()),
        (Some(0), "")
    );
}

#[test]
fn a_baseline_hides_known_findings_and_shows_new_ones() {
    let folder = Folder::new();
    folder.model("models/m.onnx", SILENT);
    let written = folder.recast(&["lint", "--baseline", "ci/known.json", "--write-baseline"]);
    assert_eq!(written.status.code(), Some(2), "there is no folder 'ci'");
    fs::create_dir(folder.path("ci")).unwrap();
    let written = folder.recast(&["lint", "--baseline", "ci/known.json", "--write-baseline"]);
    assert_eq!(
        (written.status.code(), stdout(&written).as_str()),
        (Some(0), ""),
        "{}",
        stderr(&written)
    );
    let known = folder.recast(&["lint", "models", "--baseline", "ci/known.json"]);
    assert_eq!(
        (known.status.code(), stdout(&known).as_str()),
        (Some(0), "")
    );
    let elsewhere = folder
        .command(&["lint", "m.onnx", "--baseline", "../ci/known.json"])
        .current_dir(folder.path("models"))
        .output()
        .unwrap();
    assert_eq!(elsewhere.status.code(), Some(0), "{}", stdout(&elsewhere));
    folder.model(
        "models/m.onnx",
        r#"<ir_version: 9, opset_import: ["": 19]> g (float[4] x) => (float8e4m3fn[4] y, float8e5m2[4] z) {
        [quantize] y = Cast <to = 17> (x) [new] z = Cast <to = 19> (x) }"#,
    );
    let new = folder.recast(&[
        "lint",
        "models",
        "--baseline",
        "ci/known.json",
        "--format",
        "json",
    ]);
    assert_eq!(
        (new.status.code(), findings(&new)),
        (Some(1), vec!["models/m.onnx RC101 graph/new".to_owned()])
    );
    folder.model("models/m.onnx", STATED);
    let gone = folder.recast(&["lint", "models", "--baseline", "ci/known.json"]);
    assert!(
        stderr(&gone).contains("ci/known.json: contains 1 obsolete finding"),
        "{}",
        stderr(&gone)
    );
    folder.write("ci/known.json", b"{}");
    assert_eq!(
        folder
            .recast(&["lint", "models", "--baseline", "ci/known.json"])
            .status
            .code(),
        Some(2)
    );
}

#[test]
#[cfg(unix)]
fn a_model_with_two_names_is_fixed_once_under_the_first() {
    let cases: [(&[&str], &[&str]); 4] = [
        (&["."], &["m.onnx"]),
        (&["n.onnx", "."], &["n.onnx"]),
        (&["m.onnx", "n.onnx"], &["m.onnx"]),
        (&[".", "--exclude", "m.onnx"], &["n.onnx"]),
    ];
    for (paths, linted) in cases {
        let folder = Folder::new();
        folder.model("m.onnx", SILENT);
        std::os::unix::fs::symlink("m.onnx", folder.path("n.onnx")).unwrap();
        let output = folder.recast(&[&["lint", "--fix", "--format", "json"], paths].concat());
        assert_eq!(
            (output.status.code(), stderr(&output)),
            (Some(0), String::new()),
            "{paths:?}"
        );
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["models"], serde_json::json!(linted), "{paths:?}");
        assert_eq!(
            folder.text("m.onnx"),
            onnx_text::print(&model(STATED)),
            "{paths:?}"
        );
        assert!(folder.path("n.onnx").is_symlink(), "{paths:?}");
    }
}

#[test]
fn a_new_baseline_does_not_replace_a_file_of_the_run() {
    let folder = Folder::new();
    let external = r#"<ir_version: 9, opset_import: ["": 19]> g () => (float8e4m3fn[2] y)
        <float[2] w = ["location": "w.bin", "offset": "0", "length": "8"]> { [quantize] y = Cast <to = 17> (w) }"#;
    folder.model("m.onnx", SILENT);
    folder.model("external.onnx", external);
    folder.write("w.bin", &[0; 8]);
    folder.write("list.txt", b"m.onnx\n");
    folder.write("own.toml", b"[lint]\n");
    let (used, stored) = (
        "is also an input or output of this run",
        "external.onnx stores tensors in this file",
    );
    let cases: [(&str, &[&str], &str); 6] = [
        ("m.onnx", &["m.onnx"], used),
        ("./m.onnx", &["."], used),
        ("list.txt", &["--file-list", "list.txt"], used),
        ("own.toml", &["m.onnx", "--config", "own.toml"], used),
        ("w.bin", &["external.onnx"], stored),
        ("w.bin", &[], stored),
    ];
    let contents = || {
        ["m.onnx", "external.onnx", "w.bin", "list.txt", "own.toml"]
            .map(|name| fs::read(folder.path(name)).unwrap())
    };
    let before = contents();
    let mut failures = Vec::new();
    for (baseline, arguments, reason) in cases {
        let all = [
            &[
                "lint",
                "--format",
                "json",
                "--write-baseline",
                "--baseline",
                baseline,
            ],
            arguments,
        ]
        .concat();
        let output = folder.recast(&all);
        let message = format!("recast: {baseline}: {reason}; use another name for the baseline\n");
        let path = serde_json::from_slice::<Value>(&output.stdout).unwrap_or_default()["errors"][0]
            ["path"]
            .clone();
        if (output.status.code(), stderr(&output), &path) != (Some(2), message, &baseline.into()) {
            failures.push(format!(
                "{all:?}: {:?}, {path}, {}",
                output.status.code(),
                stderr(&output)
            ));
        }
        if contents() != before {
            failures.push(format!("{all:?}: replaced a file"));
        }
    }
    crate::support::expect_no_failures(failures);
}

#[test]
fn an_invalid_baseline_is_one_error_in_the_words_of_the_format() {
    let folder = Folder::new();
    folder.model("m.onnx", SILENT);
    let cases: [(&[u8], &str); 9] = [
        (
            b"",
            "is not a baseline: it is not JSON (EOF while parsing a value at line 1 column 0); --write-baseline writes one",
        ),
        (
            b"\xff",
            "is not a baseline: it is not JSON (expected value at line 1 column 1); --write-baseline writes one",
        ),
        (
            b"[]",
            "is not a baseline: invalid length 0, expected an object with the keys `version` and `findings` at line 1 column 2; \
            --write-baseline writes one",
        ),
        (
            b"{}",
            "is not a baseline: missing field `version` at line 1 column 2; --write-baseline writes one",
        ),
        (
            br#"{"version": "1", "findings": []}"#,
            "is not a baseline: `version` is not a number; --write-baseline writes one",
        ),
        (
            br#"{"version": 2, "models": []}"#,
            "is a baseline of version 2; the supported version is 1",
        ),
        (
            br#"{"version": 1}"#,
            "is not a baseline: missing field `findings` at line 1 column 14; --write-baseline writes one",
        ),
        (
            b"{\"version\": 1, \"findings\": [\n7]}",
            "is not a baseline: invalid type: integer `7`, expected a finding with the keys `path`, `code` and `place` at line 2 \
            column 1; --write-baseline writes one",
        ),
        (
            br#"{"version": 1, "findings": [{"path": "m.onnx", "code": "RC101"}]}"#,
            "is not a baseline: missing field `place` at line 1 column 63; --write-baseline writes one",
        ),
    ];
    let mut failures = Vec::new();
    for (baseline, message) in cases {
        folder.write("known.json", baseline);
        let output = folder.recast(&[
            "lint",
            "m.onnx",
            "--baseline",
            "known.json",
            "--format",
            "json",
        ]);
        let error = serde_json::from_slice::<Value>(&output.stdout).unwrap_or_default()["errors"]
            [0]
        .clone();
        let expected = serde_json::json!({ "path": "known.json", "place": null, "code": "bad-configuration", "message": message });
        if (output.status.code(), stderr(&output), &error)
            != (
                Some(2),
                format!("recast: known.json: {message}\n"),
                &expected,
            )
        {
            failures.push(format!(
                "{:?}: {error} {}",
                String::from_utf8_lossy(baseline),
                stderr(&output)
            ));
        }
    }
    crate::support::expect_no_failures(failures);
}

#[test]
fn a_baseline_that_cannot_be_written_is_an_error_of_its_file() {
    let folder = Folder::new();
    folder.model("m.onnx", SILENT);
    let cases = [
        (
            "none/known.json",
            "the folder none does not exist; create it first",
        ),
        ("m.onnx/known.json", "m.onnx is a file, not a folder"),
        (".", "is a folder, not a file; name a file in it"),
    ];
    for (baseline, reason) in cases {
        let output = folder.recast(&[
            "lint",
            "m.onnx",
            "--write-baseline",
            "--baseline",
            baseline,
            "--format",
            "json",
        ]);
        assert_eq!(
            (output.status.code(), stderr(&output)),
            (Some(2), format!("recast: {baseline}: {reason}\n"))
        );
        let errors = serde_json::from_slice::<Value>(&output.stdout).unwrap()["errors"].clone();
        assert_eq!(
            (&errors[0]["path"], &errors[0]["message"]),
            (&baseline.into(), &reason.into())
        );
    }
}

#[test]
fn fixes_skip_findings_of_the_baseline() {
    let folder = Folder::new();
    folder.model("m.onnx", SILENT);
    folder.recast(&["lint", "--baseline", "known.json", "--write-baseline"]);
    let two = |known: &str, new: &str| {
        format!(
            r#"<ir_version: 9, opset_import: ["": 19]> g (float[4] x) => (float8e4m3fn[4] y, float8e5m2[4] z) {{
            [quantize] y = Cast <to = 17{known}> (x) [new] z = Cast <to = 19{new}> (x) }}"#
        )
    };
    folder.model("m.onnx", &two("", ""));
    let shown = stdout(&folder.recast(&["lint", "--baseline", "known.json", "--diff"]));
    assert_eq!(shown.matches("\n+ ").count(), 1, "{shown}");
    let output = folder.recast(&["lint", "--baseline", "known.json", "--fix"]);
    assert_eq!(
        (output.status.code(), stderr(&output).as_str()),
        (
            Some(0),
            "fixed 1 finding; 1 known finding in the baseline\n"
        )
    );
    assert_eq!(
        folder.text("m.onnx"),
        onnx_text::print(&model(&two("", ", saturate = 1")))
    );
}

#[test]
fn only_recast_noqa_entries_suppress_rules() {
    let folder = Folder::new();
    let with = |properties: &str| {
        format!(
            r#"<ir_version: 10, opset_import: ["": 21], metadata_props: [{properties}]> g (float[4] x) => (float8e4m3fn[4] y) {{ y = Cast <to = 17, saturate = 0> (x) z = Cast <to = 17> (x) }}"#
        )
    };
    let codes = |properties: &str, arguments: &[&str]| {
        folder.model("m.onnx", &with(properties));
        let found = findings(&folder.recast(&[&["lint", "--format", "json"], arguments].concat()));
        found
            .iter()
            .map(|found| found.split(' ').nth(1).unwrap().to_owned())
            .collect::<Vec<String>>()
            .join(" ")
    };
    assert_eq!(codes(r#""noqa": "ALL""#, &[]), "RC103 RC101");
    assert_eq!(codes(r#""recast.noqa": "RC103""#, &[]), "RC101");
    assert_eq!(codes(r#""recast.noqa": "RC103 RC101""#, &[]), "");
    assert_eq!(codes(r#""recast.noqa": "ALL""#, &[]), "");
    assert_eq!(
        codes(r#""recast.noqa": "RC103""#, &["--ignore-noqa"]),
        "RC103 RC101"
    );
    assert_eq!(codes(r#""recast.noqa": "RC777""#, &[]), "RC209 RC103 RC101");
}

#[test]
fn external_data_is_checked_by_size_and_read_for_rules_on_constants() {
    let folder = Folder::new();
    let text = r#"<ir_version: 9, opset_import: ["": 19]> g () => (float8e4m3fn[2] y) <float[2] w = ["location": "w.bin", "offset": "4", "length": "8"]>
        { [quantize] y = Cast <to = 17, saturate = 1> (w) }"#;
    folder.model("m.onnx", text);
    let run = || findings(&folder.recast(&["lint", "m.onnx", "--format", "json"]));
    assert_eq!(run(), ["m.onnx RC207 graph/w"], "the file is missing");
    folder.write("w.bin", &[0; 11]);
    assert_eq!(run(), ["m.onnx RC207 graph/w"], "the file is too short");
    let weights: Vec<u8> = [0.0_f32, 1.0, 1000.0]
        .iter()
        .flat_map(|weight| weight.to_le_bytes())
        .collect();
    folder.write("w.bin", &weights);
    assert_eq!(run(), ["m.onnx RC104 graph/quantize"]);
    let output = folder.recast(&["lint", "m.onnx", "--format", "concise"]);
    assert!(
        stdout(&output).contains("1 of the 2 elements of 'w', the first at index 1 (1000)"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn rule_explains_one_or_lists_all() {
    let folder = Folder::new();
    let one = folder.recast(&["explain", "rc101"]);
    assert!(
        stdout(&one)
            .starts_with("# RC101 float8-cast-missing-saturate\n\nwarning, enabled by default\n\n"),
        "{}",
        stdout(&one)
    );
    assert!(stdout(&one).contains("## Why is this bad?"));
    assert_eq!(
        folder
            .recast(&["explain", "float8-cast-missing-saturate"])
            .stdout,
        one.stdout
    );
    let all = stdout(&folder.recast(&["explain"]));
    assert_eq!(
        all.lines().filter(|line| line.starts_with("RC")).count(),
        onnx_recast::internals::all_rules().count()
    );
    let json: Value = serde_json::from_str(&stdout(
        &folder.recast(&["explain", "RC203", "--format", "json"]),
    ))
    .unwrap();
    assert_eq!(
        (&json["code"], &json["default"], &json["version"]),
        (&"RC203".into(), &true.into(), &1.into())
    );
    let json: Value =
        serde_json::from_str(&stdout(&folder.recast(&["explain", "--format", "json"]))).unwrap();
    assert_eq!(
        json["rules"].as_array().unwrap().len(),
        onnx_recast::internals::all_rules().count()
    );
    assert_eq!(folder.recast(&["explain", "RC000"]).status.code(), Some(2));
}

#[test]
fn quiet_prints_nothing_and_a_clean_run_says_so() {
    let folder = Folder::new();
    folder.model("m.onnx", SILENT);
    let quiet = folder.recast(&["lint", "--quiet"]);
    assert_eq!(
        (
            quiet.status.code(),
            stdout(&quiet).as_str(),
            stderr(&quiet).as_str()
        ),
        (Some(1), "", "")
    );
    let loud = folder.recast(&["lint"]);
    assert_eq!(
        stderr(&loud),
        "1 finding in 1 of 1 model; 1 fixable with `--fix`\n"
    );
    folder.model("m.onnx", STATED);
    for name in ["n.onnx", "o.onnx"] {
        folder.model(name, STATED);
    }
    let clean = folder.recast(&["lint"]);
    assert_eq!(
        (
            clean.status.code(),
            stdout(&clean).as_str(),
            stderr(&clean).as_str()
        ),
        (Some(0), "", "no findings in 3 models\n")
    );
    let quiet = folder.recast(&["lint", "--quiet"]);
    assert_eq!(
        (
            quiet.status.code(),
            stdout(&quiet).as_str(),
            stderr(&quiet).as_str()
        ),
        (Some(0), "", "")
    );
    let empty = Folder::new();
    let nothing = empty.recast(&["lint"]);
    assert_eq!(nothing.status.code(), Some(2));
    assert_eq!(
        stderr(&nothing),
        "recast: .: no .onnx files found; use --allow-empty if this is intended\n"
    );
    let allowed = empty.recast(&["lint", "--allow-empty"]);
    assert_eq!(
        (allowed.status.code(), stderr(&allowed).as_str()),
        (Some(0), "")
    );
}
