//! The rule `no-kernel-in-target`.

use crate::lint::{Finding, FunctionRule, RuleFacts, Selected, Severity, Subject};
use crate::ops::kernels::missing_kernel;

const DOCS: &str = r#"A runtime that has to run the model has no kernel for a node.

## What it checks
The operator of every node, its version and its types, against the kernels of the given runtimes, if their opset and IR version are
not exceeded (RC501). The rule is enabled by `target` in the configuration or `--target`, for instance `onnxruntime@1.31`;
`recast targets onnxruntime@1.31` lists operators without a kernel. The kernels of some runtimes are not known, and neither are
those for types that cannot be inferred: these nodes are not reported.

## Why is this bad?
The runtime refuses to load the model, although it supports the opset, or loads it and fails when it runs. `recast convert --target`
converts the model to an opset in which the runtime has kernels for all nodes, if there is one; the finding names the opset for
the node.

## Example
With the target `onnxruntime@1.31`:
```onnx
<ir_version: 10, opset_import: ["": 22]>
pool (float[1,2,4] x) => (float[1,2,1] y) {
    y = GlobalLpPool (x)
}
```
Use instead:
```onnx
<ir_version: 10, opset_import: ["": 21]>
pool (float[1,2,4] x) => (float[1,2,1] y) {
    y = GlobalLpPool (x)
}
```
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC502", "no-kernel-in-target", Severity::Error, DOCS)
        .selected(Selected::WithTarget),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    subject.check_in_targets(|target, operation| {
        missing_kernel(target, operation).map(|found| found.to_string())
    })
}
