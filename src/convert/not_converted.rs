//! Why a model is not converted.

use std::fmt;

use serde::Serialize;

use crate::base::error::Invalid;
use crate::base::printable::plural;
use crate::base::reason::Reason;

/// A node that cannot be converted.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Blocker {
    /// The node's path.
    pub node: String,
    /// Its operator.
    pub op: String,
    /// The step that is not possible: the opsets before and after it.
    pub opset_step: (i64, i64),
    /// The obstacle.
    #[serde(flatten)]
    pub reason: Reason,
}

impl fmt::Display for Blocker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.reason.is_about_step() {
            return write!(f, "{}: {}", self.node, self.reason);
        }
        let (from, to) = self.opset_step;
        write!(
            f,
            "{} ({}), opset {from} to {to}: {}",
            self.node, self.op, self.reason
        )
    }
}

/// Why a model was not converted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotConverted {
    /// Nodes that cannot be converted; all of them.
    #[error("{} cannot be converted", plural(.blockers.len(), "node"))]
    Blocked {
        /// The opset of ai.onnx that the model imports; none if it does not import ai.onnx.
        from: Option<i64>,
        /// Every unsupported node.
        blockers: Vec<Blocker>,
        /// The opset closest to the requested one to which the model can be converted.
        nearest: Option<i64>,
    },
    /// The options or the model are invalid, and another option helps.
    #[error("{error}")]
    Avoidable {
        /// The fault.
        error: Invalid,
        /// The remedy.
        remedy: Remedy,
    },
    /// The options or the model are invalid.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

/// The option that makes a refused conversion possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// To state the opset that the model is in: [`Options::from_opset`](super::Options::from_opset).
    StateOpset,
    /// To drop `metadata_props`: [`Edit::DropMetadata`](crate::graph::Edit::DropMetadata).
    DropMetadata,
}
