//! Fields that few messages of a type have.
//!
//! They are decoded into structs of their own, allocated when needed (`PARTS` in `build/parts.rs`),
//! so that a graph of a million nodes does not pay for fields that it lacks. Equality and the
//! encoding do not show it.

use bytes::{Buf, BufMut};
use prost::encoding::{DecodeContext, WireType};
use prost::{DecodeError, Message};

/// Fields of a message that few messages of its type have. prost treats them as a oneof: its
/// generated code calls the functions below for every field number of the part.
#[derive(Clone, Debug, Default)]
pub struct PartBox<M>(pub Box<M>);

impl<M: Message + Default> PartBox<M> {
    /// Decodes a field.
    ///
    /// # Errors
    /// If the field is malformed.
    pub fn merge(
        field: &mut Option<PartBox<M>>,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        field
            .get_or_insert_default()
            .0
            .merge_field(tag, wire_type, buf, ctx)
    }

    /// Encodes the fields.
    pub fn encode(&self, buf: &mut impl BufMut) {
        self.0.encode_raw(buf);
    }

    /// The length of the encoded fields.
    #[must_use]
    pub(crate) fn encoded_len(&self) -> usize {
        self.0.encoded_len()
    }
}
