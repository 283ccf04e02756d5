//! Integers that are cast to floats, computed with, and cast back or used as shapes. FLOAT16 has
//! all integers up to 2048 only.

use super::change::TypeChange;
use crate::base::hash::HashSet;
use crate::graph::{Model, NodeId, ValueId};
use crate::ops::inference::Inferred;
use onnx_cast::{Class, DType};

/// The operators with which sizes and indices are computed.
const ARITHMETIC: &[&str] = &[
    "Abs",
    "Add",
    "Cast",
    "Ceil",
    "Clip",
    "Concat",
    "Div",
    "Floor",
    "Gather",
    "Identity",
    "Max",
    "Min",
    "Mod",
    "Mul",
    "Neg",
    "Pow",
    "Range",
    "Reshape",
    "Round",
    "Sign",
    "Slice",
    "Sqrt",
    "Squeeze",
    "Sub",
    "Unsqueeze",
    "Where",
];

/// The values on a path of arithmetic from a cast of integers to a cast to integers, a Range, or
/// the scales of a Resize.
pub(super) fn integers(model: &Model, inferred: &Inferred, change: TypeChange) -> HashSet<ValueId> {
    let dtype = |value: ValueId| inferred.of(value).dtype();
    let is_old = |value: ValueId| dtype(value).is_some_and(|dtype| change.is_old(dtype));
    let is_integer = |dtype: DType| {
        matches!(dtype.class(), Class::Signed | Class::Unsigned) && dtype.bits() >= 16
    };
    if !model
        .values()
        .any(|value| dtype(value).is_some_and(is_integer))
    {
        return HashSet::default();
    }
    let is_cast = |node: NodeId| model.is_cast(node);
    let input = |node: NodeId| model.input(node, 0);
    let of_integers =
        |node: NodeId| is_cast(node) && input(node).and_then(dtype).is_some_and(is_integer);
    let computes = |node: NodeId| {
        let operator = model.node(node).op_type();
        ARITHMETIC.contains(&operator) && model.is_op(node, operator)
    };
    let mut from: HashSet<ValueId> = HashSet::default();
    for &node in model.topological_order() {
        if of_integers(node)
            || (model.inputs(node).any(|(_, value)| from.contains(&value)) && computes(node))
        {
            from.extend(
                model
                    .outputs(node)
                    .map(|(_, value)| value)
                    .filter(|&value| is_old(value)),
            );
        }
    }
    if from.is_empty() {
        return from;
    }
    let mut kept: HashSet<ValueId> = HashSet::default();
    for &node in model.topological_order().iter().rev() {
        let operator = model.node(node).op_type();
        let ends = match operator {
            "Cast" | "CastLike" => {
                is_cast(node)
                    && model
                        .output(node, 0)
                        .and_then(dtype)
                        .is_some_and(is_integer)
            }
            "Range" | "Resize" | "Upsample" => model.is_op(node, operator),
            _ => false,
        };
        let leads = model.outputs(node).any(|(_, value)| kept.contains(&value)) && computes(node);
        if ends || leads {
            // The first input of Resize is the image.
            let is_size =
                |index: u32| !ends || !matches!(operator, "Resize" | "Upsample") || index > 0;
            kept.extend(
                model
                    .inputs(node)
                    .filter(|(index, value)| is_size(*index) && from.contains(value))
                    .map(|(_, value)| value),
            );
        }
    }
    // What a Range of such values consists of are integers too.
    let ranges = model
        .topological_order()
        .iter()
        .filter(|&&node| model.is_op(node, "Range"));
    let of_kept =
        ranges.filter(|&&node| model.inputs(node).any(|(_, value)| kept.contains(&value)));
    let results: Vec<ValueId> = of_kept
        .flat_map(|&node| model.outputs(node).map(|(_, value)| value))
        .collect();
    kept.extend(results);
    kept
}
