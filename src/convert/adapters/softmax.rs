//! `Hardmax`, `LogSoftmax` and `Softmax`: over all axes from `axis` on before opset 13, over `axis`
//! alone since.

use super::super::context::{Context, permuted};
use super::super::reason::{NodeInvalid, Reason, ShapeUnknown};
use super::adapter::{Adapter, Run, adapter};
use super::reshape::Row;
use crate::ops::inference::Known;
use crate::ops::schemas::ValueType;
use crate::protobuf::schema::AttributeProto;
use onnx_cast::DType;

pub(super) const ADAPTERS: &[Adapter] = &[adapter("Hardmax LogSoftmax Softmax", 13)
    .up(&[Run(flatten_axes)])
    .down(&[Run(axis_must_be_last)])];

/// 1. `axis` is the last axis.
/// 2. The input has no elements, and is the result.
/// 3. Otherwise, or if the rank is unknown, the input is flattened, and its shape is restored
///    afterwards.
fn flatten_axes(cx: &mut Context) -> Result<(), Reason> {
    let axis = cx.int_or("axis", 1)?;
    let input = cx.known_input(0);
    let rank = input.rank().map(|rank| rank as i64);
    if axis == -1 || rank.is_some_and(|rank| axis == rank - 1) {
        cx.set_int("axis", -1);
        return Ok(()); // Case 1.
    }
    if input
        .shape
        .as_ref()
        .is_some_and(|shape| shape.contains(&Some(0)))
    {
        cx.remove_attribute("axis");
        cx.rename_operator("Identity");
        return Ok(()); // Case 2.
    }
    cx.set_int("axis", -1);
    let source = cx
        .input(0)
        .ok_or_else(|| Reason::new(NodeInvalid, "the input is missing"))?
        .to_owned();
    let of_type = |value_type, shape| Known {
        value_type,
        shape: Some(shape),
    };
    let shape = of_type(Some(ValueType::Tensor(DType::Int64)), vec![rank]);
    let table = of_type(input.value_type, vec![None, None]);
    let shape = cx.add_before("Shape", &[&source], Vec::new(), "shape", shape); // Case 3.
    let flat = cx.add_before(
        "Flatten",
        &[&source],
        vec![AttributeProto::int("axis", axis)],
        "flat",
        table.clone(),
    );
    let keeps_zeros = copies_zeros(&input, axis);
    let can_state_zeros = cx.source.settings.opset >= 14;
    let rank = input.rank().filter(|_| !keeps_zeros && !can_state_zeros);
    let row = rank.map(|rank| Row::new(cx, &source, rank));
    cx.set_input(0, &flat);
    let Some(row) = row else {
        let states_zeros = !keeps_zeros && can_state_zeros;
        let allowzero = states_zeros.then(|| AttributeProto::int("allowzero", 1));
        let attributes = Vec::from_iter(allowzero);
        cx.add_after("Reshape", &[&shape], attributes, "flat_result", table);
        return Ok(());
    };
    let known = row.known(input.value_type);
    for (op, extra, suffix) in [
        ("Reshape", &shape, "zeros_if_empty"),
        ("Expand", &row.lengths, "row"),
    ] {
        cx.add_after(op, &[extra], Vec::new(), suffix, known.clone());
    }
    cx.add_after("Reshape", &[&row.shape], Vec::new(), "flat_result", table);
    Ok(())
}

/// Whether `Reshape` restores the shape of a flattened input of any length. A zero in the shape
/// copies a dimension of the flattened input, unless `allowzero` is set: the first is zero if one
/// before `axis` is, the second if one from there on is.
fn copies_zeros(input: &Known, axis: i64) -> bool {
    let Some(shape) = &input.shape else {
        return false;
    };
    let axis = if axis < 0 {
        axis + shape.len() as i64
    } else {
        axis
    };
    let is_copied = |(place, dim): (usize, &Option<i64>)| match place {
        0 => dim.is_some() || axis >= 1,
        1 => dim.is_some() || axis <= 1,
        _ => dim.is_some(),
    };
    shape.iter().enumerate().all(is_copied)
}

/// Both versions agree on the last axis; another axis is transposed to the end and back.
fn axis_must_be_last(cx: &mut Context) -> Result<(), Reason> {
    let axis = cx.int_or("axis", -1)?;
    let known = cx.known_input(0);
    let last = known.rank().map(|rank| rank as i64 - 1);
    if axis == -1 || Some(axis) == last {
        cx.set_int("axis", -1);
        return Ok(());
    }
    let last = last.ok_or_else(|| {
        Reason::new(ShapeUnknown, "the rank of the input must be known: before opset 13 all axes from `axis` on are flattened")
    })?;
    let axis = if axis < 0 { axis + last + 1 } else { axis };
    let mut order: Vec<i64> = (0..=last).collect();
    if !order.contains(&axis) {
        return Err(Reason::new(
            NodeInvalid,
            format!("`axis` = {axis} is out of range for rank {}", last + 1),
        ));
    }
    order.swap(axis as usize, last as usize);
    let swapped = permuted(known, &order);
    let source = cx
        .input(0)
        .ok_or_else(|| Reason::new(NodeInvalid, "the input is missing"))?
        .to_owned();
    let perm = || vec![AttributeProto::ints("perm", order.clone())];
    let turned = cx.add_before("Transpose", &[&source], perm(), "turned", swapped.clone());
    cx.set_input(0, &turned);
    cx.add_after("Transpose", &[], perm(), "turned_result", swapped);
    cx.set_int("axis", -1);
    Ok(())
}
