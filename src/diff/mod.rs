//! Compares two models in every field, including fields unknown to the schema.
//!
//! Items of a list are matched by their identity (nodes by name and operator, then by output;
//! others by name or key), so that an inserted item is a single difference. Tensors are compared by
//! type, shape and values, regardless of their storage; equal values in different storage are a
//! separate kind of difference.

pub(crate) mod compare;
mod field;
mod pair;
mod path;
mod tensor;

use serde::Serialize;

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// The path of the field or item: `graph/cast_1.to`, `graph.input[x].type`,
    /// `opset_import[ai.onnx].version`.
    pub path: String,
    /// The kind of the difference.
    pub kind: DifferenceKind,
    /// The value in the left model, if present.
    pub left: Option<String>,
    /// The value in the right model, if present.
    pub right: Option<String>,
}

/// The kind of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum DifferenceKind {
    /// Present only in the left model.
    Removed,
    /// Present only in the right model.
    Added,
    /// Present in both models with different values.
    Changed,
    /// The common items of a list are in a different order; the first such item is reported.
    Reordered,
    /// A tensor has the same values in different storage.
    Stored,
}
