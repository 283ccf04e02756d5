//! The rule `float8-cast-missing-saturate`.

use super::attributes::{SATURATE_SINCE, missing_saturate};
use crate::lint::{Finding, FunctionRule, RuleFacts, Severity, Subject};

const DOCS: &str = r#"A cast to float8 does not state `saturate`.

## What it checks
`Cast` and `CastLike` to FLOAT8E4M3FN, FLOAT8E4M3FNUZ, FLOAT8E5M2, FLOAT8E5M2FNUZ or FLOAT8E8M0 without `saturate`.

## Why is this bad?
The attribute determines whether a value beyond the largest float8 becomes that largest number, or NaN or infinity. By
default, ONNX saturates, but frameworks and exporters differ: an eager cast in PyTorch, for example, did not saturate for
years. A model without the attribute may therefore differ from the original, and only for outliers, which tests rarely
cover. State the intended behaviour.

## Example
```onnx
<ir_version: 9, opset_import: ["": 19]>
quantize (float[n] x) => (float8e4m3fn[n] y) {
    y = Cast <to = 17> (x)
}
```
Use instead:
```onnx
<ir_version: 9, opset_import: ["": 19]>
quantize (float[n] x) => (float8e4m3fn[n] y) {
    y = Cast <saturate = 1, to = 17> (x)
}
```

## Fix
Safe: adds `saturate = 1`, which is the default. If the model is not meant to saturate, add `saturate = 0` by hand.
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new(
        "RC101",
        "float8-cast-missing-saturate",
        Severity::Warning,
        DOCS,
    ),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let unstated = subject.casts().filter(|cast| {
        cast.to.obeys_saturate() && cast.saturate.is_none() && cast.opset >= SATURATE_SINCE
    });
    unstated
        .map(|cast| missing_saturate(subject.model, cast.node, &format!("cast to {}", cast.to)))
        .collect()
}
