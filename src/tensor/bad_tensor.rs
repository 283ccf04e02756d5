//! Why a `TensorProto` cannot be used.

use crate::base::error::{Classified, ErrorKind};
use crate::files::BadLocation;
use onnx_cast::DType;

/// An invalid `TensorProto`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadTensor {
    /// A number that is not an element type of any IR version up to 14.
    #[error("unknown data_type {0}; IR 14 has no such element type")]
    UnknownType(i32),
    /// A negative dimension, or more elements than this machine can count.
    #[error("invalid dims {0:?}: negative, or too many elements")]
    Dims(Vec<i64>),
    /// The number of values differs from the product of the dimensions.
    #[error("{field} holds {found} {unit}, but {dtype}{dims:?} needs {needed}")]
    Length {
        /// The storage field.
        field: &'static str,
        /// The actual number.
        found: u64,
        /// The expected number.
        needed: u64,
        /// The unit: `bytes`, `strings`, `numbers`.
        unit: &'static str,
        /// The tensor's type.
        dtype: DType,
        /// The tensor's shape.
        dims: Vec<i64>,
    },
    /// An entry of a typed field is outside the range of its element type.
    #[error("{field}[{index}] is {found}, which does not fit {dtype}: expected {least} to {most}")]
    Range {
        /// The storage field.
        field: &'static str,
        /// The index of the entry.
        index: u64,
        /// The entry.
        found: i128,
        /// The tensor's type.
        dtype: DType,
        /// The lowest valid entry.
        least: i64,
        /// The highest valid entry.
        most: i64,
    },
    /// The values of a typed field have the wrong protobuf encoding.
    #[error("{0} does not have the protobuf encoding of its type")]
    Encoding(&'static str),
    /// `data_location` is EXTERNAL, but the keys are invalid.
    #[error("external_data: {0}")]
    External(String),
    /// The external data cannot be read.
    #[error("external_data: {0}")]
    Location(#[from] BadLocation),
}

impl Classified for BadTensor {
    fn kind(&self) -> ErrorKind {
        match self {
            BadTensor::External(_) | BadTensor::Location(_) => ErrorKind::BadExternalData,
            _ => ErrorKind::BadTensor,
        }
    }
}
