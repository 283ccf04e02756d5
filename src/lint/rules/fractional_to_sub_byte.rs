//! The rule `fractional-to-sub-byte`.

use super::phrases::tally_of;
use crate::graph::{Model, Origin, ValueId, is_onnx_domain};
use crate::lint::{Finding, FunctionRule, ResolvedCast, RuleFacts, Selected, Severity, Subject};
use onnx_cast::{Class, DType};

const DOCS: &str = r#"Numbers with a fraction are cast to an integer type of 2 or 4 bits.

## What it checks
`Cast` and `CastLike` from a float type to INT4, UINT4, INT2 or UINT2: of a constant with fractions, or of a value that is
not produced by `Round`, `Floor` or `Ceil`. The rule reads a constant's values.

## Why is this bad?
ONNX's notes on these types round to nearest, its node tests truncate, and onnxruntime rounds halves away from zero. With
only fifteen or three steps, one step is a large error.

## Example
```onnx
<ir_version: 10, opset_import: ["": 21]>
quantize (float[n] x) => (int4[n] y) {
    y = Cast <to = 22> (x)
}
```
Use instead:
```onnx
<ir_version: 10, opset_import: ["": 21]>
quantize (float[n] x) => (int4[n] y) {
    rounded = Round (x)
    y = Cast <to = 22> (rounded)
}
```
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC302", "fractional-to-sub-byte", Severity::Warning, DOCS)
        .selected(Selected::OnRequest),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let is_narrow =
        |to: DType| to.bits() < 8 && matches!(to.class(), Class::Signed | Class::Unsigned);
    let has_fractions = |from: DType| from.class() == Class::Float && from != DType::Float8E8M0;
    let casts = subject
        .casts()
        .filter(|cast| is_narrow(cast.to) && cast.from.is_some_and(has_fractions));
    subject.check_casts(casts, |cast| check_cast(subject, cast))
}

fn check_cast(subject: &Subject, cast: &ResolvedCast) -> Option<String> {
    let differ = format!("runtimes round fractions to {} differently", cast.to);
    let Some(constant) = subject.constant(cast.input) else {
        return (!is_integral(subject.model, cast.input)).then_some(differ);
    };
    let (_, summary) = constant.content().cast(cast.kernel()?).ok()?;
    let elements = tally_of(
        &summary.contested,
        &constant,
        subject.model.name(cast.input),
    )?;
    Some(format!("{differ}: {elements}"))
}

fn is_integral(model: &Model, value: ValueId) -> bool {
    match model.origin(value) {
        Origin::Node { node, .. } => {
            let node = model.node(node);
            is_onnx_domain(node.domain()) && matches!(node.op_type(), "Round" | "Floor" | "Ceil")
        }
        _ => false,
    }
}
