//! The constraints of each form of node.

use super::constraints::{Builder, Scratch, TypedOperand};
use super::options::Quantized;
use super::reason::{Code, Unsupported};
use super::rules;
use super::types::{Constraint, Types, ValueKind, Variable};
use super::uses::User;
use crate::graph::{ConstantValue, NodeId, ScopeId, TypeSource, ValueId};
use crate::ops::schemas::microsoft::{self, Signature};
use crate::ops::schemas::{self, Formal, Schema, ValueType};
use onnx_cast::DType;

impl Builder<'_, '_, '_> {
    /// The constraints of a node.
    pub fn node(&mut self, id: NodeId) {
        let model = self.model;
        let node = model.node(id);
        if let Some(function) = model.callee(id) {
            return self.call(id, function);
        }
        let domain = schemas::canonical_domain(node.domain());
        let schema = model
            .opset(id.scope, domain)
            .and_then(|opset| schemas::schema(domain, node.op_type(), opset));
        if self.types.operators.of(id).type_attribute.is_some() {
            self.types.stating.push(id);
        }
        let has_more_inputs = |schema: &Schema| {
            model
                .inputs(id)
                .any(|(index, _)| schema.input(index as usize).is_none())
        };
        match (schema, domain, node.op_type()) {
            (Some(schema), _, _) if has_more_inputs(schema) => self.unknown(id),
            (Some(schema), "", "If" | "Loop" | "Scan" | "SequenceMap") => {
                self.control_flow(id, schema)
            }
            (Some(schema), "", "Cast") => self.cast(id, schema),
            // The bodies of other operators, such as FlexAttention, have types of their own.
            (Some(_), _, _) if self.bodies.contains_key(&id) => self.unknown(id),
            (Some(schema), _, _) => self.operator(id, schema),
            (None, "com.microsoft", name) => match microsoft::signature(name) {
                Some(signature)
                    if self.types.change.to != DType::Bfloat16
                        && !self.bodies.contains_key(&id) =>
                {
                    self.microsoft(id, signature);
                }
                _ => self.unknown(id),
            },
            (None, _, _) => self.unknown(id),
        }
    }

    /// A node of which nothing is known: it keeps its types, unless the options say that it
    /// supports the new one.
    fn unknown(&mut self, id: NodeId) {
        let (model, variable) = (self.model, self.types.variable());
        let node = model.node(id);
        match self.kept(id) {
            None if self.selection.assumes(node.domain(), node.op_type())
                && !self.bodies.contains_key(&id) =>
            {
                self.types.constrain(variable, Constraint::New);
            }
            kept => self.types.fix_old(variable, kept.unwrap_or(Code::Domain)),
        }
        for (index, value) in model.inputs(id) {
            self.consume(value, variable, User::Input(id, index));
        }
        for (_, value) in model.outputs(id) {
            self.produce(value, variable);
        }
        for scope in self.bodies.get(&id).cloned().unwrap_or_default() {
            for value in self.inputs[&scope].clone().into_iter().flatten() {
                self.produce(value, variable);
            }
            for index in 0..model.body(scope).output_names().count() as u32 {
                self.body_output(scope, index, variable);
            }
        }
    }

    fn call(&mut self, id: NodeId, function: ScopeId) {
        let model = self.model;
        let foreign = self.foreign.get(&function).copied();
        let kept = foreign.or_else(|| self.kept(id));
        for (index, value) in model.inputs(id) {
            let given = self.inputs[&function]
                .get(index as usize)
                .copied()
                .flatten();
            let variable = if let Some(given) =
                given.filter(|given| foreign.is_none() && self.types.kinds[given.index()].is_some())
            {
                given.index() as Variable
            } else {
                let variable = self.types.variable();
                self.types
                    .fix_old(variable, foreign.unwrap_or(Code::Unknown));
                variable
            };
            self.types.fix_old_if(variable, kept);
            self.consume(value, variable, User::Input(id, index));
        }
        for (index, value) in model.outputs(id) {
            let variable = match foreign {
                None => self.result(function, index),
                Some(_) => self.types.variable(),
            };
            self.types.fix_old_if(variable, kept);
            self.produce(value, variable);
        }
    }

    /// Notes that an operator does not support the new type in a place, if it does not.
    fn admit(
        &mut self,
        schema: &'static Schema,
        formal: &'static Formal,
        value_type: ValueType,
        variable: Variable,
    ) {
        let changed = self.types.change.changed(value_type);
        if formal.types.contains(changed) {
            return;
        }
        let position = |formals: &'static [Formal]| {
            formals.iter().position(|other| std::ptr::eq(other, formal))
        };
        let (input, output) = (position(schema.inputs), position(schema.outputs));
        let supports = |later: &&Schema| {
            let formal = input.map_or_else(
                || output.and_then(|index| later.output(index)),
                |index| later.input(index),
            );
            formal.is_some_and(|formal| formal.types.contains(changed))
        };
        let later = schemas::versions(schema.domain, schema.name)
            .iter()
            .filter(|later| later.since_version > schema.since_version);
        let since = later
            .filter(|later| !later.deprecated)
            .find(supports)
            .map(|later| later.since_version);
        self.types.fix_old(
            variable,
            Unsupported {
                name: schema.name,
                dtype: self.types.change.to,
                since,
            },
        );
    }

    /// An operator with a schema: each type variable of it is a variable of the node.
    fn operator(&mut self, id: NodeId, schema: &'static Schema) {
        let model = self.model;
        let operator = *self.types.operators.of(id);
        let name = operator.name;
        let kept = self.kept(id);
        let float_alone = rules::float_alone(name).filter(|_| self.types.change.to != DType::Float);
        let keeps_integers = !self.also(id);
        let shares_all = rules::shares_types(model, id, name);
        let Scratch {
            mut variables,
            mut operands,
        } = std::mem::take(&mut self.scratch);
        let mut of = |types: &mut Types, formal: &Formal, wants: bool| {
            let known = variables
                .iter_mut()
                .find(|(known, _, _)| shares_all || *known == formal.type_name);
            if let Some((_, variable, wanted)) = known.filter(|_| formal.is_homogeneous()) {
                *wanted |= wants;
                return *variable;
            }
            let variable = types.variable();
            variables.push((
                if formal.is_homogeneous() {
                    formal.type_name
                } else {
                    ""
                },
                variable,
                wants,
            ));
            variable
        };
        let (mut unknown, mut has_result) = (Vec::new(), false);
        let inputs = model
            .inputs(id)
            .map(|(index, value)| (false, index, value, schema.input(index as usize)));
        let outputs = model
            .outputs(id)
            .map(|(index, value)| (true, index, value, schema.output(index as usize)));
        for (is_output, index, value, formal) in inputs.chain(outputs) {
            let Some(formal) = formal else { continue };
            let value = if is_output {
                value
            } else {
                self.types.source(value)
            };
            match self.types.value_type(value) {
                Some(value_type) if self.types.kinds[value.index()].is_some() => {
                    has_result |= is_output;
                    let variable = of(
                        self.types,
                        formal,
                        !operator.is_own(is_output, index as usize),
                    );
                    operands.push(TypedOperand {
                        is_output,
                        index,
                        value,
                        formal,
                        value_type,
                        variable,
                    });
                }
                Some(_) => {}
                None => unknown.push(formal),
            }
        }
        for TypedOperand {
            is_output,
            index,
            value,
            formal,
            value_type,
            variable,
        } in operands.drain(..)
        {
            if is_output {
                self.produce(value, variable)
            } else {
                self.consume(value, variable, User::Input(id, index))
            }
            self.admit(schema, formal, value_type, variable);
            self.types.fix_old_if(
                variable,
                rules::is_fixed(name, is_output, index as usize).then_some(Code::Fixed),
            );
            if !is_output {
                let is_kept =
                    self.options.quantized == Quantized::Keep || model.constant(value).is_err();
                self.types.fix_old_if(
                    variable,
                    (is_kept && rules::is_scale(name, index as usize)).then_some(Code::Scale),
                );
                continue;
            }
            let states = operator.type_attribute.is_some() && rules::refers_to_function(model, id);
            self.types
                .fix_old_if(variable, states.then_some(Code::Fixed));
            self.types.fix_old_if(
                variable,
                rules::has_blocks(model, id, name).then_some(Code::Blocks),
            );
            self.types.fix_old_if(
                variable,
                (keeps_integers && self.integers.contains(&value)).then_some(Code::Integers),
            );
            match name {
                "Constant" => self.constant(id, value),
                "ConstantOfShape" => self.types.kinds[value.index()] = Some(ValueKind::Stated),
                _ => {}
            }
        }
        let is_free = operator.moves || matches!(name, "Constant" | "ConstantOfShape");
        // A cast that was there stays as it is where either type is right for its result.
        let computes = has_result && name != "CastLike";
        for (type_name, variable, wants) in variables.drain(..) {
            self.types.fix_old_if(variable, kept);
            let unsupported = float_alone.map(|name| Unsupported {
                name,
                dtype: self.types.change.to,
                since: None,
            });
            self.types.fix_old_if(variable, unsupported);
            let is_unknown = unknown.iter().any(|formal| formal.type_name == type_name);
            self.types
                .fix_old_if(variable, is_unknown.then_some(Code::Unknown));
            match (wants && computes, is_free && has_result) {
                (true, false) => self.types.constrain(variable, Constraint::New),
                (true, true) => {}
                (false, _) => self.types.constrain(variable, Constraint::PreferOld),
            }
        }
        self.scratch = Scratch {
            variables,
            operands,
        };
    }

    /// The result of a `Constant`.
    fn constant(&mut self, id: NodeId, value: ValueId) {
        let is_known = self.model.constant(value).is_ok()
            && ConstantValue::of_node(self.model.node(id)).is_ok();
        if is_known {
            self.types.kinds[value.index()] = Some(ValueKind::Constant)
        } else {
            self.types.fix_old(value.index() as Variable, Code::Fixed)
        }
    }

    /// A `Cast` that the model has.
    fn cast(&mut self, id: NodeId, schema: &'static Schema) {
        let model = self.model;
        let Ok(mut cast) = model.cast_node(id) else {
            return self.operator(id, schema);
        };
        if self.types.noop_casts.contains_key(&id) {
            return;
        }
        cast.input = self.types.source(cast.input);
        let is_generic = rules::refers_to_function(model, id);
        let (TypeSource::Attribute(to), Some(output)) = (cast.to, cast.output) else {
            return self.operator(id, schema);
        };
        let of_input = self.types.value_type(cast.input);
        let new = self.types.change.to;
        let mut kept = self.kept(id).or(is_generic.then_some(Code::Fixed));
        // A cast from or to a value that an option names is one that an earlier run may have added:
        // its other end keeps its type, too.
        if [cast.input, output]
            .iter()
            .any(|&end| self.selection.keeps_value(model.name(end)))
        {
            kept = Some(Code::Option);
            if self.types.kinds[cast.input.index()].is_some() {
                self.types
                    .fix_old(cast.input.index() as Variable, Code::Option);
            }
        }
        let (is_old_input, is_old_output) = (
            self.types.kinds[cast.input.index()].is_some(),
            self.types.kinds[output.index()].is_some(),
        );
        match (is_old_input, is_old_output) {
            // It gives an output its name, and can cast it too.
            (true, true)
                if kept.is_none()
                    && of_input == Some(ValueType::Tensor(to))
                    && self.is_output_alone(output) =>
            {
                self.consume(
                    cast.input,
                    cast.input.index() as Variable,
                    User::Input(id, 0),
                );
                self.types.kinds[output.index()] = Some(ValueKind::Stated);
            }
            (true, true) => self.operator(id, schema),
            (true, false) => {
                let variable = self.types.variable();
                self.consume(cast.input, variable, User::Input(id, 0));
                if let Some(code) = kept {
                    self.types.fix_old(variable, code);
                } else if to == new {
                    self.types.constrain(variable, Constraint::New);
                    self.types.casts.insert(id, (cast.input, output));
                } else {
                    self.types.constrain(variable, Constraint::PreferOld);
                }
            }
            (false, true) => {
                let variable = output.index() as Variable;
                let formal = schema.output(0);
                let supports =
                    formal.is_some_and(|formal| formal.types.contains(ValueType::Tensor(new)));
                if let (Some(code), _) | (None, Some(code)) =
                    (kept, (!supports).then_some(Code::Cast))
                {
                    self.types.fix_old(variable, code);
                } else if of_input == Some(ValueType::Tensor(new)) {
                    let keeps_name =
                        model.scopes_that_output(output).is_empty() || self.keeps_output(output);
                    if keeps_name && model.is_visible_to_users(cast.input, output) {
                        self.types.kinds[output.index()] = Some(ValueKind::CastOf(cast.input));
                        self.types.constrain(variable, Constraint::New);
                    } else {
                        self.types.kinds[output.index()] = Some(ValueKind::Stated)
                    }
                } else {
                    self.types.kinds[output.index()] = Some(ValueKind::Stated);
                }
            }
            (false, false) => {}
        }
    }

    /// Whether a value is an output of the model, and no node uses it.
    fn is_output_alone(&self, value: ValueId) -> bool {
        self.model.scopes_that_output(value) == [ScopeId::MAIN]
            && self.model.uses(value).next().is_none()
    }

    /// Whether a value is an output of the model that keeps its type.
    fn keeps_output(&self, value: ValueId) -> bool {
        self.model.scopes_that_output(value) == [ScopeId::MAIN]
            && !self.has_new_signature(self.model.name(value))
    }

    /// An operator of com.microsoft, whose type variables are known.
    fn microsoft(&mut self, id: NodeId, signature: &'static Signature) {
        let model = self.model;
        let kept = self.kept(id);
        let mut variables: Vec<(&'static str, Variable)> = Vec::new();
        let inputs = model
            .inputs(id)
            .map(|(index, value)| (Some(index), value, signature.input(index as usize)));
        let outputs = model
            .outputs(id)
            .map(|(index, value)| (None, value, signature.output(index as usize)));
        for (input, value, name) in inputs.chain(outputs) {
            let name = name.unwrap_or("-");
            let is_known =
                name.starts_with(|first: char| first.is_ascii_uppercase()) && !name.ends_with('*');
            let variable = if let Some(&(_, variable)) = variables
                .iter()
                .find(|(known, _)| is_known && *known == name)
            {
                variable
            } else {
                let variable = self.types.variable();
                variables.push((name, variable));
                let to = self.types.change.to;
                let without = rules::without_float16(model.node(id).op_type(), name)
                    .filter(|_| to != DType::Float);
                match (is_known, kept, without) {
                    (false, _, _) => self.types.fix_old(variable, Code::Domain),
                    (true, Some(code), _) => self.types.fix_old(variable, code),
                    (true, None, Some(name)) => self.types.fix_old(
                        variable,
                        Unsupported {
                            name,
                            dtype: to,
                            since: None,
                        },
                    ),
                    (true, None, None) => self.types.constrain(variable, Constraint::New),
                }
                variable
            };
            match input {
                Some(index) => self.consume(value, variable, User::Input(id, index)),
                None => self.produce(value, variable),
            }
            let scales = model
                .node(id)
                .op_type()
                .to_ascii_lowercase()
                .contains("quantize")
                && matches!(input, Some(1..));
            self.types
                .fix_old_if(variable, scales.then_some(Code::Scale));
        }
    }

    /// If, Loop, Scan and SequenceMap: values on the way into bodies and out of them have one type.
    fn control_flow(&mut self, id: NodeId, schema: &'static Schema) {
        let model = self.model;
        let node = model.node(id);
        let bodies = self.bodies.get(&id).cloned().unwrap_or_default();
        let kept = self.kept(id);
        let output_count = node.output.len() as u32;
        // The numbers of inputs that are not given to the body, of outputs of the body that the
        // node does not have, and of the inputs of the body that the node does not have.
        let (skipped, hidden, own) = match schema.name {
            "If" => (node.input.len() as u32, 0, 0),
            "Loop" => (2, 1, 2),
            "Scan" if schema.since_version == 8 => (1, 0, 0),
            _ => (0, 0, 0),
        };
        let states = match schema.name {
            "Loop" => (node.input.len() as u32).saturating_sub(2),
            "Scan" => {
                let scanned = node
                    .attribute
                    .iter()
                    .find(|attribute| attribute.name() == "num_scan_inputs");
                let scanned =
                    u32::try_from(scanned.map_or(0, |attribute| attribute.i())).unwrap_or(u32::MAX);
                (node.input.len() as u32)
                    .saturating_sub(skipped)
                    .saturating_sub(scanned)
            }
            _ => 0,
        };
        let mut of_state: Vec<Variable> = Vec::new();
        let given = (node.input.len() as u32).saturating_sub(skipped);
        for index in 0..given {
            let variable = self.types.variable();
            if index < states {
                of_state.push(variable);
            }
            self.types.fix_old_if(variable, kept);
            if let Some(value) = model
                .input(id, index + skipped)
                .map(|value| self.types.source(value))
            {
                self.consume(value, variable, User::Input(id, index + skipped));
                self.admit_value(
                    schema,
                    schema.input((index + skipped) as usize),
                    value,
                    variable,
                );
            } else {
                self.types.fix_old(variable, Code::Unknown);
            }
            for &body in &bodies {
                match self.inputs[&body]
                    .get((index + own) as usize)
                    .copied()
                    .flatten()
                {
                    Some(value) => self.produce(value, variable),
                    None => self.types.fix_old(variable, Code::Unknown),
                }
            }
        }
        // Its outputs, and states that it does not return.
        for index in 0..output_count.max(states) {
            let variable = of_state
                .get(index as usize)
                .copied()
                .unwrap_or_else(|| self.types.variable());
            self.types.fix_old_if(variable, kept);
            if let Some(value) = model.output(id, index) {
                self.produce(value, variable);
                self.admit_value(schema, schema.output(index as usize), value, variable);
            }
            for &body in &bodies {
                self.body_output(body, index + hidden, variable);
            }
        }
        // Other outputs of bodies, such as scanned ones that the node does not return.
        for &body in &bodies {
            for index in
                output_count.max(states) + hidden..model.body(body).output_names().count() as u32
            {
                let variable = self.types.variable();
                self.body_output(body, index, variable);
            }
        }
    }

    fn admit_value(
        &mut self,
        schema: &'static Schema,
        formal: Option<&'static Formal>,
        value: ValueId,
        variable: Variable,
    ) {
        if let (Some(formal), Some(value_type), Some(_)) = (
            formal,
            self.types.value_type(value),
            self.types.kinds[value.index()],
        ) {
            self.admit(schema, formal, value_type, variable);
        }
    }
}
