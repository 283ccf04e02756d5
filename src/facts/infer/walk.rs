//! Walks a model's scopes and infers the types of their values.

use super::element;
use super::known::{Known, NOTHING, is_kept};
use super::shape;
use super::view::View;
use crate::dtype::DType;
use crate::facts::{self, ValueType, canonical_domain};
use crate::graph::{Body, Model, NodeId, Origin, ScopeId, ScopeKind, ValueId};
use crate::hash::HashMap;
use crate::wire::schema::ValueInfoProto;

/// The known facts of every value of a model.
#[derive(Debug)]
pub struct Inferred {
    /// By the value's index.
    known: Vec<Known>,
}

impl Inferred {
    /// The known facts of a value.
    #[must_use]
    pub fn of(&self, value: ValueId) -> &Known {
        self.known.get(value.index()).unwrap_or(&NOTHING)
    }
}

/// The maximum number of argument lists for which a function is inferred; further calls use no argument types.
const MAX_ARGUMENT_LISTS: usize = 64;

/// The maximum depth of scopes; deeper calls are inferred without argument types.
const MAX_DEPTH: usize = 64;

/// Infers the types and shapes of the values of all scopes.
#[must_use]
pub fn infer(model: &Model) -> Inferred {
    let bodies = Bodies::new(model);
    let mut walk = Walk {
        model,
        bodies: &bodies,
        known: vec![Known::default(); model.value_bound()],
        depth: 0,
        calls: HashMap::default(),
        without_arguments: Vec::new(),
    };
    for scope in model.scopes() {
        match model.scope_kind(scope) {
            ScopeKind::Main | ScopeKind::Initialization(_) | ScopeKind::Algorithm(_) => {
                walk.scope(scope, &[]);
            }
            ScopeKind::Subgraph { .. } | ScopeKind::Function(_) => {}
        }
    }
    // Functions that no graph calls: first those without callers, since the arguments of their calls are more precise than
    // none. The remaining ones only call each other. They are visited in document order, so that the results are deterministic.
    let is_function = |&scope: &ScopeId| matches!(model.scope_kind(scope), ScopeKind::Function(_));
    let functions: Vec<ScopeId> = model.scopes().filter(is_function).collect();
    let uncalled = functions.iter().filter(|&&function| model.callers(function).is_empty());
    for &function in uncalled.chain(&functions) {
        if !walk.calls.contains_key(&function) {
            walk.evaluate(function, Vec::new());
        }
    }
    while let Some(function) = walk.without_arguments.pop() {
        if !walk.calls[&function].results.contains_key(&Vec::new()) {
            walk.evaluate(function, Vec::new());
        }
    }
    let Walk { mut known, calls, .. } = walk;
    for (value, merged) in calls.into_values().flat_map(|calls| calls.merged) {
        known[value.index()] = merged;
    }
    Inferred { known }
}

/// The structure of the model that the walk uses.
struct Bodies<'m> {
    /// By scope: its nodes in topological order.
    order: HashMap<ScopeId, Vec<NodeId>>,
    /// By scope: its values that no node produces.
    given: HashMap<ScopeId, Vec<ValueId>>,
    /// By node: the bodies in its attributes.
    inner: HashMap<NodeId, Vec<ScopeId>>,
    /// The declared facts of values, by their index.
    declared: Vec<Known>,
    functions: HashMap<(&'m str, &'m str, &'m str), ScopeId>,
    /// By function: the values of its body and of nested bodies.
    values: HashMap<ScopeId, Vec<ValueId>>,
}

impl<'m> Bodies<'m> {
    fn new(model: &'m Model) -> Bodies<'m> {
        let mut bodies = Bodies {
            order: HashMap::default(),
            given: HashMap::default(),
            inner: HashMap::default(),
            declared: vec![Known::default(); model.value_bound()],
            functions: HashMap::default(),
            values: HashMap::default(),
        };
        for &node in model.topological_order() {
            bodies.order.entry(node.scope).or_default().push(node);
        }
        for value in model.values() {
            let scope = model.scope_of(value);
            if !matches!(model.origin(value), Origin::Node { .. }) {
                bodies.given.entry(scope).or_default().push(value);
            }
            let root = model.root(scope);
            if let ScopeKind::Function(_) = model.scope_kind(root) {
                bodies.values.entry(root).or_default().push(value);
            }
        }
        for scope in model.scopes() {
            bodies.declare(model, scope);
            if let ScopeKind::Subgraph { owner, .. } = model.scope_kind(scope) {
                bodies.inner.entry(owner).or_default().push(scope);
            }
        }
        bodies
    }

    fn declare(&mut self, model: &'m Model, scope: ScopeId) {
        let body = model.body(scope);
        let interface: [&[ValueInfoProto]; 2] = match body {
            Body::Graph(graph) => [&graph.input, &graph.output],
            Body::Function(function) => {
                let key = (canonical_domain(function.domain()), function.name(), function.overload());
                self.functions.insert(key, scope);
                [&[], &[]]
            }
        };
        for info in interface.into_iter().chain([body.value_info()]).flatten() {
            let value = model.lookup(scope, info.name()).filter(|&value| model.scope_of(value) == scope);
            if let (Some(proto), Some(value)) = (&info.r#type, value) {
                let known = &mut self.declared[value.index()];
                *known = std::mem::take(known).and(&Known::of_type(proto));
            }
        }
    }
}

/// The results of the calls of a function.
#[derive(Default)]
struct Calls {
    /// Whether a call is being inferred: a recursive function has no results.
    is_active: bool,
    /// By arguments.
    results: HashMap<Vec<Known>, Vec<Known>>,
    /// The facts of the function's values that hold in all calls.
    merged: HashMap<ValueId, Known>,
}

struct Walk<'w, 'm> {
    model: &'m Model,
    bodies: &'w Bodies<'m>,
    /// By the value's index. In functions: the facts for the arguments of the current call.
    known: Vec<Known>,
    /// The number of scopes on the stack.
    depth: usize,
    calls: HashMap<ScopeId, Calls>,
    /// Functions to infer without arguments, because not all of their calls were inferred.
    without_arguments: Vec<ScopeId>,
}

impl<'w, 'm> Walk<'w, 'm> {
    /// Walks a body with these facts of its inputs, and returns the facts of its outputs.
    fn scope(&mut self, scope: ScopeId, inputs: &[Known]) -> Vec<Known> {
        let (model, bodies) = (self.model, self.bodies);
        self.depth += 1;
        for &value in bodies.given.get(&scope).into_iter().flatten() {
            let given = |index: u32| bodies.declared[value.index()].clone().and(inputs.get(index as usize).unwrap_or(&NOTHING));
            self.known[value.index()] = match model.origin(value) {
                Origin::Input(index) => given(index),
                // A value that overrides the initializer has the declared type, but its shape may differ.
                Origin::Initializer { input: Some(index), .. } if model.is_overridable(value) => given(index),
                Origin::Initializer { .. } => model.initializer(value).map(Known::of_tensor).unwrap_or_default(),
                Origin::SparseInitializer(_) | Origin::Node { .. } | Origin::Missing => Known::default(),
            };
        }
        for &node in bodies.order.get(&scope).into_iter().flatten() {
            let mut outputs = self.node(node);
            for (index, value) in model.outputs(node) {
                let found = outputs.get_mut(index as usize).map(std::mem::take).unwrap_or_default();
                self.known[value.index()] = found.and(&bodies.declared[value.index()]);
            }
        }
        self.depth -= 1;
        let output = |name| model.lookup(scope, name).map(|value| self.known[value.index()].clone());
        model.body(scope).output_names().map(|name| output(name).unwrap_or_default()).collect()
    }

    /// The facts of a node's outputs.
    fn node(&mut self, id: NodeId) -> Vec<Known> {
        let model = self.model;
        let node = model.node(id);
        let domain = canonical_domain(node.domain());
        if !self.bodies.functions.is_empty()
            && let Some(&function) = self.bodies.functions.get(&(domain, node.op_type(), node.overload()))
        {
            let arguments = self.inputs(id).into_iter().cloned().collect();
            return self.call(function, arguments);
        }
        let schema = model.opset(id.scope, domain).and_then(|opset| facts::schema(domain, node.op_type(), opset));
        match (schema, domain, node.op_type()) {
            (None, _, _) => {
                self.inner(id, &[]);
                Vec::new()
            }
            (Some(_), "", "If") => join(self.inner(id, &[])),
            (Some(_), "", "Loop") => self.repeat(id),
            (Some(schema), "", "Scan") => self.scan(id, schema.since_version),
            (Some(_), "", "SequenceMap") => {
                let arguments: Vec<_> = self.inputs(id).into_iter().map(element_of_sequence).collect();
                self.inner(id, &arguments).iter().flatten().map(sequence_of).collect()
            }
            (Some(schema), _, _) => {
                self.inner(id, &[]);
                let view = View { model, id, node, schema, inputs: self.inputs(id) };
                let shapes = shape::output_shapes(&view).into_iter().map(|shape| shape.filter(|shape| is_kept(shape.len())));
                let shapes = shapes.chain(std::iter::repeat(None));
                let types = (0..node.output.len()).map(|index| element::output_type(&view, index));
                types.zip(shapes).map(|(value_type, shape)| Known { value_type, shape }).collect()
            }
        }
    }

    /// The facts of a node's inputs, by index.
    fn inputs(&self, id: NodeId) -> Vec<&Known> {
        let mut inputs = vec![&NOTHING; self.model.node(id).input.len()];
        for (index, value) in self.model.inputs(id) {
            inputs[index as usize] = &self.known[value.index()];
        }
        inputs
    }

    /// Walks the bodies in a node's attributes, and returns the outputs of each.
    fn inner(&mut self, node: NodeId, inputs: &[Known]) -> Vec<Vec<Known>> {
        let scopes = self.bodies.inner.get(&node).into_iter().flatten();
        scopes.map(|&scope| self.scope(scope, inputs)).collect()
    }

    /// `Loop`: the body receives the iteration, the condition, and carried values, whose types stay the same and whose shapes
    /// may change.
    fn repeat(&mut self, id: NodeId) -> Vec<Known> {
        let scalar = |dtype| Known { value_type: Some(ValueType::Tensor(dtype)), shape: Some(Vec::new()) };
        let carried = self.inputs(id).into_iter().skip(2).map(without_shape);
        let arguments: Vec<_> = [scalar(DType::Int64), scalar(DType::Bool)].into_iter().chain(carried).collect();
        let bodies = self.inner(id, &arguments);
        bodies.first().into_iter().flatten().skip(1).map(without_shape).collect()
    }

    /// `Scan`: states keep type and shape; scanned values lose a dimension inside and gain one outside. The first input of
    /// version 8 is not passed to the body.
    fn scan(&mut self, id: NodeId, since_version: i64) -> Vec<Known> {
        let lengths = usize::from(since_version == 8);
        let arguments: Vec<_> = self.inputs(id).into_iter().skip(lengths).map(without_shape).collect();
        let bodies = self.inner(id, &arguments);
        bodies.first().into_iter().flatten().map(without_shape).collect()
    }

    fn call(&mut self, function: ScopeId, arguments: Vec<Known>) -> Vec<Known> {
        let calls = self.calls.entry(function).or_default();
        if let Some(results) = calls.results.get(&arguments) {
            return results.clone();
        }
        if calls.is_active || calls.results.len() >= MAX_ARGUMENT_LISTS || self.depth >= MAX_DEPTH {
            self.without_arguments.push(function);
            return Vec::new();
        }
        self.evaluate(function, arguments)
    }

    /// Infers a function for these arguments; an empty list means that the arguments are unknown.
    fn evaluate(&mut self, function: ScopeId, arguments: Vec<Known>) -> Vec<Known> {
        self.calls.entry(function).or_default().is_active = true;
        let results = self.scope(function, &arguments);
        let calls = self.calls.entry(function).or_default();
        calls.is_active = false;
        for &value in self.bodies.values.get(&function).into_iter().flatten() {
            let found = &self.known[value.index()];
            let merged = calls.merged.entry(value).or_insert_with(|| found.clone());
            *merged = std::mem::take(merged).or(found);
        }
        calls.results.insert(arguments, results.clone());
        results
    }
}

fn without_shape(known: &Known) -> Known {
    Known { value_type: known.value_type, shape: None }
}

/// The facts that hold for every branch.
fn join(bodies: Vec<Vec<Known>>) -> Vec<Known> {
    let both = |left: Vec<Known>, right: Vec<Known>| left.into_iter().zip(right).map(|(left, right)| left.or(&right)).collect();
    bodies.into_iter().reduce(both).unwrap_or_default()
}

fn element_of_sequence(known: &Known) -> Known {
    match known.value_type {
        Some(ValueType::Sequence(dtype)) => Known::tensor(dtype),
        _ => known.clone(),
    }
}

fn sequence_of(known: &Known) -> Known {
    Known { value_type: known.dtype().map(ValueType::Sequence), shape: None }
}
