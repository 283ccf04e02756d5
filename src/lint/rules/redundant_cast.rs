//! The rule `redundant-cast`.

use super::rewrite::bypass;
use crate::lint::{Finding, FunctionRule, ResolvedCast, RuleFacts, Selected, Severity, Subject};
use onnx_cast::copies;

const DOCS: &str = r#"A value is cast to the type that it already has.

## What it checks
`Cast` and `CastLike` from a type to the same type, if the model determines the types. FLOAT8E5M2 to itself is reported only
with `saturate = 0`: with saturation, infinity becomes the largest number by the text of ONNX.

## Why is this bad?
The node copies its input and has no other effect.

## Example
```onnx
<ir_version: 8, opset_import: ["": 18]>
copy (float[n] x) => (float[n] y) {
    same = Cast <to = 1> (x)
    y = Relu (same)
}
```
Use instead:
```onnx
<ir_version: 8, opset_import: ["": 18]>
copy (float[n] x) => (float[n] y) {
    y = Relu (x)
}
```

## Fix
Unsafe: removes the node and rewires the consumers of its result to its input. The fix relies on the type that the model
declares for the input. If the result is an output of a graph, there is no fix.
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC402", "redundant-cast", Severity::Info, DOCS).selected(Selected::OnRequest),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let copies = |cast: &&ResolvedCast| {
        let copies = |from| copies(from, cast.to, cast.rules().saturate);
        cast.from.is_some_and(copies) && !cast.is_generic()
    };
    let findings = subject.casts().filter(copies).map(|cast| {
        let name = subject.model.name(cast.input);
        let finding = Finding::at_node(cast.node, format!("'{name}' already has type {}", cast.to));
        match bypass(subject.model, cast.node, cast.output, cast.input) {
            Some(edits) => {
                finding.with_unsafe_fix(format!("replace the result by '{name}'"), edits)
            }
            None => finding,
        }
    });
    findings.collect()
}
