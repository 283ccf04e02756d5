//! Errors in reports.

use std::fmt;

use serde::Serialize;

use crate::error::{Classified, ErrorKind};

/// An error of a file or of the whole run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The path of the file as given; `None` for errors of the run.
    pub path: Option<String>,
    /// The location in the file: a node path, the name of an entity, a byte offset.
    pub place: Option<String>,
    /// The kind of the error.
    pub code: ErrorKind,
    /// The error and, unless it is obvious, its remedy.
    pub message: String,
}

impl Failure {
    /// An error of the whole run.
    pub fn of_run(code: ErrorKind, message: impl ToString) -> Failure {
        Failure { path: None, place: None, code, message: message.to_string() }
    }

    /// An error of a file.
    pub fn of_file(path: impl Into<String>, code: ErrorKind, message: impl ToString) -> Failure {
        Failure { path: Some(path.into()), ..Failure::of_run(code, message) }
    }

    /// An error of a file that has a kind and a location.
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
