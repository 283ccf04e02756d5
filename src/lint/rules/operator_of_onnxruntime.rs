//! The rule `operator-of-onnxruntime`.

use crate::lint::{Finding, FunctionRule, RuleFacts, Severity, Subject};
use crate::ops::schemas;

const DOCS: &str = r#"A node's operator is one that only onnxruntime has.

## What it checks
Operators that onnxruntime adds to the domain ai.onnx: SimplifiedLayerNormalization, LayerNormalization before opset 17, and
operators that ONNX has removed, such as Affine and ImageScaler, to opset 9. The optimizers of onnxruntime, Olive and Optimum write the
first two. The rule reports nothing if only onnxruntime is a `target`, in the configuration or with `--target`.

## Why is this bad?
onnxruntime runs the model, but onnx.checker and other runtimes reject it. `recast convert --target` with such a runtime replaces the
nodes by operators of ONNX.

## Example
```onnx
<ir_version: 7, opset_import: ["": 14]>
normalize (float[2, n] x, float[n] scale) => (float[2, n] y) {
    y = LayerNormalization (x, scale)
}
```
Use instead the opset that added the operator to ONNX:
```onnx
<ir_version: 8, opset_import: ["": 17]>
normalize (float[2, n] x, float[n] scale) => (float[2, n] y) {
    y = LayerNormalization (x, scale)
}
```
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC503", "operator-of-onnxruntime", Severity::Warning, DOCS),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let mut targets = subject.targets.iter().peekable();
    if targets.peek().is_some() && targets.all(|target| target.name == "onnxruntime") {
        return Vec::new();
    }
    let model = subject.model;
    let findings = subject.nodes().filter_map(|node| {
        let proto = model.node(node);
        let opset = model.opset(node.scope, proto.domain())?;
        let schema = schemas::schema(proto.domain(), proto.op_type(), opset)?;
        if !schema.of_onnxruntime || schema.deprecated || model.callee(node).is_some() {
            return None;
        }
        let of_onnx = schemas::versions("", schema.name).first();
        let since = of_onnx.map(|first| format!(" before opset {}", first.since_version));
        Some(Finding::at_node(
            node,
            format!(
                "{} of ai.onnx{} is an operator of onnxruntime; other runtimes reject it",
                schema.name,
                since.unwrap_or_default()
            ),
        ))
    });
    findings.collect()
}
