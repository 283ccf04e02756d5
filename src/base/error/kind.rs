//! The kinds of errors.

use crate::base::codes::codes;

codes! {
    /// The kind of an error. Scripts know it by its code, which does not change.
    pub enum ErrorKind {
        NotFound = "not-found": "the file does not exist",
        PermissionDenied = "permission-denied": "the system denies access",
        IsAFolder = "is-a-folder": "the path is a folder, and a file is required",
        Io = "io": "reading or writing failed",
        NotAModel = "not-a-model": "the file is not an ONNX model; the message names the format if it is known",
        MalformedProtobuf = "malformed-protobuf": "the bytes cannot be decoded; `place` is the innermost field, the message has the byte offset",
        InvalidModel = "invalid-model": "the model contradicts ONNX",
        BadTensor = "bad-tensor": "the fields of a tensor contradict each other",
        BadExternalData = "bad-external-data": "the data file of a tensor cannot be read",
        MemoryLimit = "memory-limit": "the messages of the model would exceed the memory limit",
        BadOutput = "bad-output": "the output cannot be written as the options require",
        BadConfiguration = "bad-configuration": "a `recast.toml` or a baseline is invalid",
        NotVerified = "not-verified": "the written model differs from what the input requires: a fault of recast; nothing was replaced",
        NotConvertible = "not-convertible": "nodes of the model cannot be converted to the requested opset (library; the command lists `blockers`)",
        CannotCast = "cannot-cast": "the values of a tensor cannot be cast",
        Cancelled = "cancelled": "the operation was cancelled",
        Usage = "usage": "the options contradict each other or the input",
        Internal = "internal": "a defect of this program",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_kind_has_a_code_of_its_own_in_kebab_case() {
        let codes: BTreeSet<&str> = ErrorKind::MEANINGS.iter().map(|kind| kind.code).collect();
        assert_eq!(codes.len(), ErrorKind::MEANINGS.len());
        assert!(
            codes
                .iter()
                .all(|code| code.chars().all(|c| c.is_ascii_lowercase() || c == '-')),
            "{codes:?}"
        );
    }
}
