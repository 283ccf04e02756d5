//! The rule `collapsible-chain`.

use super::rewrite::{bypass, is_only_used_by};
use crate::graph::Edit;
use crate::lint::{CastPair, Finding, FunctionRule, RuleFacts, Selected, Severity, Subject};
use onnx_cast::collapses;

const DOCS: &str = r#"Two consecutive casts can be replaced by one.

## What it checks
A `Cast` or `CastLike` to a type that represents every value of its input, or every bit that the next cast keeps of an integer,
followed by another cast whose result does not depend on the intermediate type.

## Why is this bad?
The first cast costs time and memory and has no effect.

## Example
```onnx
<ir_version: 8, opset_import: ["": 18]>
widen (float16[n] x) => (double[n] y) {
    wide = Cast <to = 1> (x)
    y = Cast <to = 11> (wide)
}
```
Use instead:
```onnx
<ir_version: 8, opset_import: ["": 18]>
widen (float16[n] x) => (double[n] y) {
    y = Cast <to = 11> (x)
}
```

## Fix
Unsafe: casts the first input directly to the last type, or uses it without a cast if it already has that type. Removes the
first cast if no other node uses it. The fix relies on the type that the model declares for the input.
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC403", "collapsible-chain", Severity::Info, DOCS)
        .selected(Selected::OnRequest),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let findings = subject
        .cast_pairs()
        .filter(|chain| {
            collapses(chain.from, chain.first.to, chain.second.to)
                && !chain.first.is_generic()
                && !chain.second.is_generic()
        })
        .map(|chain| {
            let CastPair {
                from,
                first,
                second,
            } = chain;
            let first_path = subject.model.node_path(first.node);
            let one = if from == second.to {
                "no cast is necessary".to_owned()
            } else {
                format!("one cast from {from} is sufficient")
            };
            let message = format!(
                "{from} is cast to {} at {first_path} and then to {}: {one}",
                first.to, second.to
            );
            let finding = Finding::at_node(second.node, message);
            let name = subject.model.name(first.input);
            match fix(subject, &chain) {
                Some(edits) if from == second.to => {
                    finding.with_unsafe_fix(format!("replace the result by '{name}'"), edits)
                }
                Some(edits) => finding
                    .with_unsafe_fix(format!("cast '{name}' directly to {}", second.to), edits),
                None => finding,
            }
        });
    findings.collect()
}

fn fix(subject: &Subject, chain: &CastPair) -> Option<Vec<Edit>> {
    let model = subject.model;
    let CastPair {
        from,
        first,
        second,
    } = *chain;
    let mut edits = if from == second.to {
        bypass(model, second.node, second.output, first.input)?
    } else {
        if !model.is_visible(first.input, second.node.scope) || !second.admits(from) {
            return None;
        }
        let mut changed = second.proto.clone();
        *changed.input.first_mut()? = model.name(first.input).to_owned();
        vec![Edit::replace_node(second.node, changed)]
    };
    if is_only_used_by(model, second.input, second.node) {
        edits.push(Edit::remove_node(first.node));
    }
    Some(edits)
}
