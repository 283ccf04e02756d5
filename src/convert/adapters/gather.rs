//! `Gather`, `OneHot`, `Scatter` and `ScatterElements` across opsets.

use super::super::context::{Context, counted_from_front};
use super::super::make;
use super::super::reason::{InputUnsupported, NodeInvalid, Reason, TypeUnsupported};
use super::adapter::{Adapter, Becomes, Run, adapter};
use crate::ops::inference::{Known, Shape};
use onnx_cast::{Class, DType};

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter("Gather", 11).down(&[Run(count_indices_from_front)]),
    adapter("OneHot", 11)
        .up(&[Run(warn_of_negative_indices)])
        .down(&[Run(axis_counts_in_the_output), Run(add_depth_to_negative)]),
    adapter("Scatter", 11).up(&[Becomes("ScatterElements")]),
    adapter("ScatterElements", 11).down(&[Run(count_indices_from_front), Becomes("Scatter")]),
];

/// Constant indices are known to be valid or not; others get the length of the axis added where
/// they are negative.
fn count_indices_from_front(cx: &mut Context) -> Result<(), Reason> {
    if must_not_be_negative(cx, 1).is_ok() || (cx.is_added && cx.constant(1).is_err()) {
        return Ok(());
    }
    let dtype = cx.dtype(1)?;
    let axis = cx.axes_from_front(vec![cx.int_or("axis", 0)?])?[0];
    let length = cx.dim(0, axis);
    if let (Ok(values), Some(length)) = (cx.read_ints(1), length) {
        return replace_constant_indices(cx, dtype, &values, length);
    }
    let shape = cx.known_input(1).shape;
    let length = if let Some(length) = length {
        index_constant(cx, dtype, length, "length")?
    } else {
        let length = cx.add_length(0, axis);
        match dtype {
            DType::Int64 => length,
            _ => cx.cast_before(&length, dtype, "typed_length"),
        }
    };
    let like = |dtype| Known {
        shape: shape.clone(),
        ..Known::tensor(dtype)
    };
    let index = cx.node.input[1].clone();
    let zero = index_constant(cx, dtype, 0, "zero")?;
    let is_negative = cx.add_before(
        "Less",
        &[&index, &zero],
        Vec::new(),
        "is_negative",
        like(DType::Bool),
    );
    let counted = if cx.source.settings.opset < WHERE_SINCE {
        let flag = cx.cast_before(&is_negative, dtype, "flag");
        let shift = cx.add_before("Mul", &[&flag, &length], Vec::new(), "shift", like(dtype));
        cx.add_before("Add", &[&index, &shift], Vec::new(), "index", like(dtype))
    } else {
        let from_end = cx.add_before(
            "Add",
            &[&index, &length],
            Vec::new(),
            "from_end",
            like(dtype),
        );
        cx.add_before(
            "Where",
            &[&is_negative, &from_end, &index],
            Vec::new(),
            "index",
            like(dtype),
        )
    };
    cx.set_input(1, &counted);
    Ok(())
}

/// The first opset with `Where`; before it a flag times a number is added.
const WHERE_SINCE: i64 = 9;

fn index_constant(
    cx: &mut Context,
    dtype: DType,
    value: i64,
    suffix: &str,
) -> Result<String, Reason> {
    let tensor = make::index(dtype, value).ok_or_else(|| {
        Reason::new(
            TypeUnsupported,
            format!("indices of type {dtype} are not supported"),
        )
    })?;
    Ok(cx.add_constant(suffix, tensor))
}

/// Since version 11 indices from -depth on count from the end, and those before have no place, as
/// all negative ones in version 9. Indices and depth are cast to INT64 before use (OneHot-9).
fn add_depth_to_negative(cx: &mut Context) -> Result<(), Reason> {
    let Err(reason) = must_not_be_negative(cx, 0) else {
        return Ok(());
    };
    cx.expect_number(1)?;
    let shape = cx.known_input(0).shape;
    let is_scalar = |shape: Option<Shape>| shape.is_some_and(|shape| shape.is_empty());
    let keeps_shape =
        is_scalar(cx.known_input(1).shape) || shape.as_ref().is_some_and(|shape| !shape.is_empty());
    if !keeps_shape {
        return Err(reason);
    }
    let like = |dtype| Known {
        shape: shape.clone(),
        ..Known::tensor(dtype)
    };
    let (indices, depth) = (cx.node.input[0].clone(), cx.node.input[1].clone());
    let index = cx.cast_before(&indices, DType::Int64, "long_index");
    let depth = cx.cast_before(&depth, DType::Int64, "long_depth");
    let zero = index_constant(cx, DType::Int64, 0, "zero")?;
    let mut add = |op: &str, inputs: &[&str], suffix: &str| {
        let known = match op {
            "Less" => like(DType::Bool),
            _ => like(DType::Int64),
        };
        cx.add_before(op, inputs, Vec::new(), suffix, known)
    };
    let is_negative = add("Less", &[&index, &zero], "is_negative");
    let from_end = add("Add", &[&index, &depth], "from_end");
    // Runtimes count those that are still negative from the end: the depth has no place either.
    let is_outside = add("Less", &[&from_end, &zero], "is_outside");
    let placed = add("Where", &[&is_outside, &depth, &from_end], "placed");
    let counted = add("Where", &[&is_negative, &placed, &index], "index");
    cx.set_input(0, &counted);
    Ok(())
}

fn replace_constant_indices(
    cx: &mut Context,
    dtype: DType,
    values: &[i64],
    length: i64,
) -> Result<(), Reason> {
    let counted: Vec<i64> = values
        .iter()
        .map(|&index| if index < 0 { index + length } else { index })
        .collect();
    if let Some(index) = counted.iter().find(|&&index| index < 0) {
        return Err(Reason::new(
            NodeInvalid,
            format!(
                "the index {} is out of range for an axis of length {length}",
                index - length
            ),
        ));
    }
    let tensor = make::indices(dtype, &counted);
    let mut tensor = tensor.ok_or_else(|| {
        Reason::new(
            TypeUnsupported,
            format!("indices of type {dtype} are not supported"),
        )
    })?;
    tensor.dims = cx
        .known_input(1)
        .static_shape()
        .unwrap_or_else(|| vec![values.len() as i64]);
    cx.take_input(1);
    let name = cx.add_constant("index", tensor);
    cx.set_input(1, &name);
    Ok(())
}

/// Negative indices are new in opset 11.
fn must_not_be_negative(cx: &Context, index: usize) -> Result<(), Reason> {
    if cx
        .known_input(index)
        .dtype()
        .is_some_and(|dtype| dtype.class() == Class::Unsigned)
    {
        return Ok(());
    }
    let indices = cx.read_ints(index).map_err(|reason| {
        Reason::new(
            reason.code(),
            format!("negative indices are not supported before opset 11, and {reason}"),
        )
    })?;
    match indices.iter().find(|&&index| index < 0) {
        Some(negative) => Err(Reason::new(
            InputUnsupported,
            format!("the negative index {negative} is not supported before opset 11"),
        )),
        None => Ok(()),
    }
}

/// -1 always meant the last axis of the output.
fn axis_counts_in_the_output(cx: &mut Context) -> Result<(), Reason> {
    let axis = cx.int_or("axis", -1)?;
    if axis < -1 {
        let axis = counted_from_front(vec![axis], cx.rank(0)? + 1)?;
        cx.set_int("axis", axis[0]);
    }
    Ok(())
}

/// Negative indices select the "off" value by the text of version 9, and count from the back since
/// version 11. Runtimes always counted from the back.
fn warn_of_negative_indices(cx: &mut Context) -> Result<(), Reason> {
    match must_not_be_negative(cx, 0) {
        Ok(()) => Ok(()),
        Err(_) => cx.warn(
            "negative indices select the \"off\" value by the text of opsets 9 and 10, and count from the back since opset 11",
        ),
    }
}
