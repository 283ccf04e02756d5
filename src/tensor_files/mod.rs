//! Casts of single tensors in files: NumPy's `.npy` and ONNX's `TensorProto` (`.pb`).
//!
//! Input is memory-mapped and cast while the result is written, so that neither has to fit in
//! memory.

mod array;
mod npy;
mod strings;
mod tensor_proto;

pub use array::{Array, Failure, Remedy};

use crate::files::{DataFolder, Input};
use crate::protobuf::Layout;
use onnx_cast::DType;

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// NumPy's `.npy`.
    Npy,
    /// A serialized `TensorProto`.
    Proto,
}

impl Form {
    /// Detects the format of a file by its content.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Form {
        if bytes.starts_with(npy::MAGIC) {
            Form::Npy
        } else {
            Form::Proto
        }
    }
}

/// Reads the tensor of a file. `stored` is the ONNX type that the unsigned integers of a `.npy`
/// file represent, if any; `folder` contains the data file of a `TensorProto`.
///
/// # Errors
/// If the file is invalid, or its type is not supported by `Cast`.
pub fn read(input: &Input, stored: Option<DType>, folder: &DataFolder) -> Result<Array, Failure> {
    match Form::of(&input.bytes) {
        Form::Npy => npy::read(&input.bytes, stored),
        Form::Proto => tensor_proto::read(&input.bytes, stored, folder),
    }
}

/// The content of a file with this array.
///
/// # Errors
/// If the format cannot represent it.
pub fn layout(array: Array, form: Form) -> Result<Layout, Failure> {
    match form {
        Form::Npy => npy::layout(array),
        Form::Proto => tensor_proto::layout(array),
    }
}
