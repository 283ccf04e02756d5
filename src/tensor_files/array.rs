//! The tensor of a file.

use crate::protobuf::schema::TensorProto;
use crate::tensor::Content;
use onnx_cast::{Cast, DType, Summary};

/// An invalid file, or the reason why it cannot be cast.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Failure {
    /// The fault.
    pub what: String,
    /// The option that helps, if there is one.
    pub remedy: Option<Remedy>,
}

/// An option of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// The file does not state the type: the caller has to.
    StateType,
    /// The file states the type: the caller must not.
    OmitType,
    /// The data file is outside of the allowed folders: the caller has to allow its folder.
    AllowFolder,
}

impl Failure {
    /// A failure with a message.
    pub fn new(why: impl ToString) -> Failure {
        Failure {
            what: why.to_string(),
            remedy: None,
        }
    }

    /// The failure with what helps.
    #[must_use]
    pub fn with(self, remedy: Remedy) -> Failure {
        Failure {
            remedy: Some(remedy),
            ..self
        }
    }
}

/// The tensor of a file, and the other properties of the file.
#[derive(Clone, Debug)]
pub struct Array {
    /// Its type, shape and values; numbers may be memory-mapped and have pending casts.
    pub content: Content,
    /// Whether the first index varies fastest.
    pub fortran_order: bool,
    /// The original message, whose other fields are preserved.
    pub message: Option<TensorProto>,
}

impl Array {
    /// The element type, after the cast if there is one.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.content.dtype()
    }

    /// The number of elements.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.content.elements()
    }

    /// Casts the tensor from its type; also returns which elements ONNX does not define. Numbers
    /// are computed lazily.
    ///
    /// # Errors
    /// If the cast cannot parse a string, or the result is too large.
    pub fn cast(self, cast: Cast) -> Result<(Array, Summary), Failure> {
        let (content, summary) = self.content.cast(cast).map_err(Failure::new)?;
        Ok((Array { content, ..self }, summary))
    }
}
