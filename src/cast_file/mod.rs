//! Casts of single tensors in files: numpy's `.npy`, and ONNX's `TensorProto` (`.pb`).
//!
//! A tensor is read by reference to the mapped file and cast while the result is written, so that neither has to fit memory.

mod array;
mod npy;
mod strings;
mod tensor_proto;

pub use array::{Array, Failure};

use crate::dtype::DType;
use crate::wire::{DataFolder, Input, Layout};

/// The form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// numpy's.
    Npy,
    /// A serialized `TensorProto`.
    Proto,
}

impl Form {
    /// The form of a file's content.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Form {
        if bytes.starts_with(npy::MAGIC) { Form::Npy } else { Form::Proto }
    }
}

/// Reads the tensor of a file. What the unsigned integers of a `.npy` file stand for, `stored` may say; the data file of a
/// `TensorProto` is looked for in `folder`.
///
/// # Errors
/// Where the file is not what it should be, or holds something that no cast reads.
pub fn read(input: &Input, stored: Option<DType>, folder: &DataFolder) -> Result<Array, Failure> {
    match Form::of(&input.bytes) {
        Form::Npy => npy::read(&input.bytes, stored),
        Form::Proto => tensor_proto::read(&input.bytes, stored, folder),
    }
}

/// The file that holds an array.
///
/// # Errors
/// Where the form has no room for it.
pub fn layout(array: Array, form: Form) -> Result<Layout, Failure> {
    match form {
        Form::Npy => npy::layout(array),
        Form::Proto => tensor_proto::layout(array),
    }
}
