//! `recast.noqa` entries at every level of a model.

use onnx_recast::Model;
use onnx_recast::internals::lint_model;
use onnx_recast::proto::{GraphProto, ModelProto, StringStringEntryProto, raw};

use super::options;
use crate::support::{expect_no_failures, model};

const MODEL: &str = r#"<ir_version: 10, opset_import: ["": 21, "local": 1]>
    g (float[4] x, bool choice, float scale, float8e4m3fn zero) => (float8e4m3fn[4] y, float8e5m2[4] b, float8e5m2[4] f, float[2] d) <uint8[2] w = {1, 2}> {
        [plain] y = Cast <to = 17> (x)
        [choose] b = If (choice) <
            then_branch = t () => (float8e5m2[4] r) { [then] r = Cast <to = 19> (x) },
            else_branch = e () => (float8e5m2[4] q) { [else] q = Cast <to = 19> (x) }
        >
        f = local.Quantize (x)
        d = DequantizeLinear (w, scale, zero)
    }
    <domain: "local", opset_import: ["": 21]>
    Quantize (x) => (y) { [inside] y = Cast <to = 19> (x) }"#;

const ALL: [&str; 5] = [
    "graph/w",
    "graph/plain",
    "graph/choose.then_branch/then",
    "graph/choose.else_branch/else",
    "function/local:Quantize/inside",
];

fn noqa(codes: &str) -> StringStringEntryProto {
    raw::StringStringEntryProto {
        key: Some("recast.noqa".to_owned()),
        value: Some(codes.to_owned()),
    }
    .into()
}

fn graph(model: &mut ModelProto) -> &mut GraphProto {
    model.graph.as_mut().unwrap()
}

#[test]
fn an_entry_suppresses_findings_inside_its_own_message() {
    type Silence = fn(&mut ModelProto);
    let cases: [(&str, Silence, &[&str]); 8] = [
        ("nowhere", |_| {}, &ALL),
        (
            "the model",
            |model| model.metadata_props.push(noqa("RC101,RC108")),
            &[],
        ),
        (
            "the graph and what it holds, but no function",
            |model| graph(model).metadata_props.push(noqa("ALL")),
            &ALL[4..],
        ),
        (
            "a node",
            |model| graph(model).node[0].metadata_props.push(noqa("RC1")),
            &["graph/w", ALL[2], ALL[3], ALL[4]],
        ),
        (
            "a node and its graphs",
            |model| graph(model).node[1].metadata_props.push(noqa("RC101")),
            &["graph/w", "graph/plain", ALL[4]],
        ),
        (
            "one branch",
            |model| {
                graph(model).node[1].attribute[0]
                    .g
                    .as_mut()
                    .unwrap()
                    .metadata_props
                    .push(noqa("RC101"))
            },
            &["graph/w", "graph/plain", ALL[3], ALL[4]],
        ),
        (
            "a function",
            |model| {
                model.functions[0]
                    .metadata_props
                    .push(noqa("float8-cast-missing-saturate"))
            },
            &ALL[..4],
        ),
        (
            "an initializer",
            |model| {
                graph(model).initializer[0]
                    .metadata_props
                    .push(noqa("RC104 RC108"))
            },
            &ALL[1..],
        ),
    ];
    let mut failures = Vec::new();
    for (name, silence, expected) in cases {
        let mut proto = model(MODEL);
        silence(&mut proto);
        let model = Model::new(proto).unwrap();
        let options = options("RC101,RC108");
        let found: Vec<String> = lint_model(&model, "model.onnx", &options)
            .iter()
            .map(|found| found.place().to_owned())
            .collect();
        if found != expected {
            failures.push(format!("{name}: {found:?}, not {expected:?}"));
        }
        let ignoring = lint_model(&model, "model.onnx", &options.clone().ignore_noqa(true)).len();
        if ignoring != ALL.len() {
            failures.push(format!(
                "{name}: {ignoring} findings with ignored entries, not {}",
                ALL.len()
            ));
        }
    }
    expect_no_failures(failures);
}
