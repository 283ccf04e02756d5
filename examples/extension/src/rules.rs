//! Lint rules.

use onnx_recast::graph::Edit;
use onnx_recast::lint::{Finding, FunctionRule, RuleFacts, Severity, Subject};

/// Finds nodes without a name. The fix is the name of the first output.
pub static UNNAMED_NODE: FunctionRule = FunctionRule::new(
    RuleFacts::new(
        "X101",
        "unnamed-node",
        Severity::Warning,
        "A node has no name.\n\n## Why is this bad?\nThe runtime identifies nodes by their names.\n",
    ),
    find_unnamed_nodes,
);

fn find_unnamed_nodes(subject: &Subject) -> Vec<Finding> {
    let model = subject.model;
    let unnamed = subject
        .nodes()
        .filter(|&node| model.node(node).name().is_empty());
    unnamed
        .map(|node| {
            let finding = Finding::at_node(node, "the node has no name");
            let Some((_, output)) = model.outputs(node).next() else {
                return finding;
            };
            let mut named = model.node(node).clone();
            named.name = Some(model.name(output).to_owned());
            let edits = vec![Edit::replace_node(node, vec![named])];
            finding.with_safe_fix("use the name of the first output", edits)
        })
        .collect()
}
