//! Attributes with a name, a type and a value.

use super::raw;
use super::raw::attribute_proto::AttributeType;
use super::schema::{AttributeProto, GraphProto, TensorProto};

/// Attributes of nodes, by the type of their value.
impl AttributeProto {
    /// An attribute of type INT.
    #[must_use]
    pub fn int(name: &str, value: i64) -> AttributeProto {
        attribute(name, AttributeType::Int, |attribute| {
            attribute.i = Some(value)
        })
    }

    /// An attribute of type INTS.
    #[must_use]
    pub fn ints(name: &str, values: Vec<i64>) -> AttributeProto {
        attribute(name, AttributeType::Ints, |attribute| {
            attribute.ints = values
        })
    }

    /// An attribute of type FLOAT.
    #[must_use]
    pub fn float(name: &str, value: f32) -> AttributeProto {
        attribute(name, AttributeType::Float, |attribute| {
            attribute.f = Some(value)
        })
    }

    /// An attribute of type FLOATS.
    #[must_use]
    pub fn floats(name: &str, values: Vec<f32>) -> AttributeProto {
        attribute(name, AttributeType::Floats, |attribute| {
            attribute.floats = values
        })
    }

    /// An attribute of type STRING.
    #[must_use]
    pub fn string(name: &str, value: &str) -> AttributeProto {
        attribute(name, AttributeType::String, |attribute| {
            attribute.s = Some(value.to_owned().into())
        })
    }

    /// An attribute of type TENSOR.
    #[must_use]
    pub fn tensor(name: &str, value: TensorProto) -> AttributeProto {
        attribute(name, AttributeType::Tensor, |attribute| {
            attribute.t = Some(value)
        })
    }

    /// An attribute of type GRAPH.
    #[must_use]
    pub fn graph(name: &str, value: GraphProto) -> AttributeProto {
        attribute(name, AttributeType::Graph, |attribute| {
            attribute.g = Some(value)
        })
    }
}

fn attribute(
    name: &str,
    kind: AttributeType,
    set: impl FnOnce(&mut AttributeProto),
) -> AttributeProto {
    let named = raw::AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(kind.into()),
        ..Default::default()
    };
    let mut attribute = AttributeProto::from(named);
    set(&mut attribute);
    attribute
}
