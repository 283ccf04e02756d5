//! A node with the values of its inputs.

use super::numbers;
use super::result::{NotComputed, undefined};
use crate::graph::{Attribute, Model, NodeId};
use crate::ops::inference::MOST_DIMENSIONS;
use crate::ops::readings::Readings;
use crate::ops::schemas::{DefaultValue, Schema};
use crate::protobuf::schema::{AttributeProto, NodeProto};
use crate::tensor::{Content, element_count};
use onnx_cast::{Contested, DType};

/// The type of a value, if it is known, and its shape.
pub type TypeAndShape = (Option<DType>, Vec<i64>);

/// A node with the values of its inputs.
#[derive(Debug)]
pub struct Call<'a> {
    /// The model.
    pub model: &'a Model,
    /// The node.
    pub node: NodeId,
    /// Its schema.
    pub schema: &'static Schema,
    /// By index; `None` for an omitted input, or one whose values are not needed.
    pub inputs: Vec<Option<Content>>,
    /// The type and shape of the first input, for operators that need no more.
    pub first: Option<TypeAndShape>,
    /// The number of bytes by which results may exceed the inputs.
    pub limit: u64,
    /// The choice between contested results; `None`: they are not computed.
    pub contested: Option<Contested>,
}

impl<'a> Call<'a> {
    pub(super) fn proto(&self) -> &'a NodeProto {
        self.model.node(self.node)
    }

    /// The inputs that are not omitted.
    pub(super) fn contents(&self) -> impl Iterator<Item = (usize, &Content)> {
        self.inputs
            .iter()
            .enumerate()
            .filter_map(|(index, content)| Some((index, content.as_ref()?)))
    }

    /// An input that may be omitted.
    pub(super) fn optional(&self, index: usize) -> Option<&Content> {
        self.inputs.get(index)?.as_ref()
    }

    /// An input.
    pub(super) fn input(&self, index: usize) -> Result<&Content, NotComputed> {
        self.optional(index)
            .ok_or_else(|| undefined(format!("input {index} is missing")))
    }

    /// The type and shape of the first input.
    pub(super) fn first(&self) -> Result<(Option<DType>, &[i64]), NotComputed> {
        match (&self.first, self.optional(0)) {
            (Some((dtype, dims)), _) => Ok((*dtype, dims)),
            (None, Some(content)) => Ok((Some(content.dtype()), content.dims())),
            (None, None) => Err(undefined("the first input is missing")),
        }
    }

    pub(super) fn attribute(&self, name: &str) -> Result<Option<&'a AttributeProto>, NotComputed> {
        match self.model.attribute(self.node, name) {
            Attribute::Absent => Ok(None),
            Attribute::Is(attribute) => Ok(Some(attribute)),
            Attribute::Unclear => Err(undefined(format!(
                "calls of the function do not all give `{name}` the same value"
            ))),
        }
    }

    /// An integer attribute, or the default of the schema.
    pub(super) fn int(&self, name: &str) -> Result<Option<i64>, NotComputed> {
        let default = || match self.schema.attribute(name)?.default {
            Some(DefaultValue::Int(value)) => Some(value),
            _ => None,
        };
        Ok(self
            .attribute(name)?
            .map(|attribute| attribute.i())
            .or_else(default))
    }

    /// An attribute that is zero or one.
    pub(super) fn flag(&self, name: &str) -> Result<bool, NotComputed> {
        Ok(self.int(name)?.is_some_and(|value| value != 0))
    }

    /// A list of integers: an attribute, or an input of the versions that have it as an input.
    pub(super) fn ints(&self, name: &str, index: usize) -> Result<Option<Vec<i64>>, NotComputed> {
        if self.schema.attribute(name).is_some() {
            return Ok(self
                .attribute(name)?
                .map(|attribute| attribute.ints.clone()));
        }
        self.optional(index)
            .map(|content| self.list(content))
            .transpose()
    }

    /// A list of integers with at most one for each axis.
    pub(super) fn axes(&self, name: &str, index: usize) -> Result<Option<Vec<i64>>, NotComputed> {
        let list = self.ints(name, index)?;
        match list.as_ref().map_or(0, Vec::len) {
            0..=MOST_DIMENSIONS => Ok(list),
            length => Err(NotComputed::LeftToRuntimes(format!(
                "{length} axes are left to the runtime"
            ))),
        }
    }

    /// The integers of a list or a scalar.
    pub(super) fn list(&self, content: &Content) -> Result<Vec<i64>, NotComputed> {
        let integers = numbers::integers(content)?;
        integers
            .into_iter()
            .map(|integer| i64::try_from(integer).map_err(|_| undefined("an index is too large")))
            .collect()
    }

    /// The integer of a tensor of one element.
    pub(super) fn one(&self, index: usize) -> Result<i64, NotComputed> {
        match self.list(self.input(index)?)?.as_slice() {
            [one] => Ok(*one),
            all => Err(undefined(format!(
                "input {index} has {} elements instead of one",
                all.len()
            ))),
        }
    }

    /// An axis of a tensor of this rank. Before opset 11, axes are counted from the front only.
    pub(super) fn axis(&self, axis: i64, rank: usize) -> Result<usize, NotComputed> {
        let counted = if axis < 0 && self.schema.since_version >= 11 {
            axis + rank as i64
        } else {
            axis
        };
        usize::try_from(counted)
            .ok()
            .filter(|&axis| axis < rank)
            .ok_or_else(|| undefined(format!("there is no axis {axis} of {rank}")))
    }

    /// Like [`Call::axis`], for several axes.
    pub(super) fn each_axis(&self, axes: &[i64], rank: usize) -> Result<Vec<usize>, NotComputed> {
        axes.iter().map(|&axis| self.axis(axis, rank)).collect()
    }

    /// The chosen one of two results: that of ONNX's text, and that of runtimes, if it can be
    /// reproduced.
    pub(super) fn contested<T>(
        &self,
        text: T,
        runtime: Option<T>,
        why: &'static str,
    ) -> Result<T, NotComputed> {
        let chosen = self.choose(Readings {
            text: Some(text),
            runtime,
            why: Some(why),
        })?;
        chosen.ok_or_else(|| NotComputed::LeftToRuntimes(why.to_owned()))
    }

    /// The chosen one of two readings, if they are contested.
    pub(super) fn choose<T>(&self, readings: Readings<T>) -> Result<T, NotComputed> {
        readings
            .choose(self.contested)
            .map_err(NotComputed::Contested)
    }

    /// The number of elements of a result, which is not larger than the limit allows.
    pub(super) fn elements(&self, dims: &[i64], dtype: DType) -> Result<usize, NotComputed> {
        let elements = element_count(dims)
            .ok_or_else(|| undefined(format!("there is no tensor of shape {dims:?}")))?;
        let unit = if dtype == DType::String {
            Some(elements.saturating_mul(8))
        } else {
            dtype.raw_bytes(elements)
        };
        let from: u64 = self.contents().map(|(_, content)| content.bytes()).sum();
        let bytes = unit.unwrap_or(u64::MAX).saturating_sub(from);
        match usize::try_from(elements) {
            Ok(elements) if bytes <= self.limit => Ok(elements),
            _ => Err(NotComputed::TooLarge {
                bytes,
                limit: self.limit,
            }),
        }
    }
}

/// The length of an axis.
pub(super) fn length(dim: i64) -> usize {
    usize::try_from(dim).unwrap_or(0)
}

/// The number of elements of some axes of a tensor. The axes of an empty tensor can be longer than
/// memory: nothing is counted by numbers that do not fit.
pub(super) fn count(dims: &[i64]) -> usize {
    element_count(dims)
        .and_then(|elements| usize::try_from(elements).ok())
        .unwrap_or(0)
}
