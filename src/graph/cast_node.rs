//! `Cast` and `CastLike` nodes, read.

use super::Model;
use super::calls::Attribute;
use super::cast_attributes::{BadAttribute, read_round_mode, read_saturate, read_type};
use super::index::{Origin, ValueId};
use super::query::is_onnx_domain;
use super::scope::{NodeId, holds_graph};
use crate::cast::{Contested, RoundMode, Rules};
use crate::dtype::DType;
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
    /// The value that results; none if the output has no name.
    pub output: Option<ValueId>,
    /// What says which type results.
    pub to: TypeSource,
    /// `saturate` as it is written; none where it has its default: see [`CastNode::rules`].
    pub saturate: Option<bool>,
    /// `round_mode` as it is written; none where it has its default: see [`CastNode::rules`].
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

impl CastNode {
    /// What the result depends on beside the types. An attribute that is not written has the schema's default.
    #[must_use]
    pub fn rules(&self, opset: u32, contested: Contested) -> Rules {
        let defaults = Rules::default();
        Rules {
            saturate: self.saturate.unwrap_or(defaults.saturate),
            round_mode: self.round_mode.unwrap_or(defaults.round_mode),
            opset,
            contested,
        }
    }
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

impl From<BadAttribute> for UnclearCast {
    fn from(BadAttribute(what): BadAttribute) -> UnclearCast {
        UnclearCast::Invalid(what)
    }
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
        // These are not only invalid: replacing the cast would lose the other outputs, or the values that a graph uses and defines.
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
                Some(attribute) => TypeSource::Attribute(read_type(attribute)?),
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
