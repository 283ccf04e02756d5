//! A change of precision that the options or the model do not permit, and what helps.

use crate::base::error::{Classified, ErrorKind};

/// A change of precision that is refused, for a reason that another option avoids.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
#[non_exhaustive]
pub struct Refusal {
    what: String,
    kind: ErrorKind,
    /// What avoids the reason.
    pub remedy: Remedy,
}

/// What makes a change of precision possible.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// To convert the model to this opset before.
    Opset(i64),
    /// To convert the model to this opset or a later one before.
    OpsetOrLater(i64),
    /// To let this value keep its type.
    KeepValue(String),
    /// Another treatment of numbers beyond the range.
    OnOverflow,
    /// Another treatment of numbers that become zero.
    OnUnderflow,
}

impl Refusal {
    /// A refusal of the model or the options.
    pub(super) fn new(kind: ErrorKind, what: String, remedy: Remedy) -> Refusal {
        Refusal { what, kind, remedy }
    }
}

impl Classified for Refusal {
    fn kind(&self) -> ErrorKind {
        self.kind
    }
}
