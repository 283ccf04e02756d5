//! One view over the ways in which a `TensorProto` stores its values.

use std::sync::Arc;

use bytes::Bytes;

use super::content::{Content, Data};
use super::external::{Reference, is_external};
use super::typed;
use crate::dtype::DType;
use crate::error::{Classified, ErrorKind};
use crate::wire::schema::TensorProto;
use crate::wire::{BadLocation, DataFolder, Piece, Value};

/// The number of the field `raw_data`.
pub const RAW_DATA: u32 = 9;

/// A `TensorProto` whose type is known and whose dimensions and stored lengths agree.
#[derive(Clone, Copy, Debug)]
pub struct Tensor<'a> {
    proto: &'a TensorProto,
    dtype: DType,
    elements: u64,
}

/// Where a tensor's values are, in the layout of `raw_data` if they are numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Little-endian, packed: see [`DType::raw_bytes`].
    Raw(Bytes),
    /// One UTF-8 string an element.
    Strings(Vec<Bytes>),
    /// In another file.
    External(Reference),
}

/// A `TensorProto` that contradicts itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTensor {
    /// A number that is not an element type of any IR version up to 14.
    #[error("data_type {0} is no element type of IR 14")]
    UnknownType(i32),
    /// A negative dimension, or more elements than this machine can count.
    #[error("dims {0:?} are no shape: negative, or too many elements")]
    Dims(Vec<i64>),
    /// Fewer or more values than the dimensions say.
    #[error("{field} holds {found} {unit}, but {dtype}{dims:?} needs {needed}")]
    Length {
        /// The storage field.
        field: &'static str,
        /// How many there are.
        found: u64,
        /// How many there should be.
        needed: u64,
        /// What is counted.
        unit: &'static str,
        /// The tensor's type.
        dtype: DType,
        /// The tensor's shape.
        dims: Vec<i64>,
    },
    /// A number of a typed field is beyond what its elements can hold.
    #[error("{field}[{index}] is {found}, which does not fit {dtype}: expected {least} to {most}")]
    Range {
        /// The storage field.
        field: &'static str,
        /// Which number of the field.
        index: u64,
        /// The number.
        found: i128,
        /// The tensor's type.
        dtype: DType,
        /// The least number that fits.
        least: i64,
        /// The greatest number that fits.
        most: i64,
    },
    /// The values of a typed field are encoded in a way that is not its own.
    #[error("{0} is not encoded as its type demands")]
    Encoding(&'static str),
    /// `data_location` is EXTERNAL, but the keys do not say where.
    #[error("external_data: {0}")]
    External(String),
    /// The file that holds the values cannot be read.
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

/// The product of dimensions; none where one is negative, or there are too many elements to count. A dimension of zero leaves no
/// elements, however large the others are.
#[must_use]
pub fn element_count(dims: &[i64]) -> Option<u64> {
    match dims.contains(&0) {
        true => dims.iter().all(|&dim| dim >= 0).then_some(0),
        false => dims.iter().try_fold(1_u64, |product, &dim| product.checked_mul(u64::try_from(dim).ok()?)),
    }
}

impl<'a> Tensor<'a> {
    /// Reads type and shape, and checks the stored lengths as far as that takes no look at the values.
    ///
    /// # Errors
    /// Where the message contradicts itself, or its type is unknown.
    pub fn read(proto: &'a TensorProto) -> Result<Tensor<'a>, BadTensor> {
        let number = proto.data_type.unwrap_or(0);
        let dtype = DType::from_number(number).ok_or(BadTensor::UnknownType(number))?;
        let elements = element_count(&proto.dims)
            .filter(|&elements| usize::try_from(elements).is_ok())
            .filter(|&elements| dtype == DType::String || dtype.addressable_bytes(elements).is_some())
            .ok_or_else(|| BadTensor::Dims(proto.dims.clone()))?;
        let tensor = Tensor { proto, dtype, elements };
        if is_external(proto) {
            tensor.check_reference(&Reference::read(proto)?)?;
        } else if let Some(raw) = proto.undecoded(RAW_DATA).and_then(Value::length) {
            tensor.expect_length("raw_data", "bytes", raw as u64, tensor.raw_bytes())?;
        } else if dtype == DType::String {
            tensor.expect_length("string_data", "strings", proto.string_data.len() as u64, elements)?;
        }
        Ok(tensor)
    }

    /// The element type.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The shape.
    #[must_use]
    pub fn dims(&self) -> &'a [i64] {
        &self.proto.dims
    }

    /// The product of the dimensions; one for a scalar.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.elements
    }

    /// The bytes that the values take as `raw_data`; zero for strings.
    #[must_use]
    pub fn raw_bytes(&self) -> u64 {
        self.dtype.raw_bytes(self.elements).unwrap_or(0)
    }

    /// The bytes that the values take in this model, wherever they are.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        match self.dtype {
            DType::String => self.proto.string_data.iter().map(|string| string.len() as u64).sum(),
            _ => self.raw_bytes(),
        }
    }

    /// The values; numbers are not copied if they are stored in `raw_data`, or in `float_data` or `double_data` packed.
    ///
    /// # Errors
    /// Where their number is not what the shape says.
    pub fn values(&self) -> Result<Values, BadTensor> {
        if is_external(self.proto) {
            return Reference::read(self.proto).map(Values::External);
        }
        if self.dtype == DType::String {
            return Ok(Values::Strings(self.proto.string_data.clone()));
        }
        if let Some(raw) = self.raw_data() {
            return Ok(Values::Raw(raw));
        }
        let (raw, found) = typed::read(self.proto, self.dtype)?;
        let needed = typed::entries(self.dtype, self.elements);
        let field = typed::field(self.dtype).1;
        self.expect_length(field, "entries", found, needed).map(|()| Values::Raw(raw))
    }

    /// The tensor with its values, from the file that they are in if that is another one.
    ///
    /// # Errors
    /// Where their number is not what the shape says, or that file cannot be read.
    pub fn load(&self, folder: &DataFolder) -> Result<Content, BadTensor> {
        let data = match self.values()? {
            Values::Raw(raw) => Data::Numbers(raw, Vec::new()),
            Values::Strings(strings) => Data::Strings(strings),
            Values::External(reference) => Data::Numbers(reference.bytes(self.raw_bytes(), folder)?, Vec::new()),
        };
        Ok(Content::new(self.dtype, &self.proto.dims, data))
    }

    /// The values as a run of bytes of a file, if they are in this model as `raw_data` would hold them or are yet to be computed.
    #[must_use]
    pub fn piece(&self) -> Option<Piece> {
        match (self.proto.undecoded(RAW_DATA), self.dtype) {
            _ if is_external(self.proto) => None,
            (Some(Value::Len(raw)), _) => Some(Piece::Bytes(raw.clone())),
            (Some(Value::Made(recipe)), _) => Some(Piece::Made(Arc::clone(recipe))),
            (_, DType::Float | DType::Double) => match self.values() {
                Ok(Values::Raw(raw)) => Some(Piece::Bytes(raw)),
                _ => None,
            },
            _ => None,
        }
    }

    fn raw_data(&self) -> Option<Bytes> {
        self.proto.undecoded(RAW_DATA).and_then(Value::to_bytes)
    }

    fn check_reference(&self, reference: &Reference) -> Result<(), BadTensor> {
        if self.dtype == DType::String {
            return Err(BadTensor::External("strings cannot be in another file".to_owned()));
        }
        match reference.length {
            Some(length) => self.expect_length("external_data 'length'", "bytes", length, self.raw_bytes()),
            None => Ok(()),
        }
    }

    fn expect_length(&self, field: &'static str, unit: &'static str, found: u64, needed: u64) -> Result<(), BadTensor> {
        if found == needed {
            return Ok(());
        }
        Err(BadTensor::Length { field, found, needed, unit, dtype: self.dtype, dims: self.proto.dims.clone() })
    }
}
