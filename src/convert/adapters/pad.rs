//! `Pad` across opsets: versions 1 2 11 13 18 19 21 23 24 25.

use super::super::context::Context;
use super::super::make;
use super::super::reason::{AttributeUnsupported, NodeInvalid, Reason, TypeUnsupported};
use super::adapter::{Adapter, Rename, ReplacementKind, Run, ToAttribute, ToInput, adapter};
use crate::ops::inference::Known;
use crate::protobuf::schema::AttributeProto;
use onnx_cast::DType;

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter("Pad", 2)
        .up(&[Rename("paddings", "pads")])
        .down(&[Rename("pads", "paddings")]),
    adapter("Pad", 11)
        .up(&[
            ToInput("pads", 1, ReplacementKind::Ints),
            Run(value_becomes_input),
        ])
        .down(&[
            Run(value_becomes_attribute),
            ToAttribute(1, "pads", ReplacementKind::Ints),
        ]),
    adapter("Pad", 18).down(&[Run(pads_for_all_axes)]),
    adapter("Pad", 19).down(&[Run(no_wrapping)]),
];

/// The input defaults to zero.
fn value_becomes_input(cx: &mut Context) -> Result<(), Reason> {
    let Some(value) = cx.float("value")? else {
        return Ok(());
    };
    cx.remove_attribute("value");
    if value.to_bits() == 0 {
        return Ok(());
    }
    let dtype = cx.dtype(0)?;
    let value = f64::from(value);
    let tensor = make::scalar(dtype, value).ok_or_else(|| {
        Reason::new(
            TypeUnsupported,
            format!("`value` = {value} is not representable in {dtype}"),
        )
    })?;
    let name = cx.add_constant("constant_value", tensor);
    cx.set_input(2, &name);
    Ok(())
}

fn value_becomes_attribute(cx: &mut Context) -> Result<(), Reason> {
    if cx.input(2).is_some() {
        match cx.read_floats(2)?.as_slice() {
            [value] => cx.set_float("value", *value),
            values => {
                return Err(Reason::new(
                    NodeInvalid,
                    format!(
                        "`constant_value` must have one element, not {}",
                        values.len()
                    ),
                ));
            }
        }
        cx.take_input(2);
    }
    Ok(())
}

/// Before version 18 `pads` lists all axes.
fn pads_for_all_axes(cx: &mut Context) -> Result<(), Reason> {
    if cx.input(3).is_none() {
        return Ok(());
    }
    let rank = cx.rank(0)?;
    let (axes, pads) = match (cx.read_ints(3), cx.read_ints(1)) {
        (Ok(axes), Ok(pads)) => (axes, pads),
        (Err(reason), _) | (_, Err(reason)) => {
            if reason.is_about_computed_value() {
                return place_pads(cx, rank as i64);
            }
            return Err(reason);
        }
    };
    let axes = cx.axes_from_front(axes)?;
    if pads.len() != 2 * axes.len() || axes.iter().any(|&axis| axis >= rank as i64) {
        return Err(Reason::new(
            NodeInvalid,
            "the inputs `pads` and `axes` do not match",
        ));
    }
    let mut all = vec![0; 2 * rank];
    for (index, &axis) in axes.iter().enumerate() {
        all[axis as usize] = pads[index];
        all[rank + axis as usize] = pads[axes.len() + index];
    }
    cx.take_input(3);
    cx.take_input(1);
    let name = cx.constant_int_list("pads", &all);
    cx.set_input(1, &name);
    Ok(())
}

/// Computed pads are placed at the positions that computed axes state: `axis` and `rank + axis`.
fn place_pads(cx: &mut Context, rank: i64) -> Result<(), Reason> {
    let (pads, mut axes) = (cx.node.input[1].clone(), cx.node.input[3].clone());
    let list = |length: Option<i64>| Known {
        shape: Some(vec![length]),
        ..Known::tensor(DType::Int64)
    };
    if cx.dtype(3)? != DType::Int64 {
        let to = vec![AttributeProto::int("to", DType::Int64.number().into())];
        axes = cx.add_before("Cast", &[&axes], to, "axes", list(None));
    }
    let rank_name = cx.constant_int_list("rank", &[rank]);
    let zeros = cx.constant_int_list("zeros", &vec![0; 2 * rank as usize]);
    // The sign of the remainder is that of the divisor.
    let first = cx.add_before(
        "Mod",
        &[&axes, &rank_name],
        Vec::new(),
        "from_front",
        list(None),
    );
    let second = cx.add_before(
        "Add",
        &[&first, &rank_name],
        Vec::new(),
        "at_end",
        list(None),
    );
    let places = cx.add_before(
        "Concat",
        &[&first, &second],
        vec![AttributeProto::int("axis", 0)],
        "places",
        list(None),
    );
    let placed = cx.add_before(
        "ScatterElements",
        &[&zeros, &places, &pads],
        Vec::new(),
        "pads",
        list(Some(2 * rank)),
    );
    cx.take_input(3);
    cx.set_input(1, &placed);
    Ok(())
}

fn no_wrapping(cx: &mut Context) -> Result<(), Reason> {
    match cx.string("mode")?.as_deref() {
        Some("wrap") => Err(Reason::new(
            AttributeUnsupported,
            "`mode` = 'wrap' is not supported before opset 19",
        )),
        _ => Ok(()),
    }
}
