//! The rule `invalid-node`.

use crate::lint::{Finding, FunctionRule, RuleFacts, Selected, Severity, Subject};
use crate::ops::validity::node_fault;

const DOCS: &str = r#"A node is not valid in the imported opset.

## What it checks
Every node whose operator ONNX defines, against the schema of the opset that the model or function imports: the number of inputs and
outputs, attributes and their kinds, words of attributes with a fixed list, element types, and inputs whose types, ranks or shapes
contradict each other. Types and shapes are inferred; unknown ones are not checked. Nodes of functions are checked with the
types of their calls. Inference takes a third of the time of the other rules together, so that the rule is enabled on request.

## Why is this bad?
onnx.checker or runtimes reject the model, and `recast convert` does not convert it (`node-invalid`). Usually the model was moved to an
older opset, whose operators support fewer types, or the opset import is wrong: `recast convert --from-opset N` reads a model as one of
opset N.

## Example
```onnx
<ir_version: 8, opset_import: ["": 18]>
root (int32[n] x) => (int32[n] y) {
    y = Sqrt (x)
}
```
Use instead a type that the operator supports:
```onnx
<ir_version: 8, opset_import: ["": 18]>
root (int32[n] x) => (int32[n] y) {
    wide = Cast <to = 1> (x)
    root = Sqrt (wide)
    y = Cast <to = 6> (root)
}
```
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC212", "invalid-node", Severity::Error, DOCS).selected(Selected::OnRequest),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let (model, inferred) = (subject.model, subject.inferred());
    let findings = subject.nodes().filter_map(|node| {
        let opset = model.opset(node.scope, "").unwrap_or_default();
        Some(Finding::at_node(
            node,
            node_fault(model, inferred, node, opset)?,
        ))
    });
    findings.collect()
}
