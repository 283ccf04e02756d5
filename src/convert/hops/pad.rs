//! `Pad` across opsets: versions 1 2 11 13 18 19 21 23 24 25.

use super::super::hop::Action::{Rename, Run, ToAttribute, ToInput};
use super::super::hop::{Hop, Kind, Reason, hop};
use super::super::make;
use super::super::site::Site;

pub(super) const HOPS: &[Hop] = &[
    hop(&["Pad"], 2).up(&[Rename("paddings", "pads")]).down(&[Rename("pads", "paddings")]),
    hop(&["Pad"], 11)
        .up(&[ToInput("pads", 1, Kind::Ints), Run(value_becomes_input)])
        .down(&[Run(value_becomes_attribute), ToAttribute(1, "pads", Kind::Ints)]),
    hop(&["Pad"], 18).down(&[Run(pads_for_all_axes)]),
    hop(&["Pad"], 19).down(&[Run(no_wrapping)]),
];

/// Zero is what an absent input means.
fn value_becomes_input(site: &mut Site) -> Result<(), Reason> {
    let Some(value) = site.float("value")? else { return Ok(()) };
    site.remove_attribute("value");
    if value.to_bits() == 0 {
        return Ok(());
    }
    let dtype = site.dtype(0)?;
    let value = f64::from(value);
    let tensor = make::scalar(dtype, value).ok_or_else(|| format!("the padding {value} is no number of type {dtype}"))?;
    let name = site.add_constant("constant_value", tensor);
    site.set_input(2, &name);
    Ok(())
}

fn value_becomes_attribute(site: &mut Site) -> Result<(), Reason> {
    if site.input(2).is_some() {
        match site.read_floats(2)?.as_slice() {
            [value] => site.set_float("value", *value),
            values => return Err(format!("the padding must be one number, not {}", values.len())),
        }
        site.take_input(2);
    }
    Ok(())
}

/// Before version 18 `pads` speaks of all axes.
fn pads_for_all_axes(site: &mut Site) -> Result<(), Reason> {
    if site.input(3).is_none() {
        return Ok(());
    }
    let (axes, pads, rank) = (site.read_ints(3)?, site.read_ints(1)?, site.rank(0)?);
    let axes = site.axes_from_front(axes)?;
    if pads.len() != 2 * axes.len() || axes.iter().any(|&axis| axis >= rank as i64) {
        return Err("the inputs `pads` and `axes` do not fit each other".to_owned());
    }
    let mut all = vec![0; 2 * rank];
    for (index, &axis) in axes.iter().enumerate() {
        all[axis as usize] = pads[index];
        all[rank + axis as usize] = pads[axes.len() + index];
    }
    site.take_input(3);
    site.take_input(1);
    let name = site.constant_int_list("pads", &all);
    site.set_input(1, &name);
    Ok(())
}

fn no_wrapping(site: &mut Site) -> Result<(), Reason> {
    match site.string("mode")?.as_deref() {
        Some("wrap") => Err("`mode` = 'wrap' is new in opset 19".to_owned()),
        _ => Ok(()),
    }
}
