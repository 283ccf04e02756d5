//! The rule `same-cast-twice`.

use std::collections::HashMap;

use super::rewrite::bypass;
use crate::lint::{Finding, FunctionRule, ResolvedCast, RuleFacts, Selected, Severity, Subject};

const DOCS: &str = r#"One value is cast to the same type twice.

## What it checks
`Cast` and `CastLike` nodes of one scope with the same input, the same resulting type and, where they have an effect, the
same `saturate` and `round_mode`.

## Why is this bad?
The same result is computed and stored twice.

## Example
```onnx
<ir_version: 8, opset_import: ["": 18]>
twice (float[n] x) => (float16[n] z) {
    a = Cast <to = 10> (x)
    b = Cast <to = 10> (x)
    z = Mul (a, b)
}
```
Use instead:
```onnx
<ir_version: 8, opset_import: ["": 18]>
twice (float[n] x) => (float16[n] z) {
    a = Cast <to = 10> (x)
    z = Mul (a, a)
}
```

## Fix
Unsafe: removes the later node and rewires its consumers to the result of the earlier one. If the result is an output of a
graph, there is no fix.
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC404", "same-cast-twice", Severity::Info, DOCS).selected(Selected::OnRequest),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let model = subject.model;
    let mut first: HashMap<_, &ResolvedCast> = HashMap::new();
    let mut findings = Vec::new();
    for cast in subject.casts().filter(|cast| !cast.is_generic()) {
        let earlier = *first.entry(cast.effect()).or_insert(cast);
        if earlier.node == cast.node {
            continue;
        }
        let (name, path) = (model.name(cast.input), model.node_path(earlier.node));
        let finding = Finding::at_node(
            cast.node,
            format!("'{name}' is already cast to {} at {path}", cast.to),
        );
        let edits = earlier
            .output
            .and_then(|same| bypass(model, cast.node, cast.output, same));
        findings.push(match edits {
            Some(edits) => finding.with_unsafe_fix(format!("reuse the result of {path}"), edits),
            None => finding,
        });
    }
    findings
}
