//! Errors as reports list them.

use std::fmt;

use serde::Serialize;

use crate::error::{Classified, ErrorKind};

/// An error of a run: of a file, or of the run as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The file, as it was named; none if the error is not about a file.
    pub path: Option<String>,
    /// The place in the file: a node path, the name of an entity, a byte offset.
    pub place: Option<String>,
    /// The kind of the error.
    pub code: ErrorKind,
    /// The fault, and its remedy if that is not plain.
    pub message: String,
}

impl Failure {
    /// An error of the run as a whole.
    pub fn of_run(code: ErrorKind, message: impl ToString) -> Failure {
        Failure { path: None, place: None, code, message: message.to_string() }
    }

    /// An error of a file.
    pub fn of_file(path: impl Into<String>, code: ErrorKind, message: impl ToString) -> Failure {
        Failure { path: Some(path.into()), ..Failure::of_run(code, message) }
    }

    /// An error of a file that knows its kind and place.
    pub fn new(path: impl Into<String>, error: &impl Classified) -> Failure {
        Failure { place: error.place(), ..Failure::of_file(path, error.kind(), error.message()) }
    }
}

impl Failure {
    /// `PLACE: message`
    #[must_use]
    pub fn place_and_message(&self) -> String {
        self.place.as_ref().map_or_else(|| self.message.clone(), |place| format!("{place}: {}", self.message))
    }
}

impl std::error::Error for Failure {}

/// `PATH: PLACE: message`
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{path}: ")?;
        }
        f.write_str(&self.place_and_message())
    }
}
