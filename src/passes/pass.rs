//! A pass, and what it plans.

use super::event::{Event, NodeChange, Removal, Removed};
use crate::base::error::Invalid;
use crate::casts::folding::Options;
use crate::graph::{Edit, Model, NodeId, ValueId};

/// A rewrite of a model.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// The name that selects it.
    pub name: &'static str,
    /// The documentation, in Markdown; the first paragraph is a sentence that summarises it.
    pub docs: &'static str,
    /// Precondition of the pass, in addition to the invariants of [`Model::new`]; checked in debug
    /// builds.
    pub requires: fn(&Model) -> Result<(), String>,
    /// Plans the changes and the events.
    pub plan: fn(&Model, &Options) -> Result<Plan, Invalid>,
    /// Postcondition of a pass that reported these events; checked in debug builds.
    pub ensures: fn(&Model, &[Event]) -> Result<(), String>,
}

impl Pass {
    /// A pass without conditions before and after it.
    pub(super) const fn new(
        name: &'static str,
        docs: &'static str,
        plan: fn(&Model, &Options) -> Result<Plan, Invalid>,
    ) -> Pass {
        Pass {
            name,
            docs,
            requires: |_| Ok(()),
            plan,
            ensures: |_, _| Ok(()),
        }
    }

    /// The first sentence of the documentation.
    #[must_use]
    pub fn summary(&self) -> String {
        let first = self
            .docs
            .split("\n\n")
            .next()
            .unwrap_or_default()
            .replace('\n', " ");
        first.trim_end().trim_end_matches('.').to_owned()
    }
}

/// The changes and the events of a pass.
#[derive(Debug, Default)]
pub struct Plan {
    /// The changes, applied as one batch.
    pub edits: Vec<Edit>,
    /// The events, reported after the changes are applied.
    pub events: Vec<Event>,
}

impl Plan {
    pub(super) fn remove_node(&mut self, model: &Model, node: NodeId, reason: Removal) {
        self.edits.push(Edit::remove_node(node));
        self.events.push(Event::RemovedNode {
            node: model.node_path(node),
            reason,
        });
    }

    pub(super) fn remove_initializer(&mut self, model: &Model, value: ValueId, reason: Removal) {
        self.edits.push(Edit::RemoveInitializer(value));
        self.events
            .push(Event::RemovedConstant(Removed::of(model, value, reason)));
    }

    /// Reports a change of a node: a clause whose subject is the node.
    pub(super) fn report_change(&mut self, model: &Model, node: NodeId, what: String) {
        let (op, node) = (
            model.node(node).op_type().into(),
            model.node_path(node).into(),
        );
        self.events.push(Event::Changed(NodeChange {
            node,
            op,
            what: what.into(),
        }));
    }
}
