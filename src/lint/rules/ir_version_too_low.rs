//! The rule `ir-version-too-low`.

use crate::graph::{Edit, Model, Origin, ScopeId};
use crate::lint::{Finding, FunctionRule, RuleFacts, Severity, Subject};
use crate::ops::needs;
use crate::protobuf::ir_version::{OPSET_IMPORT, OWN_INITIALIZERS};

const DOCS: &str = r#"The model has a feature that its IR version does not have.

## What it checks
`ir_version` against the model's contents: element types of tensors and values (float8 requires 9, INT4 10, FLOAT4E2M1 11,
FLOAT8E8M0 12), model-local functions (8), `metadata_props` of nodes and the like (10), sparse initializers (6),
initializers that are not inputs (4), opsets of ONNX's other domains that a node uses. An opset of ai.onnx that was released
after the IR version is not a finding: such models are common and run.

## Why is this bad?
A reader uses the version to decide whether it supports the model. A reader that supports this version but not the feature
may drop or misread it instead of rejecting the model.

## Example
```onnx
<ir_version: 8, opset_import: ["": 19]>
quantize (float[n] x) => (float8e4m3fn[n] y) {
    y = Cast <saturate = 1, to = 17> (x)
}
```
Use instead:
```onnx
<ir_version: 9, opset_import: ["": 19]>
quantize (float[n] x) => (float8e4m3fn[n] y) {
    y = Cast <saturate = 1, to = 17> (x)
}
```

## Fix
Safe: raises the IR version. From IR 3 on an opset must be imported: a model without imports gets opset 1, which it is
written in. Unsafe for a model of IR 3 or lower whose initializers are listed as inputs: since IR 4 a caller can override
these.
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC206", "ir-version-too-low", Severity::Warning, DOCS),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let model = subject.model;
    let stated = model.ir_version();
    let Some(need) = needs::contents(model)
        .into_iter()
        .max_by_key(|need| need.ir)
        .filter(|need| need.ir > stated)
    else {
        return Vec::new();
    };
    let finding = Finding::at_model(format!(
        "ir_version {stated} is too low for {}, which requires {}",
        need.what, need.ir
    ));
    let mut what = format!("set `ir_version = {}`", need.ir);
    let mut edits = vec![Edit::SetIrVersion(need.ir)];
    if need.ir >= OPSET_IMPORT && model.proto().opset_import.is_empty() {
        what += " and import opset 1";
        edits.push(Edit::SetOpset {
            root: ScopeId::MAIN,
            version: 1,
        });
    }
    vec![if stated < OWN_INITIALIZERS && lists_initializers(model) {
        finding.with_unsafe_fix(what, edits)
    } else {
        finding.with_safe_fix(what, edits)
    }]
}

fn lists_initializers(model: &Model) -> bool {
    model.values().any(|value| {
        matches!(
            model.origin(value),
            Origin::Initializer { input: Some(_), .. }
        )
    })
}
