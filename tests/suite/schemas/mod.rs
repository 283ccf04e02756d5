//! The schemas in `docs/schemas/` are those of the documents that the command prints, and of the
//! files that it reads.

mod validate;

use std::collections::BTreeSet;
use std::fs;

pub use validate::expect_valid;
use validate::{FOLDER, faults_of, schema};

use crate::command::recast;

#[test]
fn documents_that_differ_from_their_schema_are_refused() {
    let cases: [(&str, &str, &[&str]); 7] = [
        (
            "lint",
            r#"{"version": 1, "findings": [], "fixed": [], "models": [], "errors": []}"#,
            &[],
        ),
        (
            "lint",
            r#"{"version": 1, "findings": [], "fixed": [], "models": [], "errors": [], "new": 1}"#,
            &["new: the schema has no such key"],
        ),
        (
            "lint",
            r#"{"version": 2, "findings": [], "fixed": [], "models": [3]}"#,
            &[
                "the key errors is missing",
                "version: 2 is none of the listed values",
                "models: 3 is not of the type \"string\"",
            ],
        ),
        (
            "lint",
            r#"{"version": 1, "version": 1}"#,
            &["the key version is there twice at line 1 column 28"],
        ),
        (
            "fold",
            r#"{"version": 1, "models": [], "errors": [{"path": null, "place": null, "code": "io"}]}"#,
            &["errors: the key message is missing"],
        ),
        (
            "recast.toml",
            r#"{"lint": {"select": ["RC1"], "severity": {"RC101": "error"}}}"#,
            &[],
        ),
        (
            "recast.toml",
            r#"{"lint": {"selct": ["RC1"], "fail-on": "fatal"}}"#,
            &[
                "lint: selct: the schema has no such key",
                "lint: fail-on: \"fatal\" is none of the listed values",
            ],
        ),
    ];
    for (name, text, expected) in cases {
        assert_eq!(faults_of(name, text.as_bytes()), expected, "{name}: {text}");
    }
}

/// Every command with a JSON document, with the options that add keys.
#[test]
fn every_document_has_the_form_of_its_schema() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (out, data, page) = (path("out.onnx"), "out.data", path("out.html"));
    let fp8 = "models/fp8_qdq.onnx";
    let commands: &[&[&str]] = &[
        &[
            "fold",
            fp8,
            "-o",
            &out,
            "--passes",
            "exact",
            "--external-data",
            data,
            "--freeze-initializers",
            "--drop-metadata",
        ],
        &[
            "fold",
            "models/control_flow.onnx",
            "--dry-run",
            "--passes",
            "exact",
        ],
        &["fold", fp8, "-o", &out, "--no-verify", "--report", &page],
        &[
            "convert",
            "models/transformer_fp16.onnx",
            "--opset",
            "28",
            "-o",
            &out,
        ],
        &[
            "convert",
            "models/transformer_fp16.onnx",
            "--opset",
            "7",
            "--dry-run",
            "--from-opset",
            "20",
        ],
        &[
            "convert",
            "models/annotated.onnx",
            "--lowest",
            "--dry-run",
            "--drop-metadata",
        ],
        &[
            "precision",
            "models/pump.onnx",
            "--to",
            "FLOAT16",
            "-o",
            &out,
        ],
        &[
            "precision",
            "models/pump.onnx",
            "--to",
            "BFLOAT16",
            "--emulate",
            "--dry-run",
            "--keep-node",
            "none",
        ],
        &[
            "precision",
            "models/control_flow.onnx",
            "--to",
            "FLOAT16",
            "--opset",
            "auto",
            "--dry-run",
        ],
        &[
            "lint",
            "models",
            "--select",
            "ALL",
            "--target",
            "onnxruntime@1.17",
            "--statistics",
        ],
        &["lint", fp8, "--freeze-initializers", "--exclude", "none"],
        &["inspect", fp8, "--types"],
        &["inspect", fp8, "models/annotated.onnx"],
        &["diff", fp8, "models/pump.onnx"],
        &["report", fp8],
        &["report", fp8, "models/pump.onnx"],
        &["passes"],
        &["passes", "fold-casts"],
        &["targets"],
        &["targets", "onnxruntime@1.17"],
        &["targets", "rknn@2.0"],
        &["targets", "onnxruntime@9.99"],
        &["explain"],
        &["explain", "RC101"],
        &["explain", "RC1"],
        &["explain", "not-found"],
        &["fold"],
        &["fold", "none.onnx", "-o", &out],
        &["convert", "none.onnx", "--opset", "21", "-o", &out],
        &["precision", "none.onnx", "--to", "FLOAT16", "-o", &out],
        &["lint", "none.onnx"],
        &["inspect", "none.onnx"],
        &["diff", "none.onnx", fp8],
        &["report", "none.onnx"],
        &["targets", "none@1"],
        &["explain", "none"],
        &["passes", "none"],
    ];
    for arguments in commands {
        let arguments = [*arguments, &["--format", "json"]].concat();
        let output = recast(&arguments);
        assert!(output.stdout.starts_with(b"{"), "{arguments:?}: {output:?}");
        expect_valid(&arguments, &output);
    }
}

#[test]
fn lines_and_baselines_have_the_form_of_their_schemas() {
    let folder = tempfile::tempdir().unwrap();
    let baseline = folder.path().join("known.json");
    let model = "models/fp8_qdq.onnx";
    let lines = recast(&["lint", model, "--format", "jsonl"]).stdout;
    let lines: Vec<&[u8]> = lines
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .collect();
    assert!(lines.len() > 1);
    for line in lines {
        assert_eq!(faults_of("finding", line), [""; 0]);
    }
    let name = baseline.to_str().unwrap();
    recast(&["lint", model, "--baseline", name, "--write-baseline"]);
    assert_eq!(
        faults_of("baseline", &fs::read(&baseline).unwrap()),
        [""; 0]
    );
}

#[test]
fn the_keys_of_a_configuration_are_those_that_recast_reads() {
    let schema = schema("recast.toml");
    let keys = &schema["properties"]["lint"]["properties"];
    let keys: BTreeSet<&str> = keys
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("recast.toml");
    fs::write(&config, "[lint]\nnone = 1\n").unwrap();
    let config = config.to_str().unwrap();
    let output = recast(&["lint", "models", "--config", config]);
    let message = String::from_utf8(output.stderr).unwrap();
    let read: BTreeSet<&str> = message.split('`').skip(3).step_by(2).collect();
    assert_eq!(keys, read, "{message}");
}

#[test]
fn the_manual_lists_the_schemas() {
    let page = fs::read_to_string("docs/output.md").unwrap();
    for entry in fs::read_dir(FOLDER).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            page.contains(&format!("(schemas/{name})")),
            "docs/output.md does not link to {name}"
        );
    }
}
