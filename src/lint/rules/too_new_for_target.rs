//! The rule `too-new-for-target`.

use crate::graph::ScopeId;
use crate::lint::{Finding, FunctionRule, RuleFacts, Selected, Severity, Subject};

const DOCS: &str = r#"The model is too new for a runtime that has to load it.

## What it checks
The opset of ai.onnx and the IR version of the model, against the newest ones that the given runtimes load. The rule is
enabled by `target` in the configuration or `--target`, for instance `onnxruntime@1.17`; `recast targets` lists the
runtimes. Operators of other domains are not checked.

## Why is this bad?
The runtime refuses to load the model. Exporters write newer opsets than released runtimes support, so this often is
noticed when the model is deployed. `recast convert --target` converts the model to what the runtime loads.

## Example
With the target `onnxruntime@1.17`:
```onnx
<ir_version: 10, opset_import: ["": 21]>
activate (float[n] x) => (float[n] y) {
    y = Relu (x)
}
```
Use instead:
```onnx
<ir_version: 9, opset_import: ["": 20]>
activate (float[n] x) => (float[n] y) {
    y = Relu (x)
}
```
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC501", "too-new-for-target", Severity::Error, DOCS)
        .selected(Selected::WithTarget),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let model = subject.model;
    let (opset, ir_version) = (model.opset(ScopeId::MAIN, ""), model.ir_version());
    let mut findings = Vec::new();
    for target in subject.targets {
        let (newest_opset, newest_ir_version) = target.exceeded(opset, ir_version);
        if let (Some(opset), Some(newest)) = (opset, newest_opset) {
            findings.push(format!(
                "opset {opset} of ai.onnx is not supported by {target}; its newest is {newest}"
            ));
        }
        if let Some(newest) = newest_ir_version {
            findings.push(format!(
                "IR version {ir_version} is not supported by {target}; its newest is {newest}"
            ));
        }
    }
    findings.into_iter().map(Finding::at_model).collect()
}
