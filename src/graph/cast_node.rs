//! `Cast` and `CastLike` nodes, read.

use super::Model;
use super::calls::Attribute;
use super::index::{Origin, ValueId};
use super::query::is_onnx_domain;
use super::scope::{NodeId, holds_graph};
use crate::cast::RoundMode;
use crate::dtype::DType;
use crate::wire::raw::attribute_proto::AttributeType;
use crate::wire::schema::{AttributeProto, NodeProto};

/// Whether a node is ONNX's `Cast` or `CastLike`.
#[must_use]
pub fn is_cast(node: &NodeProto) -> bool {
    matches!(node.op_type(), "Cast" | "CastLike") && is_onnx_domain(node.domain())
}

/// A cast with its attributes resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CastNode {
    /// The value that is cast.
    pub input: ValueId,
    /// The value that results; none if nobody wants it.
    pub output: Option<ValueId>,
    /// What says which type results.
    pub to: TypeSource,
    /// `saturate` as it is written; none where it is left to its default, 1.
    pub saturate: Option<bool>,
    /// `round_mode` as it is written; none where it is left to its default, `up`.
    pub round_mode: Option<RoundMode>,
}

/// What says which type a cast results in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeSource {
    /// The attribute `to` of `Cast`.
    Attribute(DType),
    /// The second input of `CastLike`.
    Like(ValueId),
}

/// Why a cast cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnclearCast {
    /// The node says something that no `Cast` may say.
    #[error("{0}")]
    Invalid(String),
    /// An attribute is one of the function's, and its callers do not agree on one value.
    #[error("`{0}` is an attribute of the function, and its calls do not give it one value")]
    CallersDisagree(String),
}

impl Model {
    /// Whether a node is ONNX's `Cast` or `CastLike`, and not a model-local function of that name.
    #[must_use]
    pub fn is_cast(&self, node: NodeId) -> bool {
        is_cast(self.node(node)) && self.callee(node).is_none()
    }

    /// Reads a node that [`Model::is_cast`].
    ///
    /// # Errors
    /// Where an attribute or input is missing or not what `Cast` may have, or there is more than one output.
    pub fn cast_node(&self, node: NodeId) -> Result<CastNode, UnclearCast> {
        let invalid = |what: &str| UnclearCast::Invalid(what.to_owned());
        // These would not only be invalid: whoever replaces the cast would lose the other outputs, or what a graph uses and defines.
        let outputs = self.node(node).output.len();
        if outputs > 1 {
            return Err(UnclearCast::Invalid(format!("the cast has {outputs} outputs; it defines one")));
        }
        if holds_graph(self.node(node)) {
            return Err(invalid("the cast holds a graph"));
        }
        let input = self.input(node, 0).ok_or_else(|| invalid("the cast has no input"))?;
        let to = match self.node(node).op_type() {
            "CastLike" => TypeSource::Like(self.input(node, 1).ok_or_else(|| invalid("CastLike has no second input"))?),
            _ => match self.known_attribute(node, "to")? {
                Some(attribute) => TypeSource::Attribute(read_to(attribute)?),
                None => return Err(invalid("the attribute `to` is missing")),
            },
        };
        let saturate = self.known_attribute(node, "saturate")?.map(read_saturate).transpose()?;
        let round_mode = self.known_attribute(node, "round_mode")?.map(read_round_mode).transpose()?;
        Ok(CastNode { input, output: self.output(node, 0), to, saturate, round_mode })
    }

    /// The element type of a value, where the model states it or a cast or constant makes it plain.
    #[must_use]
    pub fn element_type(&self, value: ValueId) -> Option<DType> {
        let of_cast = match self.origin(value) {
            Origin::Node { node, .. } if self.is_cast(node) => match self.cast_node(node) {
                Ok(CastNode { to: TypeSource::Attribute(to), .. }) => Some(to),
                _ => None,
            },
            _ => None,
        };
        let of_constant = || self.constant(value).ok().and_then(|constant| DType::from_number(constant.tensor.data_type()));
        of_cast.or_else(of_constant).or_else(|| self.declared_type(value))
    }

    fn known_attribute(&self, node: NodeId, name: &str) -> Result<Option<&AttributeProto>, UnclearCast> {
        match self.attribute(node, name) {
            Attribute::Absent => Ok(None),
            Attribute::Is(attribute) => Ok(Some(attribute)),
            Attribute::Unclear => Err(UnclearCast::CallersDisagree(name.to_owned())),
        }
    }
}

/// `to` is a number since version 6 of `Cast`, and before that a type's name.
fn read_to(attribute: &AttributeProto) -> Result<DType, UnclearCast> {
    if attribute.r#type() == AttributeType::String || (attribute.i.is_none() && attribute.s.is_some()) {
        let name = String::from_utf8_lossy(attribute.s());
        return name.parse().map_err(|error| UnclearCast::Invalid(format!("`to`: {error}")));
    }
    i32::try_from(attribute.i())
        .ok()
        .and_then(DType::from_number)
        .ok_or_else(|| UnclearCast::Invalid(format!("`to` = {} is the number of no element type", attribute.i())))
}

/// `saturate` is the integer 0 or 1.
///
/// # Errors
/// Where it is not.
pub fn read_saturate(attribute: &AttributeProto) -> Result<bool, UnclearCast> {
    match (attribute.r#type(), attribute.i) {
        (AttributeType::Int, None | Some(0)) | (AttributeType::Undefined, Some(0)) => Ok(false),
        (AttributeType::Int | AttributeType::Undefined, Some(1)) => Ok(true),
        (AttributeType::Int | AttributeType::Undefined, Some(other)) => {
            Err(UnclearCast::Invalid(format!("`saturate` = {other} is neither 0 nor 1")))
        }
        _ => Err(UnclearCast::Invalid("`saturate` is no integer".to_owned())),
    }
}

fn read_round_mode(attribute: &AttributeProto) -> Result<RoundMode, UnclearCast> {
    match attribute.s() {
        b"up" => Ok(RoundMode::Up),
        b"down" => Ok(RoundMode::Down),
        b"nearest" => Ok(RoundMode::Nearest),
        other => {
            let other = String::from_utf8_lossy(other);
            Err(UnclearCast::Invalid(format!("`round_mode` = '{other}' is none of up, down, nearest")))
        }
    }
}
