//! Errors: one type for the callers of the library, with a kind, which has a stable code, a place,
//! and the cause.

mod invalid;
mod kind;
mod panic;
mod place;

use std::fmt;
use std::io;
use std::sync::Arc;

use serde::Serialize;

pub use invalid::Invalid;
pub use kind::ErrorKind;
pub(crate) use panic::catch;
#[cfg(feature = "cli")]
pub(crate) use panic::record_places;
#[cfg(feature = "cli")]
pub use panic::recorded_panics;
pub(crate) use place::shortened;
pub use place::{ModelPlace, Place};

/// Why an operation failed. It is serialized with the keys `path`, `place`, `code` and `message`.
///
/// ```
/// use onnx_recast::{ErrorKind, Model};
///
/// let error = Model::open("no/such/model.onnx").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::NotFound);
/// assert_eq!(error.to_string(), "no/such/model.onnx: does not exist");
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct Error {
    path: Option<String>,
    place: Option<Place>,
    #[serde(rename = "code")]
    kind: ErrorKind,
    message: String,
    #[serde(skip)]
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error without a file or place.
    pub fn new(kind: ErrorKind, message: impl ToString) -> Error {
        Error {
            path: None,
            place: None,
            kind,
            message: message.to_string(),
            source: None,
        }
    }

    /// The kind, place, message and origin of an error of a part of this crate.
    pub(crate) fn of(error: &impl Classified) -> Error {
        Error {
            place: error.place(),
            source: error.origin(),
            ..Error::new(error.kind(), error.message())
        }
    }

    /// The kind, place and message of an error, which becomes the cause.
    pub fn caused_by(error: impl Classified + Send + Sync + 'static) -> Error {
        Error::of(&error).with_source(error)
    }

    /// The error with its cause.
    #[must_use]
    pub(crate) fn with_source(
        self,
        source: impl std::error::Error + Send + Sync + 'static,
    ) -> Error {
        Error {
            source: Some(Arc::new(source)),
            ..self
        }
    }

    /// The error with the file in which it occurred. The message does not repeat the path.
    #[must_use]
    pub fn in_file(self, path: impl Into<String>) -> Error {
        let path = path.into();
        let rest = self
            .message
            .strip_prefix(&*path)
            .and_then(|rest| rest.strip_prefix(": "))
            .map(str::to_owned);
        Error {
            message: rest.unwrap_or(self.message),
            path: Some(path),
            ..self
        }
    }

    /// The error with a remedy after its message.
    #[must_use]
    pub(crate) fn with_remedy(self, remedy: &str) -> Error {
        Error {
            message: format!("{}; {remedy}", self.message),
            ..self
        }
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The file, as it was named; `-` is standard input or output.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// The place in the file.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// The fault and, unless it is obvious, its remedy; without the file and the place.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// `PLACE: message`
    #[must_use]
    pub fn place_and_message(&self) -> String {
        self.place.as_ref().map_or_else(
            || self.message.clone(),
            |place| format!("{place}: {}", self.message),
        )
    }

    /// The cause of this type: that of the error, or a cause of the cause. A pass of another crate
    /// returns its own error by [`Invalid::caused_by`].
    #[must_use]
    pub fn cause<E: std::error::Error + 'static>(&self) -> Option<&E> {
        let mut causes =
            std::iter::successors(std::error::Error::source(self), |cause| cause.source());
        causes.find_map(|cause| cause.downcast_ref())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

/// `PATH: PLACE: message`
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{path}: ")?;
        }
        f.write_str(&self.place_and_message())
    }
}

/// An error that knows its kind, and its place in the model.
pub trait Classified: std::error::Error {
    /// The kind.
    fn kind(&self) -> ErrorKind;

    /// The place in the file.
    fn place(&self) -> Option<Place> {
        None
    }

    /// The fault and its remedy, without the place.
    fn message(&self) -> String {
        self.to_string()
    }

    /// The error that caused this one, if it is shared.
    fn origin(&self) -> Option<Arc<dyn std::error::Error + Send + Sync>> {
        None
    }
}

impl Classified for io::Error {
    fn kind(&self) -> ErrorKind {
        match io::Error::kind(self) {
            io::ErrorKind::NotFound => ErrorKind::NotFound,
            io::ErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
            io::ErrorKind::IsADirectory => ErrorKind::IsAFolder,
            _ => ErrorKind::Io,
        }
    }
}
