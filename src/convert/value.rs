//! Values of attributes in adapters.

use crate::protobuf::schema::AttributeProto;

/// The value of an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Int(i64),
    Float(f32),
    String(&'static str),
    /// A list of ones, of any length.
    Ones,
}

impl Value {
    /// Whether an attribute has this value. Floats are compared as numbers.
    pub fn is(self, attribute: &AttributeProto) -> bool {
        match self {
            Value::Int(value) => {
                attribute.i == Some(value) || (attribute.i.is_none() && value == 0)
            }
            Value::Float(value) => attribute.f() == value,
            Value::String(value) => attribute.s() == value.as_bytes(),
            Value::Ones => attribute.ints.iter().all(|&value| value == 1),
        }
    }
}
