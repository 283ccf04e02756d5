//! The node that is being moved, and all that an adapter may ask and do.

use bytes::Bytes;

use super::hop::{Reason, Value};
use super::make;
use super::names::Names;
use crate::dtype::DType;
use crate::facts::infer::{Inferred, Known};
use crate::facts::{Formal, Schema};
use crate::graph::{Attribute, Model, NodeId, ValueId};
use crate::tensor::{Tensor, Values};
use crate::wire::schema::{AttributeProto, NodeProto, TensorProto};

/// What stays the same while a node goes through its hops: the model as it was.
pub(super) struct Place<'m> {
    pub model: &'m Model,
    pub inferred: &'m Inferred,
    pub options: &'m super::Options,
    /// The node as the model has it.
    pub id: NodeId,
    /// The values that the node names, by name.
    pub values: Vec<(&'m str, ValueId)>,
}

/// A value that an adapter made.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub name: String,
    pub known: Known,
    pub constant: Option<TensorProto>,
}

/// What was done to a node on its whole way.
#[derive(Default)]
pub(super) struct Record {
    /// Values that were made for it.
    pub made: Vec<Made>,
    /// Constants that it used and no longer does.
    pub released: Vec<ValueId>,
    /// What was done, for the report.
    pub notes: Vec<String>,
    /// What a person should know although it was done.
    pub warnings: Vec<String>,
}

/// A node on its way from one version of its operator to the next.
pub(super) struct Site<'a, 'm> {
    pub place: &'a Place<'m>,
    pub names: &'a mut Names<'m>,
    pub record: &'a mut Record,
    /// The version it comes from.
    pub schema: &'static Schema,
    /// The opset that it moves to.
    pub to: i64,
    pub node: NodeProto,
    /// Nodes that go in front of it.
    pub before: Vec<NodeProto>,
    /// Nodes that go behind it.
    pub after: Vec<NodeProto>,
}

/// Attributes.
impl Site<'_, '_> {
    pub fn has_attribute(&self, name: &str) -> bool {
        self.node.attribute.iter().any(|attribute| attribute.name() == name)
    }

    /// An attribute; in a function, the value that all callers agree on.
    pub fn attribute(&self, name: &str) -> Result<Option<AttributeProto>, Reason> {
        let Some(attribute) = self.node.attribute.iter().find(|attribute| attribute.name() == name) else {
            return Ok(None);
        };
        if attribute.ref_attr_name().is_empty() {
            return Ok(Some(attribute.clone()));
        }
        match self.place.model.attribute(self.place.id, name) {
            Attribute::Is(value) => {
                let mut value = value.clone();
                value.name = Some(name.to_owned());
                Ok(Some(value))
            }
            Attribute::Absent | Attribute::Unclear => {
                Err(format!("`{name}` is an attribute of the function, and its callers do not all give it the same value"))
            }
        }
    }

    pub fn int(&self, name: &str) -> Result<Option<i64>, Reason> {
        Ok(self.attribute(name)?.map(|attribute| attribute.i()))
    }

    pub fn int_or(&self, name: &str, default: i64) -> Result<i64, Reason> {
        Ok(self.int(name)?.unwrap_or(default))
    }

    pub fn ints(&self, name: &str) -> Result<Option<Vec<i64>>, Reason> {
        Ok(self.attribute(name)?.map(|attribute| attribute.ints.clone()))
    }

    pub fn float(&self, name: &str) -> Result<Option<f32>, Reason> {
        Ok(self.attribute(name)?.map(|attribute| attribute.f()))
    }

    pub fn string(&self, name: &str) -> Result<Option<String>, Reason> {
        Ok(self.attribute(name)?.map(|attribute| String::from_utf8_lossy(attribute.s()).into_owned()))
    }

    pub fn remove_attribute(&mut self, name: &str) {
        if self.has_attribute(name) {
            self.node.attribute.retain(|attribute| attribute.name() != name);
            self.record.notes.push(format!("`{name}` removed"));
        }
    }

    pub fn rename_attribute(&mut self, old: &str, new: &str) {
        if let Some(attribute) = self.node.attribute.iter_mut().find(|attribute| attribute.name() == old) {
            attribute.name = Some(new.to_owned());
            self.record.notes.push(format!("`{old}` renamed `{new}`"));
        }
    }

    /// Sets an attribute; one that is there keeps its place.
    pub fn set_attribute(&mut self, attribute: AttributeProto) {
        self.record.notes.push(format!("`{}` set to {}", attribute.name(), make::text_of(&attribute)));
        let present = self.node.attribute.iter().position(|present| present.name() == attribute.name());
        match present {
            Some(index) => self.node.attribute[index] = attribute,
            None => self.node.attribute.push(attribute),
        }
    }

    pub fn set_int(&mut self, name: &str, value: i64) {
        self.set_attribute(make::int(name, value));
    }

    pub fn set_ints(&mut self, name: &str, values: Vec<i64>) {
        self.set_attribute(make::ints(name, values));
    }

    pub fn set_float(&mut self, name: &str, value: f32) {
        self.set_attribute(make::float(name, value));
    }

    pub fn set_string(&mut self, name: &str, value: &str) {
        self.set_attribute(make::string(name, value));
    }

    pub fn write(&mut self, name: &str, value: Value) {
        match value {
            Value::Int(value) => self.set_int(name, value),
            Value::Float(value) => self.set_float(name, value),
            Value::String(value) => self.set_string(name, value),
            Value::Ones => unreachable!("no attribute is written out as ones"),
        }
    }

    pub fn rename_operator(&mut self, name: &str) {
        self.record.notes.push(format!("{} became {name}", self.node.op_type()));
        self.node.op_type = Some(name.to_owned());
    }
}

/// Inputs and outputs.
impl Site<'_, '_> {
    /// The name of an input that is there.
    pub fn input(&self, index: usize) -> Option<&str> {
        self.node.input.get(index).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// Whether an output is there and used.
    pub fn uses_output(&self, index: usize) -> bool {
        let Some(name) = self.node.output.get(index).filter(|name| !name.is_empty()) else { return false };
        match self.value(name) {
            Some(value) => {
                let model = self.place.model;
                model.uses(value).next().is_some() || !model.output_of(value).is_empty() || model.pin(value).is_some()
            }
            None => true,
        }
    }

    /// Whether an output is there.
    pub fn has_output(&self, index: usize) -> bool {
        self.node.output.get(index).is_some_and(|name| !name.is_empty())
    }

    pub fn set_input(&mut self, index: usize, name: &str) {
        while self.node.input.len() <= index {
            self.node.input.push(String::new());
        }
        self.node.input[index] = name.to_owned();
        self.trim();
    }

    /// Takes an input off the node. A constant that nothing else uses goes with it.
    pub fn take_input(&mut self, index: usize) {
        let Some(name) = self.input(index).map(str::to_owned) else { return };
        self.record.released.extend(self.value(&name));
        self.record.notes.push(format!("input '{name}' removed"));
        self.node.input[index].clear();
        self.trim();
    }

    /// An empty name at the end means the same as none.
    fn trim(&mut self) {
        while self.node.input.last().is_some_and(String::is_empty) {
            self.node.input.pop();
        }
    }

    /// Removes empty names at the end that a version has no place for.
    pub fn trim_to(&mut self, target: &Schema) {
        let cut = |names: &mut Vec<String>, most: Option<usize>| {
            while most.is_some_and(|most| names.len() > most) && names.last().is_some_and(String::is_empty) {
                names.pop();
            }
        };
        let before = self.node.input.len() + self.node.output.len();
        let (inputs, outputs) = (target.input_count().1, target.output_count().1);
        if inputs.is_some_and(|most| self.node.input.len() > most) {
            cut(&mut self.node.input, inputs);
        }
        if outputs.is_some_and(|most| self.node.output.len() > most) {
            cut(&mut self.node.output, outputs);
        }
        if self.node.input.len() + self.node.output.len() < before {
            self.record.notes.push("empty names removed".to_owned());
        }
    }

    /// Removes outputs that are there in name only.
    pub fn drop_unused_output(&mut self, index: usize) {
        if self.has_output(index) && !self.uses_output(index) {
            self.node.output[index].clear();
        }
        while self.node.output.last().is_some_and(String::is_empty) {
            self.node.output.pop();
        }
    }
}

/// What is known of values.
impl<'m> Site<'_, 'm> {
    fn value(&self, name: &str) -> Option<ValueId> {
        self.place.values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    fn made(&self, name: &str) -> Option<&Made> {
        self.record.made.iter().find(|made| made.name == name)
    }

    /// What is known of a value that the node names.
    pub fn known(&self, name: &str) -> Known {
        match self.made(name) {
            Some(made) => made.known.clone(),
            None => self.value(name).map(|value| self.place.inferred.of(value)).unwrap_or_default(),
        }
    }

    pub fn known_input(&self, index: usize) -> Known {
        let known = self.input(index).map(|name| self.known(name)).unwrap_or_default();
        self.completed(known, self.schema.input(index))
    }

    pub fn known_output(&self, index: usize) -> Known {
        let known = self.node.output.get(index).map(|name| self.known(name)).unwrap_or_default();
        self.completed(known, self.schema.output(index))
    }

    /// A type that is not known is that of any other input or output with the same type variable.
    fn completed(&self, known: Known, formal: Option<&'static Formal>) -> Known {
        let Some(formal) = formal.filter(|formal| known.value_type.is_none() && formal.is_homogeneous()) else { return known };
        let shares =
            |other: Option<&Formal>| other.is_some_and(|other| other.is_homogeneous() && other.type_name == formal.type_name);
        let inputs = self.node.input.iter().enumerate().filter(|(index, _)| shares(self.schema.input(*index)));
        let outputs = self.node.output.iter().enumerate().filter(|(index, _)| shares(self.schema.output(*index)));
        let value_type = inputs.chain(outputs).find_map(|(_, name)| self.known(name).value_type);
        Known { value_type: formal.fixed_type().or(value_type), ..known }
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
        let rank = i64::try_from(self.rank(0)?).map_err(|error| error.to_string())?;
        Ok(axes.into_iter().map(|axis| if axis < 0 { axis + rank } else { axis }).collect())
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

/// New values and nodes.
impl Site<'_, '_> {
    /// A name that nothing else has, made of that of the node's first output.
    pub fn fresh(&mut self, suffix: &str) -> String {
        let base = self.node.output.iter().find(|name| !name.is_empty()).map_or("value", String::as_str);
        self.names.fresh(&format!("{base}_{suffix}"))
    }

    /// A new constant in front of the node.
    pub fn add_constant(&mut self, suffix: &str, tensor: TensorProto) -> String {
        let name = self.fresh(suffix);
        let known = Known::of_tensor(&tensor);
        self.before.push(make::constant_node(&name, tensor.clone()));
        self.record.made.push(Made { name: name.clone(), known, constant: Some(tensor) });
        self.record.notes.push(format!("constant '{name}' added"));
        name
    }

    pub fn constant_ints(&mut self, suffix: &str, dims: &[i64], values: &[i64]) -> String {
        self.add_constant(suffix, make::int64_tensor(dims, values))
    }

    pub fn constant_int_list(&mut self, suffix: &str, values: &[i64]) -> String {
        self.constant_ints(suffix, &[values.len() as i64], values)
    }

    pub fn constant_float_list(&mut self, suffix: &str, values: &[f32]) -> String {
        self.add_constant(suffix, make::float_tensor(&[values.len() as i64], values))
    }

    /// A new node in front of the node, with one output.
    pub fn add_before(&mut self, op: &str, inputs: &[&str], attributes: Vec<AttributeProto>, suffix: &str, known: Known) -> String {
        let name = self.fresh(suffix);
        let node = make::node(op, &name, inputs, attributes);
        self.before.push(node);
        self.record.made.push(Made { name: name.clone(), known, constant: None });
        self.record.notes.push(format!("{op} '{name}' added"));
        name
    }

    /// Lets the node make a value that a new node behind it turns into the node's first output.
    pub fn add_after(&mut self, op: &str, extra: &[&str], attributes: Vec<AttributeProto>, suffix: &str, known: Known) {
        let inner = self.fresh(suffix);
        let outer = std::mem::replace(&mut self.node.output[0], inner.clone());
        let inputs: Vec<&str> = std::iter::once(inner.as_str()).chain(extra.iter().copied()).collect();
        let mut node = make::node(op, &outer, &inputs, attributes);
        node.name = Some(self.names.fresh(&format!("{inner}_{op}")));
        self.record.notes.push(format!("{op} added behind"));
        self.after.insert(0, node);
        self.record.made.push(Made { name: inner, known, constant: None });
    }
}
