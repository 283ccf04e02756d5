//! The order of nodes.

use super::fault::Fault;
use super::matching::Matching;
use super::movement::moves;
use super::new_messages::NewMessages;
use crate::graph::{Model, NodeId, ScopeId};

/// Nodes that are in another order than their counterparts, and nodes that use a later value where
/// no node of the original does.
pub(super) fn compare(
    matching: &Matching,
    new_messages: &NewMessages,
    scope: ScopeId,
    counterpart: ScopeId,
) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut last = None;
    for node in matching.written.nodes(scope) {
        let Some(same) = matching
            .node(node)
            .filter(|&same| shares_result(matching, node, same))
        else {
            continue;
        };
        let written = matching.written;
        let may_move = written.is_cast(node)
            || written.is_op(node, "Identity")
            || moves(written, node).is_some();
        if may_move && !new_messages.renamed(node).is_empty() {
            continue;
        }
        if last.is_some_and(|last| last > same) {
            faults.push(Fault::at(
                matching.written.node_path(node),
                "was put in another order",
            ));
        }
        last = Some(same);
    }
    if let Some(early) = first_early(matching.written, scope)
        .filter(|_| first_early(matching.original, counterpart).is_none())
    {
        faults.push(Fault::at(
            matching.written.node_path(early),
            "uses a value that a later node computes",
        ));
    }
    faults
}

/// Whether the results of a node have a name in common with those of its counterpart, and the
/// operator is the same or became a `Constant`. A cast that moved may be the counterpart of one at
/// another place.
fn shares_result(matching: &Matching, node: NodeId, counterpart: NodeId) -> bool {
    let (node, counterpart) = (
        matching.written.node(node),
        matching.original.node(counterpart),
    );
    let is_effect = node.output.iter().all(String::is_empty);
    let is_named = |name: &String| !name.is_empty() && counterpart.output.contains(name);
    (node.op_type == counterpart.op_type || node.op_type() == "Constant")
        && (is_effect || node.output.iter().any(is_named))
}

/// The first node of a scope that uses, also inside of its subgraphs, a value that a later node of
/// the scope computes.
fn first_early(model: &Model, scope: ScopeId) -> Option<NodeId> {
    let is_early = |&node: &NodeId| {
        let mut users = model.outputs(node).flat_map(|(_, value)| model.uses(value));
        users.any(|(user, _)| around(model, user, scope).is_some_and(|user| user <= node))
    };
    let producer = model.nodes(scope).find(is_early)?;
    let users = model
        .outputs(producer)
        .flat_map(|(_, value)| model.uses(value));
    users
        .filter_map(|(user, _)| around(model, user, scope))
        .min()
}

/// The node of a scope that a node is, or in whose subgraphs it is.
fn around(model: &Model, node: NodeId, scope: ScopeId) -> Option<NodeId> {
    model.with_owners(node).find(|node| node.scope == scope)
}
