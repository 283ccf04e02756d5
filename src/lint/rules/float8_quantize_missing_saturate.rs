//! The rule `float8-quantize-missing-saturate`.

use super::attributes::{SATURATE_SINCE, missing_saturate};
use crate::lint::{Finding, FunctionRule, RuleFacts, Severity, Subject};

const DOCS: &str = r#"A quantization to float8 does not state `saturate`.

## What it checks
`QuantizeLinear` to FLOAT8E4M3FN, FLOAT8E4M3FNUZ, FLOAT8E5M2 or FLOAT8E5M2FNUZ without `saturate`. The type of the result is
that of the zero point, or `output_dtype`.

## Why is this bad?
The attribute determines whether a quotient beyond the largest float8 becomes that largest number, or NaN or infinity. With
a calibrated scale, outliers are expected in every run. By default, ONNX saturates, but not every tool does: state the
intended behaviour.

## Example
```onnx
<ir_version: 9, opset_import: ["": 19]>
quantize (float[n] x, float scale, float8e4m3fn zero) => (float8e4m3fn[n] y) {
    y = QuantizeLinear (x, scale, zero)
}
```
Use instead:
```onnx
<ir_version: 9, opset_import: ["": 19]>
quantize (float[n] x, float scale, float8e4m3fn zero) => (float8e4m3fn[n] y) {
    y = QuantizeLinear <saturate = 1> (x, scale, zero)
}
```

## Fix
Safe: adds `saturate = 1`, which is the default. If the model is not meant to saturate, add `saturate = 0` by hand.
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new(
        "RC102",
        "float8-quantize-missing-saturate",
        Severity::Warning,
        DOCS,
    ),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let unstated = subject.quantizers().filter(|quantize| {
        quantize.to.is_float8() && quantize.saturate.is_none() && quantize.opset >= SATURATE_SINCE
    });
    unstated
        .map(|quantize| {
            missing_saturate(
                subject.model,
                quantize.node,
                &format!("quantization to {}", quantize.to),
            )
        })
        .collect()
}
