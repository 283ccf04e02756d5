//! Reads `Cast` and `CastLike` nodes.

use super::Model;
use super::calls::Attribute;
use super::cast_attributes::{BadAttribute, read_round_mode, read_saturate, read_type};
use super::index::{Origin, ValueId};
use super::query::is_onnx_domain;
use super::scope::{NodeId, holds_graph};
use crate::protobuf::schema::{AttributeProto, NodeProto};
use onnx_cast::{Contested, DType, RoundMode, Rules};

/// Whether a node is ONNX's `Cast` or `CastLike`.
#[must_use]
pub fn is_cast(node: &NodeProto) -> bool {
    matches!(node.op_type(), "Cast" | "CastLike") && is_onnx_domain(node.domain())
}

/// A cast with its attributes resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CastNode {
    /// The value that is cast.
    pub input: ValueId,
    /// The result; `None` if the output has no name.
    pub output: Option<ValueId>,
    /// The source of the resulting type.
    pub to: TypeSource,
    /// `saturate` as stated; `None` if it is missing: see [`CastNode::rules`].
    pub saturate: Option<bool>,
    /// `round_mode` as stated; `None` if it is missing: see [`CastNode::rules`].
    pub round_mode: Option<RoundMode>,
}

/// The source of a cast's resulting type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TypeSource {
    /// The attribute `to` of `Cast`.
    Attribute(DType),
    /// The second input of `CastLike`.
    Like(ValueId),
}

impl CastNode {
    /// The rules that determine the result beside the types. A missing attribute has the schema's
    /// default.
    #[must_use]
    pub fn rules(&self, opset: u32, contested: Contested) -> Rules {
        let defaults = Rules::default();
        defaults
            .saturate(self.saturate.unwrap_or(defaults.saturate))
            .round_mode(self.round_mode.unwrap_or(defaults.round_mode))
            .opset(opset)
            .contested(contested)
    }
}

/// Why a cast cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnclearCast {
    /// The node is not a valid `Cast`.
    #[error("{0}")]
    Invalid(String),
    /// An attribute refers to an attribute of the function, and its callers do not give it the same
    /// value, or give a required one no value.
    #[error(
        "`{0}` refers to an attribute of the function, and its calls do not all give it the same value"
    )]
    CallersDisagree(String),
}

impl From<BadAttribute> for UnclearCast {
    fn from(BadAttribute(what): BadAttribute) -> UnclearCast {
        UnclearCast::Invalid(what)
    }
}

/// # Casts
impl Model {
    /// Whether a node is ONNX's `Cast` or `CastLike`, and not a model-local function of that name.
    #[must_use]
    pub fn is_cast(&self, node: NodeId) -> bool {
        is_cast(self.node(node)) && self.callee(node).is_none()
    }

    /// Reads a node that [`Model::is_cast`].
    ///
    /// # Errors
    /// If an attribute or input is missing or not valid for `Cast`, or the node has more than one
    /// output.
    pub fn cast_node(&self, node: NodeId) -> Result<CastNode, UnclearCast> {
        let invalid = |what: &str| UnclearCast::Invalid(what.to_owned());
        // These nodes are not only invalid: replacing the cast would lose its other outputs or its
        // subgraph.
        let outputs = self.node(node).output.len();
        if outputs > 1 {
            return Err(UnclearCast::Invalid(format!(
                "the cast has {outputs} outputs; Cast defines one"
            )));
        }
        if holds_graph(self.node(node)) {
            return Err(invalid("the cast has a subgraph"));
        }
        let input = self
            .input(node, 0)
            .ok_or_else(|| invalid("the cast has no input"))?;
        let to = match self.node(node).op_type() {
            "CastLike" => TypeSource::Like(
                self.input(node, 1)
                    .ok_or_else(|| invalid("CastLike has no second input"))?,
            ),
            _ => match self.known_attribute(node, "to")? {
                Some(attribute) => TypeSource::Attribute(read_type(attribute)?),
                // onnx.checker accepts a call that omits the attribute, except with full check.
                None if self
                    .node(node)
                    .attribute
                    .iter()
                    .any(|attribute| attribute.name() == "to") =>
                {
                    return Err(UnclearCast::CallersDisagree("to".to_owned()));
                }
                None => return Err(invalid("the attribute `to` is missing")),
            },
        };
        let saturate = self
            .known_attribute(node, "saturate")?
            .map(read_saturate)
            .transpose()?;
        let round_mode = self
            .known_attribute(node, "round_mode")?
            .map(read_round_mode)
            .transpose()?;
        Ok(CastNode {
            input,
            output: self.output(node, 0),
            to,
            saturate,
            round_mode,
        })
    }

    /// The element type of a value, if the model declares it or a cast or constant determines it.
    #[must_use]
    pub fn element_type(&self, value: ValueId) -> Option<DType> {
        let of_cast = match self.origin(value) {
            Origin::Node { node, .. } if self.is_cast(node) => match self.cast_node(node) {
                Ok(CastNode {
                    to: TypeSource::Attribute(to),
                    ..
                }) => Some(to),
                _ => None,
            },
            _ => None,
        };
        let of_constant = || {
            self.constant(value)
                .ok()
                .and_then(|constant| DType::from_number(constant.tensor.data_type()))
        };
        of_cast
            .or_else(of_constant)
            .or_else(|| self.declared_type(value))
    }

    fn known_attribute(
        &self,
        node: NodeId,
        name: &str,
    ) -> Result<Option<&AttributeProto>, UnclearCast> {
        match self.attribute(node, name) {
            Attribute::Absent => Ok(None),
            Attribute::Is(attribute) => Ok(Some(attribute)),
            Attribute::Unclear => Err(UnclearCast::CallersDisagree(name.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::onnx_text;

    #[test]
    fn an_element_type_is_that_of_a_cast_a_constant_or_a_declaration() {
        let text = r#"<ir_version: 9, opset_import: ["": 19]> g (float[2] x) => (y) <int8[2] w = {1, 2}> {
            half = Cast <to = 10> (x)
            like = CastLike (x, w)
            c = Constant <value = int64[1] {1}> ()
            y = Neg (half)
        }"#;
        let model = Model::new(onnx_text::parse(text).unwrap()).unwrap();
        let expected = [
            ("x", Some(DType::Float)),
            ("w", Some(DType::Int8)),
            ("half", Some(DType::Float16)),
            ("like", None),
            ("c", Some(DType::Int64)),
            ("y", None),
        ];
        let found = expected.map(|(name, _)| {
            let value = model
                .values()
                .find(|value| model.name(*value) == name)
                .unwrap();
            (name, model.element_type(value))
        });
        assert_eq!(found, expected);
    }
}
