//! The rule `float8-round-trip`.

use crate::lint::{CastPair, Finding, FunctionRule, RuleFacts, Selected, Severity, Subject};
use onnx_cast::{Class, DType};

const DOCS: &str = r#"A value is cast to float8 and directly back.

## What it checks
A `Cast` or `CastLike` from a wider float type to float8 whose result is cast to a wider float type.

## Why is this bad?
No node computes in float8 and nothing is stored in it, but at most three bits of mantissa remain. To simulate float8 this
is correct; otherwise it costs accuracy and two nodes without any benefit.

## Example
```onnx
<ir_version: 9, opset_import: ["": 19]>
simulate (float[n] x) => (float[n] y) {
    narrow = Cast <saturate = 1, to = 17> (x)
    y = Cast <to = 1> (narrow)
}
```
Use instead, if float8 is not simulated:
```onnx
<ir_version: 9, opset_import: ["": 19]>
simulate (float[n] x) => (float[n] y) {
    y = Identity (x)
}
```
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC110", "float8-round-trip", Severity::Info, DOCS)
        .selected(Selected::OnRequest),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let is_wide = |dtype: DType| dtype.class() == Class::Float && dtype.bits() > 8;
    let returning = subject.cast_pairs().filter(|chain| {
        is_wide(chain.from) && chain.first.to.is_float8() && is_wide(chain.second.to)
    });
    let findings = returning.map(
        |CastPair {
             from,
             first,
             second,
         }| {
            let first_path = subject.model.node_path(first.node);
            Finding::at_node(
                second.node,
                format!(
                    "{from} is cast to {} at {first_path} and then to {}",
                    first.to, second.to
                ),
            )
        },
    );
    findings.collect()
}
