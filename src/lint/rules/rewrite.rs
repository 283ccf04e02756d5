//! Edits that remove a node from a graph.

use crate::graph::{Edit, Model, NodeId, ValueId};

/// Removes a node and rewires the consumers of its only result to another value; `None` if the
/// result's name must be kept, or the other value is not visible everywhere or has an extremely
/// long name.
pub(super) fn bypass(
    model: &Model,
    node: NodeId,
    output: Option<ValueId>,
    other: ValueId,
) -> Option<Vec<Edit>> {
    let removal = Edit::remove_node(node);
    let Some(output) = output else {
        return Some(vec![removal]);
    };
    let is_replaceable = model.is_used_by_nodes_only(output) && model.can_replace(other, output);
    is_replaceable.then(|| {
        vec![
            Edit::Rewire {
                from: output,
                to: other,
            },
            removal,
        ]
    })
}

/// Whether a node is the only consumer of a value.
pub(super) fn is_only_used_by(model: &Model, value: ValueId, node: NodeId) -> bool {
    model.is_used_by_nodes_only(value) && model.uses(value).all(|(user, _)| user == node)
}
