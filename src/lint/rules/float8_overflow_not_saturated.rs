//! The rule `float8-overflow-not-saturated`.

use super::attributes::saturating;
use super::phrases::{largest, overflow_becomes};
use crate::lint::{Finding, FunctionRule, RuleFacts, Severity, Subject};

const DOCS: &str = r#"With `saturate = 0`, values beyond the largest float8 become NaN or infinity.

## What it checks
`Cast`, `CastLike` and `QuantizeLinear` to a float8 type with `saturate = 0`.

## Why is this bad?
Without saturation a single outlier can invalidate a whole output, since NaN and infinity propagate through all later nodes.
The result of an overflow depends on the type: NaN in FLOAT8E4M3FN, FLOAT8E4M3FNUZ, FLOAT8E5M2FNUZ and FLOAT8E8M0, infinity
in FLOAT8E5M2. Runtimes also differ in the threshold: onnxruntime returns 448 for some numbers above 480 in FLOAT8E4M3FN,
and NaN for some numbers whose FLOAT8E5M2 result is infinity. If overflow must stay visible, as in training with a loss
scale, ignore this rule for the file or the node.

## Example
```onnx
<ir_version: 9, opset_import: ["": 19]>
quantize (float[n] x) => (float8e4m3fn[n] y) {
    y = Cast <saturate = 0, to = 17> (x)
}
```
Use instead:
```onnx
<ir_version: 9, opset_import: ["": 19]>
quantize (float[n] x) => (float8e4m3fn[n] y) {
    y = Cast <saturate = 1, to = 17> (x)
}
```
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new(
        "RC103",
        "float8-overflow-not-saturated",
        Severity::Warning,
        DOCS,
    ),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let unsaturated = saturating(subject)
        .filter(|(_, _, to, saturate)| to.obeys_saturate() && *saturate == Some(false));
    let findings = unsaturated.map(|(node, _, to, _)| {
        let (largest, becomes) = (largest(to), overflow_becomes(to));
        Finding::at_node(
            node,
            format!("`saturate = 0`: values beyond the largest {to}, {largest}, become {becomes}"),
        )
    });
    findings.collect()
}
