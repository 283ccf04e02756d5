//! The rule `sign-changing-chain`.

use crate::lint::{
    CastPair, Finding, FunctionRule, RuleFacts, Selected, Severity, Subject, number,
};
use onnx_cast::{Cast, Class, DType, Rules, convert_element, packed::mask};

const DOCS: &str = r#"Two consecutive casts change the sign of numbers.

## What it checks
A cast between a signed and an unsigned integer type that cannot represent all inputs, followed by a cast to a wider integer
type or a float type.

## Why is this bad?
The first cast keeps the low bits and reinterprets them, -1 as 255; the second makes that number permanent. If the bits are
intended, the wide type is wrong; if the number is intended, the intermediate type is wrong.

## Example
```onnx
<ir_version: 8, opset_import: ["": 18]>
codes (int8[n] x) => (float[n] y) {
    code = Cast <to = 2> (x)
    y = Cast <to = 1> (code)
}
```
Use instead:
```onnx
<ir_version: 8, opset_import: ["": 18]>
codes (int8[n] x) => (float[n] y) {
    y = Cast <to = 1> (x)
}
```
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC306", "sign-changing-chain", Severity::Warning, DOCS)
        .selected(Selected::OnRequest),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let findings = subject.cast_pairs().filter_map(|CastPair { from, first, second }| {
        let (middle, to) = (first.to, second.to);
        let changes = match (from.class(), middle.class()) {
            (Class::Signed, Class::Unsigned) => true,
            (Class::Unsigned, Class::Signed) => from.bits() >= middle.bits(),
            _ => false,
        };
        let keeps = match to.class() {
            Class::Signed | Class::Unsigned => to.bits() > middle.bits(),
            Class::Float => true,
            _ => false,
        };
        if !changes || !keeps {
            return None;
        }
        let sample = if from.class() == Class::Signed { mask(from.bits()) } else { 1 << (middle.bits() - 1) };
        let (before, after) = (number(from, sample), number(to, cast(middle, to, cast(from, middle, sample)?)?));
        let first_path = subject.model.node_path(first.node);
        let message = format!("{from} is cast to {middle} at {first_path} and then to {to}: {before} becomes {after}");
        Some(Finding::at_node(second.node, message))
    });
    findings.collect()
}

fn cast(from: DType, to: DType, code: u64) -> Option<u64> {
    Cast::new(from, to, Rules::default())
        .ok()
        .map(|cast| convert_element(&cast, code).0)
}
