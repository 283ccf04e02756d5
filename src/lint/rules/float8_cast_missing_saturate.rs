//! A cast to float8 does not state `saturate`.
//!
//! ## What it checks
//! `Cast` and `CastLike` whose result is FLOAT8E4M3FN, FLOAT8E4M3FNUZ, FLOAT8E5M2, FLOAT8E5M2FNUZ or FLOAT8E8M0 and that leave
//! `saturate` to its default.
//!
//! ## Why is this bad?
//! The attribute decides whether a value beyond the largest float8 becomes that largest number, or NaN or infinity. ONNX
//! saturates unless told otherwise, but frameworks and exporters do not agree: an eager cast in PyTorch, for one, did not
//! saturate for years. A model that says nothing may therefore do other than what its author saw, and only on outliers, where
//! nobody looks. Write down which of the two is meant.
//!
//! ## Example
//! ```onnx
//! <ir_version: 9, opset_import: ["": 19]>
//! quantize (float[n] x) => (float8e4m3fn[n] y) {
//!     y = Cast <to = 17> (x)
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
//! Safe: writes `saturate = 1`, which is what ONNX already makes of the model. Where the model was meant not to saturate, write
//! `saturate = 0` by hand.

use super::attributes::{SATURATE_SINCE, write_int};
use crate::lint::{Finding, Rule, Selected, Severity, Subject};

pub(super) const RULE: Rule = Rule {
    code: "RC101",
    name: "float8-cast-missing-saturate",
    severity: Severity::Warning,
    selected: Selected::ByDefault,
    source: include_str!("float8_cast_missing_saturate.rs"),
    check,
};

fn check(subject: &Subject) -> Vec<Finding> {
    let silent = subject.casts().filter(|cast| cast.to.obeys_saturate() && cast.saturate.is_none() && cast.opset >= SATURATE_SINCE);
    let findings = silent.map(|cast| {
        Finding::at_node(cast.node, format!("the cast to {} does not state `saturate`", cast.to))
            .with_safe_fix("write `saturate = 1`", vec![write_int(subject.model, cast.node, "saturate", 1)])
    });
    findings.collect()
}
