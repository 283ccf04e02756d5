//! A node with the known facts of its inputs.

use super::known::{Dim, Dims, Fact, Numbers, UNKNOWN, is_kept};
use super::length::Length;
use crate::graph::{Attribute, Model, NodeId};
use crate::ops::schemas::Schema;
use crate::protobuf::schema::{AttributeProto, NodeProto};

/// A node, its schema, and the known facts of its inputs.
pub(super) struct View<'a> {
    pub model: &'a Model,
    pub id: NodeId,
    pub node: &'a NodeProto,
    pub schema: &'static Schema,
    /// By index; an omitted input is unknown.
    pub inputs: Vec<&'a Fact>,
    /// By index; the integers of small tensors, as far as they are known. It may be shorter than the inputs.
    pub ints: Vec<Option<&'a Numbers>>,
}

impl<'a> View<'a> {
    /// An attribute; the inner option is `None` if the callers of the function give it different values.
    pub fn attribute(&self, name: &str) -> Option<Option<&'a AttributeProto>> {
        match self.model.attribute(self.id, name) {
            Attribute::Absent => None,
            Attribute::Is(attribute) => Some(Some(attribute)),
            Attribute::Unclear => Some(None),
        }
    }

    /// An integer attribute, or this value if it is missing.
    pub fn int_or(&self, name: &str, default: i64) -> Option<i64> {
        self.attribute(name).map_or(Some(default), |attribute| attribute.map(|attribute| attribute.i()))
    }

    /// The same as a length.
    pub fn size_or(&self, name: &str, default: i64) -> Dim {
        self.int_or(name, default).map(Length::Size)
    }

    /// A list of integers; `None` if it is missing or unclear.
    pub fn ints(&self, name: &str) -> Option<&'a [i64]> {
        self.attribute(name).flatten().map(|attribute| attribute.ints.as_slice())
    }

    pub fn input(&self, index: usize) -> &'a Fact {
        self.inputs.get(index).copied().unwrap_or(&UNKNOWN)
    }

    pub fn shape(&self, index: usize) -> Option<&'a Dims> {
        self.input(index).shape.as_ref()
    }

    /// Whether the node has this input.
    pub fn has_input(&self, index: usize) -> bool {
        self.node.input.get(index).is_some_and(|name| !name.is_empty())
    }

    /// The integers of an input, as far as they are known: a scalar or a list.
    pub fn values(&self, index: usize) -> Option<Numbers> {
        self.ints.get(index).copied().flatten().cloned()
    }

    /// The integers of an input, if all are known.
    pub fn known_values(&self, index: usize) -> Option<Vec<i64>> {
        self.ints.get(index).copied().flatten()?.iter().map(|number| number.and_then(Length::size)).collect()
    }

    /// The length of an input that is a list.
    pub fn length(&self, index: usize) -> Option<usize> {
        match self.shape(index)?.as_slice() {
            [length] => usize::try_from((*length)?.size()?).ok().filter(|&length| is_kept(length)),
            _ => None,
        }
    }

    /// The axes of an operator that takes them as an attribute or as its second input; `None` if they are missing or not known.
    pub fn axes(&self) -> Option<Vec<i64>> {
        match self.schema.attribute("axes") {
            Some(_) => self.ints("axes").filter(|axes| is_kept(axes.len())).map(<[i64]>::to_vec),
            None => self.known_values(1),
        }
    }
}
