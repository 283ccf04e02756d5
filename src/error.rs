//! Errors: their kinds, which have stable codes, and the error of a model that contradicts ONNX.

use std::borrow::Cow;
use std::io;

use serde::{Serialize, Serializer};

/// The kind of an error. Scripts know it by its code, which does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file does not exist.
    NotFound,
    /// The system denies access.
    PermissionDenied,
    /// The path is a folder, and a file is needed.
    IsAFolder,
    /// Reading or writing failed.
    Io,
    /// The file is not an ONNX model.
    NotAModel,
    /// The bytes are not the protobuf messages that they should be.
    MalformedProtobuf,
    /// The model contradicts ONNX, or itself.
    InvalidModel,
    /// A tensor contradicts itself.
    BadTensor,
    /// The data file of a tensor cannot be read.
    BadExternalData,
    /// The messages of the model would take too much memory.
    MemoryLimit,
    /// The output cannot be written as the options demand.
    BadOutput,
    /// The configuration or baseline cannot be used.
    BadConfiguration,
    /// The options contradict each other, or the input.
    Usage,
    /// A defect of this program.
    Internal,
}

impl ErrorKind {
    /// All kinds.
    pub const ALL: &[ErrorKind] = &[
        ErrorKind::NotFound,
        ErrorKind::PermissionDenied,
        ErrorKind::IsAFolder,
        ErrorKind::Io,
        ErrorKind::NotAModel,
        ErrorKind::MalformedProtobuf,
        ErrorKind::InvalidModel,
        ErrorKind::BadTensor,
        ErrorKind::BadExternalData,
        ErrorKind::MemoryLimit,
        ErrorKind::BadOutput,
        ErrorKind::BadConfiguration,
        ErrorKind::Usage,
        ErrorKind::Internal,
    ];

    /// The code, in kebab-case.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            ErrorKind::NotFound => "not-found",
            ErrorKind::PermissionDenied => "permission-denied",
            ErrorKind::IsAFolder => "is-a-folder",
            ErrorKind::Io => "io",
            ErrorKind::NotAModel => "not-a-model",
            ErrorKind::MalformedProtobuf => "malformed-protobuf",
            ErrorKind::InvalidModel => "invalid-model",
            ErrorKind::BadTensor => "bad-tensor",
            ErrorKind::BadExternalData => "bad-external-data",
            ErrorKind::MemoryLimit => "out-of-memory-limit",
            ErrorKind::BadOutput => "bad-output",
            ErrorKind::BadConfiguration => "bad-configuration",
            ErrorKind::Usage => "usage",
            ErrorKind::Internal => "internal",
        }
    }
}

impl Serialize for ErrorKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

/// An error that knows its kind, and its place in the model.
pub trait Classified: std::error::Error {
    /// The kind.
    fn kind(&self) -> ErrorKind;

    /// The place in the file: a node path, the name of an entity, a byte offset.
    fn place(&self) -> Option<String> {
        None
    }

    /// The fault and its remedy, without the place.
    fn message(&self) -> String {
        self.to_string()
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

    fn place(&self) -> Option<String> {
        Some(self.place.clone())
    }

    fn message(&self) -> String {
        self.what.clone()
    }
}

/// Characters of a name that a path shows.
const LONGEST_NAME: usize = 200;

/// A name as it is in a path. The paths of everything inside repeat it: their total length would be quadratic in the size of the model
/// if one name could be as long as the model.
pub(crate) fn shortened(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}…", &name[..end]).into(),
        None => name.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_kind_has_a_code_of_its_own_in_kebab_case() {
        let codes: HashSet<&str> = ErrorKind::ALL.iter().map(|kind| kind.code()).collect();
        assert_eq!(codes.len(), ErrorKind::ALL.len());
        assert!(codes.iter().all(|code| code.chars().all(|c| c.is_ascii_lowercase() || c == '-')), "{codes:?}");
    }
}
