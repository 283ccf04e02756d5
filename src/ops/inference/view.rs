//! A node with the known facts of its inputs.

use std::cell::Cell;
use std::ops::Deref;

use super::known::{Dim, Known, Numbers, Shape, is_kept, sizes};
use super::length::Length;
use crate::graph::{Attribute, Model, NodeId};
use crate::ops::readings::Readings;
use crate::ops::schemas::Schema;
use crate::protobuf::schema::{AttributeProto, NodeProto};
use onnx_cast::Contested;

/// A node and the known facts of its inputs.
pub(in crate::ops) struct Call<'a, L: 'static = Length> {
    pub model: &'a Model,
    pub id: NodeId,
    pub node: &'a NodeProto,
    /// By index; an omitted input is unknown.
    pub inputs: Vec<&'a Known<L>>,
}

/// A node of an operator that has a schema.
pub(super) struct View<'a> {
    pub call: Call<'a>,
    pub schema: &'static Schema,
    /// By index; the integers of small tensors, as far as they are known. It may be shorter than
    /// the inputs.
    pub ints: Vec<Option<&'a Numbers>>,
    /// The choice between contested results; `None`: they are unknown.
    pub contested: Option<Contested>,
    /// Whether a contested result is unknown for this reason.
    pub is_contested: Cell<bool>,
}

impl<'a, L: Copy> Call<'a, L> {
    /// An attribute; the inner option is `None` if the callers of the function give it different
    /// values.
    pub fn attribute(&self, name: &str) -> Option<Option<&'a AttributeProto>> {
        match self.model.attribute(self.id, name) {
            Attribute::Absent => None,
            Attribute::Is(attribute) => Some(Some(attribute)),
            Attribute::Unclear => Some(None),
        }
    }

    /// An integer attribute, or this value if it is missing.
    pub fn int_or(&self, name: &str, default: i64) -> Option<i64> {
        self.attribute(name).map_or(Some(default), |attribute| {
            attribute.map(|attribute| attribute.i())
        })
    }

    /// Whether a flag is set, which is 0 by default.
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.int_or(name, 0).map(|flag| flag != 0)
    }

    /// A list of integers; `None` if it is missing or unclear.
    pub fn ints(&self, name: &str) -> Option<&'a [i64]> {
        self.attribute(name)
            .flatten()
            .map(|attribute| attribute.ints.as_slice())
    }

    pub fn input(&self, index: usize) -> &'a Known<L> {
        self.inputs.get(index).copied().unwrap_or(
            const {
                &Known {
                    value_type: None,
                    shape: None,
                }
            },
        )
    }

    pub fn shape(&self, index: usize) -> Option<&'a Shape<L>> {
        self.input(index).shape.as_ref()
    }

    pub fn rank(&self, index: usize) -> Option<usize> {
        self.shape(index).map(Vec::len)
    }

    /// A dimension of an input.
    pub fn dim(&self, index: usize, axis: usize) -> Option<L> {
        self.shape(index)?.get(axis).copied().flatten()
    }

    /// Whether the node has this input.
    pub fn has_input(&self, index: usize) -> bool {
        self.node
            .input
            .get(index)
            .is_some_and(|name| !name.is_empty())
    }
}

impl Call<'_> {
    /// An integer attribute as a length, or this length if it is missing.
    pub fn size_or(&self, name: &str, default: i64) -> Dim {
        self.int_or(name, default).map(Length::Size)
    }

    /// The length of an input that is a list.
    pub fn length(&self, index: usize) -> Option<usize> {
        match self.shape(index)?.as_slice() {
            [length] => usize::try_from((*length)?.size()?)
                .ok()
                .filter(|&length| is_kept(length)),
            _ => None,
        }
    }
}

impl<'a> Deref for View<'a> {
    type Target = Call<'a>;

    fn deref(&self) -> &Call<'a> {
        &self.call
    }
}

impl View<'_> {
    /// The chosen one of two readings, if they are contested.
    pub fn choose<T>(&self, readings: Readings<T>) -> Option<T> {
        let chosen = readings.choose(self.contested);
        self.is_contested
            .set(self.is_contested.get() || chosen.is_err());
        chosen.ok()
    }

    /// The integers of an input, as far as they are known: a scalar or a list.
    pub fn values(&self, index: usize) -> Option<Numbers> {
        self.ints.get(index).copied().flatten().cloned()
    }

    /// Like [`View::values`], with unknown integers for a list of which only the length is known.
    pub fn values_or_unknown(&self, index: usize) -> Option<Numbers> {
        self.values(index)
            .or_else(|| Some(vec![None; self.length(index)?]))
    }

    /// The integer of an input that is a scalar, or the first of a list.
    pub fn value(&self, index: usize) -> Dim {
        self.ints
            .get(index)
            .copied()
            .flatten()?
            .first()
            .copied()
            .flatten()
    }

    /// The integers of an input, if all are known.
    pub fn known_values(&self, index: usize) -> Option<Vec<i64>> {
        self.ints
            .get(index)
            .copied()
            .flatten()?
            .iter()
            .map(|number| number.and_then(Length::size))
            .collect()
    }

    /// The integers that some versions of the operator take as an attribute, and others as an
    /// input.
    pub fn list(&self, name: &str, index: usize) -> Option<Numbers> {
        match self.schema.attribute(name) {
            Some(_) => self.ints(name).map(sizes),
            None => self.values(index),
        }
    }

    /// Like [`View::list`], if all integers are known.
    pub fn known_list(&self, name: &str, index: usize) -> Option<Vec<i64>> {
        match self.schema.attribute(name) {
            Some(_) => self.ints(name).map(<[i64]>::to_vec),
            None => self.known_values(index),
        }
    }

    /// The axes of an operator that takes them as an attribute or as its second input; `None` if
    /// they are missing or not known.
    pub fn axes(&self) -> Option<Vec<i64>> {
        self.known_list("axes", 1)
            .filter(|axes| is_kept(axes.len()))
    }
}
