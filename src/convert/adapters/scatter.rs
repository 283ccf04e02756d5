//! `ScatterElements` and `ScatterND` with a `reduction`: versions 16 and 18.
//!
//! If no element is updated twice, the reduction is an operator on the elements at the indices and
//! the updates, which is then scattered.

use super::super::context::Context;
use super::super::reason::{
    AttributeUnsupported, NodeInvalid, Reason, ShapeUnknown, TypeUnsupported,
};
use super::adapter::{Adapter, Run, adapter};
use crate::base::hash::HashSet;
use crate::ops::inference::Known;
use crate::protobuf::schema::AttributeProto;
use onnx_cast::Class;

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter("ScatterElements ScatterND", 16).down(&[Run(no_reduction)]),
    adapter("ScatterElements ScatterND", 18).down(&[Run(no_extremes)]),
];

fn no_reduction(cx: &mut Context) -> Result<(), Reason> {
    match cx.string("reduction")?.as_deref() {
        None | Some("none") => cx.remove_attribute("reduction"),
        Some("add") => reduce_first(cx, "Add", 16)?,
        Some("mul") => reduce_first(cx, "Mul", 16)?,
        Some(other) => {
            return Err(Reason::new(
                NodeInvalid,
                format!("unknown `reduction` = '{other}'"),
            ));
        }
    }
    Ok(())
}

fn no_extremes(cx: &mut Context) -> Result<(), Reason> {
    match cx.string("reduction")?.as_deref() {
        Some("max") => reduce_first(cx, "Max", 18),
        Some("min") => reduce_first(cx, "Min", 18),
        _ => Ok(()),
    }
}

fn reduce_first(cx: &mut Context, op: &str, since: i64) -> Result<(), Reason> {
    let name = cx.node.op_type().to_owned();
    let refuse = |why: &dyn std::fmt::Display| {
        let reduction = op.to_lowercase();
        Reason::new(
            AttributeUnsupported,
            format!("`reduction` = '{reduction}' is not supported before opset {since}, and {why}"),
        )
    };
    let dtype = cx.dtype(0)?;
    if dtype.class() != Class::Float && dtype.bits() < 32
        || !matches!(
            dtype.class(),
            Class::Float | Class::Signed | Class::Unsigned
        )
    {
        return Err(Reason::new(
            TypeUnsupported,
            format!("{op} does not support {dtype} in all of these opsets"),
        ));
    }
    if !updates_are_apart(cx).map_err(|reason| refuse(&reason))? {
        return Err(refuse(&"an element is updated twice"));
    }
    let [data, indices, updates] =
        [0, 1, 2].map(|index| cx.node.input.get(index).cloned().unwrap_or_default());
    let known = Known {
        shape: cx.known_input(2).shape,
        ..Known::tensor(dtype)
    };
    let (gather, attributes) = match name.as_str() {
        "ScatterND" => ("GatherND", Vec::new()),
        _ => (
            "GatherElements",
            vec![AttributeProto::int("axis", cx.int_or("axis", 0)?)],
        ),
    };
    let present = cx.add_before(
        gather,
        &[&data, &indices],
        attributes,
        "present",
        known.clone(),
    );
    let reduced = cx.add_before(op, &[&present, &updates], Vec::new(), "reduced", known);
    cx.remove_attribute("reduction");
    cx.set_input(2, &reduced);
    Ok(())
}

/// Whether constant indices select each element at most once.
fn updates_are_apart(cx: &Context) -> Result<bool, Reason> {
    let values = cx.read_ints(1)?;
    let shape = cx
        .known_input(1)
        .static_shape()
        .ok_or_else(|| Reason::new(ShapeUnknown, "the shape of the indices is unknown"))?;
    let data = cx.known_input(0).shape.unwrap_or_default();
    let from_front = |index: i64, axis: usize| match data.get(axis).copied().flatten() {
        Some(length) if index < 0 => Ok(index + length),
        None if index < 0 => Err(Reason::new(
            ShapeUnknown,
            "indices are negative, and the length of the axis is unknown",
        )),
        _ => Ok(index),
    };
    let mut seen: HashSet<Vec<i64>> = HashSet::default();
    if cx.node.op_type() == "ScatterND" {
        let width = shape
            .last()
            .and_then(|&width| usize::try_from(width).ok())
            .filter(|&width| width > 0);
        let width =
            width.ok_or_else(|| Reason::new(NodeInvalid, "the indices have no last axis"))?;
        for tuple in values.chunks(width) {
            let tuple = tuple
                .iter()
                .enumerate()
                .map(|(axis, &index)| from_front(index, axis));
            if !seen.insert(tuple.collect::<Result<_, _>>()?) {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    let axis = cx.axes_from_front(vec![cx.int_or("axis", 0)?])?[0];
    let axis = usize::try_from(axis)
        .ok()
        .filter(|&axis| axis < shape.len());
    let axis = axis.ok_or_else(|| Reason::new(NodeInvalid, "`axis` is out of range"))?;
    for (place, &index) in values.iter().enumerate() {
        let (mut rest, mut target) = (place as i64, vec![0; shape.len()]);
        for (dim, at) in shape.iter().zip(&mut target).rev() {
            (*at, rest) = (rest % dim, rest / dim);
        }
        target[axis] = from_front(index, axis)?;
        if !seen.insert(target) {
            return Ok(false);
        }
    }
    Ok(true)
}
