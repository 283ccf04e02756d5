//! Nodes that are removed because another value can be used in place of their only result.

use super::pass::Plan;
use super::removal;
use crate::base::hash::HashMap;
use crate::base::reason::Reason;
use crate::graph::{Edit, Model, NodeId, ValueId};

/// The nodes that are removed so far, in topological order, and the values that are used in place
/// of their results.
pub(super) struct Bypasses<'m> {
    model: &'m Model,
    replaced: HashMap<ValueId, ValueId>,
    removals: Vec<Removal>,
}

/// A node that is removed.
struct Removal {
    node: NodeId,
    /// None if the result is not used.
    bypass: Option<Bypass>,
}

/// A value that is used in place of the result of a node.
#[derive(Clone, Copy)]
struct Bypass {
    result: ValueId,
    other: ValueId,
    /// Makes the reason of the name of the other value.
    reason: fn(&str) -> Reason,
}

/// The bytes by which a name may be longer than the one that it replaces. Each use states it: with
/// names of a megabyte, a model of a few megabytes would grow to gigabytes.
const LONGEST_GROWTH: usize = 1 << 10;

/// Whether the model would grow if one value were used in place of another.
pub(super) fn is_far_longer(model: &Model, other: ValueId, replaced: ValueId) -> bool {
    model.name(other).len() > model.name(replaced).len() + LONGEST_GROWTH
}

impl<'m> Bypasses<'m> {
    pub fn new(model: &'m Model) -> Bypasses<'m> {
        Bypasses {
            model,
            replaced: HashMap::default(),
            removals: Vec::new(),
        }
    }

    /// The value that is used in place of a value, or itself.
    pub fn current(&self, value: ValueId) -> ValueId {
        self.replaced.get(&value).copied().unwrap_or(value)
    }

    /// The values that are replaced, each with the value that is used in its place, in any order.
    #[expect(clippy::disallowed_methods, reason = "callers fill tables")]
    pub fn replaced(&self) -> impl Iterator<Item = (ValueId, ValueId)> {
        self.replaced.iter().map(|(&value, &other)| (value, other))
    }

    /// Removes a node and uses another value in place of its result; returns false if the name of
    /// the result must be kept, the other value is not visible everywhere, or its name is so long
    /// that the model would grow. `reason` is made of the name of the other value.
    pub fn bypass(
        &mut self,
        node: NodeId,
        output: Option<ValueId>,
        other: ValueId,
        reason: fn(&str) -> Reason,
    ) -> bool {
        let other = self.current(other);
        let Some(output) = output else {
            self.remove_unused(node);
            return true;
        };
        if is_far_longer(self.model, other, output)
            || !self.model.is_removable(output)
            || !self.model.can_replace(other, output)
        {
            return false;
        }
        self.replaced.insert(output, other);
        self.removals.push(Removal {
            node,
            bypass: Some(Bypass {
                result: output,
                other,
                reason,
            }),
        });
        true
    }

    /// Removes a node whose result is not used.
    pub fn remove_unused(&mut self, node: NodeId) {
        self.removals.push(Removal { node, bypass: None });
    }

    /// The number of nodes that are removed.
    pub fn count(&self) -> usize {
        self.removals.len()
    }

    /// The changes and the events.
    pub fn plan(&self) -> Plan {
        let mut plan = Plan::default();
        for &Removal { node, bypass } in &self.removals {
            let reason = match bypass {
                Some(Bypass {
                    result: from,
                    other: to,
                    reason,
                }) => {
                    plan.edits.push(Edit::Rewire { from, to });
                    reason(self.model.name(to))
                }
                None => removal::unused(),
            };
            plan.remove_node(self.model, node, reason);
        }
        plan
    }
}
