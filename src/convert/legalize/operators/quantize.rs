//! `QuantizeLinear` to types that wider ones carry.

use super::rounded::rounded;
use super::scales::{has_no_zero_point, scales};
use super::site::{Role, Site};
use onnx_cast::{Class, DType};

/// The result for integers and for floats.
pub(super) fn role(site: &Site) -> Option<Role> {
    match site.output(0)?.from.class() {
        Class::Float => float(site),
        _ => integer(site),
    }
}

/// The quotient is rounded to the narrower type (QuantizeLinear-19).
fn float(site: &Site) -> Option<Role> {
    let are_float = [0, 1].iter().all(|&index| {
        let known = site.known_input(index);
        known.and_then(|known| known.dtype()) == Some(DType::Float)
    });
    let precision = site.int_or("precision", 0)?;
    let is_quotient =
        are_float && (precision == 0 || precision == i64::from(DType::Float.number()));
    if !is_quotient || !has_no_zero_point(site) {
        return None;
    }
    let scales = scales(site, "y_scale")?;
    let rounded = rounded(site, site.output(0)?, site.int_or("saturate", 1)? != 0)?;
    Some(Role::Replaced(format!(
        "{scales}
         number = Div (x, scale)
         {rounded}
         y = Identity (rounded_number)"
    )))
}

/// The wider type saturates farther out, and the result is clipped to the range of the narrower
/// one: the same, since the narrower range is part of the wider one.
fn integer(site: &Site) -> Option<Role> {
    let wider = site.output(0)?;
    let (least, greatest) = range(wider.from)?;
    let mut attributes = Vec::new();
    for attribute in &site.model.node(site.node).attribute {
        let number = match attribute.name() {
            "output_dtype" if attribute.i() != 0 => i64::from(wider.to.number()),
            name => site.int_or(name, 0)?,
        };
        attributes.push(format!("{} = {number}", attribute.name()));
    }
    let attributes = if attributes.is_empty() {
        String::new()
    } else {
        format!("<{}>", attributes.join(", "))
    };
    let inputs = ["x", "y_scale", "y_zero_point"];
    let inputs = &inputs[..site.model.node(site.node).input.len().min(3)];
    let to = wider.to.name().to_lowercase();
    Some(Role::Replaced(format!(
        "unclipped = QuantizeLinear {attributes} ({})
         least = Constant <value = {to} {{{least}}}> ()
         greatest = Constant <value = {to} {{{greatest}}}> ()
         y = Clip (unclipped, least, greatest)",
        inputs.join(", ")
    )))
}

/// The least and greatest number of an integer type.
fn range(dtype: DType) -> Option<(i64, i64)> {
    let bits = dtype.bits();
    match dtype.class() {
        Class::Signed => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        Class::Unsigned => Some((0, (1 << bits) - 1)),
        _ => None,
    }
}
