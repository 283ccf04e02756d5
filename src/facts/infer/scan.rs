//! The walk over a model's scopes.

use std::collections::HashMap;

use super::element;
use super::known::Known;
use super::shape;
use crate::dtype::DType;
use crate::facts::{self, Schema, ValueType, canonical_domain};
use crate::graph::{Attribute, Body, Model, NodeId, Origin, ScopeId, ScopeKind, ValueId};
use crate::wire::schema::{AttributeProto, NodeProto, ValueInfoProto};

/// What is known of every value of a model.
#[derive(Debug, Default)]
pub struct Inferred {
    known: HashMap<ValueId, Known>,
}

impl Inferred {
    /// What is known of a value.
    #[must_use]
    pub fn of(&self, value: ValueId) -> Known {
        self.known.get(&value).cloned().unwrap_or_default()
    }

    /// The value's type.
    #[must_use]
    pub fn value_type(&self, value: ValueId) -> Option<ValueType> {
        self.known.get(&value)?.value_type
    }
}

/// Finds out what can be known of the values of all scopes.
#[must_use]
pub fn infer(model: &Model) -> Inferred {
    let mut walk = Walk::new(model);
    let mut known = HashMap::new();
    for scope in model.scopes() {
        match model.scope_kind(scope) {
            ScopeKind::Main | ScopeKind::Initialization(_) | ScopeKind::Algorithm(_) => {
                walk.scope(scope, &[], &mut known);
            }
            ScopeKind::Subgraph { .. } | ScopeKind::Function(_) => {}
        }
    }
    for scope in walk.functions.values().copied().collect::<Vec<_>>() {
        if !walk.results.keys().any(|(called, _)| *called == scope) {
            walk.call(scope, Vec::new());
        }
    }
    known.extend(walk.in_functions);
    Inferred { known }
}

/// What is known of the values of one evaluation of a body and of the bodies around it.
type Environment = HashMap<ValueId, Known>;

struct Walk<'m> {
    model: &'m Model,
    /// By scope: its nodes, each after those whose values it uses.
    order: HashMap<ScopeId, Vec<NodeId>>,
    /// By scope: its values that no node makes.
    given: HashMap<ScopeId, Vec<ValueId>>,
    /// By node: the bodies in its attributes.
    inner: HashMap<NodeId, Vec<ScopeId>>,
    outputs: HashMap<(ScopeId, &'m str), ValueId>,
    declared: HashMap<(ScopeId, &'m str), Known>,
    functions: HashMap<(&'m str, &'m str, &'m str), ScopeId>,
    /// By function and arguments: the results. A function that is being looked at has none yet.
    results: HashMap<(ScopeId, Vec<Known>), Option<Vec<Known>>>,
    in_functions: Environment,
}

/// A node under examination.
pub(super) struct View<'a> {
    pub model: &'a Model,
    pub id: NodeId,
    pub node: &'a NodeProto,
    pub schema: &'static Schema,
    pub inputs: Vec<Known>,
}

impl<'m> Walk<'m> {
    fn new(model: &'m Model) -> Walk<'m> {
        let mut walk = Walk {
            model,
            order: HashMap::new(),
            given: HashMap::new(),
            inner: HashMap::new(),
            outputs: HashMap::new(),
            declared: HashMap::new(),
            functions: HashMap::new(),
            results: HashMap::new(),
            in_functions: HashMap::new(),
        };
        for &node in model.nodes_in_order_of_use() {
            walk.order.entry(node.scope).or_default().push(node);
        }
        for value in model.values() {
            if !matches!(model.origin(value), Origin::Node { .. }) {
                walk.given.entry(model.home(value)).or_default().push(value);
            }
            for &scope in model.output_of(value) {
                walk.outputs.insert((scope, model.name(value)), value);
            }
        }
        for scope in model.scopes() {
            walk.declare(scope);
            if let ScopeKind::Subgraph { owner, .. } = model.scope_kind(scope) {
                walk.inner.entry(owner).or_default().push(scope);
            }
        }
        walk
    }

    fn declare(&mut self, scope: ScopeId) {
        let body = self.model.body(scope);
        let interface: [&[ValueInfoProto]; 2] = match body {
            Body::Graph(graph) => [&graph.input, &graph.output],
            Body::Function(function) => {
                let key = (canonical_domain(function.domain()), function.name(), function.overload());
                self.functions.insert(key, scope);
                [&[], &[]]
            }
        };
        for info in interface.into_iter().chain([body.value_info()]).flatten() {
            let Some(proto) = &info.r#type else { continue };
            let known = self.declared.entry((scope, info.name())).or_default();
            *known = std::mem::take(known).and(Known::of_type(proto));
        }
    }

    /// Walks through a body whose inputs are known as far as `inputs` says, and answers with what is known of its outputs.
    fn scope(&mut self, scope: ScopeId, inputs: &[Known], known: &mut Environment) -> Vec<Known> {
        let model = self.model;
        for value in self.given.get(&scope).cloned().unwrap_or_default() {
            let stated = match model.origin(value) {
                Origin::Initializer { .. } => model.initializer(value).map(Known::of_tensor).unwrap_or_default(),
                Origin::Input(index) => {
                    let argument = inputs.get(index as usize).cloned().unwrap_or_default();
                    self.declared_of(value).and(argument)
                }
                Origin::SparseInitializer(_) | Origin::Node { .. } | Origin::Missing => Known::default(),
            };
            known.insert(value, stated);
        }
        for node in self.order.get(&scope).cloned().unwrap_or_default() {
            let outputs = self.node(node, known);
            for (position, output) in (0..).zip(outputs) {
                if let Some(value) = model.output(node, position) {
                    let stated = self.declared_of(value);
                    known.insert(value, output.and(stated));
                }
            }
        }
        let names = model.body(scope).output_names();
        names.map(|name| self.outputs.get(&(scope, name)).and_then(|value| known.get(value)).cloned().unwrap_or_default()).collect()
    }

    fn declared_of(&self, value: ValueId) -> Known {
        self.declared.get(&(self.model.home(value), self.model.name(value))).cloned().unwrap_or_default()
    }

    fn node(&mut self, id: NodeId, known: &mut Environment) -> Vec<Known> {
        let model = self.model;
        let node = model.node(id);
        let mut inputs = vec![Known::default(); node.input.len()];
        for (index, value) in model.inputs(id) {
            inputs[index as usize] = known.get(&value).cloned().unwrap_or_default();
        }
        let domain = canonical_domain(node.domain());
        if let Some(&function) = self.functions.get(&(domain, node.op_type(), node.overload())) {
            return self.call(function, inputs);
        }
        let schema = model.opset(id.scope, domain).and_then(|opset| facts::schema(domain, node.op_type(), opset));
        let Some(schema) = schema else {
            self.bodies(id, known, |_| Vec::new());
            return vec![Known::default(); node.output.len()];
        };
        let view = View { model, id, node, schema, inputs };
        match (domain, node.op_type()) {
            ("", "If") => {
                let branches = self.bodies(id, known, |_| Vec::new());
                join(branches.into_iter().map(|(_, outputs)| outputs), node.output.len())
            }
            ("", "Loop") => self.repeat(id, &view, known),
            ("", "Scan") => self.scan(id, &view, known),
            ("", "SequenceMap") => {
                let arguments: Vec<_> = view.inputs.iter().map(element_of_sequence).collect();
                let bodies = self.bodies(id, known, |_| arguments.clone());
                bodies.into_iter().flat_map(|(_, outputs)| outputs).map(|output| sequence_of(&output)).collect()
            }
            _ => {
                self.bodies(id, known, |_| Vec::new());
                let shape = shape::output_shapes(&view);
                let types = (0..node.output.len()).map(|index| element::output_type(&view, index));
                let shapes = shape.into_iter().chain(std::iter::repeat(None));
                types.zip(shapes).map(|(value_type, shape)| Known { value_type, shape }).collect()
            }
        }
    }

    /// Walks through the bodies that a node's attributes hold, and answers with their outputs.
    fn bodies(&mut self, node: NodeId, known: &mut Environment, inputs: impl Fn(&str) -> Vec<Known>) -> Vec<(&'m str, Vec<Known>)> {
        let model = self.model;
        let mut outputs = Vec::new();
        for scope in self.inner.get(&node).cloned().unwrap_or_default() {
            if let ScopeKind::Subgraph { attribute, .. } = model.scope_kind(scope) {
                let name = model.node(node).attribute[attribute as usize].name();
                outputs.push((name, self.scope(scope, &inputs(name), known)));
            }
        }
        outputs
    }

    /// `Loop`: the body gets the iteration, the condition, and values whose type, not shape, stays the same.
    fn repeat(&mut self, id: NodeId, view: &View, known: &mut Environment) -> Vec<Known> {
        let carried: Vec<_> = view.inputs.iter().skip(2).map(without_shape).collect();
        let scalar = |dtype| Known { value_type: Some(ValueType::Tensor(dtype)), shape: Some(Vec::new()) };
        let arguments: Vec<_> = [scalar(DType::Int64), scalar(DType::Bool)].into_iter().chain(carried.clone()).collect();
        let bodies = self.bodies(id, known, |_| arguments.clone());
        let Some((_, outputs)) = bodies.into_iter().next() else { return Vec::new() };
        outputs.iter().skip(1).map(without_shape).collect()
    }

    /// `Scan`: states keep type and shape; scanned values lose a dimension inside and gain one outside.
    fn scan(&mut self, id: NodeId, view: &View, known: &mut Environment) -> Vec<Known> {
        let arguments: Vec<_> = match view.schema.since_version {
            8 => view.inputs.iter().skip(1).map(without_shape).collect(),
            _ => view.inputs.iter().map(without_shape).collect(),
        };
        let bodies = self.bodies(id, known, |_| arguments.clone());
        let Some((_, outputs)) = bodies.into_iter().next() else { return Vec::new() };
        outputs.iter().map(without_shape).collect()
    }

    fn call(&mut self, function: ScopeId, arguments: Vec<Known>) -> Vec<Known> {
        let key = (function, arguments);
        if let Some(results) = self.results.get(&key) {
            return results.clone().unwrap_or_default();
        }
        self.results.insert(key.clone(), None);
        let mut known = Environment::new();
        let results = self.scope(function, &key.1, &mut known);
        for (value, found) in known {
            let merged = match self.in_functions.remove(&value) {
                Some(before) => before.or(found),
                None => found,
            };
            self.in_functions.insert(value, merged);
        }
        self.results.insert(key, Some(results.clone()));
        results
    }
}

impl<'a> View<'a> {
    /// An attribute; the inner option is none where callers of the function do not agree.
    pub fn attribute(&self, name: &str) -> Option<Option<&'a AttributeProto>> {
        match self.model.attribute(self.id, name) {
            Attribute::Absent => None,
            Attribute::Is(attribute) => Some(Some(attribute)),
            Attribute::Unclear => Some(None),
        }
    }

    /// An integer attribute, or what holds when it is absent.
    pub fn int_or(&self, name: &str, default: i64) -> Option<i64> {
        self.attribute(name).map_or(Some(default), |attribute| attribute.map(|attribute| attribute.i()))
    }

    /// A list of integers; none where it is absent or unclear.
    pub fn ints(&self, name: &str) -> Option<&'a [i64]> {
        self.attribute(name).flatten().map(|attribute| attribute.ints.as_slice())
    }

    pub fn input(&self, index: usize) -> Known {
        self.inputs.get(index).cloned().unwrap_or_default()
    }

    /// Whether the node has this input.
    pub fn has_input(&self, index: usize) -> bool {
        self.node.input.get(index).is_some_and(|name| !name.is_empty())
    }
}

fn without_shape(known: &Known) -> Known {
    Known { value_type: known.value_type, shape: None }
}

fn join(branches: impl Iterator<Item = Vec<Known>>, outputs: usize) -> Vec<Known> {
    branches
        .reduce(|left, right| left.into_iter().zip(right).map(|(left, right)| left.or(right)).collect())
        .unwrap_or_else(|| vec![Known::default(); outputs])
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
