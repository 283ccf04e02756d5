//! The rule `declared-type-differs-from-cast`.

use crate::graph::{Edit, tensor_type};
use crate::lint::{Finding, FunctionRule, ResolvedCast, RuleFacts, Severity, Subject};

const DOCS: &str = r#"The declared type of a cast's result is not the type that it is cast to.

## What it checks
The result of every `Cast` and `CastLike` against its `value_info` or its declaration as an output of the graph.

## Why is this bad?
The model contradicts itself. Strict type inference fails; otherwise some tools use the declared type and others the type of
the cast.

## Example
```onnx
<ir_version: 8, opset_import: ["": 18]>
narrow (float[n] x) => (float[n] y) {
    y = Cast <to = 10> (x)
}
```
Use instead:
```onnx
<ir_version: 8, opset_import: ["": 18]>
narrow (float[n] x) => (float16[n] y) {
    y = Cast <to = 10> (x)
}
```

## Fix
Unsafe: declares the type of the cast. The cast may be the error instead.
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new(
        "RC205",
        "declared-type-differs-from-cast",
        Severity::Error,
        DOCS,
    ),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    subject
        .casts()
        .filter_map(|cast| check_cast(subject, cast))
        .collect()
}

fn check_cast(subject: &Subject, cast: &ResolvedCast) -> Option<Finding> {
    let output = cast.output?;
    let declared = tensor_type(subject.model.declared(output)?.r#type.as_ref()?)?;
    if declared == cast.to {
        return None;
    }
    let name = subject.model.name(output);
    let finding = Finding::at_node(
        cast.node,
        format!("'{name}' is cast to {} but declared as {declared}", cast.to),
    );
    Some(finding.with_unsafe_fix(
        format!("declare '{name}' as {}", cast.to),
        vec![Edit::set_type(output, cast.to)],
    ))
}
