//! A pass, a lint rule and an adapter for onnx-recast, defined in another crate.
//!
//! They are for a runtime that has no `Identity`, does not accept nodes without a name, and has an exact `Gelu` in its own domain.

use onnx_recast::convert::{Code, NodeAdapter, OperatorAdapter, Reason};
use onnx_recast::graph::{Edit, Model};
use onnx_recast::lint::{Finding, Rule, Selected, Severity, Subject};
use onnx_recast::passes::{Event, Pass, Plan, Removal};

/// Removes `Identity` nodes; their consumers use the input instead.
pub const REMOVE_IDENTITIES: Pass = Pass {
    name: "remove-identities",
    docs: "Removes Identity nodes whose outputs are not outputs of a graph.\n",
    requires: |_| Ok(()),
    plan: |model, _| {
        let mut plan = Plan::default();
        for &node in model.topological_order().iter().filter(|&&node| model.node(node).op_type() == "Identity") {
            let (Some(input), Some((_, output))) = (model.input(node, 0), model.outputs(node).next()) else { continue };
            if model.output_of(output).is_empty() && model.pin(output).is_none() {
                plan.edits.push(Edit::Rewire { from: output, to: input });
                plan.edits.push(Edit::remove_node(node));
                let reason = Removal::ReturnsInput(model.name(input).to_owned());
                plan.events.push(Event::RemovedNode { node: model.node_path(node), reason });
            }
        }
        Ok(plan)
    },
    ensures: |model, events| {
        let removed = |path: &String| !model.topological_order().iter().any(|&node| model.node_path(node) == *path);
        let paths = events.iter().filter_map(|event| if let Event::RemovedNode { node, .. } = event { Some(node) } else { None });
        match paths.into_iter().find(|path| !removed(path)) {
            Some(path) => Err(format!("{path} was removed but is still there")),
            None => Ok(()),
        }
    },
};

/// Finds nodes without a name.
pub static UNNAMED_NODE: Rule = Rule {
    code: "X101",
    name: "unnamed-node",
    severity: Severity::Warning,
    selected: Selected::ByDefault,
    docs: "A node has no name.\n\n## Why is this bad?\nThe runtime identifies nodes by their names.\n",
    check: find_unnamed_nodes,
};

fn find_unnamed_nodes(subject: &Subject) -> Vec<Finding> {
    let model: &Model = subject.model;
    let unnamed = subject.nodes().filter(|&node| model.node(node).name().is_empty());
    unnamed.map(|node| Finding::at_node(node, "the node has no name")).collect()
}

/// Converts `Gelu` below opset 20 to the operator of the runtime.
pub const GELU_OF_RUNTIME: OperatorAdapter = OperatorAdapter { op: "Gelu", opset: 20, up: |_| Ok(()), down: call_runtime };

fn call_runtime(node: &mut NodeAdapter) -> Result<(), Reason> {
    if node.attribute("approximate").is_some_and(|mode| mode.s() != b"none") {
        return Err(Reason::new(Code::AttributeUnsupported, "the runtime supports the exact Gelu only"));
    }
    node.remove_attribute("approximate");
    node.set_operator("my.runtime", "Gelu");
    Ok(())
}
