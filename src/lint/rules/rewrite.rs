//! Edits that take a node out of a graph.

use crate::graph::{Edit, Model, NodeId, ValueId};

/// Removes a node and lets those that used its only result use another value; none where the result's name must stay, or the other
/// value is not visible everywhere.
pub(super) fn bypass(model: &Model, node: NodeId, output: Option<ValueId>, other: ValueId) -> Option<Vec<Edit>> {
    let removal = Edit::ReplaceNode { node, with: Vec::new() };
    let Some(output) = output else {
        return Some(vec![removal]);
    };
    let is_free = model.output_of(output).is_empty() && model.pin(output).is_none();
    let is_visible = model.uses(output).all(|(user, _)| model.is_visible(other, user.scope));
    (is_free && is_visible).then(|| vec![Edit::Rewire { from: output, to: other }, removal])
}

/// Whether nothing but one node needs a value.
pub(super) fn is_only_used_by(model: &Model, value: ValueId, node: NodeId) -> bool {
    model.output_of(value).is_empty() && model.pin(value).is_none() && model.uses(value).all(|(user, _)| user == node)
}
