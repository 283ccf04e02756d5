//! A pass, and what it plans.

use super::event::Event;
use crate::error::Invalid;
use crate::folding::Options;
use crate::graph::{Edit, Model};

/// A rewrite of a model.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// The name that selects it.
    pub name: &'static str,
    /// Its effect, in one line.
    pub summary: &'static str,
    /// Precondition of the pass, in addition to the invariants of [`Model::new`]; checked in debug builds.
    pub requires: fn(&Model) -> Result<(), String>,
    /// Plans the changes and the events.
    pub plan: fn(&Model, &Options) -> Result<Plan, Invalid>,
    /// Postcondition of a pass that reported these events; checked in debug builds.
    pub ensures: fn(&Model, &[Event]) -> Result<(), String>,
}

/// A name that is not that of a pass.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown pass '{name}'; available passes: {available}")]
pub struct UnknownPass {
    pub(super) name: String,
    pub(super) available: String,
}

/// The changes and the events of a pass.
#[derive(Debug, Default)]
pub struct Plan {
    /// The changes, applied as one batch.
    pub edits: Vec<Edit>,
    /// The events, reported after the changes are applied.
    pub events: Vec<Event>,
}
