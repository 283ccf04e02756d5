//! A pass, and what it plans.

use super::event::Event;
use crate::base::error::Invalid;
use crate::casts::folding::Options;
use crate::graph::{Edit, Model};

/// A rewrite of a model.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// The name that selects it.
    pub name: &'static str,
    /// The documentation, in Markdown; the first paragraph is a sentence that summarises it.
    pub docs: &'static str,
    /// Precondition of the pass, in addition to the invariants of [`Model::new`]; checked in debug builds.
    pub requires: fn(&Model) -> Result<(), String>,
    /// Plans the changes and the events.
    pub plan: fn(&Model, &Options) -> Result<Plan, Invalid>,
    /// Postcondition of a pass that reported these events; checked in debug builds.
    pub ensures: fn(&Model, &[Event]) -> Result<(), String>,
}

impl Pass {
    /// The first sentence of the documentation.
    #[must_use]
    pub fn summary(&self) -> String {
        let first = self.docs.split("\n\n").next().unwrap_or_default().replace('\n', " ");
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
