//! The rule `declared-type-differs-from-inferred`.

use crate::graph::Origin;
use crate::lint::{Finding, FunctionRule, RuleFacts, Selected, Severity, Subject};
use crate::ops::inference::Contradiction;

const DOCS: &str = r#"The declared type or shape of a value is not the one that it has.

## What it checks
The results of nodes and the initializers of graphs against their `value_info` and their declarations as inputs and outputs. Types
and shapes are inferred; values for which that is not possible are not checked. RC205 reports the types of results of casts.
Inference takes a third of the time of the other rules together, so that the rule is enabled on request.

## Why is this bad?
The model contradicts itself. Strict shape inference fails; runtimes refuse the model, or warn and use one of the two. A tool that
trusts the declaration allocates a buffer of the wrong size.

## Example
```onnx
<ir_version: 8, opset_import: ["": 18]>
project (float[2,4] x) => (float[2,3] y) <float[2,5] projected> {
    w = Constant <value = float[4,3] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}> ()
    projected = MatMul (x, w)
    y = Relu (projected)
}
```
Use instead:
```onnx
<ir_version: 8, opset_import: ["": 18]>
project (float[2,4] x) => (float[2,3] y) <float[2,3] projected> {
    w = Constant <value = float[4,3] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}> ()
    projected = MatMul (x, w)
    y = Relu (projected)
}
```
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new(
        "RC211",
        "declared-type-differs-from-inferred",
        Severity::Error,
        DOCS,
    )
    .selected(Selected::OnRequest),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let model = subject.model;
    let finding = |Contradiction {
                       value,
                       declared,
                       found,
                   }: &Contradiction| {
        let message = format!(
            "'{}' is declared as {declared} but is {found}",
            model.name(*value)
        );
        match model.origin(*value) {
            Origin::Node { node, .. } => Finding::at_node(node, message),
            _ => Finding::at_value(model, *value, message),
        }
    };
    subject.contradictions().iter().map(finding).collect()
}
