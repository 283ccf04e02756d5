//! The rule `float8-constant-out-of-range`.

use super::phrases::{largest, overflow_becomes, tally_of};
use crate::lint::{Finding, FunctionRule, ResolvedCast, RuleFacts, Severity, Subject, tally};
use crate::tensor::Array;
use onnx_cast::{Cast, DType, Rules, Tally, float_format::Format};

const DOCS: &str = r#"A constant has values beyond the largest float8 of the type that it is cast to.

## What it checks
`Cast` and `CastLike` of a constant, or of the result of other casts of a constant, to FLOAT8E4M3FN, FLOAT8E4M3FNUZ,
FLOAT8E5M2 or FLOAT8E5M2FNUZ. An element is out of range if it is infinite, or if it exceeds the largest number after
rounding: 448, 240, 57344 and 57344 in the order above. The rule reads the constant's values.

## Why is this bad?
The weights change, regardless of `saturate`: outliers are clipped to the largest number, or become NaN or infinity. Usually
a scale is missing, or was computed for another type.

## Example
```onnx
<ir_version: 9, opset_import: ["": 19]>
weights () => (float8e4m3fn[4] y) <float[4] w = {0.5, 500, -1000, 448}> {
    y = Cast <saturate = 1, to = 17> (w)
}
```
Use instead a constant that is scaled into the range, and undo the scaling afterwards:
```onnx
<ir_version: 9, opset_import: ["": 19]>
weights () => (float[4] z) <float[4] w = {0.125, 125, -250, 112}, float scale = {4}> {
    y = Cast <saturate = 1, to = 17> (w)
    z = DequantizeLinear (y, scale)
}
```
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new(
        "RC104",
        "float8-constant-out-of-range",
        Severity::Warning,
        DOCS,
    ),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    subject.check_casts(subject.casts().filter(|cast| cast.to.is_float8()), |cast| {
        check_cast(subject, cast)
    })
}

fn check_cast(subject: &Subject, cast: &ResolvedCast) -> Option<String> {
    let constant = subject.known_values(cast.input)?;
    let tally = out_of_range(&constant, cast)?;
    let (to, largest) = (cast.to, largest(cast.to));
    let becomes = if cast.saturate == Some(false) {
        overflow_becomes(to).to_owned()
    } else {
        format!("±{largest}")
    };
    let tally = tally_of(&tally, &constant, subject.model.name(cast.input))?;
    Some(format!(
        "values beyond the largest {to}, {largest}, become {becomes}: {tally}"
    ))
}

/// Without saturation, an overflow is a result of NaN or infinity whose input is not NaN.
fn out_of_range(constant: &Array, cast: &ResolvedCast) -> Option<Tally> {
    let from = cast.from?;
    let rules = Rules::default()
        .saturate(false)
        .opset(u32::try_from(cast.opset).ok()?);
    let kernel = Cast::new(from, cast.to, rules).ok()?;
    let read_as = if from == DType::String {
        DType::Double
    } else {
        from
    };
    let (source, target) = (Format::of(read_as), Format::of(cast.to)?);
    let was_nan = |code| source.is_some_and(|format| format.is_nan(code));
    Some(tally(
        constant.content(),
        &kernel,
        |code| target.is_nan(code) || target.is_infinite(code),
        |code| !was_nan(code),
    ))
}
