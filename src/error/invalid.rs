//! A model that contradicts ONNX.

use super::{Classified, ErrorKind, Place};

/// A model contradicts ONNX, at a place in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct Invalid {
    /// Node path or the name of the entity: `graph/if_1.then_branch/cast_3`.
    pub place: String,
    /// The fault, and its remedy if that is not plain.
    pub what: String,
    /// The kind of the error.
    pub kind: ErrorKind,
}

impl Invalid {
    /// The model is invalid at `place`.
    pub fn at(place: impl Into<String>, what: impl ToString) -> Invalid {
        Invalid { place: place.into(), what: what.to_string(), kind: ErrorKind::InvalidModel }
    }

    /// The error `source` occurred at `place`.
    pub fn caused_by(place: impl Into<String>, source: &impl Classified) -> Invalid {
        Invalid { kind: source.kind(), ..Invalid::at(place, source) }
    }
}

impl Classified for Invalid {
    fn kind(&self) -> ErrorKind {
        self.kind
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Path(self.place.clone()))
    }

    fn message(&self) -> String {
        self.what.clone()
    }
}
