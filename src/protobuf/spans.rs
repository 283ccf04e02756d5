//! The fields of a message as ranges of bytes, for bytes that cannot be decoded.

use std::ops::Range;

use bytes::Buf;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

/// The range of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The number of the field.
    pub tag: u32,
    /// The offset of its key.
    pub start: usize,
    /// The range of its value, without the length. It ends beyond the message if the message is
    /// truncated.
    pub value: Range<usize>,
    /// Whether the value is length-delimited: a string, bytes, a packed list or a message.
    pub has_length: bool,
}

/// The fields of a message, up to its end or the first byte that is not protobuf.
#[derive(Clone, Debug)]
pub struct Spans<'b> {
    message: &'b [u8],
    position: usize,
}

impl<'b> Spans<'b> {
    /// The fields of `message`.
    #[must_use]
    pub fn of(message: &'b [u8]) -> Spans<'b> {
        Spans {
            message,
            position: 0,
        }
    }

    /// After the last field: a field whose key can be decoded, but whose value cannot.
    pub(super) fn broken(&self) -> Option<Span> {
        let mut rest = self.message.get(self.position..)?;
        let (tag, _) = decode_key(&mut rest).ok()?;
        Some(Span {
            tag,
            start: self.position,
            value: self.position..self.message.len(),
            has_length: false,
        })
    }

    /// Whether every byte of the message belongs to a decoded field.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.position == self.message.len()
    }
}

impl Iterator for Spans<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        let mut rest = self
            .message
            .get(self.position..)
            .filter(|rest| !rest.is_empty())?;
        let start = self.position;
        let (tag, wire_type) = decode_key(&mut rest).ok()?;
        let has_length = wire_type == WireType::LengthDelimited;
        let value = if has_length {
            let length = usize::try_from(decode_varint(&mut rest).ok()?).ok()?;
            let begin = self.message.len() - rest.remaining();
            begin..begin.checked_add(length)?
        } else {
            let begin = self.message.len() - rest.remaining();
            skip_field(wire_type, tag, &mut rest, DecodeContext::default()).ok()?;
            begin..self.message.len() - rest.remaining()
        };
        self.position = value.end;
        Some(Span {
            tag,
            start,
            value,
            has_length,
        })
    }
}

/// The length-delimited values of the field with this number, until the bytes are not a message.
pub fn values_of(message: &[u8], number: u32) -> impl Iterator<Item = &[u8]> {
    Spans::of(message)
        .filter(move |span| span.tag == number && span.has_length)
        .map_while(|span| message.get(span.value))
}
