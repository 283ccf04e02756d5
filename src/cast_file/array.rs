//! The tensor of a file.

use crate::cast::{Cast, Summary};
use crate::dtype::DType;
use crate::tensor::Content;
use crate::wire::schema::TensorProto;

/// What is wrong with a file, or why it cannot be cast.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Failure(pub String);

impl Failure {
    /// A failure for any reason that has words.
    pub fn new(why: impl ToString) -> Failure {
        Failure(why.to_string())
    }
}

/// The tensor of a file, and what the file says beside type, shape and values.
#[derive(Clone, Debug)]
pub struct Array {
    /// Its type, shape and values; numbers may be mapped, and have yet to go through a cast.
    pub content: Content,
    /// Whether the first index runs fastest.
    pub fortran_order: bool,
    /// The message that held it, whose other fields stay as they are.
    pub message: Option<TensorProto>,
}

impl Array {
    /// The type of its elements, after the cast if there is one.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.content.dtype()
    }

    /// How many elements there are.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.content.elements()
    }

    /// The tensor after a cast from its type, and which elements ONNX does not define. Numbers are not computed yet.
    ///
    /// # Errors
    /// Where a string is not one that the cast reads, or the result is too large.
    pub fn cast(self, cast: Cast) -> Result<(Array, Summary), Failure> {
        let (content, summary) = self.content.cast(cast).map_err(Failure::new)?;
        Ok((Array { content, ..self }, summary))
    }
}
