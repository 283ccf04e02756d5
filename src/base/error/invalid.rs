//! A model that contradicts ONNX.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use super::{Classified, ErrorKind, ModelPlace, Place};

/// A model contradicts ONNX, at a place in it.
#[derive(Clone, Debug)]
pub struct Invalid {
    /// The place in the model.
    pub(crate) place: ModelPlace,
    /// The fault and, unless it is obvious, its remedy.
    pub(crate) what: String,
    /// The kind of the error.
    pub(crate) kind: ErrorKind,
    /// The error that caused this one.
    pub(crate) cause: Option<Arc<dyn StdError + Send + Sync>>,
}

impl Invalid {
    /// The model is invalid at `place`.
    pub fn at(place: impl Into<ModelPlace>, what: impl ToString) -> Invalid {
        Invalid {
            place: place.into(),
            what: what.to_string(),
            kind: ErrorKind::InvalidModel,
            cause: None,
        }
    }

    /// The error `cause` occurred at `place`.
    pub fn caused_by(
        place: impl Into<ModelPlace>,
        cause: impl Classified + Send + Sync + 'static,
    ) -> Invalid {
        Invalid {
            kind: cause.kind(),
            ..Invalid::at(place, &cause)
        }
        .with_source(cause)
    }

    /// The error with its cause.
    #[must_use]
    pub(crate) fn with_source(self, cause: impl StdError + Send + Sync + 'static) -> Invalid {
        Invalid {
            cause: Some(Arc::new(cause)),
            ..self
        }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

impl StdError for Invalid {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}

/// The cause does not affect equality: the text contains it.
impl PartialEq for Invalid {
    fn eq(&self, other: &Invalid) -> bool {
        (&self.place, &self.what, self.kind) == (&other.place, &other.what, other.kind)
    }
}

impl Eq for Invalid {}

impl Classified for Invalid {
    fn kind(&self) -> ErrorKind {
        self.kind
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Model(self.place.clone()))
    }

    fn message(&self) -> String {
        self.what.clone()
    }

    fn origin(&self) -> Option<Arc<dyn StdError + Send + Sync>> {
        self.cause.clone()
    }
}
