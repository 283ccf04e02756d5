//! `--max-memory`: a run that needs more ends with exit code 2 and a message, and writes nothing.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use onnx_recast::proto::{GraphProto, Lossless, ModelProto, NodeProto, OperatorSetIdProto, raw};
use prost::Message;
use serde_json::{Value, json};

use crate::support::expect_no_failures;

/// A chain of nodes that takes more than [`TOO_LITTLE`] of memory in every command.
const NODES: usize = 40_000;
const TOO_LITTLE: &str = "8M";

fn chain(op: &str) -> Vec<u8> {
    let node = |index: usize| {
        NodeProto::from(raw::NodeProto {
            input: vec![format!("v{index}")],
            output: vec![format!("v{}", index + 1)],
            op_type: Some(op.to_owned()),
            ..Default::default()
        })
    };
    let graph = GraphProto::from(raw::GraphProto {
        name: Some("g".to_owned()),
        node: (0..NODES).map(node).collect(),
        input: vec![
            raw::ValueInfoProto {
                name: Some("v0".to_owned()),
                ..Default::default()
            }
            .into(),
        ],
        ..Default::default()
    });
    let opset = OperatorSetIdProto::from(raw::OperatorSetIdProto {
        domain: None,
        version: Some(13),
    });
    let model: ModelProto = Lossless::from(raw::ModelProto {
        ir_version: Some(8),
        graph: Some(graph),
        opset_import: vec![opset],
        ..Default::default()
    });
    model.encode_to_vec()
}

fn run(folder: &std::path::Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recast"));
    command.args(arguments).current_dir(folder);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // The command may end before it has read everything.
        scope.spawn(move || stdin.write_all(input).ok());
        child.wait_with_output().unwrap()
    })
}

#[test]
fn a_run_that_needs_too_much_memory_ends_with_a_message_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let model = chain("Relu");
    fs::write(folder.path().join("model.onnx"), &model).unwrap();
    fs::write(folder.path().join("other.onnx"), chain("Abs")).unwrap();
    let cases: [&[&str]; 7] = [
        &["inspect", "model.onnx"],
        &["inspect", "-"],
        &["fold", "model.onnx", "-o", "out.onnx"],
        &["convert", "model.onnx", "--opset", "21", "-o", "out.onnx"],
        &["lint", "model.onnx", "--format", "concise"],
        &["lint", "model.onnx", "--fix"],
        &["diff", "model.onnx", "other.onnx"],
    ];
    let mut failures = Vec::new();
    for case in cases {
        let limited = run(
            folder.path(),
            &[case, &["--max-memory", TOO_LITTLE]].concat(),
            &model,
        );
        let message = String::from_utf8(limited.stderr).unwrap();
        let name = if case.contains(&"-") {
            "-"
        } else {
            "model.onnx"
        };
        let expected = format!(
            "recast: {name}: needs more memory than the limit of 8 MiB; raise it with --max-memory BYTES\n"
        );
        if (
            limited.status.code(),
            message.as_str(),
            limited.stdout.len(),
        ) != (Some(2), &expected, 0)
        {
            failures.push(format!("{case:?}: {:?}, {message}", limited.status));
        }
        let mut left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        left.sort();
        if left != ["model.onnx", "other.onnx"] {
            failures.push(format!("{case:?} left {left:?}"));
        }
        let enough = run(
            folder.path(),
            &[case, &["--max-memory", "1G"]].concat(),
            &model,
        );
        if !matches!(enough.status.code(), Some(0 | 1)) {
            failures.push(format!(
                "{case:?} with 1 GiB: {:?}, {}",
                enough.status,
                String::from_utf8_lossy(&enough.stderr)
            ));
        }
        fs::remove_file(folder.path().join("out.onnx")).ok();
    }
    expect_no_failures(failures);
}

/// Formats for programs: one document, with the error in it.
#[test]
fn a_run_that_needs_too_much_memory_prints_its_error_as_json_too() {
    let folder = tempfile::tempdir().unwrap();
    let name = "a\u{202e}\"b.onnx";
    fs::write(folder.path().join(name), chain("Erfc")).unwrap();
    let message = "needs more memory than the limit of 8 MiB; raise it with --max-memory BYTES";
    let error = json!({ "path": name, "place": null, "code": "memory-limit", "message": message });
    let errors = json!([error]);
    let cases: [(&[&str], &str, Value); 9] = [
        (
            &["inspect", name, "--format", "json"],
            "/errors",
            errors.clone(),
        ),
        (
            &["fold", name, "-o", "out.onnx", "--format", "json"],
            "/errors",
            errors.clone(),
        ),
        (
            &["fold", name, "-o", "out.onnx", "--format", "json"],
            "/models",
            json!([]),
        ),
        (
            &[
                "convert", name, "--opset", "21", "-o", "out.onnx", "--format", "json",
            ],
            "/errors",
            errors.clone(),
        ),
        (
            &["diff", name, name, "--format", "json"],
            "/errors",
            errors.clone(),
        ),
        (&["lint", name, "--format", "json"], "/errors", errors),
        (&["lint", name, "--format", "jsonl"], "", error),
        (
            &["lint", name, "--format", "sarif"],
            "/runs/0/invocations/0/toolExecutionNotifications/0/message/text",
            json!(message),
        ),
        (
            &["lint", name, "--format", "gitlab"],
            "/0/description",
            json!(message),
        ),
    ];
    let mut failures = Vec::new();
    for (case, pointer, expected) in cases {
        let limited = run(
            folder.path(),
            &[case, &["--max-memory", TOO_LITTLE]].concat(),
            b"",
        );
        let text = String::from_utf8(limited.stderr).unwrap();
        let found = serde_json::from_slice::<Value>(&limited.stdout)
            .ok()
            .and_then(|document| document.pointer(pointer).cloned());
        let expected_text = format!("recast: a\\u{{202e}}\"b.onnx: {message}\n");
        if (limited.status.code(), text.as_str(), found.as_ref())
            != (Some(2), &expected_text, Some(&expected))
        {
            failures.push(format!(
                "{case:?} {pointer}: {:?}, {text}, {}",
                limited.status,
                String::from_utf8_lossy(&limited.stdout)
            ));
        }
    }
    let to_stdout = [
        "fold",
        name,
        "-o",
        "-",
        "--format",
        "json",
        "--max-memory",
        TOO_LITTLE,
    ];
    let limited = run(folder.path(), &to_stdout, b"");
    let document: Value = serde_json::from_slice(&limited.stderr).unwrap_or_default();
    if (limited.stdout.len(), document.pointer("/errors/0/code"))
        != (0, Some(&json!("memory-limit")))
    {
        failures.push(format!("{to_stdout:?}: {document}"));
    }
    expect_no_failures(failures);
}

/// The document does not need memory that the limit forbids, wherever the limit is reached: also
/// while a report is being made.
#[test]
fn a_limit_below_what_any_run_needs_prints_a_document() {
    let model = fs::canonicalize("models/annotated.onnx").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut failures = Vec::new();
    for command in [
        "inspect",
        "lint",
        "fold --dry-run",
        "convert --opset 21 --dry-run",
    ] {
        for (limit, shown) in [
            ("1", "1 byte"),
            ("2K", "2048 bytes"),
            ("64K", "65536 bytes"),
            ("100K", "102400 bytes"),
        ] {
            let arguments = [
                command.split(' ').collect(),
                vec![
                    model.to_str().unwrap(),
                    "--format",
                    "json",
                    "--max-memory",
                    limit,
                ],
            ];
            let ended = run(folder.path(), &arguments.concat(), b"");
            let document: Value = serde_json::from_slice(&ended.stdout).unwrap_or_default();
            let message = json!(format!(
                "needs more memory than the limit of {shown}; raise it with --max-memory BYTES"
            ));
            if (ended.status.code(), document.pointer("/errors/0/message"))
                != (Some(2), Some(&message))
            {
                let stderr = String::from_utf8_lossy(&ended.stderr);
                failures.push(format!(
                    "{command}, {limit}: {:?}, {document}, {stderr}",
                    ended.status
                ));
            }
        }
    }
    expect_no_failures(failures);
}

/// An endless device is not read for ever.
#[cfg(target_os = "linux")]
#[test]
fn a_device_is_read_up_to_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let ended = run(
        folder.path(),
        &["inspect", "/dev/zero", "--max-memory", "32M"],
        b"",
    );
    let message = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(2), "{message}");
    assert_eq!(
        message,
        "recast: /dev/zero: needs more memory than the limit of 32 MiB; raise it with --max-memory BYTES\n"
    );
}
