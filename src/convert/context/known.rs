//! Types, shapes and constants of the values that the node names.

use crate::convert::reason::{
    DataUnreadable, NodeInvalid, NotConstant, Overridable, Reason, ShapeUnknown, TypeUnknown,
    TypeUnsupported,
};
use bytes::Bytes;
use std::borrow::Cow;

use super::{AddedValue, Context};
use crate::convert::make;
use crate::graph::{self, ValueId};
use crate::ops::inference::{Ints, Known, MOST_DIMENSIONS, NOTHING};
use crate::ops::schemas::{Formal, ValueType};
use crate::protobuf::schema::TensorProto;
use crate::tensor::{Data, element_count};
use onnx_cast::{DType, packed};

impl<'m> Context<'_, 'm> {
    pub fn value(&self, name: &str) -> Option<ValueId> {
        self.source.value(name)
    }

    pub(super) fn added(&self, name: &str) -> Option<&AddedValue> {
        self.record.added(name)
    }

    /// Type and shape of a value that the node names, as far as they are known.
    pub fn known(&self, name: &str) -> &Known {
        match self.added(name) {
            Some(added) => &added.known,
            None => self
                .value(name)
                .map_or(&NOTHING, |value| self.source.known(value)),
        }
    }

    pub fn known_input(&self, index: usize) -> Known {
        Known {
            value_type: self.input_type(index),
            ..self
                .input(index)
                .map(|name| self.known(name).clone())
                .unwrap_or_default()
        }
    }

    pub fn known_output(&self, index: usize) -> Known {
        let known = self
            .node
            .output
            .get(index)
            .map(|name| self.known(name).clone());
        Known {
            value_type: self.output_type(index),
            ..known.unwrap_or_default()
        }
    }

    pub fn input_type(&self, index: usize) -> Option<ValueType> {
        self.type_of(self.node.input.get(index), self.schema.input(index))
    }

    pub fn output_type(&self, index: usize) -> Option<ValueType> {
        self.type_of(self.node.output.get(index), self.schema.output(index))
    }

    /// An unknown type is inferred from another input or output with the same type variable.
    fn type_of(&self, name: Option<&String>, formal: Option<&'static Formal>) -> Option<ValueType> {
        let known = |name: &String| self.known(name).value_type;
        let by_variable = || {
            let formal = formal.filter(|formal| formal.is_homogeneous())?;
            let shares =
                |other: Option<&Formal>| other.is_some_and(|other| other.shares_variable(formal));
            let inputs = self
                .node
                .input
                .iter()
                .enumerate()
                .filter(|(index, _)| shares(self.schema.input(*index)));
            let outputs = self
                .node
                .output
                .iter()
                .enumerate()
                .filter(|(index, _)| shares(self.schema.output(*index)));
            formal
                .fixed_type()
                .or_else(|| inputs.chain(outputs).find_map(|(_, name)| known(name)))
        };
        name.and_then(known).or_else(by_variable)
    }

    pub fn dtype(&self, index: usize) -> Result<DType, Reason> {
        self.known_input(index).dtype().ok_or_else(|| {
            Reason::new(
                TypeUnknown,
                format!("the type of {} is unknown", self.describe(index)),
            )
        })
    }

    pub fn output_dtype(&self, index: usize) -> Result<DType, Reason> {
        let name = self.node.output.get(index).map_or("", String::as_str);
        self.known_output(index).dtype().ok_or_else(|| {
            Reason::new(
                TypeUnknown,
                format!("the type of output '{name}' is unknown"),
            )
        })
    }

    pub fn rank(&self, index: usize) -> Result<usize, Reason> {
        self.known_input(index).rank().ok_or_else(|| {
            Reason::new(
                ShapeUnknown,
                format!("the rank of {} is unknown", self.describe(index)),
            )
        })
    }

    /// Checks an input that has one element. With more, the operator does not run, while the nodes
    /// of an expansion may broadcast it.
    ///
    /// # Errors
    /// If it is known to have another number of elements.
    pub fn expect_number(&self, index: usize) -> Result<(), Reason> {
        let dims = self.known_input(index).shape.unwrap_or_default();
        if dims.iter().flatten().all(|&dim| dim == 1) {
            return Ok(());
        }
        let what = format!("{} must have one element", self.describe(index));
        Err(Reason::new(NodeInvalid, what))
    }

    /// The number of axes of the first input behind an axis. That of a negative axis needs no rank.
    ///
    /// # Errors
    /// If the axis is out of range, or if it counts from the front and the rank is unknown.
    pub fn axes_behind(&self, axis: i64) -> Result<usize, Reason> {
        let behind = if axis < 0 {
            // The complement of -1 is 0: the last axis has none behind it.
            !axis
        } else {
            self.rank(0)? as i64 - 1 - axis
        };
        usize::try_from(behind)
            .ok()
            .filter(|&behind| behind < self.rank(0).unwrap_or(MOST_DIMENSIONS))
            .ok_or_else(|| Reason::new(NodeInvalid, format!("`axis` = {axis} is out of range")))
    }

    /// The length of an axis of an input, if it is known.
    pub fn dim(&self, input: usize, axis: impl TryInto<usize>) -> Option<i64> {
        self.known_input(input)
            .shape?
            .get(axis.try_into().ok()?)
            .copied()
            .flatten()
    }

    /// The length of the last axis of an input, if it is known.
    pub fn last_dim(&self, input: usize) -> Option<i64> {
        self.known_input(input).shape?.last().copied().flatten()
    }

    /// The input as messages name it.
    pub fn describe(&self, index: usize) -> String {
        format!("input '{}'", self.input(index).unwrap_or(""))
    }

    /// Axes of the first input as non-negative numbers.
    pub fn axes_from_front(&self, axes: Vec<i64>) -> Result<Vec<i64>, Reason> {
        if axes.iter().all(|&axis| axis >= 0) {
            return Ok(axes);
        }
        counted_from_front(axes, self.rank(0)?)
    }

    /// The tensor of an input that is constant.
    pub fn constant(&self, index: usize) -> Result<TensorProto, Reason> {
        let what = self.describe(index);
        let name = self
            .input(index)
            .ok_or_else(|| Reason::new(NodeInvalid, format!("input {index} is missing")))?;
        if let Some(added) = self.added(name) {
            return added
                .constant
                .clone()
                .ok_or_else(|| Reason::new(NotConstant, format!("{what} is not constant")));
        }
        let value = self
            .value(name)
            .ok_or_else(|| Reason::new(NodeInvalid, format!("{what} is not defined")))?;
        self.source
            .constant(value)
            .map(Cow::into_owned)
            .map_err(|reason| not_constant(&what, reason))
    }

    fn constant_bytes(&self, index: usize) -> Result<(DType, Bytes), Reason> {
        let what = self.describe(index);
        let proto = self.constant(index)?;
        let content = self.source.model.content(&proto);
        let content =
            content.map_err(|error| Reason::new(DataUnreadable, format!("{what}: {error}")))?;
        match content.data() {
            Data::Numbers(numbers, _) => Ok((content.dtype(), numbers.to_bytes())),
            Data::Strings(_) => Err(Reason::new(
                TypeUnsupported,
                format!("{what} has element type string"),
            )),
        }
    }

    /// The integers of an input that is constant, or computed from shapes that are known.
    pub fn read_ints(&self, index: usize) -> Result<Vec<i64>, Reason> {
        if let Some(ints) = self.inferred_ints(index) {
            return Ok(ints);
        }
        let (dtype, bytes) = self.constant_bytes(index)?;
        packed::integers(dtype, &bytes).ok_or_else(|| {
            Reason::new(
                TypeUnsupported,
                format!(
                    "{} has element type {dtype}, not an integer type",
                    self.describe(index)
                ),
            )
        })
    }

    fn inferred_ints(&self, index: usize) -> Option<Vec<i64>> {
        self.partial_ints(index)?.iter().copied().collect()
    }

    /// The integers of an input that is a scalar or a list, as far as they are known.
    pub fn partial_ints(&self, index: usize) -> Option<&Ints> {
        let name = self.input(index)?;
        match self.added(name) {
            Some(added) => added.ints.as_ref(),
            None => self.source.ints(self.value(name)?),
        }
    }

    /// Whether an integer of the computed shape of a `Reshape` is the dimension of its data at the
    /// same place.
    pub fn copies_dimension(&self, place: usize) -> bool {
        !self.is_added && self.source.copies_dimension(place)
    }

    /// The values of a constant input, all of which float represents exactly.
    pub fn read_floats(&self, index: usize) -> Result<Vec<f32>, Reason> {
        let exact = |double: f64| match double as f32 {
            float if f64::from(float) == double || double.is_nan() => Ok(float),
            _ => Err(Reason::new(
                TypeUnsupported,
                format!(
                    "{} contains {double}, which a FLOAT attribute cannot represent",
                    self.describe(index)
                ),
            )),
        };
        self.read_doubles(index)?.into_iter().map(exact).collect()
    }

    /// The values of a constant input as doubles.
    pub fn read_doubles(&self, index: usize) -> Result<Vec<f64>, Reason> {
        let (dtype, bytes) = self.constant_bytes(index)?;
        make::doubles(dtype, &bytes).ok_or_else(|| {
            Reason::new(
                TypeUnsupported,
                format!(
                    "constants of type {dtype} are not supported as {}",
                    self.describe(index)
                ),
            )
        })
    }

    /// The values of a constant input of type bool.
    pub fn read_bools(&self, index: usize) -> Result<Vec<bool>, Reason> {
        match self.constant_bytes(index)? {
            (DType::Bool, bytes) => Ok(bytes.iter().map(|&byte| byte != 0).collect()),
            (dtype, _) => Err(Reason::new(
                TypeUnsupported,
                format!(
                    "{} has element type {dtype}, not bool",
                    self.describe(index)
                ),
            )),
        }
    }
}

/// Axes of a tensor of this rank as non-negative numbers.
pub(in crate::convert) fn counted_from_front(
    axes: Vec<i64>,
    rank: usize,
) -> Result<Vec<i64>, Reason> {
    let counted = |axis: i64| match usize::try_from(axis.unsigned_abs()) {
        Ok(back) if axis < 0 && back <= rank => Ok((rank - back) as i64),
        _ if axis < 0 => Err(Reason::new(
            NodeInvalid,
            format!("axis {axis} is out of range for rank {rank}"),
        )),
        _ => Ok(axis),
    };
    axes.into_iter().map(counted).collect()
}

/// The known type and shape of a transposed tensor.
pub(in crate::convert) fn permuted(known: Known, order: &[i64]) -> Known {
    let shape = known
        .shape
        .map(|shape| order.iter().map(|&axis| shape[axis as usize]).collect());
    Known { shape, ..known }
}

/// Whether the number of elements of a shape can be a dimension: so can those of its parts then,
/// unless a dimension is zero.
pub(in crate::convert) fn is_countable(dims: &[i64]) -> bool {
    element_count(dims).is_some_and(|elements| i64::try_from(elements).is_ok())
}

fn not_constant(what: &str, reason: graph::NotConstant) -> Reason {
    match reason {
        graph::NotConstant::Computed => Reason::new(NotConstant, format!("{what} is not constant")),
        graph::NotConstant::Overridable => Reason::new(
            Overridable,
            format!(
                "{what} must be constant, but it is also a graph input, which a caller can override"
            ),
        ),
        other => Reason::new(NotConstant, format!("{what} is not constant: {other}")),
    }
}
