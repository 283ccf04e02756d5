//! Properties of every fix, over all models of `tests/cases/lint/` for rules, all examples of the
//! documentation, and the example models.

use onnx_recast::internals::{all_rules, fix_model, lint_model, onnx_text};
use std::collections::BTreeSet;
use std::fs;

use onnx_recast::Model;
use onnx_recast::internals::lint::Fixed;
use onnx_recast::lint::{Baseline, Diagnostic, Safety};
use onnx_recast::proto::{ModelProto, NodeProto};
use prost::Message;

use super::documentation::examples;
use super::fixtures::fixtures;
use super::options;
use crate::support::{expect_no_failures, model};

/// Every model that the lint tests have, with a name.
pub fn corpus() -> Vec<(String, ModelProto)> {
    let mut corpus = Vec::new();
    corpus.extend(fixtures().iter().map(|fixture| {
        (
            format!("{} {}", fixture.code, fixture.name),
            model(&fixture.model),
        )
    }));
    for rule in all_rules() {
        corpus.extend(
            examples(rule)
                .iter()
                .map(|text| (format!("{}, an example", rule.code), model(text))),
        );
    }
    for entry in fs::read_dir("models").unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "onnx")
        {
            let proto = ModelProto::from_bytes(fs::read(&path).unwrap().into()).unwrap();
            corpus.push((path.display().to_string(), proto));
        }
    }
    corpus
}

fn fix(proto: ModelProto, allowed: Safety) -> (ModelProto, Vec<Diagnostic>) {
    let Fixed { model, fixed } = fix_model(
        Model::new(proto).unwrap(),
        "model.onnx",
        &options("ALL"),
        allowed,
        &Baseline::default(),
    )
    .unwrap();
    (model.into_proto(), fixed)
}

#[test]
fn fixing_converges_and_no_fix_remains() {
    let mut failures = Vec::new();
    for allowed in [Safety::Safe, Safety::Unsafe] {
        for (name, proto) in corpus() {
            let (fixed, _) = fix(proto, allowed);
            let left = lint_model(
                &Model::new(fixed.clone()).unwrap(),
                "model.onnx",
                &options("ALL"),
            );
            let fixable = left
                .iter()
                .filter(|found| found.fix.as_ref().is_some_and(|fix| fix.safety <= allowed));
            failures.extend(
                fixable
                    .map(|found| format!("{name}: {} is left at {}", found.code(), found.place())),
            );
            let (again, changes) = fix(fixed.clone(), allowed);
            if again.encode_to_vec() != fixed.encode_to_vec() || !changes.is_empty() {
                failures.push(format!("{name}: a second run changes the model"));
            }
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_model_without_fixes_keeps_its_bytes() {
    let mut failures = Vec::new();
    for (name, proto) in corpus() {
        let before = proto.encode_to_vec();
        let (after, fixed) = fix(proto, Safety::Safe);
        if fixed.is_empty() && after.encode_to_vec() != before {
            failures.push(name);
        }
    }
    expect_no_failures(failures);
}

/// Only the attributes of the nodes with findings, and the number of the IR: that preserves the
/// model's results.
#[test]
fn safe_fixes_change_attributes_of_reported_nodes_only() {
    let mut failures = Vec::new();
    for (name, proto) in corpus() {
        let (mut after, fixed) = fix(proto.clone(), Safety::Safe);
        let places: BTreeSet<String> = fixed.iter().map(Diagnostic::place).collect();
        let before = Model::new(proto.clone()).unwrap();
        let changed = Model::new(after.clone()).unwrap();
        for node in before.scopes().flat_map(|scope| before.nodes(scope)) {
            let (old, new) = (before.node(node), changed.node(node));
            if places.contains(before.node_path(node).as_str()) {
                if without_attributes(old) != without_attributes(new) {
                    failures.push(format!(
                        "{name}: {} changed beyond its attributes",
                        before.node_path(node)
                    ));
                }
            } else if graphless(old) != graphless(new) {
                failures.push(format!(
                    "{name}: {} changed without a finding",
                    before.node_path(node)
                ));
            }
        }
        after.ir_version = proto.ir_version;
        let lines = |model: &ModelProto| onnx_text::print(model).lines().count();
        if lines(&after) != lines(&proto) {
            failures.push(format!("{name}: has more lines or fewer"));
        }
    }
    expect_no_failures(failures);
}

fn without_attributes(node: &NodeProto) -> NodeProto {
    let mut node = node.clone();
    node.attribute.clear();
    node
}

/// The node without graphs, whose nodes are compared themselves.
fn graphless(node: &NodeProto) -> NodeProto {
    let mut node = node.clone();
    for attribute in &mut node.attribute {
        attribute.g = None;
        attribute.graphs.clear();
    }
    node
}
