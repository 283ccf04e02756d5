//! New values and nodes around the node.

use super::{AddedValue, Context};
use crate::convert::make;
use crate::graph::{Body, ValueId};
use crate::ops::inference::Known;
use crate::protobuf::schema::{AttributeProto, TensorProto};
use onnx_cast::DType;

impl Context<'_, '_> {
    /// A unique name derived from the node's first output.
    pub fn fresh(&mut self, suffix: &str) -> String {
        let base = self
            .node
            .output
            .iter()
            .find(|name| !name.is_empty())
            .map_or("value", String::as_str);
        self.names.fresh(&format!("{base}_{suffix}"))
    }

    /// A new constant in front of the node.
    pub fn add_constant(&mut self, suffix: &str, tensor: TensorProto) -> String {
        let name = self.fresh(suffix);
        let known = Known::of_tensor(&tensor);
        self.before.push(make::constant_node(&name, tensor.clone()));
        self.record.added_values.push(AddedValue {
            name: name.clone(),
            known,
            constant: Some(tensor),
            ints: None,
            is_unused: false,
        });
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

    /// Declares the type of the node's first output, unless the graph does.
    pub fn declare_output(&mut self, dtype: DType) {
        let model = self.source.model;
        let is_undeclared = |&value: &ValueId| {
            model.declared(value).is_none()
                && matches!(model.body(model.scope_of(value)), Body::Graph(_))
        };
        let output = self
            .node
            .output
            .first()
            .and_then(|name| self.value(name))
            .filter(is_undeclared);
        self.record
            .declared
            .extend(output.map(|value| (value, dtype)));
    }

    /// Adds an output that nothing uses.
    pub fn add_output(&mut self, suffix: &str, known: Known) {
        let name = self.fresh(suffix);
        self.record.notes.push(format!("output '{name}' added"));
        self.node.to_mut().output.push(name.clone());
        self.record.added_values.push(AddedValue {
            name,
            known,
            constant: None,
            ints: None,
            is_unused: true,
        });
    }

    /// A new node in front of the node, with one output.
    pub fn add_before(
        &mut self,
        op: &str,
        inputs: &[&str],
        attributes: Vec<AttributeProto>,
        suffix: &str,
        known: Known,
    ) -> String {
        let name = self.fresh(suffix);
        let node = make::node(op, &name, inputs, attributes);
        self.before.push(node);
        self.record.added_values.push(AddedValue {
            name: name.clone(),
            known,
            constant: None,
            ints: None,
            is_unused: false,
        });
        self.record.notes.push(format!("{op} '{name}' added"));
        name
    }

    /// A scalar with the length of an axis of an input: a constant, if it is known.
    pub fn add_length(&mut self, input: usize, axis: i64) -> String {
        if let Some(length) = self.dim(input, axis) {
            return self.constant_ints("length", &[], &[length]);
        }
        let rank = self.known_input(input).rank().map(|rank| rank as i64);
        let dims = Known {
            shape: Some(vec![rank]),
            ..Known::tensor(DType::Int64)
        };
        let scalar = Known::scalar(DType::Int64);
        let name = self.node.input[input].clone();
        let dims = self.add_before("Shape", &[&name], Vec::new(), "dims", dims);
        let axis = self.constant_ints("axis", &[], &[axis]);
        self.add_before("Gather", &[&dims, &axis], Vec::new(), "length", scalar)
    }

    /// A new cast in front of the node.
    pub fn cast_before(&mut self, input: &str, to: DType, suffix: &str) -> String {
        let known = Known {
            shape: self.known(input).shape.clone(),
            ..Known::tensor(to)
        };
        self.add_before(
            "Cast",
            &[input],
            vec![AttributeProto::int("to", to.number().into())],
            suffix,
            known,
        )
    }

    /// Renames the node's first output and adds a node behind that produces the original output
    /// from it.
    pub fn add_after(
        &mut self,
        op: &str,
        extra: &[&str],
        attributes: Vec<AttributeProto>,
        suffix: &str,
        known: Known,
    ) {
        self.add_after_output(0, op, extra, attributes, suffix, known);
    }

    /// Like [`Context::add_after`], for any output.
    pub fn add_after_output(
        &mut self,
        index: usize,
        op: &str,
        extra: &[&str],
        attributes: Vec<AttributeProto>,
        suffix: &str,
        known: Known,
    ) {
        let inner = self.fresh(suffix);
        let outer = std::mem::replace(&mut self.node.to_mut().output[index], inner.clone());
        let inputs: Vec<&str> = std::iter::once(inner.as_str())
            .chain(extra.iter().copied())
            .collect();
        let mut node = make::node(op, &outer, &inputs, attributes);
        node.name = Some(self.names.fresh(&format!("{inner}_{op}")));
        self.record.notes.push(format!("{op} added after it"));
        self.after.insert(0, node);
        self.record.added_values.push(AddedValue {
            name: inner,
            known,
            constant: None,
            ints: None,
            is_unused: false,
        });
    }
}
