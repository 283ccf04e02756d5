//! `Clip` across opsets: versions 1 6 11 12 13.

use super::super::hop::Action::{Drop, Run};
use super::super::hop::{Hop, Reason, hop};
use super::super::make;
use super::super::site::Site;
use crate::dtype::DType;
use crate::tensor::{Content, Data};
use crate::wire::schema::TensorProto;

pub(super) const HOPS: &[Hop] = &[
    hop(&["Clip"], 6).up(&[Drop("consumed_inputs"), Run(absent_bounds_need_float)]).down(&[Run(absent_bounds_need_float)]),
    hop(&["Clip"], 11)
        .up(&[Run(absent_bounds_need_float), Run(bounds_become_inputs)])
        .down(&[Run(bounds_become_attributes), Run(absent_bounds_need_float)]),
    hop(&["Clip"], 13).down(&[Run(bounds_must_be_in_order)]),
];

/// A bound that is not given is the largest number of the type by the text, the largest float by the default of version 6, and
/// nothing by version 1: all the same for float alone.
fn absent_bounds_need_float(site: &mut Site) -> Result<(), Reason> {
    if site.attribute("min")?.is_some() && site.attribute("max")?.is_some() {
        return Ok(());
    }
    match site.dtype(0)? {
        DType::Float => Ok(()),
        dtype => Err(format!("a bound that is not given means different numbers in the versions for {dtype}")),
    }
}

/// The bounds become scalars of the input's type. Rounding a bound to that type changes no result, for the result is of that type.
fn bounds_become_inputs(site: &mut Site) -> Result<(), Reason> {
    for (name, index) in [("min", 1), ("max", 2)] {
        let Some(bound) = site.float(name)? else { continue };
        let dtype = site.dtype(0)?;
        let tensor = rounded(dtype, bound).ok_or_else(|| format!("there is no bound of type {dtype}"))?;
        let name_of_bound = site.add_constant(name, tensor);
        site.remove_attribute(name);
        site.set_input(index, &name_of_bound);
    }
    Ok(())
}

fn rounded(dtype: DType, value: f32) -> Option<TensorProto> {
    let bytes = match dtype {
        DType::Float => value.to_le_bytes().to_vec(),
        DType::Double => f64::from(value).to_le_bytes().to_vec(),
        DType::Float16 => half::f16::from_f32(value).to_le_bytes().to_vec(),
        _ => return None,
    };
    Some(Content::new(dtype, &[], Data::Numbers(bytes.into(), Vec::new())).into_tensor(""))
}

fn bounds_become_attributes(site: &mut Site) -> Result<(), Reason> {
    for (name, index) in [("max", 2), ("min", 1)] {
        if site.input(index).is_none() {
            continue;
        }
        match site.read_floats(index)?.as_slice() {
            [bound] => site.set_attribute(make::float(name, *bound)),
            bounds => return Err(format!("`{name}` must be one number, not {}", bounds.len())),
        }
        site.take_input(index);
    }
    Ok(())
}

/// What comes of a minimum above the maximum is said since opset 13 only.
fn bounds_must_be_in_order(site: &mut Site) -> Result<(), Reason> {
    if site.input(1).is_none() || site.input(2).is_none() {
        return Ok(());
    }
    match are_in_order(site) {
        Ok(true) => Ok(()),
        Ok(false) => Err("a minimum above the maximum has no meaning before opset 13".to_owned()),
        Err(reason) => Err(format!("a minimum above the maximum has no meaning before opset 13, and {reason}")),
    }
}

fn are_in_order(site: &Site) -> Result<bool, Reason> {
    Ok(match site.dtype(0)? {
        DType::Int64 | DType::Uint64 => site.read_ints(1)?.first() <= site.read_ints(2)?.first(),
        _ => site.read_doubles(1)?.first() <= site.read_doubles(2)?.first(),
    })
}
