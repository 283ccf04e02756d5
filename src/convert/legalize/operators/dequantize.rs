//! `DequantizeLinear` of a type that a wider one carries.

use super::scales::{has_no_zero_point, scales};
use super::site::{Role, Site};
use onnx_cast::{Class, DType};

/// y = (x - x_zero_point) * x_scale, whose difference has no range: integers stay where they are.
/// The operator has no FLOAT16: its numbers are cast to the type of the scale, and multiplied. Both
/// are one product, rounded to that type (DequantizeLinear-19).
pub(super) fn role(site: &Site) -> Option<Role> {
    if site.output(0).is_some() {
        return None;
    }
    let from = site.input(0)?.from;
    if from.class() != Class::Float {
        return Some(Role::Same);
    }
    let scale = site.known_input(1)?.dtype()?;
    let is_product = matches!(scale, DType::Float | DType::Float16) && site.output_type()? == scale;
    if !is_product || !has_no_zero_point(site) {
        return None;
    }
    let scales = scales(site, "x_scale")?;
    Some(Role::Replaced(format!(
        "number = Cast <to = {}> (x)
         {scales}
         y = Mul (number, scale)",
        scale.number()
    )))
}
