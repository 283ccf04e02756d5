//! `Concat`, `Reshape`, `Shape`, `Slice`, `Tile` and `TopK` across opsets.

use super::super::context::Context;
use super::super::make;
use super::super::reason::{
    AttributeUnsupported, InputUnsupported, NodeInvalid, Reason, TypeUnsupported,
};
use super::adapter::{
    Adapter, Drop, ReplacementKind, Run, ToAttribute, ToInput, Value, Write, adapter,
};
use super::wider::compute_wider;
use crate::ops::inference::Known;
use onnx_cast::{Class, DType};

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter("Concat", 4).up(&[Write("axis", Value::Int(1))]),
    adapter("Reshape", 5)
        .up(&[
            Drop("consumed_inputs"),
            ToInput("shape", 1, ReplacementKind::Ints),
        ])
        .down(&[ToAttribute(1, "shape", ReplacementKind::Ints)]),
    adapter("Shape", 15).down(&[Run(slice_the_shape)]),
    adapter("Slice", 10)
        .up(&[
            ToInput("starts", 1, ReplacementKind::Ints),
            ToInput("ends", 2, ReplacementKind::Ints),
            ToInput("axes", 3, ReplacementKind::Ints),
        ])
        .down(&[
            Run(steps_must_be_one),
            ToAttribute(3, "axes", ReplacementKind::Ints),
            ToAttribute(2, "ends", ReplacementKind::Ints),
            ToAttribute(1, "starts", ReplacementKind::Ints),
        ]),
    adapter("Slice", 11).down(&[Run(axes_count_from_the_front)]),
    adapter("Tile", 6)
        .up(&[Run(tiles_become_repeats)])
        .down(&[Run(|_| {
            Err(Reason::new(
                InputUnsupported,
                "Tile has no input `repeats` before opset 6",
            ))
        })]),
    adapter("TopK", 10)
        .up(&[ToInput("k", 1, ReplacementKind::IntInList)])
        .down(&[
            ToAttribute(1, "k", ReplacementKind::IntInList),
            Run(k_must_be_positive),
        ]),
    // Without `sorted` any order is allowed, and the older version sorts.
    adapter("TopK", 11).down(&[
        Drop("sorted"),
        Run(compute_wider),
        Run(smallest_are_largest_negated),
    ]),
];

/// `start` and `end` of `Shape` are those of a `Slice` of the whole shape.
fn slice_the_shape(cx: &mut Context) -> Result<(), Reason> {
    let start = cx.int_or("start", 0)?;
    let end = cx.int("end")?;
    cx.remove_attribute("start");
    cx.remove_attribute("end");
    if start == 0 && end.is_none() {
        return Ok(());
    }
    let starts = cx.constant_int_list("starts", &[start]);
    let ends = cx.constant_int_list("ends", &[end.unwrap_or(i64::MAX)]);
    let rank = cx.known_input(0).rank().map(|rank| rank as i64);
    let whole = Known {
        shape: Some(vec![rank]),
        ..Known::tensor(DType::Int64)
    };
    cx.add_after("Slice", &[&starts, &ends], Vec::new(), "whole", whole);
    Ok(())
}

fn steps_must_be_one(cx: &mut Context) -> Result<(), Reason> {
    if cx.input(4).is_some() && cx.read_ints(4)?.iter().any(|&step| step != 1) {
        return Err(Reason::new(
            InputUnsupported,
            "`steps` other than 1 are not supported before opset 10",
        ));
    }
    cx.take_input(4);
    Ok(())
}

fn axes_count_from_the_front(cx: &mut Context) -> Result<(), Reason> {
    if cx.input(3).is_none() {
        return Ok(());
    }
    let axes = cx.read_ints(3)?;
    let counted = cx.axes_from_front(axes.clone())?;
    if counted != axes {
        let dtype = cx.dtype(3)?;
        let tensor = make::indices(dtype, &counted).ok_or_else(|| {
            Reason::new(
                TypeUnsupported,
                format!("axes of type {dtype} are not supported"),
            )
        })?;
        cx.take_input(3);
        let name = cx.add_constant("axes", tensor);
        cx.set_input(3, &name);
    }
    Ok(())
}

/// onnx.checker refuses an attribute `k` of zero, and only that.
fn k_must_be_positive(cx: &mut Context) -> Result<(), Reason> {
    match cx.int_or("k", 0)? {
        1.. => Ok(()),
        k => Err(Reason::new(
            AttributeUnsupported,
            format!("`k` = {k} is not supported by TopK before opset 10"),
        )),
    }
}

/// The smallest elements are the largest of the negated ones. Ties go to the lower index in both.
fn smallest_are_largest_negated(cx: &mut Context) -> Result<(), Reason> {
    if cx.int_or("largest", 1)? == 0 {
        let dtype = cx.dtype(0)?;
        if dtype.class() != Class::Float {
            return Err(Reason::new(
                TypeUnsupported,
                format!("TopK does not support {dtype} before opset 11"),
            ));
        }
        let input = cx.node.input[0].clone();
        let negated = cx.add_before("Neg", &[&input], Vec::new(), "negated", cx.known_input(0));
        cx.set_input(0, &negated);
        if cx.has_output(0) {
            cx.add_after("Neg", &[], Vec::new(), "negated_result", cx.known_output(0));
        }
    }
    cx.remove_attribute("largest");
    Ok(())
}

fn tiles_become_repeats(cx: &mut Context) -> Result<(), Reason> {
    let (tiles, axis) = (cx.read_doubles(1)?, cx.read_doubles(2)?);
    let rank = cx.rank(0)?;
    let ([tiles], [axis]) = (tiles.as_slice(), axis.as_slice()) else {
        return Err(Reason::new(
            NodeInvalid,
            "`tiles` and `axis` must have one element each",
        ));
    };
    let mut repeats = vec![1; rank];
    match repeats.get_mut(*axis as usize) {
        Some(repeat) if axis.fract() == 0.0 && *axis >= 0.0 && tiles.fract() == 0.0 => {
            *repeat = *tiles as i64
        }
        _ => {
            return Err(Reason::new(
                NodeInvalid,
                format!("`axis` = {axis} and `tiles` = {tiles} are out of range for rank {rank}"),
            ));
        }
    }
    cx.take_input(2);
    cx.take_input(1);
    let name = cx.constant_int_list("repeats", &repeats);
    cx.set_input(1, &name);
    Ok(())
}
