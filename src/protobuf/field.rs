//! Encoded protobuf fields.

use std::sync::Arc;

use bytes::{Buf, BufMut, Bytes};
use prost::DecodeError;
use prost::encoding::{self, DecodeContext, WireType};

use super::piece::{Piece, put, put_bytes};
use super::recipe::Recipe;

/// An undecoded field: its number and value.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The field's number.
    pub tag: u32,
    /// The value after the key.
    pub value: Value,
}

/// The value of a field, by wire type.
#[derive(Clone, Debug)]
pub enum Value {
    /// Wire type 0.
    Varint(u64),
    /// Wire type 1.
    Fixed64(u64),
    /// Wire type 2; a slice of the file, without the length.
    Len(Bytes),
    /// Wire types 3 and 4: the fields up to the end of the group, encoded.
    Group(Bytes),
    /// Wire type 5.
    Fixed32(u32),
    /// Wire type 2, computed while the file is written.
    Made(Arc<dyn Recipe>),
}

/// The maximum depth of nested groups: prost's limit for messages.
const GROUP_DEPTH: usize = 100;

impl Field {
    /// The fields of a message, in the order of the file; nested messages stay encoded, as slices
    /// of the bytes.
    pub fn all(mut message: Bytes) -> impl Iterator<Item = Result<Field, DecodeError>> {
        std::iter::from_fn(move || {
            message.has_remaining().then(|| {
                let (tag, wire_type) = encoding::decode_key(&mut message)?;
                Field::take(tag, wire_type, &mut message, DecodeContext::default())
            })
        })
    }

    /// Removes the value after a key from `buf`. A length-delimited value is not copied if `buf` is
    /// a [`Bytes`].
    pub(super) fn take(
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<Field, DecodeError> {
        let value = match wire_type {
            WireType::StartGroup => {
                let mut fields = Vec::new();
                copy_group(tag, buf, &ctx, GROUP_DEPTH, &mut fields)?;
                Value::Group(fields.into())
            }
            _ => take_plain(tag, wire_type, buf, &ctx)?,
        };
        Ok(Field { tag, value })
    }

    pub(super) fn encode_raw(&self, buf: &mut impl BufMut) {
        encoding::encode_key(self.tag, self.wire_type(), buf);
        match &self.value {
            Value::Varint(value) => encoding::encode_varint(*value, buf),
            Value::Fixed64(value) => buf.put_u64_le(*value),
            Value::Fixed32(value) => buf.put_u32_le(*value),
            Value::Len(bytes) => {
                encoding::encode_varint(bytes.len() as u64, buf);
                put_bytes(bytes, || bytes.clone(), buf);
            }
            Value::Made(recipe) => {
                encoding::encode_varint(recipe.bytes() as u64, buf);
                put(Piece::Made(Arc::clone(recipe)), buf);
            }
            Value::Group(fields) => {
                buf.put_slice(fields);
                encoding::encode_key(self.tag, WireType::EndGroup, buf);
            }
        }
    }

    pub(super) fn encoded_len(&self) -> usize {
        let key = encoding::key_len(self.tag);
        let with_length = |bytes: usize| encoding::encoded_len_varint(bytes as u64) + bytes;
        match &self.value {
            Value::Varint(value) => key + encoding::encoded_len_varint(*value),
            Value::Fixed64(_) => key + 8,
            Value::Fixed32(_) => key + 4,
            Value::Len(bytes) => key + with_length(bytes.len()),
            Value::Made(recipe) => key + with_length(recipe.bytes()),
            Value::Group(fields) => 2 * key + fields.len(),
        }
    }

    fn wire_type(&self) -> WireType {
        match self.value {
            Value::Varint(_) => WireType::Varint,
            Value::Fixed64(_) => WireType::SixtyFourBit,
            Value::Len(_) | Value::Made(_) => WireType::LengthDelimited,
            Value::Group(_) => WireType::StartGroup,
            Value::Fixed32(_) => WireType::ThirtyTwoBit,
        }
    }
}

/// Removes a value that is not a group.
fn take_plain(
    tag: u32,
    wire_type: WireType,
    buf: &mut impl Buf,
    ctx: &DecodeContext,
) -> Result<Value, DecodeError> {
    Ok(match wire_type {
        WireType::Varint => Value::Varint(encoding::decode_varint(buf)?),
        WireType::SixtyFourBit => {
            let mut value = 0;
            encoding::fixed64::merge(wire_type, &mut value, buf, ctx.clone())?;
            Value::Fixed64(value)
        }
        WireType::ThirtyTwoBit => {
            let mut value = 0;
            encoding::fixed32::merge(wire_type, &mut value, buf, ctx.clone())?;
            Value::Fixed32(value)
        }
        WireType::LengthDelimited => {
            let mut bytes = Bytes::new();
            encoding::bytes::merge(wire_type, &mut bytes, buf, ctx.clone())?;
            Value::Len(bytes)
        }
        WireType::StartGroup | WireType::EndGroup => return Err(unskippable(tag, buf, ctx)),
    })
}

/// Copies the fields of a group, and removes them and its end from `buf`.
fn copy_group(
    tag: u32,
    buf: &mut impl Buf,
    ctx: &DecodeContext,
    depth: usize,
    out: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    if depth == 0 {
        return Err(unskippable(tag, buf, ctx));
    }
    loop {
        match encoding::decode_key(buf)? {
            (end, WireType::EndGroup) if end == tag => return Ok(()),
            (inner, WireType::StartGroup) => {
                encoding::encode_key(inner, WireType::StartGroup, out);
                copy_group(inner, buf, ctx, depth - 1, out)?;
                encoding::encode_key(inner, WireType::EndGroup, out);
            }
            (inner, wire_type) => Field {
                tag: inner,
                value: take_plain(inner, wire_type, buf, ctx)?,
            }
            .encode_raw(out),
        }
    }
}

/// prost's error for a field that cannot be skipped: an end without a start, or nesting that is too
/// deep.
fn unskippable(tag: u32, buf: &mut impl Buf, ctx: &DecodeContext) -> DecodeError {
    let skipped = encoding::skip_field(WireType::EndGroup, tag, buf, ctx.clone());
    skipped.expect_err("an end without a start is never skipped")
}

/// Computed bytes are equal to other bytes with the same content.
impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Varint(a), Value::Varint(b)) | (Value::Fixed64(a), Value::Fixed64(b)) => a == b,
            (Value::Fixed32(a), Value::Fixed32(b)) => a == b,
            (Value::Group(a), Value::Group(b)) => a == b,
            (Value::Len(a), Value::Len(b)) => a == b,
            (Value::Len(_) | Value::Made(_), Value::Len(_) | Value::Made(_)) => {
                self.to_bytes() == other.to_bytes()
            }
            _ => false,
        }
    }
}

impl Value {
    /// The length of a length-delimited value; none for other wire types.
    #[must_use]
    pub fn length(&self) -> Option<usize> {
        match self {
            Value::Len(bytes) => Some(bytes.len()),
            Value::Made(recipe) => Some(recipe.bytes()),
            _ => None,
        }
    }

    /// The bytes of a length-delimited value; none if they are computed, and for other wire types.
    #[must_use]
    pub(crate) fn as_bytes(&self) -> Option<&Bytes> {
        match self {
            Value::Len(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The bytes of a length-delimited value, which are computed if necessary; none for other wire
    /// types.
    #[must_use]
    pub fn to_bytes(&self) -> Option<Bytes> {
        match self {
            Value::Len(bytes) => Some(bytes.clone()),
            Value::Made(recipe) => Some(recipe.compute().into()),
            _ => None,
        }
    }
}
