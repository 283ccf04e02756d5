//! The results of a node, or why they are not computed.

use crate::tensor::Content;

/// Why the result of a node is not computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotComputed {
    /// The node is not valid, or its result is undefined for these inputs.
    #[error("{0}")]
    Undefined(String),
    /// ONNX's text defines one result, and runtimes or onnx's reference evaluator compute another.
    #[error("{0}")]
    Contested(&'static str),
    /// The types, or a mode, that are left to runtimes.
    #[error("{0}")]
    LeftToRuntimes(String),
    /// The result exceeds the tensors it is computed from by more than the limit.
    #[error(
        "the result takes {bytes} bytes more than the tensors it is computed from; the limit is {limit}"
    )]
    TooLarge {
        /// By how many bytes.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
}

/// The results of a node, by output.
pub type Computed = Result<Vec<Content>, NotComputed>;

/// The error of a result that ONNX does not define.
pub(super) fn undefined(what: impl Into<String>) -> NotComputed {
    NotComputed::Undefined(what.into())
}
