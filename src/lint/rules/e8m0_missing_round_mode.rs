//! The rule `e8m0-missing-round-mode`.

use super::attributes::{ROUND_MODE_SINCE, add};
use crate::lint::{Finding, FunctionRule, RuleFacts, Severity, Subject};
use crate::protobuf::schema::AttributeProto;
use onnx_cast::DType;

const DOCS: &str = r#"A cast to FLOAT8E8M0 does not state `round_mode`.

## What it checks
`Cast` and `CastLike` to FLOAT8E8M0 without `round_mode`.

## Why is this bad?
FLOAT8E8M0 represents powers of two only, so that nearly every number is rounded, by up to a factor of two. By default, ONNX
rounds up, as CUDA does. The microscaling specification computes its scales by rounding down, and other libraries round to
nearest. A scale that is off by one step doubles or halves a whole block of values. State the intended mode.

## Example
```onnx
<ir_version: 12, opset_import: ["": 24]>
scales (float[n] x) => (float8e8m0[n] y) {
    y = Cast <saturate = 1, to = 24> (x)
}
```
Use instead:
```onnx
<ir_version: 12, opset_import: ["": 24]>
scales (float[n] x) => (float8e8m0[n] y) {
    y = Cast <round_mode = "up", saturate = 1, to = 24> (x)
}
```

## Fix
Safe: adds `round_mode = "up"`, which is the default.
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC105", "e8m0-missing-round-mode", Severity::Warning, DOCS),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let unstated = subject.casts().filter(|cast| {
        cast.to == DType::Float8E8M0 && cast.round_mode.is_none() && cast.opset >= ROUND_MODE_SINCE
    });
    let findings = unstated.map(|cast| {
        Finding::at_node(
            cast.node,
            "the cast to FLOAT8E8M0 does not state `round_mode`",
        )
        .with_safe_fix(
            "add `round_mode = \"up\"`",
            vec![add(
                subject.model,
                cast.node,
                AttributeProto::string("round_mode", "up"),
            )],
        )
    });
    findings.collect()
}
