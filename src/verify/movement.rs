//! Operators whose results consist of elements of their inputs, and nodes that return their input.

use super::evaluate::Value;
use crate::graph::{Attribute, Model, NodeId, ValueId};

/// The operator of a node that moves elements, and the number of its first inputs that the elements
/// come from. The other inputs say which elements.
#[must_use]
pub fn moves(model: &Model, node: NodeId) -> Option<(&'static str, usize)> {
    let operator = match model.node(node).op_type() {
        "Concat" => "Concat",
        "DepthToSpace" => "DepthToSpace",
        "Expand" => "Expand",
        "Flatten" => "Flatten",
        "Gather" => "Gather",
        "GatherElements" => "GatherElements",
        "GatherND" => "GatherND",
        "Reshape" => "Reshape",
        "Slice" => "Slice",
        "SpaceToDepth" => "SpaceToDepth",
        "Split" => "Split",
        "Squeeze" => "Squeeze",
        "Tile" => "Tile",
        "Transpose" => "Transpose",
        "Unsqueeze" => "Unsqueeze",
        _ => return None,
    };
    let data = if operator == "Concat" {
        model.node(node).input.len()
    } else {
        1
    };
    model.is_op(node, operator).then_some((operator, data))
}

/// Whether the only result of a node is its first input. `dims` gives the inferred dimensions of a
/// value.
pub(super) fn is_own_input<'d>(
    model: &Model,
    node: NodeId,
    dims: impl FnOnce(ValueId) -> Option<&'d [Option<i64>]>,
) -> bool {
    if model.node(node).output.len() != 1 {
        return false;
    }
    match model.node(node).op_type() {
        operator @ "Identity" => model.is_op(node, operator),
        operator @ "Transpose" => model.is_op(node, operator) && keeps_axes(model, node),
        operator @ "Reshape" => model.is_op(node, operator) && is_to_own_shape(model, node, dims),
        _ => false,
    }
}

/// Whether each axis of the result of a `Transpose` is the axis of the input at the same place.
/// Without `perm`, the order is reversed.
fn keeps_axes(model: &Model, node: NodeId) -> bool {
    let Attribute::Is(perm) = model.attribute(node, "perm") else {
        return false;
    };
    let mut axes = (0..).zip(&perm.ints);
    !perm.ints.is_empty() && axes.all(|(axis, &from)| axis == from)
}

/// Whether a `Reshape` to a constant shape has the shape of its input as its result. With
/// `allowzero`, a 0 means something else.
fn is_to_own_shape<'d>(
    model: &Model,
    node: NodeId,
    dims: impl FnOnce(ValueId) -> Option<&'d [Option<i64>]>,
) -> bool {
    let (Some(input), Some(shape)) = (model.input(node, 0), model.input(node, 1)) else {
        return false;
    };
    let Ok(constant) = model.constant(shape) else {
        return false;
    };
    if model.attribute(node, "allowzero") != Attribute::Absent {
        return false;
    }
    let wanted = Value::load(&constant.tensor, model.data()).and_then(|shape| shape.list());
    let Some((wanted, dims)) = wanted.ok().zip(dims(input)) else {
        return false;
    };
    is_shape_of(&wanted, dims)
}

/// Whether a `Reshape` to `wanted` keeps these dimensions, as far as they are known: a 0 copies a
/// dimension, and -1 is the remaining one.
pub(super) fn is_shape_of(wanted: &[i64], dims: &[Option<i64>]) -> bool {
    if wanted.len() != dims.len() {
        return false;
    }
    let (mut remaining, mut are_positive) = (0, true);
    for (&wanted, &dim) in wanted.iter().zip(dims) {
        match wanted {
            -1 => remaining += 1,
            0 => are_positive &= dim.is_some_and(|dim| dim > 0),
            _ if dim == Some(wanted) => {}
            _ => return false,
        }
    }
    // If another dimension is 0, the remaining one is not determined; of several, none is.
    remaining == 0 || remaining == 1 && are_positive
}
