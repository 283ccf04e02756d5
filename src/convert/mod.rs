//! Moves a model from one opset to another: to an equivalent model, or not at all.
//!
//! Every node goes one version of its operator at a time. What changes between two versions is said in `hops`; what a node
//! uses is then compared with the facts of the new version. Where a version cannot say what the node means, or it is not known
//! whether it can, that is a blocker, and the model stays as it is.
//!
//! A model that uses no operator of ai.onnx keeps its nodes: only the import and the IR version are updated.
//!
//! Scope: the main graph, subgraphs, functions (by their own `opset_import`) and training graphs.

mod check;
mod engine;
mod hop;
mod hops;
mod ir;
mod journey;
mod make;
mod plan;
mod site;
mod valid;

use std::fmt;

use serde::Serialize;

use crate::error::Invalid;
use crate::graph::Model;

pub use engine::convert;
pub use ir::IrVersion;

/// Where a model is to go, and how.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The opset of ai.onnx to arrive at.
    pub opset: i64,
    /// The opset that the model is read in, and functions that state the same one; none for the one that it states.
    pub from_opset: Option<i64>,
    /// The IR version of the result.
    pub ir_version: IrVersion,
    /// Which defaults are written out.
    pub explicit: Explicit,
    /// Whether what only a warning says is a blocker.
    pub strict: bool,
}

/// Which attributes with defaults are written out when a version brings them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Explicit {
    /// `saturate` and `round_mode` on every cast.
    All,
    /// Those that have an effect on the node's types.
    #[default]
    Relevant,
    /// None.
    None,
}

impl Options {
    /// The usual way to an opset.
    #[must_use]
    pub fn to(opset: i64) -> Options {
        Options { opset, from_opset: None, ir_version: IrVersion::Auto, explicit: Explicit::Relevant, strict: false }
    }
}

/// A model that has arrived.
#[derive(Debug)]
pub struct Conversion {
    /// The model.
    pub model: Model,
    /// What was done.
    pub report: Report,
}

/// What a conversion did, by node path.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// The opset of ai.onnx that the model came from; none if it neither imports nor uses ai.onnx.
    pub from: Option<i64>,
    /// The opset that was asked for, which it has now if it had one before.
    pub to: i64,
    /// The IR version before.
    pub ir_from: i64,
    /// The IR version after.
    pub ir_to: i64,
    /// Nodes that changed.
    pub changes: Vec<Change>,
    /// What a person should know although it was done.
    pub warnings: Vec<Change>,
}

/// What was done to a node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The node's path.
    pub node: String,
    /// Its operator.
    pub op: String,
    /// What was done.
    pub what: String,
}

/// Why a node cannot move on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Blocker {
    /// The node's path.
    pub node: String,
    /// Its operator.
    pub op: String,
    /// The opsets between which it is stuck: where it comes from, and where it cannot get.
    pub opset_step: (i64, i64),
    /// Why.
    pub reason: String,
}

impl fmt::Display for Blocker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = self.opset_step;
        write!(f, "{} ({}), opset {from} to {to}: {}", self.node, self.op, self.reason)
    }
}

/// Why a model was not converted.
#[derive(Debug, thiserror::Error)]
pub enum NotConverted {
    /// Nodes that cannot move; all of them.
    #[error("{} cannot move", count(.blockers.len()))]
    Blocked {
        /// The opset that the model is in; none if it does not import ai.onnx.
        from: Option<i64>,
        /// Every node that is stuck.
        blockers: Vec<Blocker>,
        /// The opset closest to the wanted one that the model would reach.
        nearest: Option<i64>,
    },
    /// The request or the model is wrong, and an option helps.
    #[error("{error}")]
    Avoidable {
        /// What is wrong.
        error: Invalid,
        /// What helps.
        remedy: Remedy,
    },
    /// The request or the model is wrong.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

/// What makes a conversion possible that is refused without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// To state the opset that the model is in: [`Options::from_opset`].
    StateOpset,
    /// To drop `metadata_props`: [`Edit::DropMetadata`](crate::graph::Edit::DropMetadata).
    DropMetadata,
}

fn count(nodes: usize) -> String {
    match nodes {
        1 => "1 node".to_owned(),
        _ => format!("{nodes} nodes"),
    }
}
