//! Broadcasting: by `axis` and `broadcast` before opset 7, by aligned trailing dimensions since;
//! variadic operators since 8.

use super::super::context::Context;
use super::super::make;
use super::super::reason::{
    InputUnsupported, NodeInvalid, Reason, ShapeUnknown, ShapeUnsupported, TypeUnsupported,
};
use super::adapter::{Adapter, Drop, Run, adapter};
use crate::ops::inference::{Known, Shape};
use crate::protobuf::schema::AttributeProto;
use onnx_cast::{Class, DType};

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter("Add And Div Equal Greater Less Mul Or Pow Sub Xor", 7)
        .up(&[Run(align_trailing)])
        .down(&[Run(align_by_axis)]),
    adapter("Gemm", 7)
        .up(&[Drop("broadcast")])
        .down(&[Run(gemm_broadcast)]),
    adapter("Gemm", 11).down(&[Run(add_nothing)]),
    adapter("Max Mean Min Sum", 8).down(&[Run(inputs_get_one_shape)]),
    adapter("PRelu", 7)
        .up(&[Run(slope_gets_trailing_ones)])
        .down(&[Run(slope_loses_ones)]),
];

/// 1. No broadcast, or trailing dimensions are aligned: nothing to do. 2. `axis` is given: the
///    second operand gets trailing ones.
fn align_trailing(cx: &mut Context) -> Result<(), Reason> {
    let broadcasts = cx.int_or("broadcast", 0)? != 0;
    let axis = cx.int("axis")?.filter(|_| broadcasts);
    cx.remove_attribute("broadcast");
    cx.remove_attribute("axis");
    let Some(axis) = axis else {
        return keeps_shape_of_first(cx);
    };
    if elements(&cx.known_input(1)) == Some(1) {
        return keeps_shape_of_first(cx);
    }
    let (left, right) = (cx.rank(0)? as i64, cx.rank(1)? as i64);
    let missing = left.saturating_sub(axis).saturating_sub(right);
    if axis < 0 || missing < 0 {
        return Err(Reason::new(
            NodeInvalid,
            format!("`axis` = {axis} is out of range for operands of rank {left} and {right}"),
        ));
    }
    if missing > 0 {
        unsqueeze(cx, 1, (right..right + missing).collect());
    }
    Ok(())
}

/// Before opset 7 the result has the shape of the first operand. If it would have another one now,
/// the node was invalid.
fn keeps_shape_of_first(cx: &Context) -> Result<(), Reason> {
    let (Some(left), Some(right)) = (cx.known_input(0).shape, cx.known_input(1).shape) else {
        return Ok(());
    };
    let is_kept = |(left, right): (&Option<i64>, &Option<i64>)| match (left, right) {
        (_, None | Some(1)) | (None, _) => true,
        (left, right) => left == right,
    };
    if right.len() <= left.len() && left.iter().rev().zip(right.iter().rev()).all(is_kept) {
        Ok(())
    } else {
        Err(Reason::new(
            NodeInvalid,
            "before opset 7 the result has the shape of the first operand, which these shapes do not allow",
        ))
    }
}

/// Inserts dimensions of one into an input, as versions 1 to 12 of `Unsqueeze` do.
fn unsqueeze(cx: &mut Context, index: usize, axes: Vec<i64>) {
    let mut known = cx.known_input(index);
    if let Some(shape) = &mut known.shape {
        for &axis in &axes {
            shape.insert(axis as usize, Some(1));
        }
    }
    reshape(cx, index, "Unsqueeze", axes, known);
}

/// Removes dimensions of one from an input, as versions 1 to 12 of `Squeeze` do.
fn squeeze(cx: &mut Context, index: usize, axes: Vec<i64>) {
    let mut known = cx.known_input(index);
    known.shape = known.shape.map(|shape| {
        (0..)
            .zip(shape)
            .filter(|(axis, _)| !axes.contains(axis))
            .map(|(_, dim)| dim)
            .collect()
    });
    reshape(cx, index, "Squeeze", axes, known);
}

fn reshape(cx: &mut Context, index: usize, op: &str, axes: Vec<i64>, known: Known) {
    let input = cx.node.input[index].clone();
    let name = cx.add_before(
        op,
        &[&input],
        vec![AttributeProto::ints("axes", axes)],
        "aligned",
        known,
    );
    cx.set_input(index, &name);
}

fn elements(known: &Known) -> Option<i64> {
    known
        .static_shape()?
        .into_iter()
        .try_fold(1, i64::checked_mul)
}

fn is(dim: Option<i64>, other: Option<i64>) -> bool {
    dim.is_some() && dim == other
}

/// 1. Equal shapes. 2. One element on the right. 3. The right shape, without ones at its ends, is a
///    run of the left shape.
fn align_by_axis(cx: &mut Context) -> Result<(), Reason> {
    if cx.input(0) == cx.input(1) {
        return Ok(());
    }
    let (left, right) = (cx.known_input(0), cx.known_input(1));
    let unknown = || {
        Reason::new(
            ShapeUnknown,
            "broadcasting before opset 7 requires known shapes of both inputs",
        )
    };
    let (Some(left), Some(right_shape)) = (left.shape, right.shape.clone()) else {
        return Err(unknown());
    };
    if left.len() == right_shape.len()
        && left
            .iter()
            .zip(&right_shape)
            .all(|(left, right)| is(*left, *right))
    {
        return Ok(()); // Case 1.
    }
    if elements(&right) == Some(1) && right_shape.len() <= left.len() {
        cx.set_int("broadcast", 1); // Case 2.
        return Ok(());
    }
    let (axis, stripped) = run_of(&left, &right_shape).ok_or_else(|| {
        Reason::new(ShapeUnsupported, "opset 6 broadcasts the second input to the shape of the first only, which these shapes do not allow")
    })?;
    if !stripped.is_empty() {
        squeeze(cx, 1, stripped); // Case 3.
    }
    cx.set_int("broadcast", 1);
    cx.set_int("axis", axis);
    Ok(())
}

/// The axis of the left shape at which the right shape, without ones at its ends, matches; and the
/// axes of those ones.
fn run_of(left: &Shape, right: &Shape) -> Option<(i64, Vec<i64>)> {
    let leading = right.iter().take_while(|dim| **dim == Some(1)).count();
    let trailing = right[leading..]
        .iter()
        .rev()
        .take_while(|dim| **dim == Some(1))
        .count();
    let core = leading..right.len() - trailing;
    let shift = left.len().checked_sub(right.len())?;
    let matches = core
        .clone()
        .all(|index| is(left[index + shift], right[index]));
    let stripped = (0..right.len())
        .filter(|index| !core.contains(index))
        .map(|index| index as i64)
        .collect();
    (matches && !core.is_empty()).then_some(((leading + shift) as i64, stripped))
}

/// Before opset 7 `C` of `Gemm` has the shape of the result, or is broadcast from one element or
/// one row.
fn gemm_broadcast(cx: &mut Context) -> Result<(), Reason> {
    let columns = cx
        .known_output(0)
        .shape
        .and_then(|shape| shape.get(1).copied().flatten());
    match cx.known_input(2).shape.as_deref() {
        Some([] | [_] | [Some(1), Some(1)]) => cx.set_int("broadcast", 1),
        Some([Some(1), Some(_)]) => {
            squeeze(cx, 2, vec![0]);
            cx.set_int("broadcast", 1);
        }
        Some([Some(_), Some(width)]) if *width > 1 || columns == Some(1) => {}
        _ => {
            return Err(Reason::new(
                ShapeUnsupported,
                "before opset 7 `C` must have a known shape: that of the result, of one row, or of one element",
            ));
        }
    }
    Ok(())
}

/// `C` became optional in opset 11. Adding negative zero leaves every number as it is.
fn add_nothing(cx: &mut Context) -> Result<(), Reason> {
    if cx.input(2).is_some() {
        return Ok(());
    }
    let dtype = cx.dtype(0)?;
    let nothing = match dtype.class() {
        Class::Float => make::scalar(dtype, -0.0),
        _ => make::zeros(dtype, &[]),
    };
    let nothing = nothing.ok_or_else(|| {
        Reason::new(
            TypeUnsupported,
            format!("`C` is required before opset 11, and {dtype} has no neutral element"),
        )
    })?;
    let name = cx.add_constant("c", nothing);
    cx.set_input(2, &name);
    if cx.has_attribute("beta") {
        cx.remove_attribute("beta");
    }
    Ok(())
}

/// Before opset 8 all inputs have one shape: the others are broadcast to it by adding a tensor of -0
/// that has the shape of the result. The sum of -0 and a number is that number, whatever its sign.
fn inputs_get_one_shape(cx: &mut Context) -> Result<(), Reason> {
    let first = cx.known_input(0).static_shape();
    let differs = |index: usize| {
        cx.input(index) != cx.input(0)
            && (first.is_none() || cx.known_input(index).static_shape() != first)
    };
    if !(1..cx.node.input.len()).any(differs) {
        return Ok(());
    }
    let dtype = cx.dtype(0)?;
    if !matches!(dtype, DType::Float16 | DType::Float | DType::Double) {
        return Err(Reason::new(
            ShapeUnsupported,
            "before opset 8 all inputs must have the same known shape",
        ));
    }
    let shape = cx.known_output(0).shape;
    let is_whole = |cx: &Context, index: usize| {
        shape
            .as_ref()
            .is_some_and(|shape| shape.iter().all(Option::is_some))
            && cx.known_input(index).shape == shape
    };
    let inputs = cx.node.input.clone();
    let whole = (0..inputs.len()).find(|&index| is_whole(cx, index));
    let shapes: Vec<usize> = whole.map_or_else(|| (0..inputs.len()).collect(), |index| vec![index]);
    let nothing = nothing_like(cx, dtype, &shapes)?;
    for (index, input) in inputs.iter().enumerate() {
        if !is_whole(cx, index) {
            let known = Known {
                shape: shape.clone(),
                ..Known::tensor(dtype)
            };
            let wide = cx.add_before("Add", &[input, &nothing], Vec::new(), "wide", known);
            cx.set_input(index, &wide);
        }
    }
    Ok(())
}

/// A tensor of -0 with the shape that these inputs have when they are broadcast. No element is true
/// and not true at once, so that nothing of their values matters, not even NaN.
fn nothing_like(cx: &mut Context, dtype: DType, inputs: &[usize]) -> Result<String, Reason> {
    let minus = make::scalar(dtype, -1.0)
        .ok_or_else(|| Reason::new(TypeUnsupported, format!("{dtype} has no -1")))?;
    let minus = cx.add_constant("minus_one", minus);
    let mut nothing: Option<String> = None;
    for &index in inputs {
        let input = cx.node.input[index].clone();
        let of_input = |dtype| Known {
            shape: cx.known(&input).shape.clone(),
            ..Known::tensor(dtype)
        };
        let (truth, number) = (of_input(DType::Bool), of_input(dtype));
        let is_set = cx.cast_before(&input, DType::Bool, "is_set");
        let is_clear = cx.add_before("Not", &[&is_set], Vec::new(), "is_clear", truth.clone());
        let never = cx.add_before("And", &[&is_set, &is_clear], Vec::new(), "never", truth);
        let zero = cx.cast_before(&never, dtype, "zero");
        let zero = cx.add_before("Mul", &[&zero, &minus], Vec::new(), "negative_zero", number);
        nothing = Some(match nothing {
            None => zero,
            Some(others) => {
                let known = Known::tensor(dtype);
                cx.add_before("Add", &[&others, &zero], Vec::new(), "zeros", known)
            }
        });
    }
    nothing.ok_or_else(|| Reason::new(NodeInvalid, "the node has no inputs"))
}

/// Before opset 7 the slope has one element, or one element per channel.
fn slope_gets_trailing_ones(cx: &mut Context) -> Result<(), Reason> {
    let slope = cx.known_input(1);
    if elements(&slope) == Some(1) {
        return Ok(());
    }
    let rank = cx.rank(0)? as i64;
    match cx.rank(1)? {
        1 if rank >= 3 => unsqueeze(cx, 1, (1..rank - 1).collect()),
        1 if rank == 2 => {}
        _ => {
            return Err(Reason::new(
                InputUnsupported,
                "opset 6 defines slopes of one element or one element per channel only",
            ));
        }
    }
    Ok(())
}

fn slope_loses_ones(cx: &mut Context) -> Result<(), Reason> {
    let slope = cx.known_input(1);
    if elements(&slope) == Some(1) {
        return Ok(());
    }
    let refuse = || {
        Reason::new(
            InputUnsupported,
            "opset 6 supports slopes of one element or one element per channel only",
        )
    };
    let (rank, shape) = (cx.rank(0)?, slope.static_shape().ok_or_else(refuse)?);
    let channel = (shape.len() + 1).checked_sub(rank).ok_or_else(refuse)?;
    let ones: Vec<i64> = (0..shape.len())
        .filter(|&index| index != channel)
        .map(|index| index as i64)
        .collect();
    if channel >= shape.len() || rank < 2 || ones.iter().any(|&index| shape[index as usize] != 1) {
        return Err(refuse());
    }
    if !ones.is_empty() {
        squeeze(cx, 1, ones);
    }
    Ok(())
}
