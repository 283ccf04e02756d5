//! Each format as a file that people can read: `golden/`. `RECAST_BLESS=1 cargo test` writes them
//! anew.

use std::fs;
use std::path::Path;

use onnx_recast::internals::base::printable::Printed;
use onnx_recast::internals::report::{LintFormat, LintRun, Shape};
use onnx_recast::proto::ModelProto;
use prost::Message;
use serde_json::Value;

use super::command::{Folder, stdout};
use super::find;
use crate::support::{expect_no_failures, model};

const FORMATS: [&str; 8] = [
    "concise", "full", "json", "jsonl", "github", "gitlab", "junit", "sarif",
];

/// Findings of all severities and kinds of places, a clean model, a name that has to be escaped,
/// and a file that is no model.
fn folder() -> Folder {
    let folder = Folder::new();
    let mut proto = model(
        r#"<ir_version: 9, opset_import: ["": 19]>
        g (float[4] x, float scale, float8e4m3fn zero) => (float8e4m3fn[4] y, float[2] z, float16[4] h) <uint8[2] w = {56, 64}> {
            [quantize] y = Cast <to = 17> (x)
            z = DequantizeLinear (w, scale, zero)
            [half] h = Cast <to = 10, saturate = 1> (x)
        }"#,
    );
    let graph = proto.graph.as_mut().unwrap();
    graph.initializer[0].name = Some("w&<weights>".to_owned());
    graph.node[1].input[0] = "w&<weights>".to_owned();
    folder.write("a.onnx", &proto.encode_to_vec());
    folder.model(
        "inside/b c%.onnx",
        r#"<ir_version: 8, opset_import: ["": 18]>
        g (bool choice) => (int32[2] y) <float[2] w = {1, 3000000000}> {
            [choose] y = If (choice) <
                then_branch = t () => (int32[2] r) { r = Cast <to = 6> (w) },
                else_branch = e () => (int32[2] q) { [bare] q = Cast (w) }
            >
        }"#,
    );
    folder.model("clean.onnx", r#"<ir_version: 8, opset_import: ["": 18]> g (float[4] x) => (float[4] y) { y = Relu (x) }"#);
    folder.write(
        "broken.onnx",
        b"\x08\x09\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    );
    folder
}

#[test]
fn every_format_matches_its_golden_file() {
    let folder = folder();
    let golden = Path::new("tests/suite/lint/golden");
    let mut failures = Vec::new();
    for format in FORMATS {
        let output = folder.recast(&["lint", "--extend-select", "RC106", "--format", format]);
        assert_eq!(output.status.code(), Some(2), "a file is broken");
        let found = stdout(&output).replace(env!("CARGO_PKG_VERSION"), "VERSION");
        let path = golden.join(format!("report.{format}"));
        if std::env::var_os("RECAST_BLESS").is_some() {
            fs::create_dir_all(golden).unwrap();
            fs::write(&path, &found).unwrap();
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        if found != expected {
            failures.push(format!(
                "{} differs; RECAST_BLESS=1 writes it anew. Found:\n{found}",
                path.display()
            ));
        }
    }
    crate::support::expect_no_failures(failures);
}

#[test]
fn output_is_deterministic() {
    let folder = folder();
    for format in FORMATS {
        let run = || stdout(&folder.recast(&["lint", "--select", "ALL", "--format", format]));
        assert_eq!(run(), run(), "{format}");
    }
}

#[test]
fn a_clean_run_is_a_valid_document_too() {
    let folder = Folder::new();
    folder.model("m.onnx", r#"<ir_version: 8, opset_import: ["": 18]> g (float[4] x) => (float[4] y) { y = Relu (x) }"#);
    for format in FORMATS {
        let output = folder.recast(&["lint", "--format", format]);
        let text = stdout(&output);
        assert_eq!(output.status.code(), Some(0), "{format}");
        // The summary is for people.
        let summary = if matches!(format, "concise" | "full") {
            "no findings in 1 model\n"
        } else {
            ""
        };
        assert_eq!(String::from_utf8_lossy(&output.stderr), summary, "{format}");
        match format {
            "concise" | "full" | "jsonl" | "github" => assert_eq!(text, "", "{format}"),
            "junit" => assert!(
                text.contains("tests=\"1\" failures=\"0\" errors=\"0\""),
                "{text}"
            ),
            _ => {
                serde_json::from_str::<Value>(&text).unwrap();
            }
        }
    }
}

#[test]
fn byte_ranges_are_those_of_the_reported_messages() {
    let folder = folder();
    let read = |name: &str| {
        let file = fs::read(folder.path(name)).unwrap();
        ModelProto::decode(file.as_slice())
            .unwrap()
            .graph
            .clone()
            .unwrap()
    };
    let (plain, with_branches) = (read("a.onnx"), read("inside/b c%.onnx"));
    let branch = |name: &str| {
        let attributes = &with_branches.node[0].attribute;
        let branch = attributes.iter().find(|one| one.name() == name).unwrap();
        branch.g.as_ref().unwrap().node[0].encode_to_vec()
    };
    let weights = plain.initializer[0].encode_to_vec();
    let expected = [
        ("RC108", "a.onnx", weights),
        ("RC101", "a.onnx", plain.node[0].encode_to_vec()),
        ("RC106", "a.onnx", plain.node[2].encode_to_vec()),
        ("RC301", "inside/b%20c%25.onnx", branch("then_branch")),
        ("RC201", "inside/b%20c%25.onnx", branch("else_branch")),
    ]
    .map(|(code, uri, bytes)| (code.to_owned(), uri.to_owned(), bytes));
    let output = folder.recast(&["lint", "--extend-select", "RC106", "--format", "sarif"]);
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let found: Vec<(String, String, Vec<u8>)> = document["runs"][0]["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| {
            let place = &result["locations"][0]["physicalLocation"];
            let uri = place["artifactLocation"]["uri"].as_str().unwrap();
            let number = |key: &str| place["region"][key].as_u64().unwrap() as usize;
            let (offset, length) = (number("byteOffset"), number("byteLength"));
            let name = uri.replace("%20", " ").replace("%25", "%");
            let file = fs::read(folder.path(&name)).unwrap();
            let bytes = file[offset..offset + length].to_vec();
            (
                result["ruleId"].as_str().unwrap().to_owned(),
                uri.to_owned(),
                bytes,
            )
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn fingerprints_do_not_change_when_the_model_changes_elsewhere() {
    let folder = Folder::new();
    let fingerprint = |nodes: &str| {
        let text = format!(
            r#"<ir_version: 9, opset_import: ["": 19]> g (float[4] x) => (float8e4m3fn[4] y) {{ {nodes} }}"#
        );
        folder.model("m.onnx", &text);
        let document: Value = serde_json::from_str(&stdout(
            &folder.recast(&["lint", "--select", "RC101", "--format", "json"]),
        ))
        .unwrap();
        document["findings"][0]["fingerprint"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let before = fingerprint("y = Cast <to = 17> (x)");
    assert_eq!(
        fingerprint("a = Relu (x) b = Relu (a) y = Cast <to = 17> (b)"),
        before
    );
    assert_ne!(
        fingerprint("z = Cast <to = 17> (x) y = Identity (z)"),
        before
    );
}

/// Text of a model, such as its nodes and paths, is not broken.
#[test]
fn prose_is_wrapped_at_the_width_of_a_terminal() {
    let text = r#"<ir_version: 10, opset_import: ["": 21]>
        g (float[2] x) => (float8e5m2[2] y, float8e5m2[2] z) { y = Cast <to = 19> (x) z = Cast <to = 19, saturate = 0> (x) }"#;
    let run = LintRun {
        findings: [find(text, "RC101"), find(text, "RC103")].concat(),
        ..LintRun::default()
    };
    let full = |width| {
        let Printed::Parts(parts) = LintFormat::Full.render(
            &run,
            Shape {
                width,
                is_complete: true,
            },
        ) else {
            panic!("the full format is text")
        };
        let mut out = Vec::new();
        parts.write_plain(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let in_a_pipe = full(None);
    let mut failures = Vec::new();
    for width in 40..=100 {
        let found = full(Some(width));
        // The code and the name of a rule stay together.
        let is_prose =
            |line: &&str| !line.trim_start().starts_with(['-', '|']) && !line.ends_with(": ");
        failures.extend(
            found
                .lines()
                .filter(is_prose)
                .filter(|line| line.chars().count() > width)
                .map(|line| format!("{width}: {line}")),
        );
        if !found.split_whitespace().eq(in_a_pipe.split_whitespace()) {
            failures.push(format!("{width}: other words: {found}"));
        }
    }
    expect_no_failures(failures);
}
