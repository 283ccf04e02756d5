//! Which values may be removed, and which values nodes may use in place of others.

use super::index::ValueId;
use super::model::Model;

/// The maximum length of a name that is copied to other nodes: the model would grow by its length
/// for every consumer.
const LONGEST_NAME: usize = 4096;

impl Model {
    /// Whether nodes alone use a value: it is not an output of a graph, and no annotation, training
    /// binding or inner scope names it.
    pub(crate) fn is_used_by_nodes_only(&self, value: ValueId) -> bool {
        self.scopes_that_output(value).is_empty() && self.non_node_use(value).is_none()
    }

    /// Whether a value may be removed when no node uses it. If it shadows another value, removing
    /// it would change what its name refers to.
    pub(crate) fn is_removable(&self, value: ValueId) -> bool {
        self.is_used_by_nodes_only(value) && !self.shadows(value)
    }

    /// Whether all nodes that use a value see another value.
    pub(crate) fn is_visible_to_users(&self, other: ValueId, value: ValueId) -> bool {
        self.uses(value)
            .all(|(user, _)| self.is_visible(other, user.scope))
    }

    /// Whether all nodes that use a value may use another value: they see it, and its name is not
    /// extremely long.
    pub(crate) fn can_replace(&self, other: ValueId, value: ValueId) -> bool {
        self.name(other).len() <= self.name(value).len().max(LONGEST_NAME)
            && self.is_visible_to_users(other, value)
    }
}
