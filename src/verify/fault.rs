//! Faults that a verification finds.

use std::fmt;

use crate::base::error::{Classified, ErrorKind, Invalid};

/// A fault at a place of the written model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// The path of the node, value or field.
    pub path: String,
    /// The fault.
    pub what: String,
}

/// A written model could not be verified.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotVerified {
    /// Everything that was found; never empty.
    pub faults: Vec<Fault>,
}

impl Fault {
    pub(super) fn at(path: impl ToString, what: impl Into<String>) -> Fault {
        Fault {
            path: path.to_string(),
            what: what.into(),
        }
    }
}

impl From<&Invalid> for Fault {
    fn from(invalid: &Invalid) -> Fault {
        Fault::at(&invalid.place, invalid.what.clone())
    }
}

impl fmt::Display for NotVerified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((Fault { path, what }, others)) = self.faults.split_first() else {
            return Ok(());
        };
        write!(
            f,
            "the result is wrong, which is a fault of onnx-recast, and was not written: {path}: {what}"
        )?;
        if !others.is_empty() {
            write!(f, " (and {} more)", others.len())?;
        }
        write!(f, "; please report it")
    }
}

impl std::error::Error for NotVerified {}

impl Classified for NotVerified {
    fn kind(&self) -> ErrorKind {
        ErrorKind::NotVerified
    }
}
