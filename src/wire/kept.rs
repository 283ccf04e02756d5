//! A message together with what its schema does not know.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops::{Deref, DerefMut};

use bytes::{Buf, BufMut, Bytes};
use prost::encoding::{DecodeContext, WireType, decode_key, encode_key, key_len};
use prost::{DecodeError, Message};

use super::field::{Field, Value};
use super::layout::{self, Piece};

/// A field number has 29 bits; with the wire type's 3 that makes 32, seven a byte.
const LONGEST_KEY: usize = 5;

/// What the schema knows of a message; generated from `proto/onnx.proto`.
pub trait Known: Message + Default {
    /// The numbers of the fields that are decoded into the struct.
    const FIELDS: &'static [u32];
}

/// A message `M` with all fields of the file: those that the schema decodes are `M`'s, reached through `Deref`; the others are
/// kept as they came.
///
/// A message that nobody reached for mutably since it was decoded is written with the very bytes it came from. One that was
/// changed is encoded anew, its undecoded fields last; the messages inside it are still judged one by one.
///
/// It stands behind a pointer: most of the messages that a message may hold are not there.
#[derive(Clone, Default)]
pub struct Kept<M>(Box<Inner<M>>);

#[derive(Clone, Default)]
struct Inner<M> {
    known: M,
    rest: Vec<Field>,
    source: Source,
    offset: u64,
}

/// The bytes that a message came from.
#[derive(Clone, Default)]
enum Source {
    /// No field was decoded yet.
    #[default]
    Nothing,
    /// All fields so far stood in one run from `start`, under keys that an encoder would write the same way.
    Run { start: usize, bytes: Bytes },
    /// The message was changed, or did not stand in one run.
    Lost,
}

impl Source {
    /// The source with the field that stands in `input` from `start` to `end`.
    fn with_field(&self, input: &Bytes, start: usize, end: usize, key: &[u8]) -> Source {
        let first = match self {
            Source::Nothing => start,
            Source::Run { start: first, bytes } if first + bytes.len() == start => *first,
            Source::Run { .. } | Source::Lost => return Source::Lost,
        };
        match input.get(start..start + key.len()) {
            Some(found) if found == key => Source::Run { start: first, bytes: input.slice(first..end) },
            _ => Source::Lost,
        }
    }
}

/// The bytes are not a message of this schema.
#[derive(Debug, thiserror::Error)]
#[error("byte {offset}: {reason}")]
pub struct Malformed {
    /// Where the field that cannot be read begins.
    pub offset: u64,
    /// What is wrong, with the path of messages and fields that leads there.
    pub reason: DecodeError,
}

thread_local! {
    /// prost's decoding has no room for context, so it is kept beside it: the bytes that [`Kept::from_bytes`] decodes on this
    /// thread, and where the innermost field began that could not be decoded.
    static INPUT: RefCell<Bytes> = const { RefCell::new(Bytes::new()) };
    static FAILED_AT: Cell<Option<usize>> = const { Cell::new(None) };
}

impl<M: Known> Kept<M> {
    /// Decodes a message without copying its long values: they are slices of `bytes`.
    ///
    /// # Errors
    /// Where the bytes are no message of this schema, with the offset of the field that cannot be read.
    pub fn from_bytes(bytes: Bytes) -> Result<Kept<M>, Malformed> {
        INPUT.set(bytes.clone());
        FAILED_AT.set(None);
        let length = bytes.len();
        let mut rest = bytes.clone();
        let mut message = Kept::<M>::default();
        let mut result = Ok(());
        while rest.has_remaining() && result.is_ok() {
            let start = length - rest.remaining();
            result = decode_key(&mut rest)
                .and_then(|(tag, wire_type)| message.merge_field(tag, wire_type, &mut rest, DecodeContext::default()))
                .map_err(|reason| Malformed { offset: FAILED_AT.get().unwrap_or(start) as u64, reason });
        }
        INPUT.take();
        // Of the outermost message it is known where it begins and ends, however its keys are written.
        message.0.source = Source::Run { start: 0, bytes };
        result.map(|()| message)
    }
}

impl<M> Kept<M> {
    /// Where the message's first field began in the bytes it was decoded from; zero for one that was made.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// The bytes that the message came from, if it is as it came and its bytes stood in one run.
    #[must_use]
    pub fn source(&self) -> Option<&Bytes> {
        match &self.0.source {
            Source::Run { bytes, .. } => Some(bytes),
            Source::Nothing | Source::Lost => None,
        }
    }

    /// Fields that are not decoded, in the order of the file: unknown ones, and the values of a tensor.
    #[must_use]
    pub fn rest(&self) -> &[Field] {
        &self.0.rest
    }

    /// The value of the last undecoded field with this number: for a field that is not repeated, the one that counts.
    #[must_use]
    pub fn undecoded(&self, tag: u32) -> Option<&Value> {
        self.0.rest.iter().rev().find(|field| field.tag == tag).map(|field| &field.value)
    }

    /// The undecoded fields, to be changed.
    pub fn rest_mut(&mut self) -> &mut Vec<Field> {
        self.0.source = Source::Lost;
        &mut self.0.rest
    }

    /// Takes the message apart; what was not decoded is lost.
    #[must_use]
    pub fn into_known(self) -> M {
        self.0.known
    }
}

impl<M> From<M> for Kept<M> {
    fn from(known: M) -> Kept<M> {
        Kept(Box::new(Inner { known, rest: Vec::new(), source: Source::Lost, offset: 0 }))
    }
}

impl<M> Deref for Kept<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.0.known
    }
}

impl<M> DerefMut for Kept<M> {
    fn deref_mut(&mut self) -> &mut M {
        self.0.source = Source::Lost;
        &mut self.0.known
    }
}

/// Where a message stood in its file is no part of what it says.
impl<M: PartialEq> PartialEq for Kept<M> {
    fn eq(&self, other: &Kept<M>) -> bool {
        let Inner { known, rest, source: _, offset: _ } = &*self.0;
        *known == other.0.known && *rest == other.0.rest
    }
}

impl<M: fmt::Debug> fmt::Debug for Kept<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { known, rest, source: _, offset: _ } = &*self.0;
        if rest.is_empty() {
            return known.fmt(f);
        }
        f.debug_tuple("Kept").field(known).field(rest).finish()
    }
}

impl<M: Known> Message for Kept<M> {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        if let Some(source) = self.source() {
            return layout::put(Piece::Bytes(source.clone()), buf);
        }
        self.0.known.encode_raw(buf);
        for field in &self.0.rest {
            field.encode_raw(buf);
        }
    }

    fn merge_field(&mut self, tag: u32, wire_type: WireType, buf: &mut impl Buf, ctx: DecodeContext) -> Result<(), DecodeError> {
        let length = INPUT.with_borrow(Bytes::len);
        let mut key = [0; LONGEST_KEY];
        encode_key(tag, wire_type, &mut key.as_mut_slice());
        let key = &key[..key_len(tag)];
        let start = length.saturating_sub(buf.remaining() + key.len());
        let result = if M::FIELDS.contains(&tag) {
            self.0.known.merge_field(tag, wire_type, buf, ctx)
        } else {
            Field::take(tag, wire_type, buf, ctx).map(|field| self.0.rest.push(field))
        };
        if result.is_err() {
            FAILED_AT.set(FAILED_AT.get().or(Some(start)));
            return result;
        }
        let end = length.saturating_sub(buf.remaining());
        if matches!(self.0.source, Source::Nothing) {
            self.0.offset = start as u64;
        }
        self.0.source = INPUT.with_borrow(|input| self.0.source.with_field(input, start, end, key));
        Ok(())
    }

    fn encoded_len(&self) -> usize {
        match self.source() {
            Some(source) => source.len(),
            None => self.0.known.encoded_len() + self.0.rest.iter().map(Field::encoded_len).sum::<usize>(),
        }
    }

    fn clear(&mut self) {
        *self = Kept::default();
    }
}
