//! The rule `narrowing-overflows-to-infinity`.

use super::phrases::{largest, tally_of};
use crate::lint::{
    Finding, FunctionRule, ResolvedCast, RuleFacts, Selected, Severity, Subject, tally,
};
use onnx_cast::{DType, float_format::Format};

const DOCS: &str = r#"A constant has finite values that become infinite in the type that it is cast to.

## What it checks
`Cast` and `CastLike` of a constant to FLOAT16, BFLOAT16 or FLOAT: finite elements beyond the largest number of that type.
The rule reads the constant's values.

## Why is this bad?
Infinity propagates: a mask of -1e9 is harmless in FLOAT, becomes -INF in FLOAT16, and a row of -INF becomes NaN in Softmax.
The largest FLOAT16 is 65504.

## Example
```onnx
<ir_version: 8, opset_import: ["": 18]>
mask (float16[2] scores) => (float16[2] y) <float[2] w = {0, -1000000000}> {
    half = Cast <to = 10> (w)
    y = Add (scores, half)
}
```
Use instead a number that the type can represent:
```onnx
<ir_version: 8, opset_import: ["": 18]>
mask (float16[2] scores) => (float16[2] y) <float[2] w = {0, -65504}> {
    half = Cast <to = 10> (w)
    y = Add (scores, half)
}
```
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new(
        "RC304",
        "narrowing-overflows-to-infinity",
        Severity::Warning,
        DOCS,
    )
    .selected(Selected::OnRequest),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let narrowing = subject
        .casts()
        .filter(|cast| matches!(cast.to, DType::Float16 | DType::Bfloat16 | DType::Float));
    subject.check_casts(narrowing, |cast| check_cast(subject, cast))
}

fn check_cast(subject: &Subject, cast: &ResolvedCast) -> Option<String> {
    let kernel = cast
        .kernel()
        .filter(|kernel| kernel.from() != DType::String && kernel.from() != kernel.to())?;
    let (source, target) = (Format::of(kernel.from()), Format::of(cast.to)?);
    let constant = subject.constant(cast.input)?;
    let was_infinite = |code| source.is_some_and(|format| format.is_infinite(code));
    let tally = tally(
        constant.content(),
        &kernel,
        |code| target.is_infinite(code),
        |code| !was_infinite(code),
    );
    let elements = tally_of(&tally, &constant, subject.model.name(cast.input))?;
    let (to, largest) = (cast.to, largest(cast.to));
    Some(format!(
        "values beyond the largest {to}, {largest}, become infinite: {elements}"
    ))
}
