//! The rule `name-defined-again`.

use crate::graph::{Model, NodeId, Origin, ValueId};
use crate::lint::{Finding, FunctionRule, RuleFacts, Severity, Subject};

const DOCS: &str = r#"A node of a subgraph gives its result a name that is visible there already.

## What it checks
The outputs of every node of a subgraph, against the inputs, initializers and earlier results of the graphs around it. Inputs and
initializers of subgraphs are not checked: runtimes take the inner value there.

## Why is this bad?
Names have to be unique among the values that are visible in a subgraph. onnx.checker and onnxruntime reject the model, and other
runtimes may read either value.

## Example
```onnx
<ir_version: 8, opset_import: ["": 18]>
choose (float[n] x, bool c) => (float[n] y) {
    t = Neg (x)
    y = If (c) <
        then_branch = negated () => (float[n] t) { t = Abs (x) },
        else_branch = kept () => (float[n] k) { k = Identity (t) }
    >
}
```
Use instead another name:
```onnx
<ir_version: 8, opset_import: ["": 18]>
choose (float[n] x, bool c) => (float[n] y) {
    t = Neg (x)
    y = If (c) <
        then_branch = negated () => (float[n] a) { a = Abs (x) },
        else_branch = kept () => (float[n] k) { k = Identity (t) }
    >
}
```
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC213", "name-defined-again", Severity::Error, DOCS),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let model = subject.model;
    let subgraphs = model
        .scopes()
        .filter(|&scope| model.enclosing(scope).is_some());
    let nodes = subgraphs.flat_map(|scope| model.nodes(scope));
    let findings = nodes.filter_map(|node| {
        let mut again = model
            .outputs(node)
            .filter_map(|(_, value)| Some((value, model.shadowed_by(value)?)));
        let (value, outer) = again.find(|&(_, outer)| is_visible(model, outer, node))?;
        let scope = model.scope_path(model.scope_of(outer));
        Some(Finding::at_node(
            node,
            format!(
                "its output '{}' has the name of a value of {scope}, which is visible here",
                model.name(value)
            ),
        ))
    });
    findings.collect()
}

/// Whether a value of an enclosing scope is defined before the node that has the subgraph there.
fn is_visible(model: &Model, outer: ValueId, inner: NodeId) -> bool {
    let Origin::Node { node, .. } = model.origin(outer) else {
        return true;
    };
    let mut owners = model.owners(inner.scope);
    let owner = owners.find(|owner| owner.scope == node.scope);
    owner.is_some_and(|owner| node.position < owner.position)
}
