//! A node with the values of its inputs.

use super::value::Value;
use crate::graph::{Attribute, Model, NodeId};
use crate::ops::schemas::{DefaultValue, Schema, ValueType};
use crate::protobuf::schema::AttributeProto;
use onnx_cast::{Contested, DType};

/// The type, if it is known, and the shape of the first input, for operators that need nothing
/// else.
pub type FirstInput = (Option<DType>, Vec<i64>);

/// A node with the values of its inputs.
pub struct Node<'a> {
    /// The model.
    pub model: &'a Model,
    /// The node.
    pub id: NodeId,
    /// The schema of its operator in the opset of the model.
    pub schema: &'static Schema,
    /// By index; `None` for an omitted input.
    pub inputs: Vec<Option<Value>>,
    /// The type and shape of the first input, if its value is not known.
    pub first: Option<FirstInput>,
    /// The choice between contested results; `None`: they have no value.
    pub contested: Option<Contested>,
}

impl Node<'_> {
    /// The number of results that the node states.
    pub fn outputs(&self) -> usize {
        self.model.node(self.id).output.len()
    }

    /// The version of the operator.
    pub fn version(&self) -> i64 {
        self.schema.since_version
    }

    /// Whether the operator supports the types of all inputs.
    pub fn expect_types(&self) -> Result<(), String> {
        for (index, input) in self.inputs.iter().enumerate() {
            let (Some(input), Some(formal)) = (input, self.schema.input(index)) else {
                continue;
            };
            if !formal.types.contains(ValueType::Tensor(input.dtype())) {
                return Err(format!(
                    "{} does not support {}",
                    self.schema,
                    input.dtype()
                ));
            }
        }
        Ok(())
    }

    /// An input that may be omitted.
    pub fn optional(&self, index: usize) -> Option<&Value> {
        self.inputs.get(index)?.as_ref()
    }

    /// An input.
    pub fn input(&self, index: usize) -> Result<&Value, String> {
        self.optional(index)
            .ok_or_else(|| format!("input {index} is missing"))
    }

    /// The type and shape of the first input.
    pub fn first(&self) -> Result<FirstInput, String> {
        match (self.optional(0), &self.first) {
            (Some(value), _) => Ok((Some(value.dtype()), value.dims().to_vec())),
            (None, Some(first)) => Ok(first.clone()),
            (None, None) => Err("the first input is missing".to_owned()),
        }
    }

    /// An attribute. In a function, all calls must give it the same value.
    pub fn attribute(&self, name: &str) -> Result<Option<&AttributeProto>, String> {
        match self.model.attribute(self.id, name) {
            Attribute::Is(attribute) => Ok(Some(attribute)),
            Attribute::Absent => Ok(None),
            Attribute::Unclear => Err(format!("calls of the function differ in `{name}`")),
        }
    }

    /// An attribute that is an integer, or its default.
    pub fn int(&self, name: &str) -> Result<Option<i64>, String> {
        if let Some(attribute) = self.attribute(name)? {
            return Ok(Some(attribute.i()));
        }
        match self
            .schema
            .attribute(name)
            .and_then(|attribute| attribute.default)
        {
            Some(DefaultValue::Int(default)) => Ok(Some(default)),
            _ => Ok(None),
        }
    }

    /// Whether an attribute is an integer other than zero.
    pub fn is_set(&self, name: &str) -> Result<bool, String> {
        Ok(self.int(name)?.unwrap_or(0) != 0)
    }

    /// Integers that are an attribute in some versions of the operator, and an input in others.
    pub fn list(&self, name: &str, index: usize) -> Result<Option<Vec<i64>>, String> {
        match self.schema.attribute(name) {
            Some(_) => Ok(self
                .attribute(name)?
                .map(|attribute| attribute.ints.clone())),
            None => self.optional(index).map(Value::list).transpose(),
        }
    }

    /// An input that is one integer.
    pub fn one(&self, index: usize) -> Result<i128, String> {
        let [one] = self.input(index)?.integers()?[..] else {
            return Err(format!("input {index} is not one number"));
        };
        Ok(one)
    }

    /// An axis of a tensor. Since opset 11, negative axes are counted from the end.
    pub fn axis(&self, axis: i64, rank: usize) -> Result<usize, String> {
        let from_end = if axis < 0 && self.version() >= 11 {
            rank as i64
        } else {
            0
        };
        match usize::try_from(axis + from_end) {
            Ok(found) if found < rank => Ok(found),
            _ => Err(format!("there is no axis {axis} of {rank}")),
        }
    }

    /// Several different axes.
    pub fn axes(&self, axes: &[i64], rank: usize) -> Result<Vec<usize>, String> {
        let mut found = Vec::with_capacity(axes.len());
        for &axis in axes {
            found.push(self.axis(axis, rank)?);
        }
        Ok(found)
    }

    /// An index along an axis. Since opset 11, negative ones are counted from the end.
    pub fn index(&self, index: i64, dim: i64) -> Result<usize, String> {
        let from_end = if index < 0 && self.version() >= 11 {
            dim
        } else {
            0
        };
        let found = index.saturating_add(from_end);
        match usize::try_from(found) {
            Ok(place) if found < dim => Ok(place),
            _ => Err(format!(
                "the index {index} is outside of an axis of length {dim}"
            )),
        }
    }

    /// The result that was chosen of two that ONNX's text and runtimes compute; the latter cannot
    /// be computed if it is `None`.
    pub fn chosen<T>(&self, text: T, runtime: Option<T>) -> Result<T, String> {
        match self.contested {
            Some(Contested::Text) => Ok(text),
            Some(Contested::Runtime) => {
                runtime.ok_or_else(|| "the result of runtimes cannot be computed".to_owned())
            }
            None => Err("ONNX contradicts itself about it".to_owned()),
        }
    }
}
