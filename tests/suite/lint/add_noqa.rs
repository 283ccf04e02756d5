//! `recast lint --add-noqa`, and suppressions that match no finding.

use std::fs;

use onnx_recast::lint::Baseline;
use onnx_recast::proto::{ModelProto, StringStringEntryProto, raw};
use onnx_recast::verify::Verification;
use onnx_recast::{LintOptions, Model};
use prost::Message;
use serde_json::{Value, json};

use super::command::{Folder, SILENT, stderr, stdout};
use crate::support::{expect_no_failures, model};

/// A finding in the graph, in a branch and in a function, and one about an initializer; the node in
/// the branch has other metadata, and the cast in the graph has an entry.
const TEXT: &str = r#"<ir_version: 10, opset_import: ["": 21, "local": 1]>
    g (float[4] x, bool choice, float scale, float8e4m3fn zero) => (float8e4m3fn[4] y, float8e5m2[4] b, float8e5m2[4] f, float[2] d) <uint8[2] w = {1, 2}> {
        [plain] y = Cast <to = 17> (x)
        [choose] b = If (choice) <
            then_branch = t () => (float8e5m2[4] r) { [then] r = Cast <to = 19> (x) },
            else_branch = e () => (float8e5m2[4] q) { [else] q = Cast <to = 19, saturate = 1> (x) }
        >
        f = local.Quantize (x)
        d = DequantizeLinear (w, scale, zero)
    }
    <domain: "local", opset_import: ["": 21]>
    Quantize (x) => (y) { [inside] y = Cast <to = 19> (x) }"#;

fn entry(key: &str, value: &str) -> StringStringEntryProto {
    raw::StringStringEntryProto {
        key: Some(key.to_owned()),
        value: Some(value.to_owned()),
    }
    .into()
}

/// The model of [`TEXT`], with metadata.
fn proto() -> ModelProto {
    let mut proto = model(TEXT);
    let graph = proto.graph.as_mut().unwrap();
    graph.node[0]
        .metadata_props
        .extend([entry("stage", "1"), entry("recast.noqa", "RC401, ")]);
    proto
}

/// The same with the entries that `--add-noqa` adds.
fn with_entries() -> ModelProto {
    let mut proto = proto();
    let graph = proto.graph.as_mut().unwrap();
    graph.node[0].metadata_props[1] = entry("recast.noqa", "RC401,RC101");
    let branch = graph.node[1].attribute[0].g.as_mut().unwrap();
    branch.node[0]
        .metadata_props
        .push(entry("recast.noqa", "RC101"));
    graph.initializer[0]
        .metadata_props
        .push(entry("recast.noqa", "RC108"));
    proto.functions[0].node[0]
        .metadata_props
        .push(entry("recast.noqa", "RC101"));
    proto
}

#[test]
fn entries_are_added_to_what_has_findings_and_nothing_else_changes() {
    let folder = Folder::new();
    folder.write("m.onnx", &proto().encode_to_vec());
    let lint = |more: &[&str]| folder.recast(&[&["lint", "m.onnx"], more].concat());
    assert_eq!(lint(&[]).status.code(), Some(1));
    let output = lint(&["--add-noqa"]);
    assert_eq!(
        (output.status.code(), stdout(&output), stderr(&output)),
        (
            Some(0),
            String::new(),
            "suppressed 4 findings by `recast.noqa` entries\n".to_owned()
        )
    );
    let written = fs::read(folder.path("m.onnx")).unwrap();
    assert_eq!(written, with_entries().encode_to_vec());
    // The findings are suppressed, and a second run adds nothing.
    let output = lint(&["--add-noqa", "--format", "json"]);
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(
        (&document["findings"], output.status.code()),
        (&json!([]), Some(0))
    );
    assert_eq!(document.get("suppressed"), None);
    assert_eq!(fs::read(folder.path("m.onnx")).unwrap(), written);
    let all = lint(&["--ignore-noqa", "--format", "json"]);
    let document: Value = serde_json::from_str(&stdout(&all)).unwrap();
    assert_eq!(document["findings"].as_array().unwrap().len(), 4);
}

#[test]
fn what_cannot_be_suppressed_alone_is_not_written() {
    let folder = Folder::new();
    folder.model("old.onnx", SILENT);
    folder.write("text.onnxtxt", SILENT.as_bytes());
    let before = fs::read(folder.path("old.onnx")).unwrap();
    let cases: [(&[&str], &str); 4] = [
        (
            &["old.onnx", "--add-noqa"],
            "recast: old.onnx: IR version 9 has no metadata of nodes and values for `recast.noqa` entries; it is new in \
             10; use --baseline FILE --write-baseline\n",
        ),
        (
            &["text.onnxtxt", "--add-noqa"],
            "recast: text.onnxtxt: ONNX text cannot be changed in place; pass the binary model\n",
        ),
        (
            &["-", "--add-noqa"],
            "recast: a model from standard input cannot be changed in place; pass a file\n",
        ),
        (
            &["old.onnx", "--add-noqa", "--fix"],
            "error: the argument '--add-noqa' cannot be used with '--fix'\n",
        ),
    ];
    let mut failures = Vec::new();
    for (arguments, expected) in cases {
        let output = folder.recast(&[&["lint"], arguments].concat());
        let message = stderr(&output);
        if output.status.code() != Some(2) || !message.starts_with(expected) {
            failures.push(format!("{arguments:?}: {message}"));
        }
    }
    expect_no_failures(failures);
    assert_eq!(fs::read(folder.path("old.onnx")).unwrap(), before);
}

#[test]
fn findings_of_a_baseline_get_no_entry() {
    let folder = Folder::new();
    folder.write("m.onnx", &proto().encode_to_vec());
    folder.recast(&[
        "lint",
        "m.onnx",
        "--select",
        "RC108",
        "--baseline",
        "known.json",
        "--write-baseline",
    ]);
    let output = folder.recast(&["lint", "m.onnx", "--add-noqa", "--baseline", "known.json"]);
    assert_eq!(
        stderr(&output),
        "suppressed 3 findings by `recast.noqa` entries; 1 known finding in the baseline\n"
    );
    assert!(!folder.text("m.onnx").contains("RC108"));
}

/// Each is written in place of the model with the entries.
#[test]
fn a_model_that_differs_in_more_than_new_entries_is_not_verified() {
    type Fault = fn(&mut ModelProto);
    let faults: [(&str, Fault); 6] = [
        ("a missing entry", |model| {
            model.functions[0].node[0].metadata_props.clear()
        }),
        ("another attribute", |model| {
            model.functions[0].node[0].attribute[0].i = Some(17);
        }),
        ("another key", |model| {
            model.metadata_props.push(entry("recast.noqua", "RC101"));
        }),
        ("a changed value", |model| {
            let node = &mut model.graph.as_mut().unwrap().node[0];
            node.metadata_props[0] = entry("stage", "2");
        }),
        ("a word that is gone", |model| {
            let node = &mut model.graph.as_mut().unwrap().node[0];
            node.metadata_props[1] = entry("recast.noqa", "RC101");
        }),
        ("another producer version", |model| {
            model.producer_version = Some("new".to_owned());
        }),
    ];
    let original = Model::new(proto()).unwrap();
    let none = Baseline::default();
    let verification = Verification::of_noqa(&original, &LintOptions::default(), &none);
    let check = |proto: ModelProto| verification.check(&Model::new(proto).unwrap());
    check(with_entries()).unwrap();
    let missed = faults.into_iter().filter(|(_, plant)| {
        let mut written = with_entries();
        plant(&mut written);
        check(written).is_ok()
    });
    expect_no_failures(missed.map(|(fault, _)| fault.to_owned()).collect());
    let mut model = original.clone();
    let suppressed = model.add_noqa(&LintOptions::default(), &none).unwrap();
    assert_eq!((suppressed.len(), model.proto()), (4, &with_entries()));
}

#[test]
fn suppressions_without_findings_are_told() {
    let folder = Folder::new();
    let mut proto = with_entries();
    let graph = proto.graph.as_mut().unwrap();
    // The value is no longer float8, and the cast states `saturate`.
    graph.node[0]
        .metadata_props
        .push(entry("recast.noqa", "RC301 RC2,RC203"));
    folder.write("m.onnx", &proto.encode_to_vec());
    let known = json!({"version": 1, "findings": [
        {"path": "m.onnx", "code": "RC103", "place": "graph/gone"},
        {"path": "m.onnx", "code": "RC401", "place": "graph/not_checked"},
        {"path": "none.onnx", "code": "RC101", "place": "graph/a"},
    ]});
    folder.write("known.json", known.to_string().as_bytes());
    let lint = |more: &[&str]| {
        folder.recast(&[&["lint", "m.onnx", "--baseline", "known.json"], more].concat())
    };
    // RC2 has rules that are not enabled by default: the entry may have a finding in another run.
    let noqa =
        "recast: m.onnx: graph/plain: `recast.noqa` contains RC301, which suppresses no finding";
    let others =
        "recast: m.onnx: graph/plain: `recast.noqa` contains RC203, which suppresses no finding";
    let baseline = "recast: known.json: contains 2 obsolete findings";
    let output = lint(&[]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        stderr(&output),
        format!(
            "{noqa}; remove it\n{others}; remove it\n{baseline}; use --write-baseline to update it\nno findings in 1 model\n"
        )
    );
    let document: Value =
        serde_json::from_str(&stdout(&lint(&["--format", "json", "--quiet"]))).unwrap();
    assert_eq!(
        document["unmatched"],
        json!([
            "m.onnx: graph/plain: RC301",
            "m.onnx: graph/plain: RC203",
            "known.json: m.onnx: graph/gone: RC103",
            "known.json: none.onnx: graph/a: RC101",
        ])
    );
    let output = lint(&["--strict"]);
    assert_eq!(output.status.code(), Some(2));
    let strict = ", which --strict does not permit";
    let errors = stderr(&output);
    assert!(
        errors.starts_with(&format!("{noqa}{strict}; remove it\n")),
        "{errors}"
    );
    assert!(
        errors.contains(&format!(
            "{baseline}{strict}; use --write-baseline to update it\n"
        )),
        "{errors}"
    );
    // Entries of rules that are not checked are not judged, nor are entries that are ignored.
    for more in [
        &["--select", "RC101"] as &[&str],
        &["--ignore-noqa", "--exit-zero"],
    ] {
        let message = stderr(&lint(more));
        assert!(
            !message.contains("suppresses no finding"),
            "{more:?}: {message}"
        );
    }
}
