//! The rule `ineffective-round-mode`.

use super::attributes::{ROUND_MODE_SINCE, ineffective};
use crate::lint::{Finding, FunctionRule, RuleFacts, Selected, Severity, Subject};
use onnx_cast::DType;

const DOCS: &str = r#"`round_mode` is stated where it has no effect.

## What it checks
`Cast` and `CastLike` with `round_mode` whose result is not FLOAT8E8M0.

## Why is this bad?
The attribute affects FLOAT8E8M0 only: a cast to any other float type rounds to nearest, ties to even, and a cast to an
integer type truncates, regardless of its value. It misleads readers of the model.

## Example
```onnx
<ir_version: 12, opset_import: ["": 24]>
whole (float[n] x) => (int32[n] y) {
    y = Cast <round_mode = "nearest", to = 6> (x)
}
```
Use instead, if rounding is intended:
```onnx
<ir_version: 12, opset_import: ["": 24]>
whole (float[n] x) => (int32[n] y) {
    rounded = Round (x)
    y = Cast <to = 6> (rounded)
}
```

## Fix
Safe: removes the attribute.
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC107", "ineffective-round-mode", Severity::Info, DOCS)
        .selected(Selected::OnRequest),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let idle = subject.casts().filter(|cast| {
        cast.to != DType::Float8E8M0 && cast.round_mode.is_some() && cast.opset >= ROUND_MODE_SINCE
    });
    idle.map(|cast| ineffective(subject.model, cast.node, "round_mode", cast.to))
        .collect()
}
