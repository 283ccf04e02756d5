//! The rule `cast-attribute-invalid`.

use crate::graph::{NodeId, read_round_mode, read_saturate};
use crate::lint::{Finding, FunctionRule, RuleFacts, Severity, Subject};

const DOCS: &str = r#"`saturate` or `round_mode` of a cast has an invalid value.

## What it checks
The attributes of `Cast` and `CastLike`: `saturate` must be the integer 0 or 1, `round_mode` must be the string `up`, `down`
or `nearest`.

## Why is this bad?
The model is not valid. A runtime rejects it, or silently uses the default. The other rules cannot check the cast.

## Example
```onnx
<ir_version: 12, opset_import: ["": 24]>
scales (float[n] x) => (float8e8m0[n] y) {
    y = Cast <round_mode = "ceil", saturate = 1, to = 24> (x)
}
```
Use instead:
```onnx
<ir_version: 12, opset_import: ["": 24]>
scales (float[n] x) => (float8e8m0[n] y) {
    y = Cast <round_mode = "up", saturate = 1, to = 24> (x)
}
```
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC208", "cast-attribute-invalid", Severity::Error, DOCS),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let check_node = |node: NodeId| {
        ["saturate", "round_mode"]
            .into_iter()
            .filter_map(move |name| {
                let attribute = subject.model.attribute(node, name).value()?;
                let (is_valid, may_be) = match name {
                    "saturate" => (read_saturate(attribute).is_ok(), "the integer 0 or 1"),
                    _ => (
                        read_round_mode(attribute).is_ok(),
                        "the string `up`, `down` or `nearest`",
                    ),
                };
                (!is_valid).then(|| Finding::at_node(node, format!("`{name}` must be {may_be}")))
            })
    };
    subject.cast_nodes().flat_map(check_node).collect()
}
