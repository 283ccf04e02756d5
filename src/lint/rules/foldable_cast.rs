//! The rule `foldable-cast`.

use crate::casts::folding;
use crate::lint::{Finding, FunctionRule, RuleFacts, Selected, Severity, Subject};

const DOCS: &str = r#"A cast of a constant is computed in every run.

## What it checks
`Cast` and `CastLike` of an initializer or `Constant` that cannot be overridden by a caller, of the results of such casts, and
of what nodes that move elements or compute integers make of them, if ONNX defines every resulting value: exactly the casts that `recast fold` folds by default. The rule reads a
constant's values if the types do not decide.

## Why is this bad?
The result is the same in every run. Computing it once removes the node, and often halves the size of the weights or more.

## Example
```onnx
<ir_version: 8, opset_import: ["": 18]>
half (float16[2] x) => (float16[2] y) <float[2] w = {0.5, 2}> {
    narrow = Cast <to = 10> (w)
    y = Mul (x, narrow)
}
```
Use instead the output of `recast fold`:
```onnx
<ir_version: 8, opset_import: ["": 18]>
half (float16[2] x, float16[2] narrow) => (float16[2] y) {
    y = Mul (x, narrow)
}
```
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC401", "foldable-cast", Severity::Info, DOCS).selected(Selected::OnRequest),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let model = subject.model;
    let options = folding::Options::default();
    let decisions = folding::decide(model, &options, folding::Extent::Casts);
    let mut folds: Vec<&folding::Fold> = decisions.folds().iter().collect();
    folds.sort_unstable_by_key(|fold| fold.node);
    let findings = folds.into_iter().map(|fold| {
        let name = model
            .node(fold.node)
            .input
            .first()
            .map_or("", String::as_str);
        let to = fold.content.dtype();
        let message = format!(
            "the constant '{name}' is cast to {to} in every run; `recast fold` computes it once"
        );
        Finding::at_node(fold.node, message)
    });
    findings.collect()
}
