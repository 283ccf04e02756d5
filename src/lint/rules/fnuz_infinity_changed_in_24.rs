//! The rule `fnuz-infinity-changed-in-24`.

use super::phrases::tally_of;
use crate::lint::{Finding, FunctionRule, ResolvedCast, RuleFacts, Selected, Severity, Subject};
use onnx_cast::{Cast, Class, DType, FNUZ_SETTLED, Rules};

const DOCS: &str = r#"A saturating cast to a FNUZ type converts infinities differently since opset 24.

## What it checks
Saturating `Cast` and `CastLike` to FLOAT8E4M3FNUZ or FLOAT8E5M2FNUZ in opsets 19 to 23, unless they cast a constant without
an infinity. The rule reads the constant's values.

## Why is this bad?
In the text of opsets 19 to 23 an infinity becomes NaN, in that of opset 24 the largest number, and runtimes return the
latter for both. The model's outputs depend on the runtime, and change when the opset is upgraded.

## Example
```onnx
<ir_version: 9, opset_import: ["": 19]>
quantize (float[n] x) => (float8e4m3fnuz[n] y) {
    y = Cast <saturate = 1, to = 18> (x)
}
```
Use instead an opset whose text agrees with the runtimes:
```onnx
<ir_version: 12, opset_import: ["": 24]>
quantize (float[n] x) => (float8e4m3fnuz[n] y) {
    y = Cast <saturate = 1, to = 18> (x)
}
```
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC109", "fnuz-infinity-changed-in-24", Severity::Info, DOCS)
        .selected(Selected::OnRequest),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let unsettled = subject.casts().filter(|cast| {
        matches!(cast.to, DType::Float8E4M3Fnuz | DType::Float8E5M2Fnuz)
            && (19..i64::from(FNUZ_SETTLED)).contains(&cast.opset)
            && cast.saturate != Some(false)
            && cast.from.is_none_or(has_infinity)
    });
    subject.check_casts(unsettled, |cast| check_cast(subject, cast))
}

fn check_cast(subject: &Subject, cast: &ResolvedCast) -> Option<String> {
    let (to, opset) = (cast.to, cast.opset);
    let changes = format!(
        "an infinity becomes NaN in {to} by the text of opset {opset}, but the largest number since opset 24 and in runtimes"
    );
    let Some(constant) = subject.constant(cast.input) else {
        return Some(changes);
    };
    let rules = Rules::default().opset(u32::try_from(opset).ok()?);
    let kernel = Cast::new(cast.from?, to, rules).ok()?;
    let (_, summary) = constant.content().cast(kernel).ok()?;
    let tally = tally_of(
        &summary.contested,
        &constant,
        subject.model.name(cast.input),
    )?;
    Some(format!("{changes}: {tally}"))
}

fn has_infinity(dtype: DType) -> bool {
    dtype == DType::String
        || (dtype.class() == Class::Float
            && onnx_cast::float_format::Format::of(dtype)
                .is_some_and(|format| format.is_infinite(format.infinity())))
}
