//! Operators that move elements: their results consist of elements of some of their inputs, so that casts can be made before or after.

use super::cast::supports;
use crate::elements::dtype::DType;
use crate::graph::{Model, NodeId};

/// The operators, and whether the elements come from all inputs, or from the first.
const MOVES: &[(&str, bool)] = &[
    ("Concat", true),
    ("DepthToSpace", false),
    ("Expand", false),
    ("Flatten", false),
    ("Gather", false),
    ("GatherElements", false),
    ("GatherND", false),
    ("Reshape", false),
    ("Slice", false),
    ("SpaceToDepth", false),
    ("Split", false),
    ("Squeeze", false),
    ("Tile", false),
    ("Transpose", false),
    ("Unsqueeze", false),
];

/// The operator of a node that moves elements, and from how many of its inputs, the first ones, the elements come.
#[must_use]
pub fn moves(model: &Model, node: NodeId) -> Option<(&'static str, usize)> {
    let proto = model.node(node);
    let &(operator, is_of_all) = MOVES.iter().find(|(name, _)| *name == proto.op_type())?;
    model.applies(node, operator).then(|| (operator, if is_of_all { proto.input.len() } else { 1 }))
}

/// Whether the operator of a node supports an element type as that of its first input.
#[must_use]
pub fn admits(model: &Model, node: NodeId, dtype: DType) -> bool {
    model.opset(node.scope, "").is_some_and(|opset| supports(model.node(node).op_type(), opset, dtype))
}
