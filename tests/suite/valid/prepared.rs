//! `--freeze-initializers` and `--drop-metadata`.

use onnx_recast::proto::ModelProto;
use onnx_recast::proto::raw::StringStringEntryProto;
use serde_json::json;

use super::{Folder, document, recast, said};
use crate::support::model;

const OVERRIDABLE: &str = r#"<ir_version: 8, opset_import: ["": 13]> g (float[] x, float[2] w, int64[1] a) => (float16[2] h, float[] y)
    <float[2] w = {1, 2}, int64[1] a = {0}> { [cast] h = Cast <to = 10> (w) [sum] y = ReduceSum (x, a) }"#;

#[test]
fn frozen_initializers_fold_and_convert_and_are_inputs_no_longer() {
    let folder = Folder::new();
    let (input, output) = (folder.put("m.onnx", OVERRIDABLE), folder.named("out.onnx"));
    let inputs = |name: &str| {
        let graph = folder.read(name).graph.clone().unwrap();
        graph
            .input
            .iter()
            .map(|input| input.name().to_owned())
            .collect::<Vec<_>>()
    };

    let kept = recast(&["fold", &input, "--dry-run"]);
    let remedy =
        "a caller can override the initializer, which is also an input; use --freeze-initializers";
    assert!(said(&kept).contains(remedy), "{}", said(&kept));
    let done = recast(&["fold", &input, "-o", &output, "--freeze-initializers"]);
    assert!(
        said(&done).contains("  froze 2 initializers\n") && said(&done).contains("folded 1 cast"),
        "{}",
        said(&done)
    );
    assert_eq!(inputs("out.onnx"), ["x"]);

    let refused = recast(&["convert", &input, "--opset", "11", "--dry-run"]);
    assert_eq!(refused.status.code(), Some(1));
    let remedy = "which a caller can override; use --freeze-initializers to treat it as a constant";
    assert!(said(&refused).contains(remedy), "{}", said(&refused));
    let done = recast(&[
        "convert",
        &input,
        "--opset",
        "11",
        "-o",
        &output,
        "--freeze-initializers",
        "--format",
        "json",
    ]);
    assert_eq!(done.status.code(), Some(0), "{}", said(&done));
    assert_eq!(
        document(&done)["models"][0]["frozen_initializers"],
        json!(["w", "a"])
    );
    assert_eq!(inputs("out.onnx"), ["x"]);

    let lint = |more: &[&str]| {
        let done = recast(
            &[
                &[
                    "lint",
                    "--isolated",
                    "--select",
                    "RC401",
                    "--format",
                    "json",
                    &input,
                ],
                more,
            ]
            .concat(),
        );
        let document = document(&done);
        (
            document["findings"].as_array().unwrap().len(),
            document["frozen_initializers"][&input].clone(),
        )
    };
    assert_eq!(lint(&[]), (0, json!(null)));
    assert_eq!(lint(&["--freeze-initializers"]), (1, json!(["w", "a"])));
    assert_eq!(inputs("m.onnx"), ["x", "w", "a"], "a report writes nothing");
    recast(&[
        "lint",
        "--isolated",
        "--select",
        "RC206",
        "--fix",
        "--freeze-initializers",
        &input,
    ]);
    assert_eq!(inputs("m.onnx"), ["x"]);
}

#[test]
fn initializers_that_are_constants_anyway_stay_listed() {
    let folder = Folder::new();
    let (input, output) = (
        folder.put(
            "m.onnx",
            &OVERRIDABLE.replace("ir_version: 8", "ir_version: 3"),
        ),
        folder.named("out.onnx"),
    );
    let done = recast(&[
        "fold",
        &input,
        "-o",
        &output,
        "--passes",
        "none",
        "--freeze-initializers",
    ]);
    assert!(
        said(&done).contains("  froze 0 initializers\n"),
        "{}",
        said(&done)
    );
    assert_eq!(folder.read("out.onnx"), folder.read("m.onnx"));
}

fn entry(key: &str) -> onnx_recast::proto::StringStringEntryProto {
    StringStringEntryProto {
        key: Some(key.to_owned()),
        value: Some("v".to_owned()),
    }
    .into()
}

/// A model, and the same with two entries of metadata in each of [`PLACES`] messages, of every kind
/// that has metadata.
fn annotated() -> (ModelProto, ModelProto) {
    let plain = model(
        r#"<ir_version: 10, opset_import: ["": 21, "l": 1]> g (float[2] x, bool c) => (float[2] y) <float[2] w = {1, 2}, float[2] s>
        {
            k = Constant <value = float[2] {3, 4}> ()
            s = Add (x, w)
            t = If (c) <then_branch = a () => (float[2] p) { p = Add (s, k) }, else_branch = b () => (float[2] q) { q = Relu (s) }>
            y = l.F (t)
        }
        <domain: "l", opset_import: ["": 21]> F (v) => (r) { r = Relu (v) }"#,
    );
    let mut full = plain.clone();
    let both = || [entry("namespace"), entry("pkg.torch.onnx.name_scopes")];
    full.metadata_props.extend(both());
    full.functions[0].metadata_props.extend(both());
    full.functions[0].node[0].metadata_props.extend(both());
    let graph = full.graph.as_mut().unwrap();
    graph.metadata_props.extend(both());
    graph.input[0].metadata_props.extend(both());
    graph.output[0].metadata_props.extend(both());
    graph.value_info[0].metadata_props.extend(both());
    graph.initializer[0].metadata_props.extend(both());
    graph.node[0].attribute[0]
        .t
        .as_mut()
        .unwrap()
        .metadata_props
        .extend(both());
    graph.node[1].metadata_props.extend(both());
    let branch = graph.node[2].attribute[0].g.as_mut().unwrap();
    branch.metadata_props.extend(both());
    branch.node[0].metadata_props.extend(both());
    (plain, full)
}

const PLACES: usize = 12;

#[test]
fn metadata_is_dropped_at_every_level_and_counted() {
    let (plain, full) = annotated();
    let folder = Folder::new();
    let (input, output) = (folder.put_proto("m.onnx", &full), folder.named("out.onnx"));
    for command in [
        &["fold", "--passes", "none"][..],
        &["convert", "--opset", "21"],
    ] {
        let done = recast(
            &[
                command,
                &[&input, "-o", &output, "--drop-metadata", "--format", "json"],
            ]
            .concat(),
        );
        assert_eq!(done.status.code(), Some(0), "{}", said(&done));
        assert!(
            folder.read("out.onnx") == plain,
            "{}",
            folder.read_text("out.onnx")
        );
        let expected = json!({"entries": 2 * PLACES, "keys": {"namespace": PLACES, "pkg.torch.onnx.name_scopes": PLACES}});
        assert_eq!(document(&done)["models"][0]["dropped_metadata"], expected);

        let done = recast(
            &[
                command,
                &[&input, "-o", &output, "--drop-metadata=pkg.torch.*,other"],
            ]
            .concat(),
        );
        assert!(
            said(&done).contains(&format!("  dropped {PLACES} entries of metadata_props\n")),
            "{}",
            said(&done)
        );
        let left = folder.read("out.onnx");
        assert_eq!(
            (left.metadata_props.len(), left.metadata_props[0].key()),
            (1, "namespace")
        );
        assert_eq!(left.graph.as_ref().unwrap().node[1].metadata_props.len(), 1);
        assert_eq!(left.functions[0].node[0].metadata_props.len(), 1);
    }
    let done = recast(&[
        "fold",
        &input,
        "-o",
        &output,
        "--passes",
        "none",
        "--drop-metadata=absent",
        "--format",
        "json",
    ]);
    assert_eq!(
        document(&done)["models"][0]["dropped_metadata"],
        json!({"entries": 0, "keys": {}, "unmatched": ["absent"]})
    );
    assert!(folder.read("out.onnx") == full);
}

#[test]
fn an_ir_version_that_only_metadata_forbids_names_the_option() {
    let (_, mut full) = annotated();
    full.functions.clear();
    full.graph.as_mut().unwrap().node[3].domain = Some("ext".to_owned());
    full.opset_import[1].domain = Some("ext".to_owned());
    let folder = Folder::new();
    let (input, output) = (folder.put_proto("m.onnx", &full), folder.named("out.onnx"));
    let convert = |more: &[&str]| {
        recast(
            &[
                &[
                    "convert",
                    &input,
                    "--opset",
                    "13",
                    "--ir-version",
                    "7",
                    "-o",
                    &output,
                ],
                more,
            ]
            .concat(),
        )
    };
    let refused = convert(&[]);
    assert_eq!(refused.status.code(), Some(2));
    let found = said(&refused);
    let fact = "IR version 7 is too low: metadata_props of a graph needs 10; use --drop-metadata to remove it";
    assert!(found.contains(fact), "{found}");
    let found = said(&convert(&["--drop-metadata=none.*"]));
    assert!(
        found.contains("use --drop-metadata without keys to remove it"),
        "{found}"
    );
    assert_eq!(convert(&["--drop-metadata"]).status.code(), Some(0));
    assert_eq!(folder.read("out.onnx").ir_version(), 7);

    // Where something else needs the IR version too, dropping metadata does not help.
    let refused = recast(&[
        "convert",
        &input,
        "--opset",
        "21",
        "--ir-version",
        "7",
        "--dry-run",
    ]);
    assert!(
        said(&refused).contains("IR version 7 is too low")
            && !said(&refused).contains("--drop-metadata"),
        "{}",
        said(&refused)
    );
}
