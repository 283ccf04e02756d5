//! The rule `cast-result-undefined`.

use super::phrases::tally_of;
use crate::lint::{Finding, FunctionRule, ResolvedCast, RuleFacts, Severity, Subject};
use onnx_cast::{Class, DType, Tally};

const DOCS: &str = r#"ONNX does not define the result of a cast of a constant.

## What it checks
`Cast` and `CastLike` of a constant, or of the result of other casts of a constant, element by element: numbers outside the
range of an integer type, infinities and NaN cast to an integer; numbers without a result in a 6-bit float or FLOAT8E8M0;
strings that are not numbers; and results on which the text of ONNX and the runtimes disagree, except results that another
rule reports. The rule reads the constant's values.

## Why is this bad?
Each runtime may return a different result, and they do: one saturates, one wraps, one returns the smallest integer. The
model does not have the same outputs everywhere.

## Example
```onnx
<ir_version: 8, opset_import: ["": 18]>
steps () => (int32[3] y) <float[3] w = {1, 3000000000, -7}> {
    y = Cast <to = 6> (w)
}
```
Use instead a type with a sufficient range, or clip first:
```onnx
<ir_version: 8, opset_import: ["": 18]>
steps () => (int64[3] y) <float[3] w = {1, 3000000000, -7}> {
    y = Cast <to = 7> (w)
}
```
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC301", "cast-result-undefined", Severity::Warning, DOCS),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    subject.check_casts(
        subject.casts().filter(|cast| !is_never_portable(cast)),
        |cast| check_cast(subject, cast),
    )
}

fn check_cast(subject: &Subject, cast: &ResolvedCast) -> Option<String> {
    let kernel = cast.kernel()?;
    if kernel.is_always_defined() {
        return None;
    }
    let constant = subject.known_values(cast.input)?;
    let name = subject.model.name(cast.input);
    let to = cast.to;
    let summary = match constant.content().cast(kernel) {
        Ok((_, summary)) => summary,
        Err(failure) => return Some(format!("'{name}', {failure}")),
    };
    let contested = if has_own_rule(to) {
        Tally::default()
    } else {
        summary.contested
    };
    let (tally, verdict) = match summary.undefined.first {
        Some(_) => (summary.undefined, "ONNX does not define the result"),
        None => (
            contested,
            "the text of ONNX and the runtimes disagree on the result",
        ),
    };
    let elements = tally_of(&tally, &constant, name)?;
    Some(format!("{verdict} in {to} for {elements}: {}", tally.why))
}

/// Casts that another rule reports regardless of their values.
fn is_never_portable(cast: &ResolvedCast) -> bool {
    cast.to == DType::String || (cast.from == Some(DType::String) && cast.to == DType::Bool)
}

/// Types whose contested casts another rule reports: fractions to 2 and 4 bits, infinities to FNUZ.
fn has_own_rule(to: DType) -> bool {
    let narrow = to.bits() < 8 && matches!(to.class(), Class::Signed | Class::Unsigned);
    narrow || matches!(to, DType::Float8E4M3Fnuz | DType::Float8E5M2Fnuz)
}
