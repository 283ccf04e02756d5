//! Why a model cannot be written as it should be.

use std::path::PathBuf;

use crate::error::{Classified, ErrorKind, Place};
use crate::graph::Refused;
use crate::tensor::BadTensor;

/// Why a model cannot be written as it should be.
#[derive(Debug, thiserror::Error)]
pub enum Unplaceable {
    /// The values of an external tensor cannot be read.
    #[error("{place}: {reason}")]
    Tensor {
        /// The tensor's path.
        place: String,
        /// What is wrong.
        reason: BadTensor,
    },
    /// The model has data files, and the output no folder.
    #[error("external data cannot be written to a stream")]
    Stream,
    /// A data file is wanted, and the output has no folder.
    #[error("a data file cannot be written to a stream")]
    FileOfStream,
    /// The model file would be too large.
    #[error("the model file would have {0} bytes, more than protobuf's 2 GiB")]
    TooLarge(u64),
    /// The name of a data file leads out of the folder.
    #[error("data file '{0}': is not a path of a data file inside the output's folder")]
    BadName(String),
    /// The name of a data file is that of the model.
    #[error("data file '{0}': is the output file; the model and its data are two files")]
    SameFile(String),
    /// A data file has a name under which no file is created.
    #[error("data file '{location}': {why}; it is not copied to the output's folder")]
    UnsafeCopy {
        /// What the model says.
        location: String,
        /// What is wrong with it.
        why: String,
    },
    /// The new data file would take the place of a model.
    #[error("data file '{0}': is a model")]
    OverModel(String),
    /// The new data file would take the place of one that is needed.
    #[error("data file '{name}': {} keeps tensors in this file", .by.display())]
    InUse {
        /// The data file.
        name: String,
        /// A model that refers to it.
        by: PathBuf,
    },
    /// The output would take the place of a data file of the model.
    #[error("{}: the model keeps tensors in this file", .0.display())]
    OverData(PathBuf),
    /// The output cannot be replaced, see [`check_replaceable`](crate::wire::check_replaceable), or cannot be looked at.
    #[error("{0}")]
    Output(String),
    /// The model cannot be changed.
    #[error(transparent)]
    Refused(#[from] Refused),
}

impl Classified for Unplaceable {
    fn kind(&self) -> ErrorKind {
        match self {
            Unplaceable::Tensor { reason, .. } => reason.kind(),
            Unplaceable::Refused(_) => ErrorKind::Internal,
            _ => ErrorKind::BadOutput,
        }
    }

    fn place(&self) -> Option<Place> {
        match self {
            Unplaceable::Tensor { place, .. } => Some(Place::Path(place.clone())),
            _ => None,
        }
    }

    fn message(&self) -> String {
        match self {
            Unplaceable::Tensor { reason, .. } => reason.to_string(),
            _ => self.to_string(),
        }
    }
}
