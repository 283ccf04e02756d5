//! `Hardmax`, `LogSoftmax` and `Softmax`: over all axes from `axis` on before opset 13, over `axis`
//! alone since.

use super::super::adapter::{Adapter, Run, adapter};
use super::super::context::{Context, permuted};
use super::super::reason::{NodeInvalid, Reason, ShapeUnknown, ShapeUnsupported};
use crate::ops::inference::Known;
use crate::ops::schemas::ValueType;
use crate::protobuf::schema::AttributeProto;
use onnx_cast::DType;

pub(super) const ADAPTERS: &[Adapter] = &[adapter("Hardmax LogSoftmax Softmax", 13)
    .up(&[Run(flatten_axes)])
    .down(&[Run(axis_must_be_last)])];

/// 1. `axis` is the last axis.
/// 2. It is not, or the rank is unknown: the input is flattened, and its shape is restored
///    afterwards.
fn flatten_axes(cx: &mut Context) -> Result<(), Reason> {
    let axis = cx.int_or("axis", 1)?;
    let input = cx.known_input(0);
    let is_last = axis == -1 || input.rank().is_some_and(|rank| axis == rank as i64 - 1);
    cx.set_int("axis", -1);
    if is_last {
        return Ok(()); // Case 1.
    }
    // A zero in the shape given to `Reshape` copies the dimension, unless `allowzero` is set.
    // Unknown dimensions are assumed not to be zero.
    let is_empty = input
        .shape
        .as_ref()
        .is_some_and(|shape| shape.contains(&Some(0)));
    if is_empty && cx.source.settings.opset < 14 {
        return Err(Reason::new(
            ShapeUnsupported,
            "the input has no elements, and Reshape cannot restore a shape with a zero before opset 14",
        ));
    }
    let source = cx
        .input(0)
        .ok_or_else(|| Reason::new(NodeInvalid, "the input is missing"))?
        .to_owned();
    let rank = input.rank().map(|rank| rank as i64);
    let of_type = |value_type, shape| Known {
        value_type,
        shape: Some(shape),
    };
    let shape = of_type(Some(ValueType::Tensor(DType::Int64)), vec![rank]);
    let table = of_type(input.value_type, vec![None, None]);
    let shape = cx.add_before("Shape", &[&source], Vec::new(), "shape", shape); // Case 2.
    let flat = cx.add_before(
        "Flatten",
        &[&source],
        vec![AttributeProto::int("axis", axis)],
        "flat",
        table.clone(),
    );
    cx.set_input(0, &flat);
    let allowzero = is_empty.then(|| AttributeProto::int("allowzero", 1));
    cx.add_after(
        "Reshape",
        &[&shape],
        Vec::from_iter(allowzero),
        "flat_result",
        table,
    );
    Ok(())
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
