//! A pass, and what it plans.

use std::fmt::Debug;
use std::sync::Arc;

use super::event::{Event, KeptNode, NodeChange, Removed};
use crate::base::error::Invalid;
use crate::base::reason::Reason;
use crate::casts::folding::Options;
use crate::graph::{Edit, Model, NodeId, ValueId};

/// A rewrite of a model. A pass with parameters has them as fields.
pub trait Pass: Debug + Send + Sync {
    /// The name that selects it.
    fn name(&self) -> &'static str;

    /// The documentation, in Markdown; the first paragraph is a sentence that summarises it.
    fn docs(&self) -> &'static str;

    /// Plans the changes and the events.
    ///
    /// # Errors
    /// If the model is invalid where the pass reads it; the model is then not changed.
    fn plan(&self, model: &Model, options: &Options) -> Result<Plan, Invalid>;

    /// Precondition, in addition to the invariants of [`Model::new`]; checked in debug builds.
    ///
    /// # Errors
    /// What is not as the pass requires.
    fn requires(&self, model: &Model) -> Result<(), String> {
        let _ = model;
        Ok(())
    }

    /// Postcondition, if the pass reported these events; checked in debug builds.
    ///
    /// # Errors
    /// What is not as the pass promises.
    fn ensures(&self, model: &Model, events: &[Event]) -> Result<(), String> {
        let _ = (model, events);
        Ok(())
    }

    /// The first sentence of the documentation.
    fn summary(&self) -> String {
        let docs = self.docs();
        let first = docs.split("\n\n").next().unwrap_or(docs);
        let line = first.replace('\n', " ");
        line.trim_end().trim_end_matches('.').to_owned()
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
    /// Removes a node.
    pub fn remove_node(&mut self, model: &Model, node: NodeId, reason: Reason) {
        self.edits.push(Edit::remove_node(node));
        self.events.push(Event::RemovedNode {
            node: model.node_path(node),
            reason,
        });
    }

    /// Removes an initializer.
    pub fn remove_initializer(&mut self, model: &Model, value: ValueId, reason: Reason) {
        self.edits.push(Edit::RemoveInitializer(value));
        self.events
            .push(Event::RemovedConstant(Removed::of(model, value, reason)));
    }

    /// Reports that a node is kept.
    pub fn report_kept(&mut self, model: &Model, node: NodeId, reason: Reason) {
        self.events
            .push(Event::Kept(KeptNode::new(model, node, reason)));
    }

    /// Reports a change of a node: a clause whose subject is the node.
    pub fn report_change(&mut self, model: &Model, node: NodeId, what: impl Into<Arc<str>>) {
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
