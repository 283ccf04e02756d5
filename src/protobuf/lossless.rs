//! Messages with their unknown fields.
//!
//! A [`Lossless`] message that was not borrowed mutably is written with the bytes from which it was
//! decoded; `DerefMut` discards them. An edit therefore encodes the messages from the root to the
//! edited one again, and no other. The values of tensors are not fields of prost's structs: they
//! are kept like unknown fields, as slices of the map, and `tensor` reads them on demand. A
//! `doc_string` is bytes and need not be UTF-8.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use bytes::{Buf, BufMut, Bytes};
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, encode_key, key_len};
use prost::{DecodeError, Message};

use super::field::{Field, Value};
use super::locate::field_at;
use super::piece::put_bytes;
use super::schema::ModelProto;
use super::{ahead, context, outline};
use crate::base::error::{Classified, ErrorKind, Place};

/// A key has 32 bits: 29 of the field number and 3 of the wire type. A varint holds 7 bits per
/// byte.
const LONGEST_KEY: usize = 5;

/// The declaration of a message in the schema; generated from `proto/onnx.proto`.
pub trait Known: Message + Default + Clone {
    /// The numbers of the fields that are decoded into the struct.
    const FIELDS: &'static [u32];
    /// The fields of the message in the schema.
    const OUTLINE: &'static outline::Message;

    /// Reserves memory for one more item of the list with this number while the list is short. Most
    /// lists have one or two items, but a `Vec` reserves memory for four at first.
    fn reserve_item(&mut self, tag: u32);

    /// Takes a field that was decoded before, and those after it, if there are such fields at this
    /// offset of the input. Returns the offset of their end.
    fn take_decoded(&mut self, _tag: u32, _start: usize) -> Option<usize> {
        None
    }
}

/// Lists up to this length grow by one item at a time.
const SHORT_LIST: usize = 4;

/// [`Known::reserve_item`] for one list.
pub(super) fn reserve_item<T>(list: &mut Vec<T>) {
    context::count_allocation(size_of::<T>());
    if list.len() < SHORT_LIST {
        list.reserve_exact(1);
    }
}

/// A message `M` with all fields of the file: fields that the schema decodes are those of `M`,
/// accessible through `Deref`; the others are kept encoded.
///
/// A message that was not borrowed mutably since it was decoded is written with its original bytes.
/// A changed message is encoded again, with its undecoded fields last; for each message inside it,
/// the same rule applies.
///
/// It is a pointer, since most of the optional messages in a message are absent. Clones share it
/// until one of them is borrowed mutably: that one then has a message of its own, which shares the
/// messages inside it.
pub struct Lossless<M>(Arc<Inner<M>>);

#[derive(Clone, Default)]
struct Inner<M> {
    known: M,
    /// The list is boxed, since few messages have undecoded fields, and a pointer takes a third of
    /// the memory of a `Vec`. No list and an empty list are equal.
    #[allow(clippy::box_collection)]
    rest: Option<Box<Vec<Field>>>,
    source: EncodedSource,
}

impl<M> Inner<M> {
    fn rest(&self) -> &[Field] {
        self.rest.as_ref().map_or(&[], |rest| rest.as_slice())
    }
}

impl<M: Message> Inner<M> {
    fn encode_fields(&self, buf: &mut impl BufMut) {
        self.known.encode_raw(buf);
        for field in self.rest() {
            field.encode_raw(buf);
        }
    }
}

/// The original bytes of a message: one run, whose keys are encoded as an encoder would encode
/// them.
#[derive(Clone, Default)]
struct EncodedSource {
    /// The offset of the first field.
    start: usize,
    /// The end of the last field; zero if no field was decoded yet.
    end: usize,
    /// All decoded bytes; none if the message was changed, or its bytes were not one run.
    input: Option<Arc<Bytes>>,
}

impl EncodedSource {
    /// Adds the field in `input` from `start` to `end`.
    fn add(&mut self, input: &Arc<Bytes>, start: usize, end: usize, key: &[u8]) {
        let is_first = self.end == 0;
        let goes_on = is_first || (self.input.is_some() && self.end == start);
        if !goes_on || input.get(start..start + key.len()) != Some(key) {
            self.input = None;
        } else if is_first {
            self.input = Some(Arc::clone(input));
        }
        if is_first {
            self.start = start;
        }
        self.end = end;
    }
}

/// The bytes are not a message of this schema.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", self.at())]
pub struct Malformed {
    /// The offset of the field that cannot be decoded.
    pub offset: u64,
    /// The path of that field: `graph.node[3].attribute[0].t`; empty if the bytes there belong to
    /// no field.
    pub field: String,
    /// The fault.
    pub(crate) reason: MalformedReason,
}

/// Why bytes are not a message of this schema.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MalformedReason {
    /// They are not protobuf, or their fields have other types.
    #[error("{}", in_plain_words(.0))]
    Protobuf(#[from] DecodeError),
    /// The messages are so dense that only a file made for this purpose contains them.
    #[error("the messages up to here take {} MiB of memory, which no file of this size needs", .0 >> 20)]
    TooDense(usize),
}

impl Classified for Malformed {
    fn kind(&self) -> ErrorKind {
        match self.reason {
            MalformedReason::Protobuf(_) => ErrorKind::MalformedProtobuf,
            MalformedReason::TooDense(_) => ErrorKind::MemoryLimit,
        }
    }

    fn place(&self) -> Option<Place> {
        Some(self.at())
    }

    fn message(&self) -> String {
        self.reason.to_string()
    }
}

impl Malformed {
    fn at(&self) -> Place {
        Place::Byte {
            offset: self.offset,
            field: self.field.clone(),
        }
    }
}

/// prost's message without the path at its beginning, since [`Malformed::field`] has the path with
/// indices.
fn in_plain_words(error: &DecodeError) -> String {
    let text = error.to_string();
    let mut reason = text
        .strip_prefix("failed to decode Protobuf message: ")
        .unwrap_or(&text);
    while let Some((_, rest)) = reason
        .split_once(": ")
        .filter(|(field, _)| field.contains('.') && !field.contains(' '))
    {
        reason = rest;
    }
    match reason {
        "recursion limit reached" => {
            "messages are nested more than 100 deep, the limit of protobuf".to_owned()
        }
        "buffer underflow" | "delimited length exceeded" => {
            "the field is longer than the message around it".to_owned()
        }
        "invalid varint" => "the bytes are not a valid varint".to_owned(),
        "invalid string value: data is not UTF-8 encoded" => "the text is not UTF-8".to_owned(),
        "invalid tag value: 0" => "the field number is 0".to_owned(),
        other => other.to_owned(),
    }
}

impl<M: Known> Lossless<M> {
    /// Decodes a message without copying its long values, which become slices of `bytes`.
    ///
    /// # Errors
    /// If the bytes are not a message of this schema, with the offset of the field that cannot be
    /// decoded.
    pub fn from_bytes(bytes: Bytes) -> Result<Lossless<M>, Malformed> {
        Lossless::decode_bytes(bytes, None)
    }

    fn decode_bytes(bytes: Bytes, known: Option<&ModelProto>) -> Result<Lossless<M>, Malformed> {
        ahead::decode(M::OUTLINE, &bytes, known);
        let length = bytes.len();
        let room = context::memory_budget(length);
        context::begin(bytes.clone(), room);
        let mut rest = bytes.clone();
        let mut message = Lossless::<M>::default();
        let mut result = Ok(());
        while rest.has_remaining() && result.is_ok() {
            let start = length - rest.remaining();
            result = decode_key(&mut rest)
                .and_then(|(tag, wire_type)| {
                    message.merge_field(tag, wire_type, &mut rest, DecodeContext::default())
                })
                .map_err(|reason| {
                    let offset = context::failed_at().unwrap_or(start);
                    Malformed {
                        offset: offset as u64,
                        field: field_at(&bytes, M::OUTLINE, offset),
                        reason: if context::is_full() {
                            MalformedReason::TooDense(room)
                        } else {
                            reason.into()
                        },
                    }
                });
        }
        context::end();
        ahead::forget();
        // The range of the outermost message is known, even if its keys are encoded in an unusual
        // way.
        Arc::make_mut(&mut message.0).source = EncodedSource {
            start: 0,
            end: length,
            input: Some(Arc::new(bytes)),
        };
        result.map(|()| message)
    }

    /// The bytes of the message: the original ones where it is unchanged.
    /// [`Model::to_bytes`](crate::Model::to_bytes) also computes folded constants.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        self.source().unwrap_or_else(|| self.encode_to_vec().into())
    }
}

impl ModelProto {
    /// Like [`Lossless::from_bytes`]; nodes with the bytes of a node of `known` may be shared with
    /// it, and have the offsets of that model.
    ///
    /// # Errors
    /// See [`Lossless::from_bytes`].
    pub(crate) fn from_bytes_with(
        bytes: Bytes,
        known: &ModelProto,
    ) -> Result<ModelProto, Malformed> {
        Lossless::decode_bytes(bytes, Some(known))
    }
}

impl<M: Clone> Lossless<M> {
    /// The undecoded fields, for changes.
    pub fn rest_mut(&mut self) -> &mut Vec<Field> {
        let message = Arc::make_mut(&mut self.0);
        message.source.input = None;
        message.rest.get_or_insert_default()
    }

    /// The decoded part of the message; undecoded fields are lost.
    #[must_use]
    pub fn into_known(self) -> M {
        Arc::unwrap_or_clone(self.0).known
    }
}

impl<M> Lossless<M> {
    /// The offset of the message's first field in the bytes from which it was decoded; zero for a
    /// message that was not decoded.
    #[must_use]
    pub(crate) fn offset(&self) -> u64 {
        self.0.source.start as u64
    }

    /// The original bytes of the message, if it is unchanged and its bytes are contiguous.
    #[must_use]
    pub fn source(&self) -> Option<Bytes> {
        let EncodedSource { start, end, input } = &self.0.source;
        input.as_ref().map(|input| input.slice(*start..*end))
    }

    /// Like [`Lossless::source`], borrowed: threads that look at many messages of one file do not
    /// wait for each other to count references to it.
    #[must_use]
    pub(crate) fn as_source(&self) -> Option<&[u8]> {
        let EncodedSource { start, end, input } = &self.0.source;
        input.as_ref().map(|input| &input[*start..*end])
    }

    /// Whether the message is written with the bytes that its fields encode to, or was changed.
    /// Messages inside it are not checked.
    pub(crate) fn is_canonical(&self) -> bool
    where
        M: Known,
    {
        self.as_source().is_none_or(|source| {
            let mut encoded = Vec::with_capacity(source.len());
            self.0.encode_fields(&mut encoded);
            encoded == source
        })
    }

    /// Undecoded fields, in the order of the file: unknown fields, and the values of a tensor.
    #[must_use]
    pub fn rest(&self) -> &[Field] {
        self.0.rest()
    }

    /// The value of the last undecoded field with this number. The last value is the one that
    /// counts for a field that is not repeated.
    #[must_use]
    pub fn undecoded(&self, tag: u32) -> Option<&Value> {
        self.0
            .rest()
            .iter()
            .rev()
            .find(|field| field.tag == tag)
            .map(|field| &field.value)
    }
}

impl<M> Clone for Lossless<M> {
    fn clone(&self) -> Lossless<M> {
        Lossless(Arc::clone(&self.0))
    }
}

impl<M: Default> Default for Lossless<M> {
    /// Every decoded message begins here, and reduces the memory that is left for messages.
    fn default() -> Lossless<M> {
        // Allocators use more memory than is requested.
        context::count_allocation(size_of::<Inner<M>>() * 9 / 8);
        Lossless(Arc::default())
    }
}

impl<M> From<M> for Lossless<M> {
    fn from(known: M) -> Lossless<M> {
        Lossless(Arc::new(Inner {
            known,
            rest: None,
            source: EncodedSource::default(),
        }))
    }
}

impl<M> Deref for Lossless<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.0.known
    }
}

impl<M: Clone> DerefMut for Lossless<M> {
    fn deref_mut(&mut self) -> &mut M {
        let message = Arc::make_mut(&mut self.0);
        message.source.input = None;
        &mut message.known
    }
}

/// The offset in the file does not affect equality.
impl<M: PartialEq> PartialEq for Lossless<M> {
    fn eq(&self, other: &Lossless<M>) -> bool {
        let Inner {
            known,
            rest: _,
            source: _,
        } = &*self.0;
        *known == other.0.known && self.rest() == other.rest()
    }
}

impl<M: fmt::Debug> fmt::Debug for Lossless<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            known,
            rest: _,
            source: _,
        } = &*self.0;
        if self.rest().is_empty() {
            return known.fmt(f);
        }
        f.debug_tuple("Lossless")
            .field(known)
            .field(&self.rest())
            .finish()
    }
}

impl<M: Known> Message for Lossless<M> {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        let EncodedSource { start, end, input } = &self.0.source;
        match input {
            Some(input) => put_bytes(&input[*start..*end], || input.slice(*start..*end), buf),
            None => self.0.encode_fields(buf),
        }
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        let length = context::with_input(|input| input.len());
        let mut key = [0; LONGEST_KEY];
        encode_key(tag, wire_type, &mut key.as_mut_slice());
        let key = &key[..key_len(tag)];
        let start = length.saturating_sub(buf.remaining() + key.len());
        let message = Arc::make_mut(&mut self.0);
        let result = if context::is_full() {
            // The text of the error is not used: the cause is known.
            decode_varint(&mut &[][..]).map(drop)
        } else if let Some(end) = message.known.take_decoded(tag, start) {
            buf.advance(end - (length - buf.remaining()));
            Ok(())
        } else if M::FIELDS.contains(&tag) {
            message.known.reserve_item(tag);
            message.known.merge_field(tag, wire_type, buf, ctx)
        } else {
            Field::take(tag, wire_type, buf, ctx).map(|field| {
                let rest = message.rest.get_or_insert_default();
                reserve_item(rest);
                rest.push(field);
            })
        };
        if result.is_err() {
            context::fail_at(start);
            return result;
        }
        let end = length.saturating_sub(buf.remaining());
        context::with_input(|input| message.source.add(input, start, end, key));
        Ok(())
    }

    fn encoded_len(&self) -> usize {
        match &self.0.source {
            EncodedSource {
                start,
                end,
                input: Some(_),
            } => end - start,
            EncodedSource { .. } => {
                self.0.known.encoded_len()
                    + self.0.rest().iter().map(Field::encoded_len).sum::<usize>()
            }
        }
    }

    fn clear(&mut self) {
        *self = Lossless::default();
    }
}
