//! Operators that gained or lost an attribute, and little else.

use super::super::hop::Action::{Drop, DropIf, Run, ToInput, Write};
use super::super::hop::{Hop, Kind, Reason, Value, hop};
use super::super::site::Site;
use crate::dtype::Class;

pub(super) const HOPS: &[Hop] = &[
    hop(&["ArgMax", "ArgMin"], 12).down(&[DropIf("select_last_index", Value::Int(0))]),
    hop(&["Attention"], 24).up(&[Run(mask_must_not_be_padded)]).down(&[Run(mask_must_cover_all_keys)]),
    hop(&["Attention"], 25).down(&[DropIf("left_window_size", Value::Int(-1)), DropIf("right_window_size", Value::Int(-1))]),
    hop(&["BitShift"], 28).down(&[Run(shift_must_be_small)]),
    hop(&["DFT"], 20).up(&[Write("axis", Value::Int(1)), ToInput("axis", 2, Kind::Int)]).down(&[Run(axis_becomes_attribute)]),
    hop(&["DepthToSpace"], 11).down(&[DropIf("mode", Value::String("DCR"))]),
    hop(&["GatherND"], 12).down(&[DropIf("batch_dims", Value::Int(0))]),
    hop(&["GridSample"], 20).up(&[Run(rename_modes_up)]).down(&[Run(rename_modes_down)]),
    // The default is the same, but the function that ONNX defines the operator by does not find it.
    hop(&["MeanVarianceNormalization"], 13).up(&[Run(write_axes)]),
    hop(&["Mod"], 28).down(&[Run(floats_need_fmod)]),
    hop(&["OptionalHasElement"], 18),
    // It has an effect on types only that the older version does not admit.
    hop(&["Range"], 27).down(&[Drop("stash_type")]),
    hop(&["RoiAlign"], 16).up(&[Write("coordinate_transformation_mode", Value::String("output_half_pixel"))]).down(&[
        Write("coordinate_transformation_mode", Value::String("half_pixel")),
        DropIf("coordinate_transformation_mode", Value::String("output_half_pixel")),
    ]),
    hop(&["Selu"], 6)
        .up(&[Drop("consumed_inputs"), Write("alpha", Value::Float(1.6732)), Write("gamma", Value::Float(1.0507))])
        .down(&[Write("alpha", Value::Float(1.673_263_2)), Write("gamma", Value::Float(1.050_701))]),
    hop(&["SpaceToDepth"], 28).down(&[DropIf("mode", Value::String("DCR"))]),
];

/// A mask with one column holds for all keys in version 23; version 24 takes it for that of the first key, and masks the others.
fn mask_must_not_be_padded(site: &mut Site) -> Result<(), Reason> {
    if site.input(3).is_none() {
        return Ok(());
    }
    let last = site.known_input(3).shape.and_then(|shape| shape.last().copied().flatten());
    match last {
        Some(1) if site.input(4).is_some() || keys(site) != Some(1) => {
            Err("a mask with one column stands for all keys in opset 23, and for the first one in 24".to_owned())
        }
        Some(_) => Ok(()),
        None => {
            site.warn("if the attention mask has one column, that stands for all keys in opset 23, and for the first one in 24")
        }
    }
}

/// The number of keys, without those of the past.
fn keys(site: &Site) -> Option<i64> {
    match site.known_input(1).shape?.as_slice() {
        [_, keys, _] | [_, _, keys, _] => *keys,
        _ => None,
    }
}

/// Since version 24 the mask may be shorter than the keys.
fn mask_must_cover_all_keys(site: &mut Site) -> Result<(), Reason> {
    if site.input(3).is_none() {
        return Ok(());
    }
    let last = site.known_input(3).shape.and_then(|shape| shape.last().copied().flatten());
    match (last, keys(site)) {
        (Some(last), Some(keys)) if last == keys && site.input(4).is_none() => Ok(()),
        _ => Err("the attention mask must be as long as all keys, which is not known here".to_owned()),
    }
}

/// Version 28 says what a shift by the width of the type or more gives; the older text says nothing.
fn shift_must_be_small(site: &mut Site) -> Result<(), Reason> {
    let bits = site.dtype(0)?.bits() as i64;
    let shifts = site.read_ints(1)?;
    match shifts.iter().all(|shift| (0..bits).contains(shift)) {
        true => Ok(()),
        false => Err(format!("a shift by {bits} bits or more has no meaning before opset 28")),
    }
}

fn axis_becomes_attribute(site: &mut Site) -> Result<(), Reason> {
    let axis = match site.input(2) {
        None => -2,
        Some(_) => *site.read_ints(2)?.first().ok_or_else(|| "the input axis is empty".to_owned())?,
    };
    site.take_input(2);
    site.set_int("axis", axis);
    Ok(())
}

fn rename_modes_up(site: &mut Site) -> Result<(), Reason> {
    match site.string("mode")?.as_deref() {
        Some("bilinear") => site.set_string("mode", "linear"),
        Some("bicubic") => site.set_string("mode", "cubic"),
        _ => {}
    }
    Ok(())
}

fn rename_modes_down(site: &mut Site) -> Result<(), Reason> {
    if site.rank(0)? != 4 {
        return Err("only images of rank 4 can be sampled before opset 20".to_owned());
    }
    match site.string("mode")?.as_deref() {
        Some("linear") => site.set_string("mode", "bilinear"),
        Some("cubic") => site.set_string("mode", "bicubic"),
        _ => {}
    }
    Ok(())
}

/// Before version 28 only integers have a remainder with the sign of the divisor.
fn floats_need_fmod(site: &mut Site) -> Result<(), Reason> {
    match site.dtype(0)?.class() {
        Class::Float if site.int_or("fmod", 0)? == 0 => Err("floating-point inputs with `fmod` = 0 are new in opset 28".to_owned()),
        _ => Ok(()),
    }
}

fn write_axes(site: &mut Site) -> Result<(), Reason> {
    if site.attribute("axes")?.is_none() {
        site.set_ints("axes", vec![0, 2, 3]);
    }
    Ok(())
}
