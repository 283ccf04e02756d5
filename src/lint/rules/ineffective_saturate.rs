//! `saturate` is stated where it has no effect.
//!
//! ## What it checks
//! `Cast`, `CastLike` and `QuantizeLinear` that state `saturate` but do not result in a float8 type.
//!
//! ## Why is this bad?
//! The attribute touches float8 results only: a cast to FLOAT16 overflows to infinity and a cast to INT8 drops the high bits
//! whatever it says. Somebody who reads the model may believe otherwise.
//!
//! ## Example
//! ```onnx
//! <ir_version: 9, opset_import: ["": 19]>
//! narrow (float[n] x) => (float16[n] y) {
//!     y = Cast <saturate = 1, to = 10> (x)
//! }
//! ```
//! Use instead, if saturation is wanted:
//! ```onnx
//! <ir_version: 9, opset_import: ["": 19]>
//! narrow (float[n] x) => (float16[n] y) <float low = {-65504}, float high = {65504}> {
//!     clipped = Clip (x, low, high)
//!     y = Cast <to = 10> (clipped)
//! }
//! ```
//!
//! ## Fix
//! Safe: drops the attribute.

use super::attributes::{self, SATURATE_SINCE, drop_attribute};
use crate::lint::{Finding, Rule, Selected, Severity, Subject};

pub(super) const RULE: Rule = Rule {
    code: "RC106",
    name: "ineffective-saturate",
    severity: Severity::Info,
    selected: Selected::OnRequest,
    source: include_str!("ineffective_saturate.rs"),
    check,
};

fn check(subject: &Subject) -> Vec<Finding> {
    let idle = attributes::saturating(subject)
        .filter(|quantize| !quantize.obeys() && quantize.saturate.is_some() && quantize.opset >= SATURATE_SINCE);
    let findings = idle.map(|quantize| {
        Finding::at_node(quantize.node, format!("`saturate` has no effect on a result of type {}", quantize.to))
            .with_safe_fix("drop `saturate`", vec![drop_attribute(subject.model, quantize.node, "saturate")])
    });
    findings.collect()
}
