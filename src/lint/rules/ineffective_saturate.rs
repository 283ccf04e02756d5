//! The rule `ineffective-saturate`.

use super::attributes::{SATURATE_SINCE, ineffective, saturating};
use crate::lint::{Finding, FunctionRule, RuleFacts, Selected, Severity, Subject};

const DOCS: &str = r#"`saturate` is stated where it has no effect.

## What it checks
`Cast`, `CastLike` and `QuantizeLinear` with `saturate` whose result is not a float8 type.

## Why is this bad?
The attribute affects float8 results only: a cast to FLOAT16 overflows to infinity and a cast to INT8 drops the high bits,
regardless of its value. It misleads readers of the model.

## Example
```onnx
<ir_version: 9, opset_import: ["": 19]>
narrow (float[n] x) => (float16[n] y) {
    y = Cast <saturate = 1, to = 10> (x)
}
```
Use instead, if saturation is intended:
```onnx
<ir_version: 9, opset_import: ["": 19]>
narrow (float[n] x) => (float16[n] y) <float low = {-65504}, float high = {65504}> {
    clipped = Clip (x, low, high)
    y = Cast <to = 10> (clipped)
}
```

## Fix
Safe: removes the attribute.
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC106", "ineffective-saturate", Severity::Info, DOCS)
        .selected(Selected::OnRequest),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let idle = saturating(subject).filter(|(_, opset, to, saturate)| {
        !to.obeys_saturate() && saturate.is_some() && *opset >= SATURATE_SINCE
    });
    idle.map(|(node, _, to, _)| ineffective(subject.model, node, "saturate", to))
        .collect()
}
