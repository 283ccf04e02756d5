//! Edits that remove a node from a graph.

use crate::graph::{Edit, Model, NodeId, ValueId};

/// The maximum length of a name that is copied to other nodes: the model would grow by its length for every consumer.
const LONGEST_NAME: usize = 4096;

/// Removes a node and rewires the consumers of its only result to another value; `None` if the result's name must be kept, or
/// the other value is not visible everywhere or has an extremely long name.
pub(super) fn bypass(model: &Model, node: NodeId, output: Option<ValueId>, other: ValueId) -> Option<Vec<Edit>> {
    let removal = Edit::remove_node(node);
    let Some(output) = output else {
        return Some(vec![removal]);
    };
    if model.name(other).len() > model.name(output).len().max(LONGEST_NAME) {
        return None;
    }
    let is_free = model.output_of(output).is_empty() && model.pin(output).is_none();
    let is_visible = model.uses(output).all(|(user, _)| model.is_visible(other, user.scope));
    (is_free && is_visible).then(|| vec![Edit::Rewire { from: output, to: other }, removal])
}

/// Whether a node is the only consumer of a value.
pub(super) fn is_only_used_by(model: &Model, value: ValueId, node: NodeId) -> bool {
    model.output_of(value).is_empty() && model.pin(value).is_none() && model.uses(value).all(|(user, _)| user == node)
}
