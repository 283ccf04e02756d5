//! `Hardmax`, `LogSoftmax` and `Softmax`: over all axes from `axis` on before opset 13, over `axis` alone since.

use super::super::hop::Action::Run;
use super::super::hop::{Hop, Reason, hop};
use super::super::make;
use super::super::site::Site;
use crate::dtype::DType;
use crate::facts::ValueType;
use crate::facts::infer::Known;

pub(super) const HOPS: &[Hop] =
    &[hop(&["Hardmax", "LogSoftmax", "Softmax"], 13).up(&[Run(flatten_axes)]).down(&[Run(axis_must_be_last)])];

/// 1. The axes from `axis` on are the last one alone.
/// 2. They are not, or it is not known: the input is flattened, and takes its shape back afterwards.
fn flatten_axes(site: &mut Site) -> Result<(), Reason> {
    let axis = site.int_or("axis", 1)?;
    let input = site.known_input(0);
    let is_last = axis == -1 || input.rank().is_some_and(|rank| axis == rank as i64 - 1);
    site.set_int("axis", -1);
    if is_last {
        return Ok(()); // Case 1.
    }
    // In a shape that `Reshape` is given, zero stands for the dimension that is there, unless it is told otherwise. A
    // dimension that is not known is taken not to be zero.
    let is_empty = input.shape.as_ref().is_some_and(|shape| shape.contains(&Some(0)));
    if is_empty && site.place.options.opset < 14 {
        return Err("it has no elements, and no shape with a zero can be given back to it before opset 14".to_owned());
    }
    let source = site.input(0).ok_or("the input is missing")?.to_owned();
    let rank = input.rank().map(|rank| rank as i64);
    let of_type = |value_type, shape| Known { value_type, shape: Some(shape) };
    let shape = of_type(Some(ValueType::Tensor(DType::Int64)), vec![rank]);
    let table = of_type(input.value_type, vec![None, None]);
    let shape = site.add_before("Shape", &[&source], Vec::new(), "shape", shape); // Case 2.
    let flat = site.add_before("Flatten", &[&source], vec![make::int("axis", axis)], "flat", table.clone());
    site.set_input(0, &flat);
    let allowzero = is_empty.then(|| make::int("allowzero", 1));
    site.add_after("Reshape", &[&shape], Vec::from_iter(allowzero), "flat_result", table);
    Ok(())
}

/// Over the last axis both versions mean the same; another axis is brought there and back.
fn axis_must_be_last(site: &mut Site) -> Result<(), Reason> {
    let axis = site.int_or("axis", -1)?;
    let known = site.known_input(0);
    let last = known.rank().map(|rank| rank as i64 - 1);
    if axis == -1 || Some(axis) == last {
        site.set_int("axis", -1);
        return Ok(());
    }
    let last = last.ok_or("the rank of the input must be known, for the older version works on all axes from `axis` on")?;
    let axis = if axis < 0 { axis + last + 1 } else { axis };
    let mut order: Vec<i64> = (0..=last).collect();
    if !order.contains(&axis) {
        return Err(format!("`axis` = {axis} does not fit rank {}", last + 1));
    }
    order.swap(axis as usize, last as usize);
    let swapped = Known {
        value_type: known.value_type,
        shape: known.shape.map(|shape| order.iter().map(|&axis| shape[axis as usize]).collect()),
    };
    let source = site.input(0).ok_or("the input is missing")?.to_owned();
    let perm = || vec![make::ints("perm", order.clone())];
    let turned = site.add_before("Transpose", &[&source], perm(), "turned", swapped.clone());
    site.set_input(0, &turned);
    site.add_after("Transpose", &[], perm(), "turned_result", swapped);
    site.set_int("axis", -1);
    Ok(())
}
