//! Elements of one type: read, cast and made.

use std::sync::Arc;

use bytes::Bytes;

use super::content::{Content, Data, Failure};
use super::elements::element_count;
use super::external::is_external;
use super::number::Number;
use super::recipe::Packing;
use super::view::Tensor;
use crate::base::error::{Classified, Error, ErrorKind};
use crate::base::options::options;
use crate::base::parallel;
use crate::base::progress::{Cancel, Control, Progress, Unit};
use crate::base::threshold::Threshold;
use crate::files::DataFolder;
use crate::protobuf::Piece;
use crate::protobuf::schema::TensorProto;
use onnx_cast::{BadLiteral, Cast, Contested, DType, RoundMode, Rules, Tally, Unsupported};

/// The number of bytes per job of a thread.
const PART: Threshold = Threshold::new("part of an array", 96 << 10).small_from(7);

/// Elements of one type in C order. Casts are computed when the elements are taken out.
///
/// ```
/// use onnx_recast::{Array, CastOptions, DType, Packing};
///
/// # fn main() -> Result<(), onnx_recast::Error> {
/// let array = Array::from_slice(&[3], &[0.1_f32, 448.0, 1e9])?;
/// let cast = array.cast(DType::Float8E4M3Fn, &CastOptions::default())?;
/// assert_eq!(cast.to_bytes(Packing::Packed)?, [0x1D, 0x7E, 0x7E]);
/// let exact = cast.cast(DType::Float, &CastOptions::default())?;
/// assert_eq!(exact.to_vec::<f32>()?, [0.1015625, 448.0, 448.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Array {
    content: Content,
    control: Control,
}

options! {
    /// How to cast an array.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CastOptions {
        /// Whether float8 targets saturate on overflow.
        pub saturate: bool,
        /// The rounding to `FLOAT8E8M0`.
        pub round_mode: RoundMode,
        /// The version of the default operator set.
        pub opset: u32,
        /// Cast elements whose result ONNX leaves undefined, to the value that this project
        /// defines; otherwise they are an error.
        pub undefined: bool,
        /// The value of elements on which ONNX's text and its node tests disagree; `None`: they are
        /// an error.
        pub contested: Option<Contested>,
    }
}

impl Default for CastOptions {
    fn default() -> CastOptions {
        let Rules {
            saturate,
            round_mode,
            opset,
            ..
        } = Rules::default();
        CastOptions {
            saturate,
            round_mode,
            opset,
            undefined: false,
            contested: None,
        }
    }
}

impl CastOptions {
    /// The rules of the cast. Contested elements for which nothing is chosen have the value of the
    /// text until they are refused.
    fn rules(&self) -> Rules {
        Rules::default()
            .saturate(self.saturate)
            .round_mode(self.round_mode)
            .opset(self.opset)
            .contested(self.contested.unwrap_or(Contested::Text))
    }
}

/// Why an array cannot be cast.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CannotCast {
    /// The opset's `Cast` does not support one of the types.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// A string that does not represent a number of the type.
    #[error(transparent)]
    Literal(BadLiteral),
    /// The result is larger than the address space.
    #[error("the result is too large for {0} on this machine")]
    TooLarge(DType),
    /// ONNX leaves the results of some elements undefined.
    #[error("{}", counted(.0, "undefined"))]
    Undefined(Tally),
    /// ONNX's text and its node tests disagree on the results of some elements.
    #[error("{}", counted(.0, "contested"))]
    Contested(Tally),
}

impl CannotCast {
    /// The index of the first element that cannot be cast.
    #[must_use]
    pub fn element(&self) -> Option<u64> {
        match self {
            CannotCast::Literal(literal) => Some(literal.index),
            CannotCast::Undefined(tally) | CannotCast::Contested(tally) => tally.first,
            CannotCast::Unsupported(_) | CannotCast::TooLarge(_) => None,
        }
    }
}

impl Classified for CannotCast {
    fn kind(&self) -> ErrorKind {
        ErrorKind::CannotCast
    }
}

fn counted(tally: &Tally, what: &str) -> String {
    let Tally { count, first, why } = tally;
    let elements = if *count == 1 {
        "1 result is".to_owned()
    } else {
        format!("{count} results are")
    };
    format!(
        "{elements} {what}, the first at element {}: {why}",
        first.unwrap_or(0)
    )
}

impl Array {
    /// An array of numbers in little-endian byte order: packed as in ONNX's `raw_data`, or with
    /// elements of less than 8 bits in a byte each.
    ///
    /// # Errors
    /// If the shape is negative, or the length is not that of this type and shape; if the type is
    /// `STRING`.
    pub fn from_bytes(
        dtype: DType,
        dims: &[i64],
        bytes: impl Into<Bytes>,
        packing: Packing,
    ) -> Result<Array, Error> {
        let bytes = bytes.into();
        let needed = element_count(dims).and_then(|elements| match packing {
            Packing::Byte if dtype.bits() < 8 => Some(elements),
            _ => dtype.raw_bytes(elements),
        });
        if needed != Some(bytes.len() as u64) {
            let needed = needed.map_or_else(
                || "another number of".to_owned(),
                |needed| needed.to_string(),
            );
            let what = format!(
                "an array of type {dtype} and shape {dims:?} has {needed} bytes, not {}",
                bytes.len()
            );
            return Err(Error::new(ErrorKind::BadTensor, what));
        }
        Ok(Array::of(match packing {
            Packing::Packed => Content::new(dtype, dims, Data::Numbers(bytes.into(), Vec::new())),
            Packing::Byte => Content::unpacked(dtype, dims, bytes),
        }))
    }

    /// An array of numbers of the element type that is the Rust type's.
    ///
    /// # Errors
    /// If the shape is negative or has another number of elements.
    pub fn from_slice<T: Number>(dims: &[i64], numbers: &[T]) -> Result<Array, Error> {
        expect_elements(dims, numbers.len())?;
        let mut bytes = Vec::with_capacity(size_of_val(numbers));
        for number in numbers {
            number.append_to(&mut bytes);
        }
        Array::from_bytes(T::DTYPE, dims, bytes, Packing::Packed)
    }

    /// The elements of a tensor that stores them itself, in any of its fields;
    /// [`Model::read`](crate::Model::read) also reads data files.
    ///
    /// # Errors
    /// If the tensor is not valid, or its elements are in a data file.
    pub fn from_tensor(tensor: &TensorProto) -> Result<Array, Error> {
        if is_external(tensor) {
            let what = "the elements are in a data file, which Model::read reads";
            return Err(Error::new(ErrorKind::BadExternalData, what));
        }
        let content = Tensor::read(tensor).and_then(|tensor| tensor.load(&DataFolder::default()));
        content.map(Array::of).map_err(Error::caused_by)
    }

    /// An array of strings.
    ///
    /// # Errors
    /// If the shape is negative or has another number of elements.
    pub fn from_strings(dims: &[i64], strings: Vec<Bytes>) -> Result<Array, Error> {
        expect_elements(dims, strings.len())?;
        Ok(Array::of(Content::new(
            DType::String,
            dims,
            Data::Strings(strings),
        )))
    }

    pub(crate) fn content(&self) -> &Content {
        &self.content
    }

    pub(crate) fn of(content: Content) -> Array {
        Array {
            content,
            control: Control::default(),
        }
    }

    /// The array with a token that cancels its operations and those of its casts.
    #[must_use]
    pub fn with_cancel(mut self, cancel: &Cancel) -> Array {
        self.content = self.content.with_cancel(cancel);
        self.control.cancel = cancel.clone();
        self
    }

    /// The array with a function that [`Array::write_into`] calls with its progress, from any
    /// thread. Its casts have the function too.
    #[must_use]
    pub fn with_progress(mut self, progress: impl Fn(Progress) + Send + Sync + 'static) -> Array {
        self.control.progress = Some(Arc::new(progress));
        self
    }

    /// The element type.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.content.dtype()
    }

    /// The shape.
    #[must_use]
    pub fn dims(&self) -> &[i64] {
        self.content.dims()
    }

    /// The number of elements.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.content.elements()
    }

    /// Casts the elements as ONNX's `Cast` does, each rounded once. Numbers are computed when they
    /// are taken out.
    ///
    /// # Errors
    /// If the opset does not support the types, a string is not a number, or ONNX does not define a
    /// result: see [`CannotCast`], which is the [cause](Error::cause).
    pub fn cast(&self, to: DType, options: &CastOptions) -> Result<Array, Error> {
        let cast = Cast::new(self.dtype(), to, options.rules())
            .map_err(|error| Error::caused_by(CannotCast::from(error)))?;
        let (content, summary) = self
            .content
            .cast(cast)
            .map_err(|error| Error::caused_by(CannotCast::from(error)))?;
        if let Err(cancelled) = self.control.check() {
            parallel::drop_in_background(content);
            return Err(Error::of(&cancelled));
        }
        if summary.undefined.count > 0 && !options.undefined {
            return Err(Error::caused_by(CannotCast::Undefined(summary.undefined)));
        }
        if summary.contested.count > 0 && options.contested.is_none() {
            return Err(Error::caused_by(CannotCast::Contested(summary.contested)));
        }
        Ok(Array {
            content,
            control: self.control.clone(),
        })
    }

    /// The number of bytes of the numbers; `None` for strings.
    #[must_use]
    pub fn byte_length(&self, packing: Packing) -> Option<usize> {
        self.content
            .piece(packing)
            .and_then(|piece| usize::try_from(piece.bytes()).ok())
    }

    /// Computes the numbers, on all cores, into memory of [`Array::byte_length`] bytes.
    ///
    /// # Errors
    /// If the elements are strings, or the memory has another length; if the operation is
    /// cancelled, which leaves the memory incomplete.
    pub fn write_into(&self, out: &mut [u8], packing: Packing) -> Result<(), Error> {
        let piece = self.numbers(packing)?;
        if piece.bytes() != out.len() as u64 {
            let what = format!("the array has {} bytes, not {}", piece.bytes(), out.len());
            return Err(Error::new(ErrorKind::Usage, what));
        }
        let counter = self.control.counter(Unit::Bytes, out.len() as u64);
        let of_part = PART.get();
        parallel::for_each_part(out, of_part, |index, part| {
            if !self.control.cancel.is_cancelled() {
                piece.fill((index * of_part) as u64, part);
                counter.add(part.len() as u64);
            }
        });
        self.control
            .check()
            .map_err(|cancelled| Error::of(&cancelled))
    }

    /// The numbers.
    ///
    /// # Errors
    /// If the elements are strings.
    pub fn to_bytes(&self, packing: Packing) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; self.numbers(packing)?.bytes() as usize];
        self.write_into(&mut bytes, packing)?;
        Ok(bytes)
    }

    /// The numbers, if they are of the element type that is the Rust type's. Elements of other types
    /// can be cast to one of these, or taken as bytes.
    ///
    /// # Errors
    /// If the elements are of another type; if the operation is cancelled.
    pub fn to_vec<T: Number>(&self) -> Result<Vec<T>, Error> {
        if self.dtype() != T::DTYPE {
            let what = format!(
                "the elements are of type {}, not {}",
                self.dtype(),
                T::DTYPE
            );
            return Err(Error::new(ErrorKind::Usage, what));
        }
        let bytes = self.to_bytes(Packing::Packed)?;
        Ok(bytes
            .chunks_exact(size_of::<T>())
            .map(T::from_bytes)
            .collect())
    }

    /// A tensor with these elements, such as an initializer for
    /// [`Edit::AddInitializer`](crate::graph::Edit::AddInitializer). Casts are computed when the
    /// model is written.
    #[must_use]
    pub fn into_tensor(self, name: &str) -> TensorProto {
        self.content.into_tensor(name)
    }

    /// The strings, in UTF-8; `None` for numbers.
    #[must_use]
    pub fn strings(&self) -> Option<&[Bytes]> {
        match self.content.data() {
            Data::Strings(strings) => Some(strings),
            Data::Numbers(..) => None,
        }
    }

    fn numbers(&self, packing: Packing) -> Result<Piece, Error> {
        self.content
            .piece(packing)
            .ok_or_else(|| Error::new(ErrorKind::Usage, "the elements are strings, not numbers"))
    }
}

/// # Errors
/// If an array of this shape has another number of elements.
fn expect_elements(dims: &[i64], found: usize) -> Result<(), Error> {
    if element_count(dims) == Some(found as u64) {
        return Ok(());
    }
    let what = format!("an array of shape {dims:?} does not have {found} elements");
    Err(Error::new(ErrorKind::BadTensor, what))
}

impl From<Failure> for CannotCast {
    fn from(failure: Failure) -> CannotCast {
        match failure {
            Failure::Literal(literal) => CannotCast::Literal(literal),
            Failure::TooLarge(dtype) => CannotCast::TooLarge(dtype),
        }
    }
}
