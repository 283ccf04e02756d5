//! `round_mode` is stated where it has no effect.
//!
//! ## What it checks
//! `Cast` and `CastLike` that state `round_mode` but do not result in FLOAT8E8M0.
//!
//! ## Why is this bad?
//! The attribute touches FLOAT8E8M0 only: a cast to any other float type rounds to nearest, ties to even, and a cast to an
//! integer type truncates, whatever it says. Somebody who reads the model may believe otherwise.
//!
//! ## Example
//! ```onnx
//! <ir_version: 12, opset_import: ["": 24]>
//! whole (float[n] x) => (int32[n] y) {
//!     y = Cast <round_mode = "nearest", to = 6> (x)
//! }
//! ```
//! Use instead, if rounding is wanted:
//! ```onnx
//! <ir_version: 12, opset_import: ["": 24]>
//! whole (float[n] x) => (int32[n] y) {
//!     rounded = Round (x)
//!     y = Cast <to = 6> (rounded)
//! }
//! ```
//!
//! ## Fix
//! Safe: drops the attribute.

use super::attributes::{ROUND_MODE_SINCE, drop_attribute};
use crate::dtype::DType;
use crate::lint::{Finding, Rule, Selected, Severity, Subject};

pub(super) const RULE: Rule = Rule {
    code: "RC107",
    name: "ineffective-round-mode",
    severity: Severity::Info,
    selected: Selected::OnRequest,
    source: include_str!("ineffective_round_mode.rs"),
    check,
};

fn check(subject: &Subject) -> Vec<Finding> {
    let idle =
        subject.casts().filter(|cast| cast.to != DType::Float8E8M0 && cast.round_mode.is_some() && cast.opset >= ROUND_MODE_SINCE);
    let findings = idle.map(|cast| {
        Finding::at_node(cast.node, format!("`round_mode` has no effect on a result of type {}", cast.to))
            .with_safe_fix("drop `round_mode`", vec![drop_attribute(subject.model, cast.node, "round_mode")])
    });
    findings.collect()
}
