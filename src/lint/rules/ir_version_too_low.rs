//! The model holds something that its IR version does not know.
//!
//! ## What it checks
//! `ir_version` against the model's contents: element types of tensors and values (float8 came with 9, INT4 with 10, FLOAT4E2M1 with 11,
//! FLOAT8E8M0 with 12), functions of the model (8), `metadata_props` of nodes and the like (10), sparse initializers (6), initializers that
//! are not inputs (4), opsets of other domains of ONNX that a node uses. That an opset came with a later release than the IR version is no finding: such models are common and run.
//!
//! ## Why is this bad?
//! The version tells a reader whether it understands the model. One that stops at this version may drop what it does not know, or
//! misread it, instead of refusing.
//!
//! ## Example
//! ```onnx
//! <ir_version: 8, opset_import: ["": 19]>
//! quantize (float[n] x) => (float8e4m3fn[n] y) {
//!     y = Cast <saturate = 1, to = 17> (x)
//! }
//! ```
//! Use instead:
//! ```onnx
//! <ir_version: 9, opset_import: ["": 19]>
//! quantize (float[n] x) => (float8e4m3fn[n] y) {
//!     y = Cast <saturate = 1, to = 17> (x)
//! }
//! ```
//!
//! ## Fix
//! Safe: raises the IR version, and from IR 3 on states the opset 1 that a model without any is in. Unsafe for a model of IR 3 or lower whose initializers are listed as inputs: from IR 4 on, that
//! means that a caller may override them.

use crate::facts;
use crate::graph::{Edit, Model, Origin, ScopeId};
use crate::ir_version::{OPSET_IMPORT, OWN_INITIALIZERS};
use crate::lint::{Finding, Rule, Selected, Severity, Subject};

pub(super) const RULE: Rule = Rule {
    code: "RC206",
    name: "ir-version-too-low",
    severity: Severity::Warning,
    selected: Selected::ByDefault,
    source: include_str!("ir_version_too_low.rs"),
    check,
};

fn check(subject: &Subject) -> Vec<Finding> {
    let model = subject.model;
    let stated = model.ir_version();
    let Some(need) = facts::contents(model).into_iter().max_by_key(|need| need.ir).filter(|need| need.ir > stated) else {
        return Vec::new();
    };
    let finding = Finding::at_model(format!("ir_version {stated} is too low for {}, which came with {}", need.what, need.ir));
    let mut what = format!("write `ir_version = {}`", need.ir);
    let mut edits = vec![Edit::SetIrVersion(need.ir)];
    if need.ir >= OPSET_IMPORT && model.proto().opset_import.is_empty() {
        what += " and the opset 1 that it is in";
        edits.push(Edit::SetOpset { root: ScopeId::MAIN, version: 1 });
    }
    vec![match stated < OWN_INITIALIZERS && lists_initializers(model) {
        true => finding.with_unsafe_fix(what, edits),
        false => finding.with_safe_fix(what, edits),
    }]
}

fn lists_initializers(model: &Model) -> bool {
    model.values().any(|value| matches!(model.origin(value), Origin::Initializer { input: Some(_), .. }))
}
