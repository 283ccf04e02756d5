//! The node that is being converted, and what an adapter can query and change.

mod add;
pub(super) mod check;
pub(super) mod derived_constants;
mod known;

pub(super) use known::{counted_from_front, is_countable, permuted};

use std::borrow::Cow;
use std::rc::Rc;

use self::derived_constants::DerivedConstants;
use super::expanded::ExpandedOperator;
use super::make;
use super::reason::{AttributeAmbiguous, NodeInvalid, Reason, Strict};
use super::settings::Settings;
use super::value::Value;
use crate::graph::{
    Attribute, FreshNames, Model, NodeId, NotConstant, ScopeId, ScopeKind, ValueId,
};
use crate::ops::inference::{Deferred, Inferred, Ints, Known};
use crate::ops::schemas::{Schema, TypeSet};
use crate::protobuf::schema::{AttributeProto, NodeProto, TensorProto};
use onnx_cast::DType;

/// The node in the unconverted model.
pub(super) struct NodeSource<'m> {
    pub model: &'m Model,
    /// Computed on first use.
    pub inferred: &'m Deferred,
    /// Computed on first use.
    pub derived: Rc<DerivedConstants>,
    pub settings: Settings,
    /// The node as the model has it.
    pub id: NodeId,
    /// The values that the node names, sorted by name.
    pub values: Vec<(&'m str, ValueId)>,
    /// The graphs in its attributes.
    pub bodies: Vec<ScopeId>,
}

impl NodeSource<'_> {
    fn inferred(&self) -> &Inferred {
        self.inferred.of(self.model)
    }

    /// Type and shape of a value of the model, as far as they are known.
    pub fn known(&self, value: ValueId) -> &Known {
        self.inferred().of(value)
    }

    /// The types that a value has in all calls of the function that contains the node, as far as
    /// they are known. If no graph calls the function, there are none.
    pub fn types_in_calls(&self, value: Option<ValueId>) -> Option<TypeSet> {
        let root = self.model.root(self.id.scope);
        let ScopeKind::Function(_) = self.model.scope_kind(root) else {
            return None;
        };
        let inferred = self.inferred();
        if inferred.is_called(root) {
            inferred.types_in_calls(root, value?)
        } else {
            Some(TypeSet::of(&[]))
        }
    }

    /// The integers of a value that is computed from shapes, as far as they are known.
    pub fn ints(&self, value: ValueId) -> Option<&Ints> {
        self.inferred().ints(value)
    }

    /// A value that the node names.
    pub fn value(&self, name: &str) -> Option<ValueId> {
        let index = self.values.binary_search_by(|(known, _)| known.cmp(&name));
        Some(self.values[index.ok()?].1)
    }

    /// The tensor of a value that is constant, or computed from constants by bit-exact nodes.
    ///
    /// # Errors
    /// If the value is not the same in every run, or a caller can override it.
    pub fn constant(&self, value: ValueId) -> Result<Cow<'_, TensorProto>, NotConstant> {
        match self.model.constant(value) {
            Ok(constant) => Ok(constant.tensor),
            Err(NotConstant::Computed) => self
                .derived
                .of(self.model, self.inferred, value)
                .map(Cow::Owned)
                .ok_or(NotConstant::Computed),
            Err(other) => Err(other),
        }
    }

    /// See [`Inferred::copies_dimension`].
    fn copies_dimension(&self, place: usize) -> bool {
        self.inferred().copies_dimension(self.id, place)
    }
}

/// A value that an adapter added.
#[derive(Clone, Debug)]
pub(super) struct AddedValue {
    pub name: String,
    pub known: Known,
    pub constant: Option<TensorProto>,
    /// The integers of a computed scalar or list, as far as they are known.
    pub ints: Option<Ints>,
    /// Whether it is named only because the operator requires it.
    pub is_unused: bool,
}

/// The changes of a node in all steps.
#[derive(Default)]
pub(super) struct Record {
    /// Values that adapters added.
    pub added_values: Vec<AddedValue>,
    /// Constants that became initializers.
    pub initializers: Vec<TensorProto>,
    /// Constants that the node no longer uses.
    pub released: Vec<ValueId>,
    /// Values that are declared from now on, and their types.
    pub declared: Vec<(ValueId, DType)>,
    /// The change, for the report.
    pub notes: Vec<String>,
    /// Operators that were expanded.
    pub expanded: Vec<ExpandedOperator>,
    /// Warnings about the conversion.
    pub warnings: Vec<String>,
}

/// The lengths of the lists of a record.
#[derive(Clone, Copy)]
pub(super) struct Mark([usize; 7]);

impl Record {
    /// What is known of a value that an adapter adds.
    pub fn added(&self, name: &str) -> Option<&AddedValue> {
        self.added_values.iter().find(|added| added.name == name)
    }

    /// The present state, to return to.
    pub fn mark(&self) -> Mark {
        let Record {
            added_values,
            initializers,
            released,
            declared,
            notes,
            expanded,
            warnings,
        } = self;
        Mark([
            added_values.len(),
            initializers.len(),
            released.len(),
            declared.len(),
            notes.len(),
            expanded.len(),
            warnings.len(),
        ])
    }

    /// Forgets what was recorded since a mark.
    pub fn reset(
        &mut self,
        Mark(
            [
                added_values,
                initializers,
                released,
                declared,
                notes,
                expanded,
                warnings,
            ],
        ): Mark,
    ) {
        self.added_values.truncate(added_values);
        self.initializers.truncate(initializers);
        self.released.truncate(released);
        self.declared.truncate(declared);
        self.notes.truncate(notes);
        self.expanded.truncate(expanded);
        self.warnings.truncate(warnings);
    }
}

/// A node that is converted from one version of its operator to the next.
pub(super) struct Context<'a, 'm> {
    pub source: &'a NodeSource<'m>,
    pub names: &'a mut FreshNames<'m>,
    pub record: &'a mut Record,
    /// The version to convert from.
    pub schema: &'static Schema,
    /// The opset to convert to.
    pub to: i64,
    /// Whether an adapter or an expansion added the node. Such nodes do not use negative computed
    /// indices.
    pub is_added: bool,
    pub node: Cow<'m, NodeProto>,
    /// New nodes in front of it.
    pub before: Vec<NodeProto>,
    /// New nodes behind it.
    pub after: Vec<NodeProto>,
    /// The initializer that replaces a constant whose type `Constant` does not support in this
    /// version.
    pub initializer: Option<TensorProto>,
    /// Whether the node is not needed any more.
    pub is_removed: bool,
}

impl<'c, 'm> Context<'c, 'm> {
    /// A node of the model in a step, with nothing changed.
    pub fn new(
        source: &'c NodeSource<'m>,
        names: &'c mut FreshNames<'m>,
        record: &'c mut Record,
        schema: &'static Schema,
        to: i64,
        node: Cow<'m, NodeProto>,
    ) -> Context<'c, 'm> {
        Context {
            source,
            names,
            record,
            schema,
            to,
            is_added: false,
            node,
            before: Vec::new(),
            after: Vec::new(),
            initializer: None,
            is_removed: false,
        }
    }
}

impl Context<'_, '_> {
    /// Changes the node. If the change fails, the node and the record are restored.
    pub fn attempt(
        &mut self,
        change: impl FnOnce(&mut Self) -> Result<(), Reason>,
    ) -> Result<(), Reason> {
        let (mark, node, before, after) = (
            self.record.mark(),
            self.node.clone(),
            self.before.len(),
            self.after.len(),
        );
        let changed = change(self);
        if changed.is_err() {
            self.record.reset(mark);
            self.node = node;
            self.before.truncate(before);
            self.after.truncate(after);
        }
        changed
    }
}

/// Attributes.
impl Context<'_, '_> {
    pub fn has_attribute(&self, name: &str) -> bool {
        self.node
            .attribute
            .iter()
            .any(|attribute| attribute.name() == name && !self.is_absent(attribute))
    }

    /// Whether an attribute refers to one of the function that no call gives a value.
    fn is_absent(&self, attribute: &AttributeProto) -> bool {
        self.source.model.resolve(self.source.id.scope, attribute) == Attribute::Absent
    }

    /// An attribute; in a function, the value that all calls agree on.
    pub fn attribute(&self, name: &str) -> Result<Option<AttributeProto>, Reason> {
        let Some(attribute) = self
            .node
            .attribute
            .iter()
            .find(|attribute| attribute.name() == name)
        else {
            return Ok(None);
        };
        if attribute.tail().ref_attr_name().is_empty() {
            return Ok(Some(attribute.clone()));
        }
        match self.source.model.resolve(self.source.id.scope, attribute) {
            Attribute::Is(value) => {
                let mut value = value.clone();
                value.name = Some(name.to_owned());
                Ok(Some(value))
            }
            Attribute::Absent => Ok(None),
            Attribute::Unclear => Err(Reason::new(
                AttributeAmbiguous,
                format!(
                    "`{name}` is an attribute of the function, and its calls do not all give it the same value"
                ),
            )),
        }
    }

    /// The value of an attribute that the operator requires.
    pub fn required<T>(
        &self,
        name: &str,
        value: impl FnOnce(&AttributeProto) -> Option<T>,
    ) -> Result<T, Reason> {
        let value = self.attribute(name)?.as_ref().and_then(value);
        value.ok_or_else(|| Reason::new(NodeInvalid, format!("the attribute `{name}` is missing")))
    }

    pub fn int(&self, name: &str) -> Result<Option<i64>, Reason> {
        Ok(self.attribute(name)?.map(|attribute| attribute.i()))
    }

    pub fn int_or(&self, name: &str, default: i64) -> Result<i64, Reason> {
        Ok(self.int(name)?.unwrap_or(default))
    }

    pub fn ints(&self, name: &str) -> Result<Option<Vec<i64>>, Reason> {
        Ok(self
            .attribute(name)?
            .map(|attribute| attribute.ints.clone()))
    }

    pub fn float(&self, name: &str) -> Result<Option<f32>, Reason> {
        Ok(self.attribute(name)?.map(|attribute| attribute.f()))
    }

    pub fn string(&self, name: &str) -> Result<Option<String>, Reason> {
        Ok(self
            .attribute(name)?
            .map(|attribute| String::from_utf8_lossy(attribute.s()).into_owned()))
    }

    pub fn remove_attribute(&mut self, name: &str) {
        if self
            .node
            .attribute
            .iter()
            .any(|attribute| attribute.name() == name)
        {
            self.node
                .to_mut()
                .attribute
                .retain(|attribute| attribute.name() != name);
            self.record.notes.push(format!("`{name}` removed"));
        }
    }

    /// Removes the attributes that the node does not have because no call of the function gives
    /// them a value, where a version does not have them either.
    pub fn remove_absent(&mut self, target: &Schema) {
        let is_absent = |attribute: &&AttributeProto| {
            self.is_absent(attribute) && target.attribute(attribute.name()).is_none()
        };
        let absent = self
            .node
            .attribute
            .iter()
            .filter(is_absent)
            .map(|attribute| attribute.name().to_owned());
        absent
            .collect::<Vec<_>>()
            .iter()
            .for_each(|name| self.remove_attribute(name));
    }

    pub fn rename_attribute(&mut self, old: &str, new: &str) {
        if let Some(index) = self
            .node
            .attribute
            .iter()
            .position(|attribute| attribute.name() == old)
        {
            self.node.to_mut().attribute[index].name = Some(new.to_owned());
            self.record.notes.push(format!("`{old}` renamed `{new}`"));
        }
    }

    /// Sets an attribute; an existing one keeps its position, doc string and unknown fields.
    pub fn set_attribute(&mut self, mut attribute: AttributeProto) {
        self.record.notes.push(format!(
            "`{}` set to {}",
            attribute.name(),
            make::text_of(&attribute)
        ));
        let present = self
            .node
            .attribute
            .iter()
            .position(|present| present.name() == attribute.name());
        match present {
            Some(index) => {
                let present = &mut self.node.to_mut().attribute[index];
                attribute.doc_string = present.doc_string.take();
                **present = std::mem::take(&mut *attribute);
            }
            None => self.node.to_mut().attribute.push(attribute),
        }
    }

    pub fn set_int(&mut self, name: &str, value: i64) {
        self.set_attribute(AttributeProto::int(name, value));
    }

    pub fn set_ints(&mut self, name: &str, values: Vec<i64>) {
        self.set_attribute(AttributeProto::ints(name, values));
    }

    pub fn set_float(&mut self, name: &str, value: f32) {
        self.set_attribute(AttributeProto::float(name, value));
    }

    pub fn set_string(&mut self, name: &str, value: &str) {
        self.set_attribute(AttributeProto::string(name, value));
    }

    pub fn write(&mut self, name: &str, value: Value) {
        match value {
            Value::Int(value) => self.set_int(name, value),
            Value::Float(value) => self.set_float(name, value),
            Value::String(value) => self.set_string(name, value),
            Value::Ones => unreachable!("no attribute is written out as ones"),
        }
    }

    /// Adds a warning, or blocks the conversion in strict mode.
    pub fn warn(&mut self, what: &str) -> Result<(), Reason> {
        if self.source.settings.strict {
            Err(Reason::new(Strict, what.to_owned()))
        } else {
            self.record.warnings.push(what.to_owned());
            Ok(())
        }
    }

    pub fn rename_operator(&mut self, name: &str) {
        self.record
            .notes
            .push(format!("{} became {name}", self.node.op_type()));
        self.node.to_mut().op_type = Some(name.to_owned());
    }
}

/// Inputs and outputs.
impl Context<'_, '_> {
    /// The name of an input, if present.
    pub fn input(&self, index: usize) -> Option<&str> {
        self.node
            .input
            .get(index)
            .map(String::as_str)
            .filter(|name| !name.is_empty())
    }

    /// Whether an output is present and used.
    pub fn uses_output(&self, index: usize) -> bool {
        let Some(name) = self.node.output.get(index).filter(|name| !name.is_empty()) else {
            return false;
        };
        match self.value(name) {
            Some(value) => {
                let model = self.source.model;
                model.uses(value).next().is_some()
                    || !model.scopes_that_output(value).is_empty()
                    || model.non_node_use(value).is_some()
            }
            None => !self.added(name).is_some_and(|value| value.is_unused),
        }
    }

    /// Whether an output is present.
    pub fn has_output(&self, index: usize) -> bool {
        self.node
            .output
            .get(index)
            .is_some_and(|name| !name.is_empty())
    }

    pub fn set_input(&mut self, index: usize, name: &str) {
        let inputs = &mut self.node.to_mut().input;
        inputs.resize(inputs.len().max(index + 1), String::new());
        inputs[index] = name.to_owned();
        self.trim();
    }

    /// Makes a value of the model an input.
    pub fn set_input_to(&mut self, index: usize, value: ValueId) {
        let (source, name) = (self.source, self.source.model.name(value).to_owned());
        if self.value(&name).is_none() {
            let (known, ints) = (source.known(value).clone(), source.ints(value).cloned());
            self.record.added_values.push(AddedValue {
                name: name.clone(),
                known,
                constant: None,
                ints,
                is_unused: false,
            });
        }
        self.set_input(index, &name);
        self.record
            .notes
            .push(format!("input {index} set to '{name}'"));
    }

    /// Removes the node, whose outputs nothing uses any more.
    pub fn remove(&mut self) {
        self.is_removed = true;
        self.record.notes.push("removed".to_owned());
    }

    /// Removes an input. A constant that nothing else uses is removed with it.
    pub fn take_input(&mut self, index: usize) {
        let Some(name) = self.input(index).map(str::to_owned) else {
            return;
        };
        self.release(&name);
        self.record.notes.push(format!("input '{name}' removed"));
        self.node.to_mut().input[index].clear();
        self.trim();
    }

    /// Notes that the node no longer uses a value, which is removed with its last use if it is
    /// constant.
    pub fn release(&mut self, name: &str) {
        let constant = self
            .value(name)
            .filter(|&value| self.source.constant(value).is_ok());
        self.record.released.extend(constant);
    }

    /// Removes empty names at the end.
    fn trim(&mut self) {
        while self.node.input.last().is_some_and(String::is_empty) {
            self.node.to_mut().input.pop();
        }
    }

    /// Removes empty names at the end beyond the inputs and outputs of a version.
    pub fn trim_to(&mut self, target: &Schema) {
        let surplus = |names: &[String], most: Option<usize>| {
            let empty = names
                .iter()
                .rev()
                .take_while(|name| name.is_empty())
                .count();
            empty.min(names.len().saturating_sub(most.unwrap_or(names.len())))
        };
        let inputs = surplus(&self.node.input, target.input_count().1);
        let outputs = surplus(&self.node.output, target.output_count().1);
        if inputs + outputs > 0 {
            let (kept_inputs, kept_outputs) = (
                self.node.input.len() - inputs,
                self.node.output.len() - outputs,
            );
            let node = self.node.to_mut();
            node.input.truncate(kept_inputs);
            node.output.truncate(kept_outputs);
            self.record.notes.push("empty names removed".to_owned());
        }
    }

    /// Removes an output that is present and not used.
    pub fn drop_unused_output(&mut self, index: usize) {
        if self.has_output(index) && !self.uses_output(index) {
            let name = std::mem::take(&mut self.node.to_mut().output[index]);
            self.record
                .notes
                .push(format!("unused output '{name}' removed"));
        }
        while self.node.output.last().is_some_and(String::is_empty) {
            self.node.to_mut().output.pop();
        }
    }
}
