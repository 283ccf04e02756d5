//! The kinds of errors.

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
    /// Nodes of the model cannot be converted to the requested opset.
    NotConvertible,
    /// The written model could not be verified.
    NotVerified,
    /// The values of a tensor cannot be cast.
    CannotCast,
    /// The operation was cancelled.
    Cancelled,
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
        ErrorKind::NotConvertible,
        ErrorKind::NotVerified,
        ErrorKind::CannotCast,
        ErrorKind::Cancelled,
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
            ErrorKind::NotConvertible => "not-convertible",
            ErrorKind::NotVerified => "not-verified",
            ErrorKind::CannotCast => "cannot-cast",
            ErrorKind::Cancelled => "cancelled",
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_kind_has_a_code_of_its_own_in_kebab_case() {
        let codes: BTreeSet<&str> = ErrorKind::ALL.iter().map(|kind| kind.code()).collect();
        assert_eq!(codes.len(), ErrorKind::ALL.len());
        assert!(codes.iter().all(|code| code.chars().all(|c| c.is_ascii_lowercase() || c == '-')), "{codes:?}");
    }
}
