//! The schema of each message, for code that treats all messages alike.

/// A message.
#[derive(Debug)]
pub struct Message {
    /// Its full name within the package: `TypeProto.Tensor`.
    pub name: &'static str,
    /// Its fields, in the order of the schema.
    pub fields: &'static [Field],
}

/// A field.
#[derive(Debug)]
pub struct Field {
    /// Its number.
    pub number: u32,
    /// Its name.
    pub name: &'static str,
    /// Whether it is a list.
    pub repeated: bool,
    /// The type of its value, or of its items.
    pub kind: Kind,
}

/// The type of a field.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A signed or unsigned integer, as a varint.
    Integer,
    /// 32 bits.
    Float,
    /// 64 bits.
    Double,
    /// UTF-8.
    Text,
    /// Any bytes.
    Bytes,
    /// An enumeration.
    Enum(&'static [(i32, &'static str)]),
    /// Another message.
    Message(&'static Message),
}

impl Message {
    /// The field of this number, if the schema declares it.
    #[must_use]
    pub fn field(&self, number: u32) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.number == number)
    }

    /// The field of this name, if the schema declares it.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

include!(concat!(env!("OUT_DIR"), "/outline.rs"));
