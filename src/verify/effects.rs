//! Nodes that may do more than compute their results.

use crate::graph::{Model, NodeId};
use crate::ops::schemas;

/// Whether a node may have effects: a call of a function, a node of an operator that the schemas do
/// not have, and one that states no results at all.
pub(super) fn may_have_effects(model: &Model, node: NodeId) -> bool {
    let proto = model.node(node);
    if proto.output.is_empty() || model.callee(node).is_some() {
        return true;
    }
    let Some(opset) = model.opset(node.scope, proto.domain()) else {
        return true;
    };
    schemas::schema(proto.domain(), proto.op_type(), opset).is_none()
}
