//! The rule `cast-missing-to`.

use crate::lint::{Finding, FunctionRule, RuleFacts, Severity, Subject};

const DOCS: &str = r#"A `Cast` does not state the type to cast to.

## What it checks
`Cast` nodes without the attribute `to`.

## Why is this bad?
The attribute has no default: the model is not valid, and runtimes reject it.

## Example
```onnx
<ir_version: 8, opset_import: ["": 18]>
narrow (float[n] x) => (float16[n] y) {
    y = Cast (x)
}
```
Use instead:
```onnx
<ir_version: 8, opset_import: ["": 18]>
narrow (float[n] x) => (float16[n] y) {
    y = Cast <to = 10> (x)
}
```
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC201", "cast-missing-to", Severity::Error, DOCS),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let model = subject.model;
    let lacks_to = |node: &_| {
        let proto = model.node(*node);
        proto.op_type() == "Cast"
            && !proto
                .attribute
                .iter()
                .any(|attribute| attribute.name() == "to")
    };
    subject
        .cast_nodes()
        .filter(lacks_to)
        .map(|node| Finding::at_node(node, "the attribute `to` is missing"))
        .collect()
}
