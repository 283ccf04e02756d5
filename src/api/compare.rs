//! Looking at models: summaries and differences.

use bytes::Bytes;

use crate::base::error::Error;
use crate::diff::Difference;
use crate::diff::compare::{Compared, ComparedMessage, compare};
use crate::graph::Model;
use crate::inspect::{self, Inspection, ValueFacts};

/// The outcome of [`diff`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Comparison {
    /// The differences, in the order of the first model.
    pub differences: Vec<Difference>,
    /// Tensors that could not be compared.
    pub errors: Vec<Error>,
}

/// # Summaries and inferred types
impl Model {
    /// A summary: opsets, operators, casts, initializers, functions; and what is invalid. Weights
    /// are not read.
    ///
    /// ```
    /// # fn main() -> Result<(), onnx_recast::Error> {
    /// let model = onnx_recast::Model::open("models/fp8_qdq.onnx")?;
    /// let (summary, errors) = model.inspect();
    /// assert!(errors.is_empty());
    /// assert_eq!(summary.ops["Cast"], 3);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn inspect(&self) -> (Inspection, Vec<Error>) {
        let (inspection, faults) = inspect::inspect(self);
        let errors = self
            .bad_tensors()
            .iter()
            .chain(&faults)
            .map(|fault| self.error(Error::of(fault)));
        (inspection, errors.collect())
    }

    /// The types and shapes of all values, stated or inferred, in document order.
    #[must_use]
    pub fn types(&self) -> Vec<ValueFacts> {
        inspect::types(self)
    }
}

/// Compares two models in every field, including fields unknown to this version; tensors by value,
/// regardless of their storage.
///
/// ```
/// use onnx_recast::{FoldOptions, Model, diff};
///
/// # fn main() -> Result<(), onnx_recast::Error> {
/// let model = Model::open("models/fp8_qdq.onnx")?;
/// let mut folded = model.clone();
/// folded.fold(&FoldOptions::default())?;
/// let comparison = diff(&model, &folded)?;
/// assert_eq!(comparison.differences[0].path, "graph/zero_point_cast");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If a changed model does not fit into the 2 GiB of a protobuf message; if the operation is
/// cancelled.
pub fn diff(left: &Model, right: &Model) -> Result<Comparison, Error> {
    let [left_bytes, right_bytes] = [left.to_bytes()?, right.to_bytes()?];
    let Compared {
        differences,
        faults,
    } = compare(
        compared_message(left, &left_bytes),
        compared_message(right, &right_bytes),
    );
    [left, right].into_iter().try_for_each(|model| {
        model
            .control()
            .check()
            .map_err(|cancelled| model.error(Error::of(&cancelled)))
    })?;
    let bad_tensors = [left, right].into_iter().flat_map(|model| {
        model
            .bad_tensors()
            .iter()
            .map(|fault| model.error(Error::of(fault)))
    });
    let unread = faults
        .iter()
        .map(|(side, fault)| [left, right][*side].error(Error::of(fault)));
    Ok(Comparison {
        differences,
        errors: bad_tensors.chain(unread).collect(),
    })
}

fn compared_message<'a>(model: &'a Model, bytes: &'a Bytes) -> ComparedMessage<'a> {
    ComparedMessage {
        message: bytes,
        data: model.data(),
        cancel: &model.control().cancel,
    }
}
