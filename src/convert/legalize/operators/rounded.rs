//! Rounding of FLOAT to a type that a wider one carries.

use super::site::Site;
use super::types::Wider;
use crate::ops::rounding::{to_bfloat16, to_float8};
use onnx_cast::{DType, FNUZ_SETTLED};

/// `rounded_number`: the FLOAT `number`, rounded to a narrower type, in the type that carries it.
/// Until opset 23 the infinities of FNUZ types are contested.
pub(super) fn rounded(site: &Site, wider: &Wider, saturate: bool) -> Option<String> {
    if wider.from == DType::Bfloat16 {
        return Some(to_bfloat16("number", "rounded_number"));
    }
    let opset = site.model.opset(site.node.scope, "")?;
    let is_fnuz = matches!(wider.from, DType::Float8E4M3Fnuz | DType::Float8E5M2Fnuz);
    if is_fnuz && saturate && opset < i64::from(FNUZ_SETTLED) {
        return None;
    }
    let text = to_float8(wider.from, saturate, "number", "nearest")?;
    let to = wider.to.number();
    Some(format!(
        "{text} rounded_number = Cast <to = {to}> (nearest)"
    ))
}
