//! Why a pass removed or changed a node: stated for each of them, in the JSON and in the text.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::command::recast;
use crate::support::expect_no_failures;

/// The pass, the model, and what was removed and why.
const CASES: [(&str, &str, &[&str]); 12] = [
    (
        "identity",
        "(float[n] x) => (float[n] y) { [same] a = Identity (x) y = Relu (a) }",
        &["node graph/same: returns-input: it returns its input 'x'"],
    ),
    (
        "redundant-casts",
        "(float[n] x) => (float[n] y) { [same] a = Cast <to = 1> (x) y = Relu (a) }",
        &["node graph/same: changes-nothing: the cast changes nothing: 'x' is used in its place"],
    ),
    (
        "redundant-casts",
        "(float16[n] x) => (double[n] y) { [first] a = Cast <to = 1> (x) b = Cast <to = 11> (a) y = Relu (b) }",
        &["node graph/first: unused: nothing uses it"],
    ),
    (
        "merge-casts",
        "(float[n] x) => (float16[n] y) { a = Cast <to = 10> (x) [again] b = Cast <to = 10> (x) y = Add (a, b) }",
        &["node graph/again: merged: merged into 'a'"],
    ),
    (
        "merge-initializers",
        "(float[2] x) => (float[2] y) <float[2] w1 = {1, 2}, float[2] w2 = {1, 2}> { a = Add (x, w1) y = Mul (a, w2) }",
        &["constant graph/w2: merged: merged into 'w1'"],
    ),
    (
        "dead-nodes",
        "(float[n] x) => (float[n] y) { [dead] a = Neg (x) y = Relu (x) }",
        &["node graph/dead: unused: nothing uses it"],
    ),
    (
        "dead-initializers",
        "(float[n] x) => (float[n] y) <float w = {1}> { y = Relu (x) }",
        &["constant graph/w: unused: nothing uses it"],
    ),
    (
        "hoist-casts",
        "(float16[4] x) => (float[2] y) { [parts] a, b = Split <axis = 0, num_outputs = 2> (x) [one] c = Cast <to = 1> (a) [two] d = Cast <to = 1> (b) y = Add (c, d) }",
        &[
            "node graph/one: moved: the cast was moved past graph/parts",
            "node graph/two: moved: the cast was moved past graph/parts",
        ],
    ),
    (
        "sink-casts",
        "(float16[n] x) => (float16[n] y) { [up] a = Cast <to = 1> (x) [move] r = Transpose <perm = [0]> (a) [down] b = Cast <to = 10> (r) y = Relu (b) }",
        &["node graph/up: moved: the cast was moved past graph/move"],
    ),
    (
        "direct-outputs",
        "(float[n] x) => (float[n] y, float[n] z) { [relu] a = Relu (x) [name] y = Identity (a) z = Neg (a) }",
        &["node graph/name: named-by-producer: graph/relu computes the output directly"],
    ),
    (
        "lossy-casts",
        "(float[n] x) => (float[n] y, float16[n] h) { h = Cast <to = 10> (x) [back] b = Cast <to = 1> (h) y = Relu (b) }",
        &["node graph/back: round-trip: it casts back what was rounded: 'x' is used in its place"],
    ),
    (
        "fold-casts",
        "(float16[2] x) => (float16[2] y) <float[2] w = {1, 2}> { a = Cast <to = 10> (w) y = Add (x, a) }",
        &["constant graph/w: used-by-folded-nodes: only folded nodes used it"],
    ),
];

/// The report of one pass on a model, as JSON and as text.
fn fold(pass: &str, graph: &str) -> (Value, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.onnxtxt");
    fs::write(
        &path,
        format!(r#"<ir_version: 10, opset_import: ["": 21]> g {graph}"#),
    )
    .unwrap();
    let run = |format: &[&str]| {
        let output = recast(
            &[
                &[
                    "fold",
                    path.to_str().unwrap(),
                    "--dry-run",
                    "--passes",
                    pass,
                ],
                format,
            ]
            .concat(),
        );
        assert_eq!(
            output.status.code(),
            Some(0),
            "{pass}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    (
        serde_json::from_str(&run(&["--format", "json"])).unwrap(),
        run(&["--verbose"]),
    )
}

#[test]
fn every_removal_states_the_pass_and_the_reason() {
    let mut failures = Vec::new();
    let mut codes = BTreeSet::new();
    for (pass, graph, expected) in CASES {
        let (json, text) = fold(pass, graph);
        let model = &json["models"][0];
        let mut found = Vec::new();
        for removed in model["removals"].as_array().into_iter().flatten() {
            let [kind, path, code, reason, by] = ["kind", "path", "code", "reason", "pass"]
                .map(|key| removed[key].as_str().unwrap());
            found.push(format!("{kind} {path}: {code}: {reason}"));
            codes.insert(code.to_owned());
            let list = if kind == "node" {
                &model["removed_nodes"]
            } else {
                &model["removed_initializers"]
            };
            let is_listed = list.as_array().unwrap().iter().any(|one| one == path);
            if by != pass
                || !is_listed
                || !text.contains(&format!("    {path}: {reason} ({pass})\n"))
            {
                failures.push(format!("{path}: {by}, listed: {is_listed}\n{text}"));
            }
        }
        found.sort();
        if found != expected {
            failures.push(format!("{pass}: {found:?}"));
        }
        for change in model["changes"].as_array().into_iter().flatten() {
            if change["pass"] != pass {
                failures.push(format!("{change}"));
            }
        }
    }
    let explained = recast(&["explain", "--format", "json"]);
    let explained: Value = serde_json::from_slice(&explained.stdout).unwrap();
    let of_removals = |one: &&Value| one["of"] == "a reason why a pass removed a node or constant";
    let documented: BTreeSet<String> = explained["codes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(of_removals)
        .map(|one| one["code"].as_str().unwrap().to_owned())
        .collect();
    if documented != codes {
        failures.push(format!(
            "docs/output.md explains {documented:?}, but passes state {codes:?}"
        ));
    }
    expect_no_failures(failures);
}

#[test]
fn counts_before_and_after_are_those_of_the_models() {
    let graph = "(float16[batch, 2] x) => (float16[batch, 2] y, float16[batch, 2] z) <float[2] w = {1, 2}, float[2] v = {3, 4}>
        { a = Cast <to = 10> (w) b = Cast <to = 11> (v) c = Cast <to = 10> (b) y = Add (x, a) z = Add (y, c) }";
    let (json, text) = fold("fold-casts", graph);
    let casts = |from: &str, to: &str, count: usize| serde_json::json!({ "from": from, "to": to, "count": count });
    let model = &json["models"][0];
    let before = [
        casts("DOUBLE", "FLOAT16", 1),
        casts("FLOAT", "DOUBLE", 1),
        casts("FLOAT", "FLOAT16", 1),
    ];
    assert_eq!(
        model["before"],
        serde_json::json!({ "nodes": 5, "casts": before, "initializers": 2, "bytes": model["bytes_in"] })
    );
    assert_eq!(
        model["after"],
        serde_json::json!({ "nodes": 2, "casts": [], "initializers": 2, "bytes": model["bytes_out"] })
    );
    let rows: Vec<Vec<&str>> = text
        .lines()
        .rev()
        .take(8)
        .map(|line| line.split_whitespace().collect())
        .collect();
    let size = |key: &str| model[key].as_u64().unwrap().to_string();
    let (left, right) = (size("bytes_in"), size("bytes_out"));
    let expected: [&[&str]; 8] = [
        &["bytes,", "with", "data", "files", &left, "B", &right, "B"],
        &["initializers", "2", "2"],
        &["FLOAT", "->", "FLOAT16", "1", "0"],
        &["FLOAT", "->", "DOUBLE", "1", "0"],
        &["DOUBLE", "->", "FLOAT16", "1", "0"],
        &["casts", "3", "0"],
        &["nodes", "5", "2"],
        &["before", "after"],
    ];
    assert_eq!(rows, expected, "{text}");
    let columns: BTreeSet<usize> = text.lines().rev().take(8).map(str::len).collect();
    assert_eq!(columns.len(), 1, "the columns are aligned: {text}");
}

#[test]
fn the_bytes_are_those_of_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let text = r#"<ir_version: 10, opset_import: ["": 21]> g (float16[4] x) => (float16[4] y) <float[4] w = {1, 2, 3, 4}, float16[4] v = {1, 2, 3, 4}>
        { a = Cast <to = 10> (w) b = Add (x, a) y = Add (b, v) }"#;
    fs::write(path("m.onnxtxt"), text).unwrap();
    let mut failures = Vec::new();
    // Into one data file, from there into the model, and beside the data file that is kept.
    let runs: [(&str, &[&str], &str, &[&str]); 3] = [
        (
            "m.onnxtxt",
            &[
                "--passes",
                "none",
                "--external-data",
                "w.bin",
                "--external-threshold",
                "0",
            ],
            "external.onnx",
            &["w.bin"],
        ),
        (
            "external.onnx",
            &["--passes", "none", "--external-data", "inline"],
            "inline.onnx",
            &[],
        ),
        (
            "external.onnx",
            &["--external-data", "other.bin", "--external-threshold", "0"],
            "folded.onnx",
            &["other.bin"],
        ),
    ];
    for (input, options, output, data) in runs {
        let (from, to) = (path(input), path(output));
        let arguments = [&["fold", &from, "-o", &to, "--format", "json"], options].concat();
        let done = recast(&arguments);
        let Ok(json) = serde_json::from_slice::<Value>(&done.stdout) else {
            failures.push(format!(
                "{arguments:?}: {}",
                String::from_utf8_lossy(&done.stderr)
            ));
            continue;
        };
        let length = |name: &&str| fs::metadata(path(name)).map_or(0, |file| file.len());
        let files: u64 = data.iter().chain([&output]).map(length).sum();
        if json["models"][0]["after"]["bytes"] != files {
            failures.push(format!(
                "{output}: {} instead of {files}",
                json["models"][0]["after"]["bytes"]
            ));
        }
    }
    expect_no_failures(failures);
}
