//! A uniform view of the values of a `TensorProto`, whichever field stores them.

use std::sync::Arc;

use bytes::Bytes;

use super::bad_tensor::BadTensor;
use super::content::{Content, Data};
use super::elements::element_count;
use super::external::{Reference, is_external};
use super::typed::{self, RAW_DATA};
use crate::files::DataFolder;
use crate::protobuf::schema::TensorProto;
use crate::protobuf::{Layout, Piece, Pieces, Value};
use onnx_cast::DType;

/// A `TensorProto` with a known type and consistent dimensions and stored length.
#[derive(Clone, Copy, Debug)]
pub struct Tensor<'a> {
    proto: &'a TensorProto,
    dtype: DType,
    elements: u64,
}

/// A tensor's values; numbers are in the layout of `raw_data`.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Little-endian, packed: see [`DType::raw_bytes`].
    Raw(Bytes),
    /// One UTF-8 string per element.
    Strings(Vec<Bytes>),
    /// External data.
    External(Reference),
}

impl<'a> Tensor<'a> {
    /// Reads type and shape, and validates the stored length without reading the values.
    ///
    /// # Errors
    /// If the message is inconsistent, or its type is unknown.
    pub fn read(proto: &'a TensorProto) -> Result<Tensor<'a>, BadTensor> {
        let number = proto.data_type.unwrap_or(0);
        let dtype = DType::from_number(number).ok_or(BadTensor::UnknownType(number))?;
        let bad_dims = || BadTensor::Dims(proto.dims.clone());
        let elements = element_count(&proto.dims)
            .filter(|&elements| dtype == DType::String || dtype.raw_bytes(elements).is_some())
            .ok_or_else(bad_dims)?;
        let tensor = Tensor {
            proto,
            dtype,
            elements,
        };
        if is_external(proto) {
            tensor.check_reference(&Reference::read(proto)?)?;
        } else if let Some(raw) = proto.undecoded(RAW_DATA).and_then(Value::length) {
            tensor.expect_length("raw_data", "bytes", raw as u64, tensor.raw_bytes())?;
        } else if dtype == DType::String {
            tensor.expect_length(
                "string_data",
                "strings",
                proto.string_data.len() as u64,
                elements,
            )?;
        }
        // After the lengths, so that an error is the same where addresses have 32 bits.
        let is_addressable = usize::try_from(elements).is_ok()
            && (dtype == DType::String || dtype.addressable_bytes(elements).is_some());
        is_addressable.then_some(tensor).ok_or_else(bad_dims)
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

    /// The number of elements; one for a scalar.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.elements
    }

    /// The size of the values as `raw_data`, in bytes; zero for strings.
    #[must_use]
    pub fn raw_bytes(&self) -> u64 {
        self.dtype.raw_bytes(self.elements).unwrap_or(0)
    }

    /// The size of the values as stored, in bytes.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        match self.dtype {
            DType::String => self
                .proto
                .string_data
                .iter()
                .map(|string| string.len() as u64)
                .sum(),
            _ => self.raw_bytes(),
        }
    }

    /// The values; numbers in `raw_data`, or in packed `float_data` or `double_data`, are not
    /// copied.
    ///
    /// # Errors
    /// If the number of values does not match the shape.
    pub fn values(&self) -> Result<Values, BadTensor> {
        if is_external(self.proto) {
            return Reference::read(self.proto).map(Values::External);
        }
        if self.dtype == DType::String {
            return Ok(Values::Strings(self.proto.string_data.clone()));
        }
        if let Some(raw) = self.proto.undecoded(RAW_DATA).and_then(Value::to_bytes) {
            return Ok(Values::Raw(raw));
        }
        let (raw, found) = typed::read(self.proto, self.dtype)?;
        let needed = typed::entries(self.dtype, self.elements);
        let field = typed::field(self.dtype).1;
        self.expect_length(field, "entries", found, needed)
            .map(|()| Values::Raw(raw))
    }

    /// The tensor with its values, including external data. Values that are computed when a file is
    /// written are computed when they are read.
    ///
    /// # Errors
    /// If the number of values does not match the shape, or the external data cannot be read.
    pub fn load(&self, folder: &DataFolder) -> Result<Content, BadTensor> {
        if let Some(Value::Made(recipe)) = self.proto.undecoded(RAW_DATA) {
            let computed =
                Pieces::stored(&Layout::of_pieces(vec![Piece::Made(Arc::clone(recipe))]));
            return Ok(Content::new(
                self.dtype,
                &self.proto.dims,
                Data::Numbers(computed, Vec::new()),
            ));
        }
        let data = match self.values()? {
            Values::Raw(raw) => Data::Numbers(raw.into(), Vec::new()),
            Values::Strings(strings) => Data::Strings(strings),
            Values::External(reference) => {
                Data::Numbers(reference.bytes(self.raw_bytes(), folder)?, Vec::new())
            }
        };
        Ok(Content::new(self.dtype, &self.proto.dims, data))
    }

    /// The values as a contiguous piece of a file, if they are stored in the layout of `raw_data`
    /// or have pending casts.
    #[must_use]
    pub fn piece(&self) -> Option<Piece> {
        match (self.proto.undecoded(RAW_DATA), self.dtype) {
            _ if is_external(self.proto) => None,
            (Some(Value::Len(raw)), _) => Some(Piece::Bytes(raw.clone().into())),
            (Some(Value::Made(recipe)), _) => Some(Piece::Made(Arc::clone(recipe))),
            (_, DType::Float | DType::Double) => match self.values() {
                Ok(Values::Raw(raw)) => Some(Piece::Bytes(raw.into())),
                _ => None,
            },
            _ => None,
        }
    }

    fn check_reference(&self, reference: &Reference) -> Result<(), BadTensor> {
        if self.dtype == DType::String {
            return Err(BadTensor::External(
                "strings cannot be stored as external data".to_owned(),
            ));
        }
        match reference.length {
            Some(length) => {
                self.expect_length("external_data 'length'", "bytes", length, self.raw_bytes())
            }
            None => Ok(()),
        }
    }

    fn expect_length(
        &self,
        field: &'static str,
        unit: &'static str,
        found: u64,
        needed: u64,
    ) -> Result<(), BadTensor> {
        if found == needed {
            return Ok(());
        }
        Err(BadTensor::Length {
            field,
            found,
            needed,
            unit,
            dtype: self.dtype,
            dims: self.proto.dims.clone(),
        })
    }
}
