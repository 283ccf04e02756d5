//! A node whose values may be carried, and its role.

use super::types::Wider;
use crate::base::hash::HashMap;
use crate::graph::{Model, NodeId, ValueId};
use crate::ops::inference::{Inferred, Known};
use crate::protobuf::schema::AttributeProto;
use onnx_cast::{Contested, DType};

/// What becomes of a node whose values of narrower types get wider ones.
#[derive(Clone, Debug, PartialEq)]
pub enum Role {
    /// It stays, and does the same with the wider types.
    Same,
    /// Nodes in ONNX text take its place, in the opset of the model. They have the names of the
    /// operator's inputs and outputs.
    Replaced(String),
}

/// A node, and what is known of its values.
pub struct Site<'a> {
    pub model: &'a Model,
    pub inferred: &'a Inferred,
    pub node: NodeId,
    /// The values that may be carried.
    pub found: &'a HashMap<ValueId, &'static Wider>,
    /// The choice between contested results.
    pub contested: Option<Contested>,
}

impl Site<'_> {
    /// Whether a name is that of an input and of an output, which are two values.
    pub fn is_ambiguous(&self) -> bool {
        let node = self.model.node(self.node);
        let is_output = |name: &String| !name.is_empty() && node.output.contains(name);
        node.input.iter().any(is_output)
    }

    /// How an input is carried, if it may be.
    pub fn input(&self, index: u32) -> Option<&'static Wider> {
        self.found
            .get(&self.model.input(self.node, index)?)
            .copied()
    }

    /// How an output is carried, if it may be.
    pub fn output(&self, index: u32) -> Option<&'static Wider> {
        self.found
            .get(&self.model.output(self.node, index)?)
            .copied()
    }

    /// What is known of an input; none if it is omitted.
    pub fn known_input(&self, index: u32) -> Option<&Known> {
        Some(self.inferred.of(self.model.input(self.node, index)?))
    }

    pub fn output_type(&self) -> Option<DType> {
        self.inferred.of(self.model.output(self.node, 0)?).dtype()
    }

    /// A string attribute, or the default; none if the value is that of a function's attribute.
    pub fn string_or(&self, name: &str, default: &str) -> Option<String> {
        let text = |attribute: &AttributeProto| String::from_utf8_lossy(attribute.s()).into_owned();
        self.attribute_or(name, text, default.to_owned())
    }

    /// An attribute with an integer, or the default; none if the value is that of a function's
    /// attribute.
    pub fn int_or(&self, name: &str, default: i64) -> Option<i64> {
        self.attribute_or(name, |attribute| attribute.i(), default)
    }

    fn attribute_or<T>(
        &self,
        name: &str,
        value: impl Fn(&AttributeProto) -> T,
        default: T,
    ) -> Option<T> {
        let attributes = &self.model.node(self.node).attribute;
        match attributes.iter().find(|attribute| attribute.name() == name) {
            Some(attribute) if attribute.tail().ref_attr_name().is_empty() => {
                Some(value(attribute))
            }
            Some(_) => None,
            None => Some(default),
        }
    }
}
