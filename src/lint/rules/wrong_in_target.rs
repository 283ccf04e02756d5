//! The rule `wrong-in-target`.

use crate::lint::{Finding, FunctionRule, RuleFacts, Selected, Severity, Subject};
use crate::ops::kernels::wrong_result;

const DOCS: &str = r#"A runtime that has to run the model computes something else for a node than ONNX defines.

## What it checks
The operator of every node, its version, attributes and types, against the results of onnx's node tests in the given runtimes,
if their opset and IR version are not exceeded (RC501). Nodes that are wrong for some values of their inputs only are reported,
unless `recast convert --target` wrote them. The rule is enabled by `target` in the configuration or `--target`, for
instance `openvino@2026.4`. Nodes that the runtime does not run are reported by RC502. Types that cannot be inferred are not reported.

## Why is this bad?
The runtime loads and runs the model without an error, but its results are wrong. `recast convert --target` converts the model
to an opset in which they are right, or adds nodes that make them right; a node for which neither is known is a blocker.

## Example
With the target `openvino@2026.4`:
```onnx
<ir_version: 10, opset_import: ["": 21]>
quantize (float[n] x) => (float8e4m3fn[n] y) {
    y = Cast <to = 17> (x)
}
```
Use instead:
```onnx
<ir_version: 10, opset_import: ["": 21]>
quantize (float[n] x) => (float8e4m3fn[n] y) {
    y = Cast <to = 17, saturate = 0> (x)
}
```
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC504", "wrong-in-target", Severity::Error, DOCS)
        .selected(Selected::WithTarget),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    subject.check_in_targets(|target, operation| {
        wrong_result(target, operation).map(|found| found.to_string())
    })
}
