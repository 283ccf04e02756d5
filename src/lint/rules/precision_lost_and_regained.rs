//! The rule `precision-lost-and-regained`.

use crate::lint::{CastPair, Finding, FunctionRule, RuleFacts, Selected, Severity, Subject};
use onnx_cast::{Class, embeds};

const DOCS: &str = r#"A value is cast to a narrower float type and directly back to a wider one.

## What it checks
Two consecutive casts, not of a constant, between FLOAT, DOUBLE, FLOAT16, BFLOAT16 and the types of 4 and 6 bits, where the
intermediate type represents neither all inputs nor all results. A round trip through float8 is reported by
float8-round-trip.

## Why is this bad?
The wider type does not restore the lost digits: the computation only looks exact. Automatic mixed precision leaves such
pairs at the boundaries of its regions. If the rounding is intended, as in a test of FLOAT16, ignore the rule.

## Example
```onnx
<ir_version: 8, opset_import: ["": 18]>
borders (float[n] x) => (float[n] y) {
    narrow = Cast <to = 10> (x)
    y = Cast <to = 1> (narrow)
}
```
Use instead:
```onnx
<ir_version: 8, opset_import: ["": 18]>
borders (float[n] x) => (float[n] y) {
    y = Identity (x)
}
```
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC305", "precision-lost-and-regained", Severity::Info, DOCS)
        .selected(Selected::OnRequest),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let losing = subject.cast_pairs().filter(
        |CastPair {
             from,
             first,
             second,
         }| {
            let all_floats = [*from, first.to, second.to]
                .iter()
                .all(|dtype| dtype.class() == Class::Float);
            let loses = !embeds(*from, first.to) && !embeds(second.to, first.to);
            all_floats
                && loses
                && first.to.bits() != 8
                && subject.model.constant(first.input).is_err()
        },
    );
    let findings = losing.map(|CastPair { from, first, second }| {
        let first_path = subject.model.node_path(first.node);
        let message =
            format!("{from} is narrowed to {} at {first_path}; the cast to {} does not restore the precision", first.to, second.to);
        Finding::at_node(second.node, message)
    });
    findings.collect()
}
