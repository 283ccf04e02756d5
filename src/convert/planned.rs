//! The nodes that a conversion plans.

use std::collections::BTreeMap;

use crate::graph::{Edit, NewNodes, NodeId, ScopeId};

/// The nodes that replace nodes. Plans may have some for each node of the model, and in lists they
/// take half the memory that they take in a tree.
#[derive(Default)]
pub(super) struct PlannedNodes {
    /// By scope: the positions of nodes, ascending, and the nodes that replace them.
    replaced: BTreeMap<ScopeId, Vec<(u32, NewNodes)>>,
    /// Other nodes that are removed.
    removed: Vec<NodeId>,
}

impl PlannedNodes {
    /// Replaces a node. The nodes of a scope are replaced in document order.
    pub fn push(&mut self, node: NodeId, with: NewNodes) {
        let nodes = self.replaced.entry(node.scope).or_default();
        debug_assert!(
            nodes.last().is_none_or(|&(last, _)| last < node.position),
            "nodes are planned in document order"
        );
        nodes.push((node.position, with));
    }

    /// The nodes that replace a node, if it is replaced.
    pub fn get(&self, node: NodeId) -> Option<&NewNodes> {
        let nodes = self.replaced.get(&node.scope)?;
        find(nodes, node).map(|index| &nodes[index].1)
    }

    /// Removes a node, also if it was replaced.
    pub fn remove(&mut self, node: NodeId) {
        let found = self
            .replaced
            .get_mut(&node.scope)
            .and_then(|nodes| find(nodes, node).map(|index| &mut nodes[index].1));
        match found {
            Some(replaced) => *replaced = Vec::new().into(),
            None => self.removed.push(node),
        }
    }

    /// Leaves the nodes of a scope as they are.
    pub fn forget(&mut self, scope: ScopeId) {
        self.replaced.remove(&scope);
    }

    /// The number of nodes that are replaced or removed.
    pub fn len(&self) -> usize {
        self.replaced.values().map(Vec::len).sum::<usize>() + self.removed.len()
    }

    /// The edits that replace and remove the nodes.
    pub fn into_edits(self) -> impl Iterator<Item = Edit> {
        let edits = |(scope, nodes): (ScopeId, Vec<(u32, NewNodes)>)| {
            nodes
                .into_iter()
                .map(move |(position, with)| Edit::ReplaceNode {
                    node: NodeId { scope, position },
                    with,
                })
        };
        self.replaced
            .into_iter()
            .flat_map(edits)
            .chain(self.removed.into_iter().map(Edit::remove_node))
    }
}

fn find(nodes: &[(u32, NewNodes)], node: NodeId) -> Option<usize> {
    nodes
        .binary_search_by_key(&node.position, |&(position, _)| position)
        .ok()
}
