//! `--target`: what a runtime cannot run in the new type stays as it is.

use std::fs;

use onnx_recast::precision::{Options, Policy};
use onnx_recast::{DType, Model, Runtime};

use super::{all, changed, parsed};
use crate::fuzz::convert::seeds;
use crate::support::expect_no_failures;

const TARGETS: [&str; 5] = [
    "onnxruntime@1.23",
    "onnxruntime@1.32",
    "tensorrt@10.15",
    "tensorrt@11.1",
    "tensorrt@11.5",
];

/// The nodes without a kernel.
fn missing(model: &Model, runtime: &Runtime) -> Vec<String> {
    model
        .runs_on(runtime)
        .missing
        .into_iter()
        .map(|missing| format!("{}: {}", missing.node, missing.kernel))
        .collect()
}

/// A node of every version of every operator, and the example models.
fn models() -> Vec<(String, Model)> {
    // The seeds have 18 models of each version of an operator; the first has all its inputs.
    let nodes = seeds(&[])
        .into_iter()
        .step_by(18)
        .enumerate()
        .map(|(index, bytes)| (format!("seed {index}"), bytes));
    let files = fs::read_dir("models")
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files = files.filter(|path| {
        path.extension()
            .is_some_and(|extension| extension == "onnx")
    });
    let files = files.map(|path| (path.display().to_string(), fs::read(&path).unwrap()));
    nodes
        .chain(files)
        .filter_map(|(name, bytes)| Some((name, Model::from_bytes(bytes).ok()?)))
        .collect()
}

#[test]
fn no_node_loses_its_kernel() {
    let mut failures = Vec::new();
    // By type: changed models, and nodes that were kept since they have no kernel.
    let (mut changes, mut kept) = ([0; 2], [0; 2]);
    let models = models();
    for target in TARGETS {
        let runtime: Runtime = target.parse().unwrap();
        for (name, model) in &models {
            let before = missing(model, &runtime);
            for (index, dtype) in [DType::Float16, DType::Bfloat16].into_iter().enumerate() {
                let mut after = model.clone();
                let options = Options::to(dtype).policy(Policy::All).target(Some(runtime));
                let Ok(report) = after.change_precision(&options) else {
                    continue;
                };
                changes[index] += usize::from(!report.is_unchanged());
                kept[index] += report
                    .kept
                    .iter()
                    .filter(|kept| kept.reason.code() == "no-kernel")
                    .count();
                let lost: Vec<String> = missing(&after, &runtime)
                    .into_iter()
                    .filter(|node| !before.contains(node))
                    .collect();
                if !lost.is_empty() {
                    let text = onnx_recast::internals::onnx_text::print(after.proto());
                    failures.push(format!("== {name}, {dtype}, {target}: {lost:?}\n{text}"));
                }
            }
        }
    }
    expect_no_failures(failures);
    assert!(
        changes.iter().chain(&kept).all(|&count| count > 50),
        "{changes:?} models changed, {kept:?} nodes kept"
    );
}

struct Case {
    name: &'static str,
    model: &'static str,
    target: &'static str,
    dtype: DType,
    /// The reasons of the nodes that are kept.
    kept: &'static [&'static str],
    casts: usize,
}

#[test]
fn a_node_without_a_kernel_keeps_its_types() {
    let mut failures = Vec::new();
    for Case {
        name,
        model,
        target,
        dtype,
        kept,
        casts,
    } in [
        Case {
            name: "onnxruntime inserts casts around nodes of FLOAT16, but not around those of BFLOAT16",
            model: r#"<ir_version: 10, opset_import: ["": 22]> g (float[2] x) => (float[2] y) { p = Sin (x) y = Relu (p) }"#,
            target: "onnxruntime@1.23",
            dtype: DType::Bfloat16,
            kept: &[
                "onnxruntime 1.23 has no kernel for Sin-22 of tensor(bfloat16); no known version has one",
                "onnxruntime 1.23 has no kernel for Relu-14 of tensor(bfloat16); no known version has one",
            ],
            casts: 0,
        },
        Case {
            name: "the same in FLOAT16",
            model: r#"<ir_version: 10, opset_import: ["": 22]> g (float[2] x) => (float[2] y) { p = Sin (x) y = Relu (p) }"#,
            target: "onnxruntime@1.23",
            dtype: DType::Float16,
            kept: &[],
            casts: 2,
        },
    ] {
        let options = Options::to(dtype)
            .policy(Policy::All)
            .target(Some(target.parse().unwrap()));
        let (after, report) = changed(name, &parsed(model), &options, &mut failures);
        let found: Vec<String> = report
            .kept
            .iter()
            .map(|kept| kept.reason.to_string())
            .collect();
        if found != kept || super::casts(&after) != casts {
            failures.push(format!(
                "== {name}: {} casts, kept {found:?}",
                super::casts(&after)
            ));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_model_that_the_runtime_does_not_load_is_an_error() {
    let error = |header: &str, target: &str| {
        let text = format!("<{header}> g (float[2] x) => (float[2] y) {{ y = Sin (x) }}");
        let options = all().target(Some(target.parse().unwrap()));
        parsed(&text)
            .change_precision(&options)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    let opset = error(
        r#"ir_version: 10, opset_import: ["": 22]"#,
        "onnxruntime@1.18",
    );
    assert_eq!(
        opset,
        "onnxruntime 1.18 to 1.20 loads opsets up to 21; the model has opset 22"
    );
    let ir_version = error(
        r#"ir_version: 10, opset_import: ["": 17]"#,
        "onnxruntime@1.17",
    );
    assert_eq!(
        ir_version,
        "onnxruntime 1.17 loads IR versions up to 9; the model has IR version 10; convert it for the runtime first"
    );
}

#[test]
fn what_is_not_known_of_a_runtime_is_noted() {
    let text =
        r#"<ir_version: 8, opset_import: ["": 13]> g (float[2] x) => (float[2] y) { y = Sin (x) }"#;
    let notes = |target: &str| {
        let mut model = parsed(text);
        let report = model
            .change_precision(&all().target(Some(target.parse().unwrap())))
            .unwrap();
        assert!(!report.is_unchanged(), "{target}");
        report.notes
    };
    assert_eq!(
        notes("tensorrt@10.0"),
        ["the kernels of tensorrt 10.0 are not known: only opset and IR version are checked"]
    );
    assert!(notes("onnxruntime@99.0")[0].starts_with("onnxruntime 99.0 is not known yet"));
    assert_eq!(notes("onnxruntime@1.31"), Vec::<String>::new());
}
