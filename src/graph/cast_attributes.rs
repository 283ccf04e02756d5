//! The attributes of `Cast`, `CastLike` and `QuantizeLinear` that determine the result of a cast.
//! All readers use these functions.
//!
//! The schema text describes `saturate` as true or false ("It is true by default", `Cast-19`).
//! Integers other than 0 and 1 have no meaning there, and implementations differ: one compares with
//! 1, another with 0. Here they are an error. A missing attribute has the schema's default, which
//! [`Rules::default`](onnx_cast::Rules) holds.

use crate::protobuf::raw::attribute_proto::AttributeType;
use crate::protobuf::schema::AttributeProto;
use onnx_cast::{DType, RoundMode};

/// An attribute whose value the schema text does not allow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadAttribute(pub(crate) String);

/// `to`, `dtype` and `output_dtype`: an element type by its number, or by its name as in `Cast`
/// before version 6.
///
/// # Errors
/// If the number or the name is not that of an element type.
pub fn read_type(attribute: &AttributeProto) -> Result<DType, BadAttribute> {
    let name = attribute.name();
    if attribute.r#type() == AttributeType::String
        || (attribute.i.is_none() && attribute.s.is_some())
    {
        let text = String::from_utf8_lossy(attribute.s());
        return text
            .parse()
            .map_err(|error| BadAttribute(format!("`{name}`: {error}")));
    }
    i32::try_from(attribute.i())
        .ok()
        .and_then(DType::from_number)
        .ok_or_else(|| {
            BadAttribute(format!(
                "`{name}` = {} is not the number of an element type",
                attribute.i()
            ))
        })
}

/// `saturate`: the integer 0 or 1. A writer that omits zeros, as proto3 does, stores 0 by the kind
/// INT alone.
///
/// # Errors
/// If the attribute has another kind or value.
pub fn read_saturate(attribute: &AttributeProto) -> Result<bool, BadAttribute> {
    match (attribute.r#type(), attribute.i) {
        (AttributeType::Int, None | Some(0)) | (AttributeType::Undefined, Some(0)) => Ok(false),
        (AttributeType::Int | AttributeType::Undefined, Some(1)) => Ok(true),
        (AttributeType::Int | AttributeType::Undefined, Some(other)) => Err(BadAttribute(format!(
            "`saturate` must be 0 or 1, not {other}"
        ))),
        _ => Err(BadAttribute("`saturate` is not an integer".to_owned())),
    }
}

/// `round_mode`: the string `up`, `down` or `nearest`.
///
/// # Errors
/// If the attribute has another kind or value.
pub fn read_round_mode(attribute: &AttributeProto) -> Result<RoundMode, BadAttribute> {
    if !matches!(
        attribute.r#type(),
        AttributeType::String | AttributeType::Undefined
    ) {
        return Err(BadAttribute("`round_mode` is not a string".to_owned()));
    }
    let mode = String::from_utf8_lossy(attribute.s());
    mode.parse().map_err(|_| {
        BadAttribute(format!(
            "`round_mode` must be up, down or nearest, not '{mode}'"
        ))
    })
}
