//! `float_data`, `int32_data` and the other typed fields: converts protobuf numbers to the layout
//! of `raw_data`.
//!
//! The fields are kept in encoded form until they are read here: a list of numbers may be packed
//! into one value or be several values.

use std::sync::Arc;

use bytes::{Buf, Bytes};
use prost::encoding::decode_varint;

use super::bad_tensor::BadTensor;
use crate::protobuf::schema::TensorProto;
use crate::protobuf::{Field, Piece, Value};
use onnx_cast::{Class, DType};

/// The field number of `raw_data`.
pub const RAW_DATA: u32 = 9;

/// A `raw_data` field with these numbers.
#[must_use]
pub fn raw_data(numbers: Piece) -> Field {
    let value = match numbers {
        Piece::Bytes(bytes) => match bytes.in_memory() {
            Some(bytes) => Value::Len(bytes.clone()),
            None => Value::Made(Arc::new(bytes)),
        },
        Piece::Made(recipe) => Value::Made(recipe),
    };
    Field {
        tag: RAW_DATA,
        value,
    }
}

/// The number and name of the field that stores values of this type, by the comments on the fields
/// of `TensorProto`.
pub(super) fn field(dtype: DType) -> (u32, &'static str) {
    match dtype {
        DType::Float | DType::Complex64 => (4, "float_data"),
        DType::Int64 => (7, "int64_data"),
        DType::Double | DType::Complex128 => (10, "double_data"),
        DType::Uint32 | DType::Uint64 => (11, "uint64_data"),
        DType::String => (6, "string_data"),
        _ => (5, "int32_data"),
    }
}

/// The size of an entry of a field whose packed encoding is the layout of `raw_data`; `None` for
/// fields of varints.
fn fixed_size(dtype: DType) -> Option<usize> {
    match field(dtype).1 {
        "float_data" => Some(4),
        "double_data" => Some(8),
        _ => None,
    }
}

/// The field numbers of all numeric typed fields.
pub(super) const FIELDS: [u32; 5] = [4, 5, 7, 10, 11];

/// The number of entries for this many elements: two 4-bit or four 2-bit elements share an entry, a
/// complex number takes two.
pub(super) fn entries(dtype: DType, elements: u64) -> u64 {
    match dtype {
        DType::Complex64 | DType::Complex128 => elements * 2,
        _ if dtype.bits() == 4 => elements.div_ceil(2),
        _ if dtype.bits() == 2 => elements.div_ceil(4),
        _ => elements,
    }
}

/// The values in the layout of `raw_data`, and the number of entries in the field.
pub(super) fn read(proto: &TensorProto, dtype: DType) -> Result<(Bytes, u64), BadTensor> {
    let (tag, _) = field(dtype);
    let mut fields = proto.rest().iter().filter(|field| field.tag == tag);
    match (fixed_size(dtype), fields.next(), fields.next()) {
        (_, None, _) => Ok((Bytes::new(), 0)),
        (
            Some(size),
            Some(Field {
                value: Value::Len(packed),
                ..
            }),
            None,
        ) if packed.len().is_multiple_of(size) => {
            Ok((packed.clone(), (packed.len() / size) as u64))
        }
        _ => read_numbers(proto, dtype),
    }
}

fn read_numbers(proto: &TensorProto, dtype: DType) -> Result<(Bytes, u64), BadTensor> {
    let (tag, name) = field(dtype);
    let malformed = || BadTensor::Encoding(name);
    let mut raw = Raw::new(dtype);
    for field in proto.rest().iter().filter(|field| field.tag == tag) {
        match (&field.value, fixed_size(dtype)) {
            (Value::Fixed32(bits), Some(4)) => raw.bytes.extend(bits.to_le_bytes()),
            (Value::Fixed64(bits), Some(8)) => raw.bytes.extend(bits.to_le_bytes()),
            (Value::Len(packed), Some(size)) if packed.len().is_multiple_of(size) => {
                raw.bytes.extend_from_slice(packed)
            }
            (Value::Varint(number), None) => raw.push(*number)?,
            (Value::Len(packed), None) => {
                let mut packed = packed.clone();
                while packed.has_remaining() {
                    raw.push(decode_varint(&mut packed).map_err(|_| malformed())?)?;
                }
            }
            _ => return Err(malformed()),
        }
    }
    Ok(raw.finish())
}

/// The range of entries that are valid for a type; `None` if every entry is valid.
///
/// By onnx.proto, bit patterns in `int32_data` are unsigned; elements of 4 and 2 bits are packed
/// into a byte, which is also unsigned but which some writers sign-extend.
fn range(dtype: DType) -> Option<(i64, i64)> {
    match (dtype.class(), dtype.bits()) {
        (_, 64..) => None,
        (Class::Unsigned, 32) => Some((0, u32::MAX.into())),
        // A negative number may not be sign-extended to 64 bits; protobuf uses the low 32.
        (Class::Signed, 32) => Some((i32::MIN.into(), u32::MAX.into())),
        (Class::Signed, 2 | 4) => Some((i8::MIN.into(), u8::MAX.into())),
        (Class::Signed, bits) => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        (_, 2 | 4) => Some((0, u8::MAX.into())),
        (_, bits) => Some((0, (1 << bits) - 1)),
    }
}

/// Accumulates numbers in the layout of `raw_data`.
struct Raw {
    dtype: DType,
    /// The valid range of entries.
    range: Option<(i64, i64)>,
    bytes: Vec<u8>,
    numbers: u64,
    /// Bits of 6-bit elements that do not yet fill a byte, the first in the low bits.
    bits: u32,
    bit_count: u32,
}

impl Raw {
    fn new(dtype: DType) -> Raw {
        Raw {
            dtype,
            range: range(dtype),
            bytes: Vec::new(),
            numbers: 0,
            bits: 0,
            bit_count: 0,
        }
    }

    /// Adds an entry of the field.
    ///
    /// # Errors
    /// If the type cannot represent the entry; runtimes differ in how they read it.
    fn push(&mut self, number: u64) -> Result<(), BadTensor> {
        if let Some((least, most)) = self.range
            && !(least..=most).contains(&number.cast_signed())
        {
            let field = field(self.dtype).1;
            let found = if field == "uint64_data" {
                number.into()
            } else {
                number.cast_signed().into()
            };
            return Err(BadTensor::Range {
                field,
                index: self.numbers,
                found,
                dtype: self.dtype,
                least,
                most,
            });
        }
        self.numbers += 1;
        match (self.dtype.class(), self.dtype.bits()) {
            (Class::Bool, _) => self.bytes.push(u8::from(number != 0)),
            (_, 6) => {
                self.bits |= (number as u32 & 0x3f) << self.bit_count;
                self.bit_count += 6;
                while self.bit_count >= 8 {
                    self.bytes.push(self.bits as u8);
                    self.bits >>= 8;
                    self.bit_count -= 8;
                }
            }
            (_, bits) => self
                .bytes
                .extend_from_slice(&number.to_le_bytes()[..bits.div_ceil(8)]),
        }
        Ok(())
    }

    fn finish(mut self) -> (Bytes, u64) {
        if self.bit_count > 0 {
            self.bytes.push(self.bits as u8);
        }
        let numbers =
            fixed_size(self.dtype).map_or(self.numbers, |size| (self.bytes.len() / size) as u64);
        (self.bytes.into(), numbers)
    }
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;

    #[test]
    fn the_parts_of_a_complex_number_may_be_in_fields_of_their_own() {
        let parts = [1.0_f64, 2.0].map(f64::to_le_bytes);
        // dims, data_type, and double_data that is not packed.
        let message = [
            &[0x08, 1, 0x10, 15][..],
            &[0x51],
            &parts[0],
            &[0x51],
            &parts[1],
        ]
        .concat();
        let proto = TensorProto::decode(message.as_slice()).unwrap();
        let (bytes, entries) = read(&proto, DType::Complex128).unwrap();
        assert_eq!((&bytes[..], entries), (&parts.concat()[..], 2));
    }
}
