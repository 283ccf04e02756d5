//! What is known of the values that the node names.

use bytes::Bytes;

use super::{Made, Site};
use crate::convert::hop::Reason;
use crate::convert::make;
use crate::dtype::DType;
use crate::facts::infer::{Known, NOTHING};
use crate::facts::{Formal, ValueType};
use crate::graph::ValueId;
use crate::tensor::{Tensor, Values};
use crate::wire::schema::TensorProto;

impl<'m> Site<'_, 'm> {
    pub(super) fn value(&self, name: &str) -> Option<ValueId> {
        let values = &self.place.values;
        values.binary_search_by(|(known, _)| known.cmp(&name)).ok().map(|index| values[index].1)
    }

    fn made(&self, name: &str) -> Option<&Made> {
        self.record.made.iter().find(|made| made.name == name)
    }

    /// What is known of a value that the node names.
    fn known(&self, name: &str) -> &Known {
        match self.made(name) {
            Some(made) => &made.known,
            None => self.value(name).map_or(&NOTHING, |value| self.place.known(value)),
        }
    }

    pub fn known_input(&self, index: usize) -> Known {
        Known { value_type: self.input_type(index), ..self.input(index).map(|name| self.known(name).clone()).unwrap_or_default() }
    }

    pub fn known_output(&self, index: usize) -> Known {
        let known = self.node.output.get(index).map(|name| self.known(name).clone());
        Known { value_type: self.output_type(index), ..known.unwrap_or_default() }
    }

    pub fn input_type(&self, index: usize) -> Option<ValueType> {
        self.type_of(self.node.input.get(index), self.schema.input(index))
    }

    pub fn output_type(&self, index: usize) -> Option<ValueType> {
        self.type_of(self.node.output.get(index), self.schema.output(index))
    }

    /// A type that is not known is that of any other input or output with the same type variable.
    fn type_of(&self, name: Option<&String>, formal: Option<&'static Formal>) -> Option<ValueType> {
        let known = |name: &String| self.known(name).value_type;
        let by_variable = || {
            let formal = formal.filter(|formal| formal.is_homogeneous())?;
            let shares =
                |other: Option<&Formal>| other.is_some_and(|other| other.is_homogeneous() && other.type_name == formal.type_name);
            let inputs = self.node.input.iter().enumerate().filter(|(index, _)| shares(self.schema.input(*index)));
            let outputs = self.node.output.iter().enumerate().filter(|(index, _)| shares(self.schema.output(*index)));
            formal.fixed_type().or_else(|| inputs.chain(outputs).find_map(|(_, name)| known(name)))
        };
        name.and_then(known).or_else(by_variable)
    }

    pub fn dtype(&self, index: usize) -> Result<DType, Reason> {
        self.known_input(index).dtype().ok_or_else(|| format!("the type of {} is not known", self.describe(index)))
    }

    pub fn output_dtype(&self, index: usize) -> Result<DType, Reason> {
        let name = self.node.output.get(index).map_or("", String::as_str);
        self.known_output(index).dtype().ok_or_else(|| format!("the type of output '{name}' is not known"))
    }

    pub fn rank(&self, index: usize) -> Result<usize, Reason> {
        self.known_input(index).rank().ok_or_else(|| format!("the rank of {} is not known", self.describe(index)))
    }

    /// How messages name an input.
    pub fn describe(&self, index: usize) -> String {
        format!("input '{}'", self.input(index).unwrap_or(""))
    }

    /// Axes of the first input, counted from the front.
    pub fn axes_from_front(&self, axes: Vec<i64>) -> Result<Vec<i64>, Reason> {
        if axes.iter().all(|&axis| axis >= 0) {
            return Ok(axes);
        }
        counted_from_front(axes, self.rank(0)?)
    }

    /// The tensor of an input that is constant.
    pub fn constant(&self, index: usize) -> Result<TensorProto, Reason> {
        let what = self.describe(index);
        let name = self.input(index).ok_or_else(|| format!("input {index} is missing"))?;
        if let Some(made) = self.made(name) {
            return made.constant.clone().ok_or_else(|| format!("{what} is not constant"));
        }
        let value = self.value(name).ok_or_else(|| format!("{what} is not defined"))?;
        let constant = self.place.model.constant(value).map_err(|reason| format!("{what} must be a constant: {reason}"))?;
        Ok(constant.tensor.into_owned())
    }

    fn constant_bytes(&self, index: usize) -> Result<(DType, Bytes), Reason> {
        let what = self.describe(index);
        let proto = self.constant(index)?;
        let tensor = Tensor::read(&proto).map_err(|error| format!("{what}: {error}"))?;
        match tensor.values().map_err(|error| format!("{what}: {error}"))? {
            Values::Raw(bytes) => Ok((tensor.dtype(), bytes)),
            Values::Strings(_) => Err(format!("{what} holds strings")),
            Values::External(reference) => {
                let bytes = reference.bytes(tensor.raw_bytes(), self.place.model.data());
                Ok((tensor.dtype(), bytes.map_err(|error| format!("{what}: {error}"))?))
            }
        }
    }

    /// The integers of a constant input.
    pub fn read_ints(&self, index: usize) -> Result<Vec<i64>, Reason> {
        let (dtype, bytes) = self.constant_bytes(index)?;
        make::integers(dtype, &bytes).ok_or_else(|| format!("{} holds {dtype}, not integers", self.describe(index)))
    }

    /// The numbers of a constant input of a floating-point type that float holds exactly.
    pub fn read_floats(&self, index: usize) -> Result<Vec<f32>, Reason> {
        let (dtype, bytes) = self.constant_bytes(index)?;
        let doubles = make::doubles(dtype, &bytes)
            .ok_or_else(|| format!("{} holds {dtype}, which is not supported here", self.describe(index)))?;
        doubles.into_iter().map(|double| self.exact_float(double, index)).collect()
    }

    /// The numbers of a constant input.
    pub fn read_doubles(&self, index: usize) -> Result<Vec<f64>, Reason> {
        let (dtype, bytes) = self.constant_bytes(index)?;
        make::doubles(dtype, &bytes).ok_or_else(|| format!("{} holds {dtype}, which is not supported here", self.describe(index)))
    }

    /// The truth values of a constant input.
    pub fn read_bools(&self, index: usize) -> Result<Vec<bool>, Reason> {
        match self.constant_bytes(index)? {
            (DType::Bool, bytes) => Ok(bytes.iter().map(|&byte| byte != 0).collect()),
            (dtype, _) => Err(format!("{} holds {dtype}, not truth values", self.describe(index))),
        }
    }

    fn exact_float(&self, double: f64, index: usize) -> Result<f32, Reason> {
        let float = double as f32;
        match f64::from(float) == double || double.is_nan() {
            true => Ok(float),
            false => Err(format!("{} holds {double}, which no attribute of type FLOAT can hold", self.describe(index))),
        }
    }
}

/// Axes of a tensor of this rank, counted from the front.
pub(in crate::convert) fn counted_from_front(axes: Vec<i64>, rank: usize) -> Result<Vec<i64>, Reason> {
    let counted = |axis: i64| match usize::try_from(axis.unsigned_abs()) {
        Ok(back) if axis < 0 && back <= rank => Ok((rank - back) as i64),
        _ if axis < 0 => Err(format!("axis {axis} does not fit rank {rank}")),
        _ => Ok(axis),
    };
    axes.into_iter().map(counted).collect()
}
