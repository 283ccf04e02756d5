//! Operators that gained or lost an attribute, and little else.

use super::super::adapter::Action::{Drop, DropIf, Run, ToInput, Write};
use super::super::adapter::{Adapter, Kind, Value, adapter};
use super::super::context::Context;
use super::super::reason::Code::{BehaviourDiffers, InputUnsupported, NodeInvalid, ShapeUnsupported, TypeUnsupported};
use super::super::reason::Reason;
use crate::dtype::Class;

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter(&["ArgMax", "ArgMin"], 12).down(&[DropIf("select_last_index", Value::Int(0))]),
    adapter(&["Attention"], 24).up(&[Run(mask_must_not_be_padded)]).down(&[Run(mask_must_cover_all_keys)]),
    adapter(&["Attention"], 25).down(&[DropIf("left_window_size", Value::Int(-1)), DropIf("right_window_size", Value::Int(-1))]),
    adapter(&["BitShift"], 28).down(&[Run(shift_must_be_small)]),
    adapter(&["DFT"], 20).up(&[Write("axis", Value::Int(1)), ToInput("axis", 2, Kind::Int)]).down(&[Run(axis_becomes_attribute)]),
    adapter(&["DepthToSpace"], 11).down(&[DropIf("mode", Value::String("DCR"))]),
    adapter(&["GatherND"], 12).down(&[DropIf("batch_dims", Value::Int(0))]),
    adapter(&["GridSample"], 20).up(&[Run(rename_modes_up)]).down(&[Run(rename_modes_down)]),
    // The default is the same, but ONNX's function body of version 13 refers to the attribute, which must be present.
    adapter(&["MeanVarianceNormalization"], 13).up(&[Run(write_axes)]),
    adapter(&["Mod"], 28).down(&[Run(floats_need_fmod)]),
    adapter(&["OptionalHasElement"], 18),
    // It affects only types that the older version does not support.
    adapter(&["Range"], 27).down(&[Drop("stash_type")]),
    adapter(&["RoiAlign"], 16).up(&[Write("coordinate_transformation_mode", Value::String("output_half_pixel"))]).down(&[
        Write("coordinate_transformation_mode", Value::String("half_pixel")),
        DropIf("coordinate_transformation_mode", Value::String("output_half_pixel")),
    ]),
    adapter(&["Selu"], 6)
        .up(&[Drop("consumed_inputs"), Write("alpha", Value::Float(1.6732)), Write("gamma", Value::Float(1.0507))])
        .down(&[Write("alpha", Value::Float(1.673_263_2)), Write("gamma", Value::Float(1.050_701))]),
    adapter(&["SpaceToDepth"], 28).down(&[DropIf("mode", Value::String("DCR"))]),
];

/// Version 23 broadcasts a mask with one column over all keys; version 24 pads it, so that every key except the first is masked.
fn mask_must_not_be_padded(cx: &mut Context) -> Result<(), Reason> {
    if cx.input(3).is_none() {
        return Ok(());
    }
    let last = cx.known_input(3).shape.and_then(|shape| shape.last().copied().flatten());
    match last {
        Some(1) if cx.input(4).is_some() || keys(cx) != Some(1) => {
            Err(BehaviourDiffers.because("an attention mask with one column applies to all keys in opset 23, and to the first key only in opset 24"))
        }
        Some(_) => Ok(()),
        None => {
            cx.warn("an attention mask with one column applies to all keys in opset 23, and to the first key only in opset 24; the width of this mask is unknown")
        }
    }
}

/// The number of keys, not counting past keys.
fn keys(cx: &Context) -> Option<i64> {
    match cx.known_input(1).shape?.as_slice() {
        [_, keys, _] | [_, _, keys, _] => *keys,
        _ => None,
    }
}

/// Since version 24 the mask may be shorter than the keys.
fn mask_must_cover_all_keys(cx: &mut Context) -> Result<(), Reason> {
    if cx.input(3).is_none() {
        return Ok(());
    }
    let last = cx.known_input(3).shape.and_then(|shape| shape.last().copied().flatten());
    match (last, keys(cx)) {
        (Some(last), Some(keys)) if last == keys && cx.input(4).is_none() => Ok(()),
        _ => Err(ShapeUnsupported
            .because("before opset 24 the attention mask must cover all keys; the length of this mask is unknown or differs")),
    }
}

/// The result of a shift by the width of the type or more is defined since version 28 only.
fn shift_must_be_small(cx: &mut Context) -> Result<(), Reason> {
    let bits = cx.dtype(0)?.bits() as i64;
    let shifts = cx.read_ints(1)?;
    match shifts.iter().all(|shift| (0..bits).contains(shift)) {
        true => Ok(()),
        false => Err(InputUnsupported.because(format!("a shift by {bits} bits or more is undefined before opset 28"))),
    }
}

fn axis_becomes_attribute(cx: &mut Context) -> Result<(), Reason> {
    let axis = match cx.input(2) {
        None => -2,
        Some(_) => *cx.read_ints(2)?.first().ok_or_else(|| NodeInvalid.because("the input `axis` is empty"))?,
    };
    cx.take_input(2);
    cx.set_int("axis", axis);
    Ok(())
}

fn rename_modes_up(cx: &mut Context) -> Result<(), Reason> {
    match cx.string("mode")?.as_deref() {
        Some("bilinear") => cx.set_string("mode", "linear"),
        Some("bicubic") => cx.set_string("mode", "cubic"),
        _ => {}
    }
    Ok(())
}

fn rename_modes_down(cx: &mut Context) -> Result<(), Reason> {
    if cx.rank(0)? != 4 {
        return Err(ShapeUnsupported.because("GridSample supports inputs of rank 4 only before opset 20"));
    }
    match cx.string("mode")?.as_deref() {
        Some("linear") => cx.set_string("mode", "bilinear"),
        Some("cubic") => cx.set_string("mode", "bicubic"),
        _ => {}
    }
    Ok(())
}

/// Before version 28 `fmod` = 0 is defined for integers only.
fn floats_need_fmod(cx: &mut Context) -> Result<(), Reason> {
    match cx.dtype(0)?.class() {
        Class::Float if cx.int_or("fmod", 0)? == 0 => {
            Err(TypeUnsupported.because("Mod supports floating-point inputs with `fmod` = 0 since opset 28 only"))
        }
        _ => Ok(()),
    }
}

fn write_axes(cx: &mut Context) -> Result<(), Reason> {
    if cx.attribute("axes")?.is_none() {
        cx.set_ints("axes", vec![0, 2, 3]);
    }
    Ok(())
}
