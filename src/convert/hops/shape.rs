//! `Concat`, `Reshape`, `Shape`, `Slice`, `Tile` and `TopK` across opsets.

use super::super::hop::Action::{Drop, DropIf, Run, ToAttribute, ToInput, Write};
use super::super::hop::{Hop, Kind, Reason, Value, hop};
use super::super::make;
use super::super::site::Site;
use crate::dtype::DType;
use crate::facts::ValueType;
use crate::facts::infer::Known;

pub(super) const HOPS: &[Hop] = &[
    hop(&["Concat"], 4).up(&[Write("axis", Value::Int(1))]),
    hop(&["Reshape"], 5).up(&[Drop("consumed_inputs"), ToInput("shape", 1, Kind::Ints)]).down(&[ToAttribute(
        1,
        "shape",
        Kind::Ints,
    )]),
    hop(&["Reshape"], 14).down(&[Run(zeros_must_copy)]),
    hop(&["Shape"], 15).down(&[Run(slice_the_shape)]),
    hop(&["Slice"], 10)
        .up(&[ToInput("starts", 1, Kind::Ints), ToInput("ends", 2, Kind::Ints), ToInput("axes", 3, Kind::Ints)])
        .down(&[
            Run(steps_must_be_one),
            ToAttribute(3, "axes", Kind::Ints),
            ToAttribute(2, "ends", Kind::Ints),
            ToAttribute(1, "starts", Kind::Ints),
        ]),
    hop(&["Slice"], 11).down(&[Run(axes_count_from_the_front)]),
    hop(&["Tile"], 6).up(&[Run(tiles_become_repeats)]).down(&[Run(repeats_stay)]),
    hop(&["TopK"], 10).up(&[ToInput("k", 1, Kind::IntInList)]).down(&[ToAttribute(1, "k", Kind::IntInList)]),
    hop(&["TopK"], 11).down(&[DropIf("largest", Value::Int(1)), DropIf("sorted", Value::Int(1))]),
];

/// Before version 14 a zero in the shape always copies a dimension; `allowzero` has no effect on a shape without zeros.
fn zeros_must_copy(site: &mut Site) -> Result<(), Reason> {
    if site.int_or("allowzero", 0)? != 0 {
        let shape =
            site.read_ints(1).map_err(|reason| format!("`allowzero` may have an effect that is new in opset 14: {reason}"))?;
        if shape.contains(&0) {
            return Err("`allowzero` has an effect on its shape, and is new in opset 14".to_owned());
        }
    }
    site.remove_attribute("allowzero");
    Ok(())
}

/// `start` and `end` of `Shape` mean what they mean to a `Slice` of the whole shape.
fn slice_the_shape(site: &mut Site) -> Result<(), Reason> {
    let start = site.int_or("start", 0)?;
    let end = site.int("end")?;
    site.remove_attribute("start");
    site.remove_attribute("end");
    if start == 0 && end.is_none() {
        return Ok(());
    }
    let starts = site.constant_int_list("starts", &[start]);
    let ends = site.constant_int_list("ends", &[end.unwrap_or(i64::MAX)]);
    let rank = site.known_input(0).rank().map(|rank| rank as i64);
    let whole = Known { value_type: Some(ValueType::Tensor(DType::Int64)), shape: Some(vec![rank]) };
    site.add_after("Slice", &[&starts, &ends], Vec::new(), "whole", whole);
    Ok(())
}

fn steps_must_be_one(site: &mut Site) -> Result<(), Reason> {
    if site.input(4).is_some() && site.read_ints(4)?.iter().any(|&step| step != 1) {
        return Err("`steps` other than 1 are new in opset 10".to_owned());
    }
    site.take_input(4);
    Ok(())
}

fn axes_count_from_the_front(site: &mut Site) -> Result<(), Reason> {
    if site.input(3).is_none() {
        return Ok(());
    }
    let axes = site.read_ints(3)?;
    let counted = site.axes_from_front(axes.clone())?;
    if counted != axes {
        let dtype = site.dtype(3)?;
        let tensor = make::indices(dtype, &counted).ok_or_else(|| format!("the axes are {dtype}"))?;
        site.take_input(3);
        let name = site.add_constant("axes", tensor);
        site.set_input(3, &name);
    }
    Ok(())
}

fn tiles_become_repeats(site: &mut Site) -> Result<(), Reason> {
    let (tiles, axis) = (site.read_doubles(1)?, site.read_doubles(2)?);
    let rank = site.rank(0)?;
    let ([tiles], [axis]) = (tiles.as_slice(), axis.as_slice()) else {
        return Err("`tiles` and `axis` must be one number each".to_owned());
    };
    let mut repeats = vec![1; rank];
    match repeats.get_mut(*axis as usize) {
        Some(repeat) if axis.fract() == 0.0 && *axis >= 0.0 && tiles.fract() == 0.0 => *repeat = *tiles as i64,
        _ => return Err(format!("tiling axis {axis} by {tiles} does not fit rank {rank}")),
    }
    site.take_input(2);
    site.take_input(1);
    let name = site.constant_int_list("repeats", &repeats);
    site.set_input(1, &name);
    Ok(())
}

fn repeats_stay(_: &mut Site) -> Result<(), Reason> {
    Err("Tile takes its repeats in another form before opset 6".to_owned())
}
