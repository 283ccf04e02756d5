//! `recast convert` as people and scripts meet it.

use std::fs;
use std::path::PathBuf;

use onnx_recast::internals::onnx_text;
use onnx_recast::proto::ModelProto;
use prost::Message;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command::recast;
use crate::support::{expect_no_failures, model};

const MEAN: &str = r#"<ir_version: 8, opset_import: ["": 13]> g (float[2,3] x) => (float[2,1] y) { [mean] y = ReduceMean <axes = [1]> (x) }"#;
const COL2IM: &str = r#"<ir_version: 8, opset_import: ["": 18]> g (float[1,4,4] x, int64[2] s) => (float[] y) { h = Relu (x) [col2im] y = Col2Im (h, s, s) }"#;

struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), model(text).encode_to_vec()).unwrap();
        self.named(name)
    }

    fn named(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }
}

fn document(stdout: &[u8]) -> Value {
    serde_json::from_slice(stdout).unwrap()
}

#[test]
fn a_report_has_the_keys_that_scripts_rely_on() {
    let folder = Folder::new();
    let (input, output) = (folder.put("m.onnx", MEAN), folder.named("out.onnx"));
    let done = recast(&[
        "convert", &input, "--opset", "18", "-o", &output, "--format", "json",
    ]);
    assert_eq!(done.status.code(), Some(0));
    let expected = json!({"version": 1, "models": [{
        "path": input, "output": output, "from": {"ai.onnx": 13}, "to": {"ai.onnx": 18}, "ir_version": {"from": 8, "to": 8, "needed_by": null},
        "changes": [{"node": "graph/mean", "op": "ReduceMean",
            "what": "constant 'y_axes' added; `axes` removed"}],
        "expansions": [], "carried": [], "warnings": [], "blockers": [], "nearest_opset": null,
        "before": {"nodes": 1, "casts": [], "initializers": 0, "bytes": fs::metadata(&input).unwrap().len()},
        "after": {"nodes": 2, "casts": [], "initializers": 0, "bytes": fs::metadata(&output).unwrap().len()},
        "verified": {"nodes": 2, "constants": 0, "elements": 0},
    }], "errors": []});
    assert_eq!(document(&done.stdout), expected);
    let written = ModelProto::decode(fs::read(&output).unwrap().as_slice()).unwrap();
    assert_eq!(written.opset_import[0].version(), 18);
}

#[test]
fn the_opset_of_a_model_that_is_too_old_to_state_one_is_reported_all_the_same() {
    let folder = Folder::new();
    let input = folder.put(
        "m.onnx",
        "<ir_version: 2, opset_import: []> g (float[2] x) => (float[2] y) { y = Relu (x) }",
    );
    let run = |format: &str| {
        recast(&[
            "convert",
            &input,
            "--opset",
            "7",
            "--dry-run",
            "--format",
            format,
        ])
        .stdout
    };
    assert_eq!(
        document(&run("json"))["models"][0]["from"],
        json!({"ai.onnx": 1})
    );
    let text = String::from_utf8(run("text")).unwrap();
    assert!(text.contains("opset 1 -> 7"), "{text}");
}

#[test]
fn a_refusal_lists_every_blocker_writes_nothing_and_ends_with_1() {
    let folder = Folder::new();
    let (input, output) = (folder.put("m.onnx", COL2IM), folder.named("out.onnx"));
    let done = recast(&[
        "convert", &input, "--opset", "12", "-o", &output, "--format", "json",
    ]);
    assert_eq!(done.status.code(), Some(1));
    let expected = json!({"version": 1, "models": [{
        "path": input, "output": null, "from": {"ai.onnx": 18}, "to": {"ai.onnx": 12}, "ir_version": {"from": 8, "to": 8, "needed_by": null},
        "changes": [], "expansions": [], "carried": [], "warnings": [], "nearest_opset": null,
        "before": {"nodes": 2, "casts": [], "initializers": 0, "bytes": fs::metadata(&input).unwrap().len()},
        "blockers": [{"node": "graph/col2im", "op": "Col2Im", "opset_step": [18, 17], "code": "operator-too-new", "reason": "Col2Im is new in opset 18"}],
    }], "errors": []});
    assert_eq!(document(&done.stdout), expected);
    assert!(!folder.path("out.onnx").exists());
    let text = recast(&["convert", &input, "--opset", "12", "-o", &output]);
    let expected = format!(
        "{input}: cannot convert from opset 18 to 12: 1 unsupported node\n    \
         graph/col2im (Col2Im), opset 18 to 17: Col2Im is new in opset 18\n  no opset between 18 and 12 works\n"
    );
    assert_eq!(String::from_utf8_lossy(&text.stdout), expected);
}

#[test]
fn a_dry_run_is_a_plan() {
    let folder = Folder::new();
    let input = folder.put("m.onnx", MEAN);
    let done = recast(&["convert", &input, "--opset", "21", "--dry-run", "--verbose"]);
    assert_eq!(done.status.code(), Some(0));
    let expected = format!(
        "{input} -> nothing written (dry run)\n  opset 13 -> 21, IR version 8 -> 10\n  changed 1 node: 1 ReduceMean\n    \
         graph/mean (ReduceMean): constant 'y_axes' added; `axes` removed\n\
         {0:26}before  after\n  nodes{0:24}1      2\n  casts{0:24}0      0\n  initializers{0:17}0      0\n  bytes, with data files    94 B  146 B\n",
        ""
    );
    assert_eq!(String::from_utf8_lossy(&done.stdout), expected);
    assert_eq!(fs::read_dir(folder.0.path()).unwrap().count(), 1);
    let refused = recast(&[
        "convert",
        &folder.put("n.onnx", COL2IM),
        "--opset",
        "12",
        "--dry-run",
    ]);
    assert_eq!(refused.status.code(), Some(1));
}

#[test]
fn constants_are_read_from_data_files() {
    let folder = Folder::new();
    let reference = r#"["location": "axes.bin", "offset": "8", "length": "8"]"#;
    let text = format!(
        r#"<ir_version: 8, opset_import: ["": 18]> g (float[2,3] x) => (float[2] y) <int64[1] a = {reference}> {{ y = ReduceMean <keepdims = 0> (x, a) }}"#
    );
    let (input, output) = (folder.put("m.onnx", &text), folder.named("out.onnx"));
    let without_data = recast(&["convert", &input, "--opset", "17", "-o", &output]);
    assert_eq!(without_data.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&without_data.stdout)
            .contains("input 'a': external_data: data file 'axes.bin'"),
        "{without_data:?}"
    );
    fs::write(
        folder.path("axes.bin"),
        [-1i64, 1].map(i64::to_le_bytes).concat(),
    )
    .unwrap();
    assert_eq!(
        recast(&["convert", &input, "--opset", "17", "-o", &output])
            .status
            .code(),
        Some(0)
    );
    let graph = ModelProto::decode(fs::read(&output).unwrap().as_slice())
        .unwrap()
        .graph
        .clone()
        .unwrap();
    assert_eq!(
        onnx_text::print_node(&graph.node[0]),
        "y = ReduceMean <keepdims: int = 0, axes: ints = [1]> (x)"
    );
    assert!(graph.initializer.is_empty());
}

#[test]
fn of_several_models_all_are_written_or_none() {
    let folder = Folder::new();
    let (good, bad, out) = (
        folder.put("good.onnx", MEAN),
        folder.put("bad.onnx", COL2IM),
        folder.named("out"),
    );
    let done = recast(&[
        "convert",
        &good,
        &bad,
        "--opset",
        "12",
        "--out-dir",
        &out,
        "--format",
        "json",
    ]);
    assert_eq!(done.status.code(), Some(1));
    assert_eq!(document(&done.stdout)["models"][0]["output"], Value::Null);
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
    let done = recast(&["convert", &good, &bad, "--opset", "18", "--out-dir", &out]);
    assert_eq!(
        (done.status.code(), fs::read_dir(&out).unwrap().count()),
        (Some(0), 2)
    );
}

/// 1: the model cannot be converted. 2: the options or the model are invalid.
#[test]
fn exit_codes_and_messages_of_bad_input() {
    let body = "g (float[2] x) => (float[2] y) { y = Relu (x) }";
    let opsets = |imports: &str| format!("<ir_version: 8, opset_import: [{imports}]> {body}");
    let plain = opsets(r#""": 13"#);
    let cases: &[(&str, String, &[&str], i32, &str)] = &[
        (
            "a target above",
            plain.clone(),
            &["--opset", "29"],
            2,
            "there is no opset 29; expected 1 to 28, or latest",
        ),
        (
            "a target below",
            plain.clone(),
            &["--opset", "0"],
            2,
            "there is no opset 0",
        ),
        (
            "no number",
            plain.clone(),
            &["--opset", "newest"],
            2,
            "invalid value 'newest' for '--opset <N>': not an opset",
        ),
        ("no target", plain.clone(), &[], 2, "--opset <N>"),
        (
            "an unknown opset",
            opsets(r#""": 29"#),
            &["--opset", "21"],
            2,
            "opset_import: unknown opset 29 of ai.onnx: this version of recast supports 1 to 28",
        ),
        (
            "opset 0",
            opsets(r#""": 0"#),
            &["--opset", "21"],
            2,
            "opset_import: unknown opset 0 of ai.onnx",
        ),
        (
            "no opset",
            opsets(r#""my.domain": 1"#),
            &["--opset", "21"],
            2,
            "graph/#0:Relu: Relu is an operator of ai.onnx, which the model does not import; use --from-opset N",
        ),
        (
            "two opsets",
            opsets(r#""": 13, "ai.onnx": 14"#),
            &["--opset", "21"],
            2,
            "opset_import: imports two versions of ai.onnx, 13 and 14",
        ),
        (
            "an unknown opset of a function",
            format!(
                r#"{plain} <domain: "l", opset_import: ["": 99]> F (v) => (w) {{ w = Relu (v) }}"#
            ),
            &["--opset", "21"],
            2,
            "function/l:F: unknown opset 99 of ai.onnx",
        ),
        (
            "two opsets of a function",
            format!(
                r#"{plain} <domain: "l", opset_import: ["": 13, "ai.onnx": 12]> F (v) => (w) {{ w = Relu (v) }}"#
            ),
            &["--opset", "21"],
            2,
            "function/l:F: imports two versions of ai.onnx, 13 and 12",
        ),
        (
            "an IR version below",
            plain.clone(),
            &["--opset", "21", "--ir-version", "9"],
            2,
            "IR version 9 is too low: opset 21 needs 10",
        ),
        (
            "an IR version beyond",
            plain.clone(),
            &["--opset", "21", "--ir-version", "15"],
            2,
            "unknown IR version 15",
        ),
        (
            "no IR version",
            plain.clone(),
            &["--opset", "21", "--ir-version", "new"],
            2,
            "expected auto, keep or a number",
        ),
        (
            "an operator of no opset",
            plain.replace("Relu", "Rleu"),
            &["--opset", "21"],
            1,
            "graph/#0:Rleu (Rleu), opset 13 to 21: opset 13 of ai.onnx has no operator 'Rleu'",
        ),
        (
            "an operator that is not there yet",
            plain.replace("Relu", "Mish"),
            &["--opset", "21"],
            1,
            "graph/#0:Mish (Mish), opset 13 to 21: opset 13 of ai.onnx has no operator 'Mish'",
        ),
        (
            "an operator that is gone",
            plain.replace("Relu (x)", "Upsample (x, x)"),
            &["--opset", "12"],
            1,
            "graph/#0:Upsample (Upsample)",
        ),
        (
            "an operator of another domain",
            plain.replace("Relu", "my.domain.Rleu"),
            &["--opset", "21"],
            0,
            "",
        ),
        (
            "a domain without a version",
            opsets(r#""": 13, "my.domain": 7"#).replace("Relu", "my.domain.Rleu"),
            &["--opset", "8"],
            0,
            "",
        ),
    ];
    let folder = Folder::new();
    let mut failures = Vec::new();
    for (name, text, arguments, code, message) in cases {
        let (input, output) = (folder.put("m.onnx", text), folder.named("out.onnx"));
        let done = recast(&[&["convert", &input, "-o", &output], *arguments].concat());
        let said = String::from_utf8_lossy(if *code == 2 {
            &done.stderr
        } else {
            &done.stdout
        })
        .into_owned();
        if done.status.code() != Some(*code)
            || !said.contains(message)
            || (*code == 2) != done.stdout.is_empty()
        {
            failures.push(format!(
                "{name}: {:?}, not {code} with '{message}'\n{said}",
                done.status.code()
            ));
        }
        if folder.path("out.onnx").exists() != (*code == 0) {
            failures.push(format!(
                "{name}: written or not: {}",
                folder.path("out.onnx").exists()
            ));
        }
        fs::remove_file(folder.path("out.onnx")).ok();
    }
    expect_no_failures(failures);
}

#[test]
fn a_target_picks_opset_and_ir_version_and_lowest_finds_the_opset() {
    const NORM: &str = r#"<ir_version: 10, opset_import: ["": 21]> g (float[2,3] x, float[3] s) => (float[2,3] y) { y = LayerNormalization (x, s) }"#;
    let folder = Folder::new();
    let (norm, mean) = (folder.put("norm.onnx", NORM), folder.put("mean.onnx", MEAN));
    let mut failures = Vec::new();
    for (input, goal, opset, ir_version) in [
        (&norm, &["--target", "onnxruntime@1.17"][..], 20, 9),
        (&norm, &["--target", "onnxruntime@1.20.1"], 21, 10),
        // Opset 12 is of IR version 7, which that runtime does not load.
        (&norm, &["--target", "onnxruntime@1.5.2"], 11, 6),
        (&norm, &["--target", "rknn@1.5.2"], 12, 7),
        (&norm, &["--lowest"], 7, 3),
        (&norm, &["--lowest=any"], 1, 3),
        (&norm, &["--lowest", "--target", "onnxruntime@1.31"], 7, 3),
        (&norm, &["--target", "onnxruntime@9.99"], 21, 10),
        (&mean, &["--target", "onnxruntime@1.31"], 13, 8),
        (&mean, &["--target", "onnxruntime@1.5.2"], 11, 6),
    ] {
        let done = recast(&[&["convert", input, "--dry-run", "--format", "json"], goal].concat());
        let document = document(&done.stdout);
        let report = &document["models"][0];
        let found = (
            done.status.code(),
            &report["to"]["ai.onnx"],
            &report["ir_version"]["to"],
        );
        if found != (Some(0), &json!(opset), &json!(ir_version)) {
            failures.push(format!(
                "{input} {goal:?}: {found:?}, not opset {opset} and IR version {ir_version}"
            ));
        }
    }
    let unknown = recast(&["convert", &norm, "--dry-run", "--target", "onnxruntime@1.6"]);
    if unknown.status.code() != Some(2)
        || !String::from_utf8_lossy(&unknown.stderr).contains("known are onnxruntime 1.5.2")
    {
        failures.push(format!("{unknown:?}"));
    }
    expect_no_failures(failures);
}

#[test]
fn inspect_lists_types_and_shapes_if_asked() {
    let folder = Folder::new();
    let input = folder.put("mean.onnx", MEAN);
    let types = |more: &[&str]| {
        document(&recast(&[&["inspect", &input, "--format", "json"], more].concat()).stdout)["types"].clone()
    };
    assert_eq!(types(&[]), json!(null));
    let expected = json!([
        {"scope": "graph", "value": "x", "type": "tensor(float)", "shape": [2, 3]},
        {"scope": "graph", "value": "y", "type": "tensor(float)", "shape": [2, 1]},
    ]);
    assert_eq!(types(&["--types"]), expected);
}

#[test]
fn the_refusal_of_a_contested_node_names_the_option() {
    let folder = Folder::new();
    let text = r#"<ir_version: 3, opset_import: ["": 6]> g (float[1,2] x, float[2] s, float[2] b, float[2] m, float[2] v) => (float[1,2] y)
        { y = BatchNormalization (x, s, b, m, v) }"#;
    let (input, output) = (folder.put("m.onnx", text), folder.named("out.onnx"));
    let refused = recast(&["convert", &input, "--opset", "9", "-o", &output]);
    assert_eq!(refused.status.code(), Some(1));
    let remedy = "use --contested text for the former, or --contested runtime for the latter";
    assert!(
        String::from_utf8_lossy(&refused.stdout).contains(remedy),
        "{refused:?}"
    );
    let outputs = |contested: &str| {
        let done = recast(&[
            "convert",
            &input,
            "--opset",
            "9",
            "-o",
            &output,
            "--contested",
            contested,
        ]);
        assert_eq!(done.status.code(), Some(0), "{done:?}");
        ModelProto::decode(fs::read(&output).unwrap().as_slice())
            .unwrap()
            .graph
            .clone()
            .unwrap()
            .node[0]
            .output
            .len()
    };
    assert_eq!(["text", "runtime"].map(outputs), [5, 1]);
    assert_eq!(
        recast(&[
            "convert",
            &input,
            "--opset",
            "9",
            "-o",
            &output,
            "--contested",
            "refuse"
        ])
        .status
        .code(),
        Some(1)
    );
}
