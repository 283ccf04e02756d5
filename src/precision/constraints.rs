//! The constraints on the type variables of a model.

use super::change::TypeChange;
use super::integers::integers;
use super::options::{Io, Options, Policy, Selection};
use super::reason::Code;
use super::types::{Constraint, Types, ValueKind, Variable};
use super::uses::{Use, User, Uses};
use crate::base::hash::{HashMap, HashSet};
use crate::graph::{Body, Model, NodeId, NonNodeUse, Origin, ScopeId, ScopeKind, ValueId};
use crate::ops::inference::infer;
use crate::ops::schemas::{Formal, ValueType};

/// The type variables of a model, with the constraints of its operators and of the options.
pub(super) fn of<'m>(model: &'m Model, options: &Options, selection: &Selection) -> Types<'m> {
    let change = TypeChange {
        from: options.from,
        to: options.dtype,
    };
    let inferred = infer(model);
    let integers = if change.narrows() {
        integers(model, &inferred, change)
    } else {
        HashSet::default()
    };
    let mut types = Types::new(model, change, inferred);
    let uses = Builder::new(&mut types, options, selection, integers).build();
    types.uses = Uses::new(&uses, model.value_count());
    types
}

/// Lists of one node, whose memory serves the next one.
#[derive(Default)]
pub(super) struct Scratch {
    /// Type variables of the schema, their variables, and whether these get the new type.
    pub variables: Vec<(&'static str, Variable, bool)>,
    pub operands: Vec<TypedOperand>,
}

/// An input or output of a node whose type may change.
pub(super) struct TypedOperand {
    pub is_output: bool,
    pub index: u32,
    pub value: ValueId,
    pub formal: &'static Formal,
    pub value_type: ValueType,
    pub variable: Variable,
}

/// Collects the constraints of a model.
pub(super) struct Builder<'t, 'm, 'o> {
    pub types: &'t mut Types<'m>,
    pub model: &'m Model,
    pub options: &'o Options,
    pub selection: &'o Selection<'o>,
    pub integers: HashSet<ValueId>,
    uses: Vec<Use>,
    pub scratch: Scratch,
    /// By scope: its inputs.
    pub inputs: HashMap<ScopeId, Vec<Option<ValueId>>>,
    /// By node: the bodies in its attributes.
    pub bodies: HashMap<NodeId, Vec<ScopeId>>,
    /// Outermost scopes whose values keep their types.
    pub foreign: HashMap<ScopeId, Code>,
    /// Outermost scopes in which values cannot be cast.
    pub uncastable: HashMap<ScopeId, Code>,
    /// Functions that only nodes call that keep their types.
    pub kept_functions: HashMap<ScopeId, Code>,
    /// The nodes between DequantizeLinear and QuantizeLinear.
    pub units: HashSet<NodeId>,
    /// By function and output: its variable.
    pub results: HashMap<(ScopeId, u32), Variable>,
}

impl<'t, 'm, 'o> Builder<'t, 'm, 'o> {
    fn new(
        types: &'t mut Types<'m>,
        options: &'o Options,
        selection: &'o Selection<'o>,
        integers: HashSet<ValueId>,
    ) -> Builder<'t, 'm, 'o> {
        let model = types.model;
        // Most values are in one equality, and have one constraint.
        types.equal.reserve(model.value_count());
        types.constraints.reserve(model.value_count());
        let uses_of = |scope: ScopeId| {
            let body = model.body(scope);
            let inputs = body.nodes().iter().map(|node| node.input.len());
            inputs.sum::<usize>() + body.output_names().count()
        };
        let mut builder = Builder {
            types,
            model,
            options,
            selection,
            integers,
            uses: Vec::with_capacity(model.scopes().map(uses_of).sum()),
            scratch: Scratch::default(),
            inputs: HashMap::default(),
            bodies: model.subgraphs(),
            foreign: HashMap::default(),
            uncastable: HashMap::default(),
            kept_functions: HashMap::default(),
            units: HashSet::default(),
            results: HashMap::default(),
        };
        builder.read_scopes();
        builder
    }

    /// Collects the constraints, and returns the uses.
    fn build(mut self) -> Vec<Use> {
        let model = self.model;
        for value in model.values() {
            self.value(value);
        }
        self.find_noop_casts();
        self.units = self.units();
        for scope in model.scopes() {
            match self.foreign.get(&model.top_level(scope)).copied() {
                Some(Code::Training) => self.training(scope),
                Some(_) => {}
                None => {
                    for node in model.nodes(scope) {
                        self.node(node);
                    }
                }
            }
        }
        self.signature();
        for function in model.scopes() {
            if let ScopeKind::Function(_) = model.scope_kind(function)
                && !self.foreign.contains_key(&function)
            {
                for index in 0..model.body(function).output_names().count() as u32 {
                    let variable = self.result(function, index);
                    self.body_output(function, index, variable);
                }
            }
        }
        self.unused();
        if self.options.weights_only {
            self.weights_only();
        }
        self.uses
    }

    /// A value with its variable, if its type may change.
    fn value(&mut self, value: ValueId) {
        let model = self.model;
        let Some(value_type) = self
            .types
            .value_type(value)
            .filter(|&value_type| self.types.change.old(value_type).is_some())
        else {
            return;
        };
        let top = model.top_level(model.scope_of(value));
        if self
            .foreign
            .get(&top)
            .is_some_and(|&code| code != Code::Training)
        {
            return;
        }
        let is_constant = matches!(
            model.origin(value),
            Origin::Initializer { .. } | Origin::SparseInitializer(_)
        );
        self.types.kinds[value.index()] = Some(if is_constant {
            ValueKind::Constant
        } else {
            ValueKind::Computed
        });
        let variable = value.index() as Variable;
        let reasons = [
            self.foreign.get(&top).copied(),
            self.uncastable.get(&top).copied(),
            (model.non_node_use(value) == Some(NonNodeUse::Trained)).then_some(Code::Training),
            self.selection
                .keeps_value(model.name(value))
                .then_some(Code::Option),
            self.integers.contains(&value).then_some(Code::Integers),
            matches!(value_type, ValueType::SparseTensor(_)).then_some(Code::Unknown),
        ];
        for reason in reasons {
            self.types.fix_old_if(variable, reason);
        }
    }

    /// The values of the main graph that a training graph uses keep their types.
    fn training(&mut self, scope: ScopeId) {
        let model = self.model;
        let inputs = model
            .nodes(scope)
            .flat_map(|node| model.inputs(node).map(|(_, value)| value));
        let outputs = model
            .body(scope)
            .output_names()
            .filter_map(|name| model.lookup(scope, name));
        for value in inputs.chain(outputs) {
            if self.types.kinds[value.index()].is_some() {
                self.types
                    .fix_old(value.index() as Variable, Code::Training);
            }
        }
    }

    /// The inputs and outputs of the model.
    fn signature(&mut self) {
        let model = self.model;
        for value in self.inputs[&ScopeId::MAIN].clone().into_iter().flatten() {
            let is_input = match model.origin(value) {
                Origin::Initializer { .. } => model.is_overridable(value),
                _ => true,
            };
            if is_input && self.types.kinds[value.index()].is_some() {
                self.signature_of(model.name(value), value.index() as Variable);
            }
        }
        for (index, name) in (0..).zip(model.body(ScopeId::MAIN).output_names()) {
            let variable = self.types.variable();
            self.signature_of(name, variable);
            self.body_output(ScopeId::MAIN, index, variable);
        }
    }

    /// An input or output has the type that the options state.
    fn signature_of(&mut self, name: &str, variable: Variable) {
        if self.has_new_signature(name) {
            self.types.constrain(variable, Constraint::New)
        } else {
            self.types.fix_old(variable, Code::Signature)
        }
    }

    /// Whether an input or output gets the new type.
    pub fn has_new_signature(&self, name: &str) -> bool {
        let stated = self
            .options
            .signature
            .iter()
            .rev()
            .find(|(stated, _)| stated == name);
        stated.map_or(self.options.io == Io::Convert, |(_, dtype)| {
            *dtype == self.types.change.to
        })
    }

    /// Values that nothing uses keep their types unless another constraint requires the new one.
    fn unused(&mut self) {
        let mut is_used = vec![false; self.types.kinds.len()];
        for used in &self.uses {
            is_used[used.value.index()] = true;
        }
        for value in self.model.values() {
            if self.types.kinds[value.index()].is_some() && !is_used[value.index()] {
                self.types
                    .constrain(value.index() as Variable, Constraint::PreferOld);
            }
        }
    }

    /// All values and uses keep their types, except those of constants.
    fn weights_only(&mut self) {
        let model = self.model;
        for value in model.values() {
            let (variable, is_used) = (
                value.index() as Variable,
                model.uses(value).next().is_some(),
            );
            match self.types.kinds[value.index()] {
                Some(ValueKind::Constant) if is_used && self.is_worth_a_cast(value) => {
                    self.types.constrain(variable, Constraint::New)
                }
                Some(_) => self.types.fix_old(variable, Code::Weights),
                None => {}
            }
        }
        for used in &self.uses {
            self.types.fix_old(used.variable, Code::Weights);
        }
    }

    /// Whether a constant is a tensor of several elements, so that it takes less memory as a Cast
    /// of a smaller tensor.
    fn is_worth_a_cast(&self, value: ValueId) -> bool {
        let shape = self.types.inferred.of(value).static_shape();
        self.model.scopes_that_output(value).is_empty()
            && shape.is_some_and(|shape| shape.iter().any(|&length| length > 1))
    }

    /// A use of a value, by a variable. Sequences and optional values cannot be cast.
    pub fn consume(&mut self, value: ValueId, variable: Variable, user: User) {
        let value = self.types.source(value);
        match self.types.value_type(value) {
            Some(value_type) if self.types.kinds[value.index()].is_some() => {
                self.uses.push(Use {
                    value,
                    variable,
                    user,
                });
                let root = self.model.root(self.model.scope_of(value));
                let is_tensor = matches!(
                    value_type,
                    ValueType::Tensor(_) | ValueType::SparseTensor(_)
                );
                if !is_tensor || self.uncastable.contains_key(&root) {
                    self.types.unify(value.index() as Variable, variable);
                }
                self.types.fix_old_if(
                    variable,
                    self.integers.contains(&value).then_some(Code::Integers),
                );
            }
            Some(_) => {}
            None => self.types.fix_old(variable, Code::Unknown),
        }
    }

    /// The type of a value is that of a variable.
    pub fn produce(&mut self, value: ValueId, variable: Variable) {
        match self.types.kinds[value.index()] {
            Some(_) => self.types.unify(value.index() as Variable, variable),
            None if self.types.value_type(value).is_none() => {
                self.types.fix_old(variable, Code::Unknown)
            }
            None => {}
        }
    }

    /// An output of a body. Only the result of a node of the body can be cast there.
    pub fn body_output(&mut self, scope: ScopeId, index: u32, variable: Variable) {
        let model = self.model;
        let name = match model.body(scope) {
            Body::Graph(graph) => graph.output.get(index as usize).map(|info| info.name()),
            Body::Function(function) => function.output.get(index as usize).map(String::as_str),
        };
        let Some(value) = name.and_then(|name| model.lookup(scope, name)) else {
            return self.types.fix_old(variable, Code::Unknown);
        };
        if self.types.kinds[value.index()].is_none() {
            return self.types.fix_old(variable, Code::Unknown);
        }
        self.consume(value, variable, User::Output(scope, index));
        let is_of_node = model.scope_of(value) == scope && model.producer(value).is_some();
        // If a value is an output of several scopes, or of one scope twice, only one of the outputs
        // could give its name to a cast.
        if !is_of_node || model.scopes_that_output(value).len() > 1 {
            self.types.unify(value.index() as Variable, variable);
        }
    }

    /// The variable of a function's output.
    pub fn result(&mut self, function: ScopeId, index: u32) -> Variable {
        *self
            .results
            .entry((function, index))
            .or_insert_with(|| self.types.variable())
    }

    /// Why a node keeps its types, whatever they are.
    pub fn kept(&self, node: NodeId) -> Option<Code> {
        if self.selection.keeps_node(self.model, node) {
            return Some(Code::Option);
        }
        if !self.kept_functions.is_empty()
            && let Some(&code) = self.kept_functions.get(&self.model.root(node.scope))
        {
            return Some(code);
        }
        if self.units.contains(&node) {
            return Some(Code::Unit);
        }
        let is_policy = self.options.policy == Policy::Stable && self.types.change.has_wide_range();
        (is_policy && self.types.operators.of(node).is_sensitive && !self.also(node))
            .then_some(Code::Policy)
    }

    /// Whether the options say that a node changes its types although the policy keeps them.
    pub fn also(&self, node: NodeId) -> bool {
        self.selection.changes_node(self.model, node)
    }
}
