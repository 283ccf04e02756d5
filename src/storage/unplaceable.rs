//! Reasons why a model cannot be written as requested.

use std::path::PathBuf;

use crate::base::error::{Classified, ErrorKind, Place};
use crate::graph::Refused;
use crate::tensor::BadTensor;

/// Why a model cannot be written as requested.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unplaceable {
    /// The values of an external tensor cannot be read.
    #[error("{place}: {reason}")]
    Tensor {
        /// The tensor's path.
        place: String,
        /// The fault.
        reason: BadTensor,
    },
    /// The model has data files, and the output is a stream.
    #[error("external data cannot be written to a stream")]
    Stream,
    /// A data file is requested, and the output is a stream.
    #[error("a data file cannot be written to a stream")]
    FileOfStream,
    /// The model file would be too large.
    #[error("the model file would have {0} bytes, more than protobuf's limit of 2 GiB")]
    TooLarge(u64),
    /// The name of a data file is not that of a data file in the folder.
    #[error("data file '{0}': is not the path of a data file in the output's folder")]
    BadName(String),
    /// The name of a data file is that of the model.
    #[error("data file '{0}': is the output file; the model and its data must be two files")]
    SameFile(String),
    /// A data file has a name that is not accepted.
    #[error("data file '{location}': {why}; it is not copied to the output's folder")]
    UnsafeCopy {
        /// The location in the model.
        location: String,
        /// The fault.
        why: String,
    },
    /// The new data file would replace a model.
    #[error("data file '{0}': is a model")]
    OverModel(String),
    /// The new data file would replace a data file that is in use.
    #[error("data file '{name}': {} stores tensors in this file", .by.display())]
    InUse {
        /// The data file.
        name: String,
        /// A model that refers to it.
        by: PathBuf,
    },
    /// The output would replace a data file of the model.
    #[error("{}: the model stores tensors in this file", .0.display())]
    OverData(PathBuf),
    /// The output is a link into another folder, in which a new data file would be missing.
    #[error("{}: is a link to {}, and the model needs a new data file, which must be in the folder of the model; use that path", .link.display(), .file.display())]
    Linked {
        /// The output.
        link: PathBuf,
        /// The file to which it is a link.
        file: PathBuf,
    },
    /// The output cannot be replaced, since it has several names or is not a regular file, or its
    /// metadata cannot be read.
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
            Unplaceable::Tensor { place, .. } => Some(Place::Model(place.as_str().into())),
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
