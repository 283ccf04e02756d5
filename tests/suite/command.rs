//! The command as people and scripts meet it: output, files, exit codes.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use onnx_recast::internals::onnx_text;
use onnx_recast::proto::ModelProto;
use prost::Message;
use serde_json::Value;
use tempfile::TempDir;

use crate::schemas::expect_valid;
use crate::support::{expect_no_failures, model};

/// Two casts of constants and one of an input.
const THREE_CASTS: &str = r#"<ir_version: 10, opset_import: ["": 21]> g (float x) => (float16 y) <float w = {2}, float v = {1.5}>
    { [first] a = Cast <to = 10> (w) b = Cast <to = 10> (v) [third] c = Cast <to = 10> (x) s = Add (a, b) y = Add (s, c) }"#;

pub fn recast(arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_recast"))
        .args(arguments)
        .env("NO_COLOR", "1")
        .output()
        .expect("the command starts");
    expect_valid(arguments, &output);
    output
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A folder with a model in it.
fn folder_with(name: &str, text: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, model(text).encode_to_vec()).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

fn read(path: &Path) -> String {
    onnx_text::print(&ModelProto::decode(fs::read(path).unwrap().as_slice()).unwrap())
}

#[test]
fn fold_writes_the_model_and_reports_in_text() {
    let (folder, input) = folder_with("m.onnx", THREE_CASTS);
    let out = folder.path().join("out.onnx");
    let output = recast(&["fold", &input, "-o", out.to_str().unwrap()]);
    assert_eq!(
        (output.status.code(), stderr(&output).as_str()),
        (Some(0), "")
    );
    let expected = format!(
        "{input} -> {}\n  folded 2 casts: 2 FLOAT to FLOAT16\n  kept 1 cast\n    graph/third: its input is not constant\n  \
         removed 2 constants\n  verified 3 nodes and 2 new constants of 2 elements\n{:26}before  after\n  nodes{:24}5      3\n  casts{:24}3      1\n    FLOAT -> FLOAT16{:11}3      1\n  \
         initializers{:17}2      2\n  bytes, with data files   {} B  {} B\n",
        out.display(),
        "",
        "",
        "",
        "",
        "",
        fs::metadata(&input).unwrap().len(),
        fs::metadata(&out).unwrap().len(),
    );
    assert_eq!(stdout(&output), expected);
    let after = r#"<ir_version: 10, opset_import: ["": 21]> g (float x) => (float16 y) <float16 a = {2}, float16 b = {1.5}>
        { [third] c = Cast <to = 10> (x) s = Add (a, b) y = Add (s, c) }"#;
    assert_eq!(read(&out), onnx_text::print(&model(after)));
}

#[test]
fn fold_reports_in_json_with_every_key_that_scripts_rely_on() {
    let (_folder, input) = folder_with("m.onnx", THREE_CASTS);
    let output = recast(&["fold", &input, "--dry-run", "--format", "json"]);
    let found: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let bytes_in = fs::metadata(&input).unwrap().len();
    let removed = |path: &str| {
        let (code, reason) = ("used-by-folded-nodes", "only folded nodes used it");
        serde_json::json!({"path": path, "kind": "constant", "pass": "fold-casts", "code": code, "reason": reason})
    };
    let counts = |nodes: usize, casts: usize, bytes: Value| {
        let casts = [serde_json::json!({"from": "FLOAT", "to": "FLOAT16", "count": casts})];
        serde_json::json!({"nodes": nodes, "casts": casts, "initializers": 2, "bytes": bytes})
    };
    let expected = serde_json::json!({"version": 1, "models": [{
        "path": input, "output": null,
        "folded": [
            {"pass": "fold-casts", "node": "graph/first", "input": "w", "from": "FLOAT", "to": "FLOAT16", "elements": 1},
            {"pass": "fold-casts", "node": "graph/#1:Cast", "input": "v", "from": "FLOAT", "to": "FLOAT16", "elements": 1},
        ],
        "skipped": [{"node": "graph/third", "code": "not-constant", "reason": "its input is not constant"}],
        "removed_initializers": ["graph/w", "graph/v"],
        "removals": [removed("graph/w"), removed("graph/v")],
        "before": counts(5, 3, bytes_in.into()), "after": counts(3, 1, found["models"][0]["bytes_out"].clone()),
        "bytes_in": bytes_in, "bytes_out": found["models"][0]["bytes_out"],
    }], "errors": []});
    assert_eq!(found, expected);
}

#[test]
fn fold_reads_and_writes_pipes() {
    let bytes = model(THREE_CASTS).encode_to_vec();
    let mut child = Command::new(env!("CARGO_BIN_EXE_recast"))
        .args(["fold", "-", "-o", "-", "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let report: Value = serde_json::from_str(&stderr(&output)).unwrap();
    assert_eq!(report["models"][0]["bytes_out"], output.stdout.len());
    let folded = ModelProto::decode(output.stdout.as_slice()).unwrap();
    assert_eq!(folded.graph.as_ref().unwrap().node.len(), 3);
}

#[cfg(unix)]
#[test]
fn fold_in_place_keeps_permissions_and_links_and_leaves_an_unchanged_file_alone() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    let (folder, input) = folder_with("m.onnx", THREE_CASTS);
    let link = folder.path().join("link.onnx");
    symlink("m.onnx", &link).unwrap();
    fs::set_permissions(&input, fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(
        recast(&["fold", link.to_str().unwrap(), "--in-place", "-q"])
            .status
            .code(),
        Some(0)
    );
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    let folded = fs::metadata(&input).unwrap();
    assert_eq!(folded.permissions().mode() & 0o777, 0o640);
    let output = recast(&["fold", &input, "--in-place"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        fs::metadata(&input).unwrap().ino(),
        folded.ino(),
        "an unchanged file is not replaced"
    );
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        2,
        "no temporary file is left"
    );
}

#[test]
fn many_models_go_into_a_folder() {
    let (folder, first) = folder_with("a.onnx", THREE_CASTS);
    let second = folder.path().join("b.onnx");
    fs::copy(&first, &second).unwrap();
    let out = folder.path().join("made/for/it");
    let output = recast(&[
        "fold",
        &first,
        second.to_str().unwrap(),
        "--out-dir",
        out.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(
        fs::read(out.join("a.onnx")).unwrap(),
        fs::read(out.join("b.onnx")).unwrap()
    );
}

#[test]
fn wrong_usage_says_what_to_do_and_exits_with_2() {
    let (folder, input) = folder_with("m.onnx", THREE_CASTS);
    let folder = folder.path().to_str().unwrap();
    let cases: [(&[&str], &str); 10] = [
        (
            &["lint", &input, "--diff", "--format", "full"],
            "cannot be used with",
        ),
        (
            &["fold", &input],
            "no output given; use -o FILE, --out-dir DIR or --in-place (or --dry-run)",
        ),
        (
            &["fold", &input, "out.onnx"],
            "no output given; did you mean -o out.onnx? Otherwise use --out-dir DIR or --in-place",
        ),
        (
            &["convert", &input, "out.onnx", "--opset", "13"],
            "no output given; did you mean -o out.onnx? Otherwise use",
        ),
        (
            &["fold", &input, &input, "-o", "x.onnx"],
            "-o takes one model, but 2 were given; use --out-dir DIR or --in-place",
        ),
        (
            &["fold", &input, &input, "--out-dir", folder],
            "two models would be written to ",
        ),
        (
            &["fold", "-", "--in-place"],
            "a model from standard input has no file name; use -o FILE",
        ),
        (
            &["fold", &input, "--dry-run", "--passes", "fold"],
            "unknown pass 'fold'; did you mean fold-casts? available passes: fold-casts",
        ),
        (
            &["fold", &input, "--dry-run", "--max-growth", "2X"],
            "not a number of bytes; examples: 4096, 64K, 512M, 2G",
        ),
        (
            &["fold", &input, "-o", "x", "--in-place"],
            "cannot be used with",
        ),
    ];
    for (arguments, expected) in cases {
        let output = recast(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(
            stderr(&output).contains(expected),
            "{arguments:?}: {}",
            stderr(&output)
        );
        assert_eq!(stdout(&output), "", "{arguments:?}");
    }
}

#[test]
fn an_argument_forges_no_line_of_a_usage_error() {
    const FORGED: &str = "x\nrecast: all is well\r\u{202e}##[error]";
    let cases: [&[&str]; 8] = [
        &[FORGED],
        &["fold", "m.onnx", "--FORGED"],
        &["inspect", "m.onnx", "--format", FORGED],
        &["fold", "m.onnx", "--passes", FORGED],
        &["fold", "m.onnx", "--max-growth", FORGED],
        &["lint", "--select", FORGED],
        &["diff", "a.onnx", "b.onnx", FORGED],
        &["explain", FORGED, FORGED],
    ];
    let mut failures = Vec::new();
    for arguments in cases {
        let arguments: Vec<String> = arguments
            .iter()
            .map(|argument| argument.replace("FORGED", FORGED))
            .collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = recast(&arguments);
        let said = stderr(&output);
        let shown = "x\\nrecast: all is well\\r\\u{202e}\\u{23}#[error]";
        if output.status.code() != Some(2)
            || !said.contains(shown)
            || said.lines().any(|line| line.starts_with("recast: all"))
        {
            failures.push(format!("{arguments:?}: {said}"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn inspect_shows_the_header_in_text_json_and_dot() {
    let text = r#"<ir_version: 10, opset_import: ["": 21, "my": 3], producer_name: "maker", producer_version: "2"> g (bool c, float x) => (float16 y) <float[3] w = {1, 2, 3}>
        {
            [pick] y = If (c) <then_branch = t () => (float16 r) { [low] h = Cast <to = 17, saturate = 0> (w) r = Cast <to = 10> (h) }, else_branch = e () => (float16 r) { r = Cast <to = 10> (x) }>
            z = my.Fn (x)
        }
        <domain: "my", opset_import: ["": 21]> Fn (a) => (b) { b = Neg (a) }"#;
    let (_folder, input) = folder_with("m.onnx", text);
    let json: Value =
        serde_json::from_str(&stdout(&recast(&["inspect", &input, "--format", "json"]))).unwrap();
    let cast = |node: &str, scope: &str, from: &str, to: &str, saturate: Value, constant: bool| serde_json::json!({"node": node, "scope": scope, "from": from, "to": to, "saturate": saturate, "round_mode": null, "constant": constant});
    let value = |name: &str, of: &str| serde_json::json!({"name": name, "type": format!("tensor({of})"), "shape": [], "has_default": false});
    let lacking = [
        "Cast-21 of tensor(float), tensor(float8e4m3fn)",
        "Cast-21 of tensor(float8e4m3fn), tensor(float16)",
        "the model's function my:Fn",
    ];
    let no_float8 = serde_json::json!(lacking);
    let no_kernels = lacking
        .map(|what| format!("no kernel for {what}"))
        .join("; ");
    let unknown = serde_json::json!([
        "Cast-21 of tensor(float), tensor(float16)",
        "Cast-21 of tensor(float), tensor(float8e4m3fn)",
        "Cast-21 of tensor(float8e4m3fn), tensor(float16)",
        "If-21 of tensor(bool), tensor(float16)",
    ]);
    let expected = serde_json::json!({
        "version": 1, "path": input, "inputs": [value("c", "bool"), value("x", "float")], "outputs": [value("y", "float16")],
        "ir_version": 10, "opsets": {"ai.onnx": 21, "my": 3}, "producer": "maker 2", "nodes": 6,
        "ops": {"Cast": 3, "If": 1, "Neg": 1, "my:Fn": 1},
        "casts": [
            cast("graph/pick.then_branch/low", "graph/pick.then_branch", "FLOAT", "FLOAT8E4M3FN", Value::Bool(false), true),
            cast("graph/pick.then_branch/#1:Cast", "graph/pick.then_branch", "FLOAT8E4M3FN", "FLOAT16", Value::Null, true),
            cast("graph/pick.else_branch/#0:Cast", "graph/pick.else_branch", "FLOAT", "FLOAT16", Value::Null, false),
        ],
        "initializers": {"count": 1, "bytes": 12, "by_type": {"FLOAT": {"count": 1, "bytes": 12}}},
        "functions": [{"name": "my:Fn", "nodes": 1, "callers": 1}],
        "external_data": [],
        "targets": [
            {"runtime": "onnxruntime", "first": "1.18", "last": "1.32", "kernels": true, "newest": true, "untried_nodes": 0},
        ],
        "differing": [],
        "lacking": [
            {"runtime": "onnxruntime", "first": "1.16", "last": "1.16", "newest_opset": 19, "newest_ir_version": 9, "operators": unknown},
            {"runtime": "onnxruntime", "first": "1.17", "last": "1.17", "newest_opset": 20, "newest_ir_version": 9, "operators": unknown},
            {"runtime": "openvino", "first": "2024.6", "last": "2024.6", "newest_opset": null, "newest_ir_version": null,
             "operators": ["Cast-21 of tensor(float8e4m3fn), tensor(float16)", "the model's function my:Fn"]},
            {"runtime": "openvino", "first": "2025.4", "last": "2026.4", "newest_opset": null, "newest_ir_version": null,
             "operators": ["the model's function my:Fn"]},
            {"runtime": "opencv", "first": "4.12", "last": "4.12", "newest_opset": null, "newest_ir_version": null,
             "operators": ["If-21 of tensor(bool), tensor(float16)", "the model's function my:Fn"]},
            {"runtime": "opencv", "first": "5.0", "last": "5.0", "newest_opset": null, "newest_ir_version": null, "operators": no_float8},
            {"runtime": "tract", "first": "0.21", "last": "0.21", "newest_opset": null, "newest_ir_version": null,
             "operators": [lacking[0], lacking[1], "If-21 of tensor(bool), tensor(float16)", lacking[2]]},
            {"runtime": "tract", "first": "0.23", "last": "0.23", "newest_opset": null, "newest_ir_version": null, "operators": no_float8},
            {"runtime": "tensorrt", "first": "10.15", "last": "11.5", "newest_opset": null, "newest_ir_version": null,
             "operators": ["Cast-21 of tensor(float8e4m3fn), tensor(float16)"]},
        ],
        "undecided_nodes": 0,
        "errors": [],
    });
    assert_eq!(json, expected);
    let several: Value = serde_json::from_str(&stdout(&recast(&[
        "inspect", &input, &input, "--format", "json",
    ])))
    .unwrap();
    assert_eq!(several["models"].as_array().unwrap().len(), 2);
    let text = stdout(&recast(&["inspect", &input]));
    let expected = format!(
        "{input}\n  input c: tensor(bool)[]\n  input x: tensor(float)[]\n  output y: tensor(float16)[]\n  IR 10, opsets: ai.onnx 21, my 3; produced by maker 2\n  6 nodes: Cast 3, If 1, Neg 1, my:Fn 1\n  1 initializer, 12 B\n    \
         FLOAT: 1, 12 B\n  function my:Fn: 1 node, 1 call\n  runs on onnxruntime 1.18 or later (known to 1.32)\n  does not run on openvino 2024.6: no kernel for Cast-21 of tensor(float8e4m3fn), tensor(float16); no kernel for the model's function my:Fn\n  does not run on openvino 2025.4 to 2026.4: no kernel for the model's function my:Fn\n  does not run on opencv 4.12: no kernel for If-21 of tensor(bool), tensor(float16); no kernel for the model's function my:Fn\n  does not run on opencv 5.0: {no_kernels}\n  does not run on tract 0.21: no kernel for {}; no kernel for {}; no kernel for If-21 of tensor(bool), tensor(float16); 1 more; --verbose lists them\n  does not run on tract 0.23: {no_kernels}\n  does not run on tensorrt 10.15 to 11.5: no kernel for Cast-21 of tensor(float8e4m3fn), tensor(float16)\n  3 casts\n    FLOAT -> FLOAT16: 1\n    \
         FLOAT -> FLOAT8E4M3FN: 1, 1 of a constant\n    FLOAT8E4M3FN -> FLOAT16: 1, 1 of a constant\n",
        lacking[0], lacking[1]
    );
    assert_eq!(text, expected);
    let listed = stdout(&recast(&["inspect", &input, "--verbose"]));
    let casts = "    FLOAT -> FLOAT16: 1\n      graph/pick.else_branch/#0:Cast\n    FLOAT -> FLOAT8E4M3FN: 1, 1 of a constant\n      \
         graph/pick.then_branch/low, saturate=0, of a constant\n    FLOAT8E4M3FN -> FLOAT16: 1, 1 of a constant\n      \
         graph/pick.then_branch/#1:Cast, of a constant\n";
    assert!(listed.ends_with(casts), "{listed}");
    let dot = stdout(&recast(&["inspect", &input, "--format", "dot"]));
    for part in [
        "digraph model {",
        "subgraph \"cluster graph/pick.then_branch\"",
        "\"value graph/w\" -> \"node graph/pick.then_branch#0\"",
    ] {
        assert!(dot.contains(part), "{part} in {dot}");
    }
}

/// The names of this model are attacks on a terminal and on the reader of a list of findings.
#[test]
fn names_of_a_model_forge_no_line_and_give_a_terminal_no_orders() {
    const NAME: &str = "a\x1b[31m\n~ graph/forged: RC101\u{202e}";
    let text = r#"<ir_version: 9, opset_import: ["": 19]> g (float x) => (float8e4m3fn y) { [cast] y = Cast <to = 17> (x) }"#;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (left, right) = (path("left.onnx"), path("right.onnx"));
    let mut proto = model(text);
    proto.producer_name = Some(NAME.to_owned());
    let node = &mut proto.graph.as_mut().unwrap().node[0];
    (node.name, node.op_type) = (Some(NAME.to_owned()), Some("Cast".to_owned()));
    fs::write(&left, proto.encode_to_vec()).unwrap();
    proto.graph.as_mut().unwrap().node[0].attribute[0].i = Some(18);
    fs::write(&right, proto.encode_to_vec()).unwrap();
    let commands: [&[&str]; 8] = [
        &["lint", &left, "--format", "concise"],
        &["lint", &left],
        &["lint", &left, "--diff"],
        &["inspect", &left],
        &["fold", &left, "--dry-run", "--verbose"],
        &["convert", &left, "--opset", "18", "--dry-run"],
        &["convert", &left, "--opset", "24", "--dry-run", "--verbose"],
        &["diff", &left, &right],
    ];
    let mut failures = Vec::new();
    for arguments in commands {
        let output = recast(arguments);
        let printed = stdout(&output) + &stderr(&output);
        let speaks = |c: char| c != '\n' && c.is_control() || c == '\u{202e}';
        let is_forged = printed
            .lines()
            .any(|line| line.starts_with("~ graph/forged"));
        if printed.contains(speaks) || is_forged || !printed.contains("graph/forged") {
            failures.push(format!("{arguments:?}: {printed}"));
        }
    }
    expect_no_failures(failures);
    let json: Value =
        serde_json::from_str(&stdout(&recast(&["lint", &left, "--format", "json"]))).unwrap();
    assert_eq!(
        json["findings"][0]["node"],
        format!("graph/{NAME}"),
        "scripts get the name as it is"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn outputs_that_are_full_or_gone_end_no_run_in_a_panic() {
    let (_folder, input) = folder_with("m.onnx", THREE_CASTS);
    let run = |arguments: &str, redirection: &str| {
        let script = format!(
            "'{}' {arguments} {redirection}",
            env!("CARGO_BIN_EXE_recast")
        );
        Command::new("sh").args(["-c", &script]).output().unwrap()
    };
    let mut failures = Vec::new();
    for (arguments, code) in [
        (format!("lint {input} --select ALL --fail-on info"), 1),
        (format!("lint {input} --select ALL --exit-zero"), 0),
        ("lint missing.onnx".to_owned(), 2),
        (format!("fold {input}"), 2),
        ("cast missing.npy -o - --to FLOAT16".to_owned(), 2),
    ] {
        for redirection in ["2>/dev/full", "2>&-", "2>&1 >/dev/null | head -c 0"] {
            let found = run(&arguments, redirection).status.code();
            // Of a pipe the shell knows only how its reader ended.
            if found
                != Some(if redirection.ends_with("head -c 0") {
                    0
                } else {
                    code
                })
            {
                failures.push(format!("{arguments} {redirection}: {found:?}"));
            }
        }
    }
    for arguments in [
        "--help",
        "explain",
        "completions man",
        "completions bash",
        &format!("inspect {input}"),
    ] {
        let output = run(arguments, "| head -c 1");
        if output.stdout.len() != 1 || !output.stderr.is_empty() {
            failures.push(format!("{arguments} into a pipe: {}", stderr(&output)));
        }
        let output = run(arguments, ">/dev/full");
        if output.status.code() == Some(101) {
            failures.push(format!("{arguments} to a full disk: {}", stderr(&output)));
        }
    }
    expect_no_failures(failures);
}

const COMMANDS: [&str; 12] = [
    "fold",
    "lint",
    "explain",
    "passes",
    "targets",
    "convert",
    "precision",
    "inspect",
    "diff",
    "report",
    "cast",
    "completions",
];

#[test]
fn every_help_ends_with_examples_and_exit_codes() {
    let mut failures = Vec::new();
    let overview = stdout(&recast(&["--help"]));
    let listed = overview
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty());
    let listed: Vec<&str> = listed
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(
        listed,
        [&COMMANDS[..], &["help"]].concat(),
        "the list of commands is that of this test"
    );
    for help in COMMANDS
        .map(|command| stdout(&recast(&[command, "--help"])))
        .into_iter()
        .chain([overview])
    {
        let (examples, codes) = (
            help.find("\nExamples:\n  recast "),
            help.find("\nExit codes:\n  0  "),
        );
        if examples.is_none() || examples > codes {
            failures.push(help);
        }
    }
    expect_no_failures(failures);
}

#[test]
fn completions_and_manual_page_are_printed() {
    for (shell, part) in [
        ("bash", "_recast()"),
        ("zsh", "#compdef recast"),
        ("fish", "complete -c recast"),
        ("man", ".TH recast 1"),
    ] {
        let output = recast(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0));
        assert!(stdout(&output).contains(part), "{shell}");
    }
}

#[test]
fn completions_know_types_runtimes_passes_and_rules() {
    for shell in ["bash", "zsh", "fish"] {
        let script = String::from_utf8(recast(&["completions", shell]).stdout).unwrap();
        let missing: Vec<&str> = [
            "FLOAT8E4M3FN",
            "onnxruntime@1.31",
            "fold-casts",
            "dead-nodes",
            "RC101",
            "sarif",
            "stable",
        ]
        .into_iter()
        .filter(|value| !script.contains(value))
        .collect();
        assert!(missing.is_empty(), "{shell}: {missing:?}");
    }
}

#[test]
fn the_manual_page_holds_every_option_and_example_of_every_command() {
    let page = stdout(&recast(&["completions", "man"]))
        .replace("\\-", "-")
        .replace("\\&", "")
        .replace("\\e", "\\");
    let mut failures = Vec::new();
    for command in COMMANDS {
        let help = stdout(&recast(&[command, "--help"]));
        let section = page
            .split(&format!(".SH \"RECAST {}\"", command.to_uppercase()))
            .nth(1)
            .unwrap_or_default();
        let section = section.split("\n.SH ").next().unwrap_or_default();
        let is_option = |word: &&str| word.starts_with("--") && word.len() > 2;
        let options = help
            .lines()
            .filter(|line| line.trim_start().starts_with('-'))
            .flat_map(str::split_whitespace)
            .filter(is_option);
        // A value that may be left out is marked up on the page: `--name[=<VALUE>]`.
        let options = options.map(|option| option.split('[').next().unwrap_or(option));
        let examples = help.lines().filter(|line| line.starts_with("  recast "));
        let missing = options
            .chain(examples)
            .filter(|part| !section.contains(part.trim_end_matches(['.', ','])));
        failures.extend(missing.map(|part| format!("{command}: {part}")));
    }
    expect_no_failures(failures);
    assert!(!page.contains("recast-fold(1)"), "there is one page");
}

#[test]
fn quiet_means_nothing_for_people_and_all_that_scripts_ask_for() {
    let (folder, input) = folder_with("m.onnx", THREE_CASTS);
    let output = folder.path().join("out.onnx").to_str().unwrap().to_owned();
    fs::copy(&input, folder.path().join("n.onnx")).unwrap();
    let other = folder.path().join("n.onnx").to_str().unwrap().to_owned();
    let commands: [(&[&str], Option<&str>); 9] = [
        (&["fold", &input, "-o", &output], Some("json")),
        (
            &["convert", &input, "--opset", "22", "-o", &output],
            Some("json"),
        ),
        (
            &["convert", &input, "--opset", "8", "-o", &output],
            Some("json"),
        ),
        (&["lint", &input, "--select", "ALL"], Some("json")),
        (&["lint", &input, "--select", "ALL"], Some("github")),
        (&["explain", "RC101"], Some("json")),
        (&["inspect", &input], Some("json")),
        (&["diff", &input, &other], Some("json")),
        (
            &[
                "lint",
                &input,
                "--select",
                "ALL",
                "--diff",
                "--unsafe-fixes",
            ],
            None,
        ),
    ];
    let mut failures = Vec::new();
    for (arguments, format) in commands {
        let quiet = recast(&[arguments, &["-q"]].concat());
        if !(quiet.stdout.is_empty() && quiet.stderr.is_empty()) {
            failures.push(format!(
                "{arguments:?} says {}{}",
                stdout(&quiet),
                stderr(&quiet)
            ));
        }
        let Some(format) = format else { continue };
        let asked = recast(&[arguments, &["-q", "--format", format]].concat());
        if asked.stdout.is_empty() {
            failures.push(format!("{arguments:?} prints no {format}"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_quiet_run_says_why_a_model_is_refused() {
    let refused = recast(&[
        "convert",
        "models/fp8_qdq.onnx",
        "--opset",
        "8",
        "--dry-run",
        "-q",
    ]);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(stdout(&refused), "");
    let text = stderr(&refused);
    assert!(text.contains("cannot convert from opset 19 to 8"), "{text}");
}
