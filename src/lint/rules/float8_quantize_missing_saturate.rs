//! A quantization to float8 does not state `saturate`.
//!
//! ## What it checks
//! `QuantizeLinear` whose result is FLOAT8E4M3FN, FLOAT8E4M3FNUZ, FLOAT8E5M2 or FLOAT8E5M2FNUZ and that leaves `saturate` to its
//! default. The result has the type of the zero point, or that of `output_dtype`.
//!
//! ## Why is this bad?
//! The attribute decides whether a quotient beyond the largest float8 becomes that largest number, or NaN or infinity. With a
//! scale from calibration, outliers beyond it are to be expected in every run. ONNX saturates unless told otherwise, but not
//! every tool on the way does: write down which is meant.
//!
//! ## Example
//! ```onnx
//! <ir_version: 9, opset_import: ["": 19]>
//! quantize (float[n] x, float scale, float8e4m3fn zero) => (float8e4m3fn[n] y) {
//!     y = QuantizeLinear (x, scale, zero)
//! }
//! ```
//! Use instead:
//! ```onnx
//! <ir_version: 9, opset_import: ["": 19]>
//! quantize (float[n] x, float scale, float8e4m3fn zero) => (float8e4m3fn[n] y) {
//!     y = QuantizeLinear <saturate = 1> (x, scale, zero)
//! }
//! ```
//!
//! ## Fix
//! Safe: writes `saturate = 1`, which is what ONNX already makes of the model. Where the model was meant not to saturate, write
//! `saturate = 0` by hand.

use super::attributes::{SATURATE_SINCE, write_int};
use crate::lint::{Finding, Rule, Selected, Severity, Subject};

pub(super) const RULE: Rule = Rule {
    code: "RC102",
    name: "float8-quantize-missing-saturate",
    severity: Severity::Warning,
    selected: Selected::ByDefault,
    source: include_str!("float8_quantize_missing_saturate.rs"),
    check,
};

fn check(subject: &Subject) -> Vec<Finding> {
    let silent = subject
        .quantizers()
        .filter(|quantize| quantize.to.is_float8() && quantize.saturate.is_none() && quantize.opset >= SATURATE_SINCE);
    let findings = silent.map(|quantize| {
        Finding::at_node(quantize.node, format!("the quantization to {} does not state `saturate`", quantize.to))
            .with_safe_fix("write `saturate = 1`", vec![write_int(subject.model, quantize.node, "saturate", 1)])
    });
    findings.collect()
}
