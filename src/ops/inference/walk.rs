//! Walks a model's scopes and infers the types and shapes of their values.
//!
//! Long because nodes, subgraphs, loops and calls of functions are one recursive walk over shared
//! state.

use std::cell::Cell;

use super::bodies::Bodies;
use super::known::{Dims, Fact, Known, Numbers, UNKNOWN, is_kept};
use super::length::Symbols;
use super::view::{Call, View};
use super::{element, ints, microsoft, shape};
use crate::base::hash::HashMap;
use crate::graph::{Model, NodeId, Origin, ScopeId, ScopeKind, ValueId};
use crate::ops::schemas::{self, TypeSet, ValueType, canonical_domain};
use onnx_cast::{Contested, DType};

/// The maximum number of argument lists for which a function is inferred; further calls use no
/// argument types.
const MAX_ARGUMENT_LISTS: usize = 64;

/// How often the body of a loop is walked until the shapes of carried values are the same, and the
/// depth of loops up to which that is done; otherwise these shapes are unknown.
const MOST_ROUNDS: usize = 3;
const MOST_TRACED_LOOPS: usize = 2;

/// The maximum depth of scopes; deeper calls are inferred without argument types.
const MAX_DEPTH: usize = 64;

/// The results of the walk.
pub(super) struct Inference<'m> {
    /// By the value's index.
    pub facts: Vec<Fact>,
    /// The integers of small tensors that nodes compute.
    pub numbers: HashMap<ValueId, Numbers>,
    /// Values with what is declared and what is found, which contradict each other.
    pub contradictions: HashMap<ValueId, (Fact, Fact)>,
    /// By function that a graph calls, also through other functions: the types that its values have
    /// in these calls. The type of a value that is missing is unknown in one of them.
    pub called: HashMap<ScopeId, HashMap<ValueId, TypeSet>>,
    pub symbols: Symbols<'m>,
}

/// Walks all scopes. Contested results are those of the choice, or unknown. If there are any, the
/// shapes that the model declares for results of nodes count for nothing: they may follow from one
/// reading, and a runtime may have the other.
pub(super) fn walk(model: &Model, contested: Option<Contested>) -> Inference<'_> {
    let (mut bodies, symbols) = Bodies::new(model);
    let (found, has_contested) = walk_with(model, &bodies, symbols, contested);
    if !has_contested {
        return found;
    }
    bodies.forget_results(model);
    walk_with(model, &bodies, found.symbols, contested).0
}

/// Walks all scopes with the declarations of `bodies`. Also returns whether there are contested
/// results, which are unknown.
fn walk_with<'m>(
    model: &'m Model,
    bodies: &Bodies<'m>,
    symbols: Symbols<'m>,
    contested: Option<Contested>,
) -> (Inference<'m>, bool) {
    let mut walk = Walk {
        model,
        bodies,
        contested,
        has_contested: false,
        known: vec![Fact::default(); model.value_count()],
        ints: HashMap::default(),
        contradictions: HashMap::default(),
        depth: 0,
        loops: 0,
        is_in_graph: true,
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
    walk.unknown_calls();
    walk.is_in_graph = false;
    // Functions that no graph calls: first those without callers, since the arguments of their
    // calls are more precise than none. The remaining ones only call each other. They are visited
    // in document order, so that the results are deterministic.
    let is_function = |&scope: &ScopeId| matches!(model.scope_kind(scope), ScopeKind::Function(_));
    let functions: Vec<ScopeId> = model.scopes().filter(is_function).collect();
    let uncalled = functions
        .iter()
        .filter(|&&function| model.callers(function).is_empty());
    for &function in uncalled.chain(&functions) {
        if !walk.calls.contains_key(&function) {
            walk.evaluate(function, Vec::new());
        }
    }
    walk.unknown_calls();
    let Walk {
        mut known,
        mut ints,
        contradictions,
        calls,
        has_contested,
        ..
    } = walk;
    // The calls of a function may differ, and share one result.
    ints.retain(|&value, _| {
        !matches!(
            model.scope_kind(model.root(model.scope_of(value))),
            ScopeKind::Function(_)
        )
    });
    let mut called: HashMap<ScopeId, HashMap<ValueId, TypeSet>> = HashMap::default();
    #[expect(
        clippy::iter_over_hash_type,
        clippy::disallowed_methods,
        reason = "a value belongs to one function, and fills one entry of a table"
    )]
    for (function, calls) in calls {
        if calls.is_in_graph {
            let types = calls
                .merged
                .iter()
                .filter_map(|(&value, (_, types))| Some((value, (*types)?)));
            called.insert(function, types.collect());
        }
        for (value, (merged, _)) in calls.merged {
            known[value.index()] = merged;
        }
    }
    (
        Inference {
            facts: known,
            numbers: ints,
            contradictions,
            called,
            symbols,
        },
        has_contested,
    )
}

/// The results of the calls of a function.
#[derive(Default)]
struct Calls {
    /// Whether a call is being inferred: a recursive function has no results.
    is_active: bool,
    /// Whether a graph calls it, also through other functions.
    is_in_graph: bool,
    /// By arguments.
    results: HashMap<Vec<Fact>, Vec<Fact>>,
    /// The facts of the function's values that hold in all calls, and their types in those of
    /// graphs; `None` if one is unknown.
    merged: HashMap<ValueId, (Fact, Option<TypeSet>)>,
}

struct Walk<'w, 'm> {
    model: &'m Model,
    bodies: &'w Bodies<'m>,
    /// The choice between contested results; `None`: they are unknown.
    contested: Option<Contested>,
    /// Whether there are contested results that are unknown.
    has_contested: bool,
    /// By the value's index. In functions: the facts for the arguments of the current call.
    known: Vec<Fact>,
    ints: HashMap<ValueId, Numbers>,
    contradictions: HashMap<ValueId, (Fact, Fact)>,
    /// The number of scopes on the stack.
    depth: usize,
    /// The number of loops on the stack whose carried shapes are traced.
    loops: usize,
    /// Whether the current scope is in a graph, or in a function that a graph calls.
    is_in_graph: bool,
    calls: HashMap<ScopeId, Calls>,
    /// Functions to infer without arguments, because not all of their calls were inferred.
    without_arguments: Vec<ScopeId>,
}

impl<'w, 'm> Walk<'w, 'm> {
    /// Walks a body with these facts of its inputs, and returns the facts of its outputs.
    fn scope(&mut self, scope: ScopeId, inputs: &[Fact]) -> Vec<Fact> {
        let (model, bodies) = (self.model, self.bodies);
        self.depth += 1;
        for &value in bodies.given.get(&scope).into_iter().flatten() {
            let given = |index: u32| {
                bodies
                    .declared
                    .of(value)
                    .clone()
                    .and(inputs.get(index as usize).unwrap_or(&UNKNOWN))
            };
            let is_constant = match model.origin(value) {
                Origin::Initializer { input: Some(_), .. } => !model.is_overridable(value),
                _ => true,
            };
            let constant = model.initializer(value).filter(|_| is_constant);
            self.keep_ints(value, constant.and_then(ints::tensor_list));
            let stored = model
                .initializer(value)
                .map(Known::of_tensor)
                .map(Fact::with_sizes);
            if let Some(stored) = &stored {
                self.compare(value, stored);
            }
            self.known[value.index()] = match model.origin(value) {
                Origin::Input(index) => given(index),
                // A value that overrides the initializer has the declared type, but its shape may
                // differ.
                Origin::Initializer {
                    input: Some(index), ..
                } if model.is_overridable(value) => given(index),
                Origin::Initializer { .. } => stored.unwrap_or_default(),
                Origin::SparseInitializer(_) | Origin::Node { .. } | Origin::Missing => {
                    Fact::default()
                }
            };
        }
        for &node in bodies.order.get(&scope).into_iter().flatten() {
            let (mut outputs, mut ints) = self.node(node);
            for (index, value) in model.outputs(node) {
                let found = outputs
                    .get_mut(index as usize)
                    .map(std::mem::take)
                    .unwrap_or_default();
                self.compare(value, &found);
                self.known[value.index()] = found.and(bodies.declared.of(value));
                let ints = ints.get_mut(index as usize).and_then(Option::take);
                self.keep_ints(
                    value,
                    ints.filter(|ints| may_be(ints, &self.known[value.index()])),
                );
            }
        }
        self.depth -= 1;
        let output = |name| {
            model
                .lookup(scope, name)
                .map(|value| self.known[value.index()].clone())
        };
        model
            .body(scope)
            .output_names()
            .map(|name| output(name).unwrap_or_default())
            .collect()
    }

    /// Records whether the facts that were found contradict those that are declared. Calls of a
    /// function may differ.
    fn compare(&mut self, value: ValueId, found: &Fact) {
        let declared = self.bodies.declared.of(value);
        let root = || {
            self.model
                .scope_kind(self.model.root(self.model.scope_of(value)))
        };
        if found.contradicts(declared) && !matches!(root(), ScopeKind::Function(_)) {
            self.contradictions
                .insert(value, (declared.clone(), found.clone()));
        } else if !self.contradictions.is_empty() {
            self.contradictions.remove(&value);
        }
    }

    fn keep_ints(&mut self, value: ValueId, ints: Option<Numbers>) {
        match ints {
            Some(ints) => self.ints.insert(value, ints),
            None if self.ints.is_empty() => None,
            None => self.ints.remove(&value),
        };
    }

    /// The facts of a node's outputs, and their integers.
    fn node(&mut self, id: NodeId) -> (Vec<Fact>, Vec<Option<Numbers>>) {
        let model = self.model;
        let node = model.node(id);
        let domain = canonical_domain(node.domain());
        if !self.bodies.functions.is_empty()
            && let Some(&function) =
                self.bodies
                    .functions
                    .get(&(domain, node.op_type(), node.overload()))
        {
            let arguments = self.inputs(id).into_iter().cloned().collect();
            return (self.call(function, arguments), Vec::new());
        }
        let schema = model
            .opset(id.scope, domain)
            .and_then(|opset| schemas::schema(domain, node.op_type(), opset));
        let outputs = match (schema, domain, node.op_type()) {
            (None, "com.microsoft", _) => {
                self.inner(id, &[]);
                let (types, shapes) = microsoft::outputs(&self.call_of(id));
                facts_of(types.into_iter(), shapes)
            }
            (None, _, _) => {
                self.inner(id, &[]);
                Vec::new()
            }
            (Some(_), "", "If") => join(self.inner(id, &[])),
            (Some(_), "", "Loop") => self.repeat(id),
            (Some(schema), "", "Scan") => self.scan(id, schema.since_version),
            (Some(_), "", "SequenceMap") => {
                let arguments: Vec<_> = self
                    .inputs(id)
                    .into_iter()
                    .map(element_of_sequence)
                    .collect();
                self.inner(id, &arguments)
                    .iter()
                    .flatten()
                    .map(sequence_of)
                    .collect()
            }
            (Some(schema), _, _) => {
                self.inner(id, &[]);
                let (contested, is_contested) = (self.contested, Cell::new(false));
                let view = View {
                    call: self.call_of(id),
                    schema,
                    ints: self.input_ints(id),
                    contested,
                    is_contested,
                };
                let types = (0..node.output.len()).map(|index| element::output_type(&view, index));
                let facts = facts_of(types, shape::output_shapes(&view));
                let may_be_followed =
                    |fact: &Fact| fact.value_type.is_none() || ints::is_followed(fact.dtype());
                let ints = if facts.iter().any(may_be_followed) {
                    ints::output_ints(&view)
                } else {
                    Vec::new()
                };
                self.has_contested |= view.is_contested.get();
                return (facts, ints);
            }
        };
        (outputs, Vec::new())
    }

    fn call_of(&self, id: NodeId) -> Call<'_> {
        Call {
            model: self.model,
            id,
            node: self.model.node(id),
            inputs: self.inputs(id),
        }
    }

    /// The facts of a node's inputs, by index.
    fn inputs(&self, id: NodeId) -> Vec<&Fact> {
        let mut inputs = vec![&UNKNOWN; self.model.node(id).input.len()];
        for (index, value) in self.model.inputs(id) {
            inputs[index as usize] = &self.known[value.index()];
        }
        inputs
    }

    /// The integers of a node's inputs, by index; none if no integers are known at all.
    fn input_ints(&self, id: NodeId) -> Vec<Option<&Numbers>> {
        if self.ints.is_empty() {
            return Vec::new();
        }
        let mut inputs = vec![None; self.model.node(id).input.len()];
        for (index, value) in self.model.inputs(id) {
            inputs[index as usize] = self.ints.get(&value);
        }
        inputs
    }

    /// Walks the bodies in a node's attributes, and returns the outputs of each.
    fn inner(&mut self, node: NodeId, inputs: &[Fact]) -> Vec<Vec<Fact>> {
        let scopes = self.bodies.inner.get(&node).into_iter().flatten();
        scopes.map(|&scope| self.scope(scope, inputs)).collect()
    }

    /// `Loop`: the body receives the iteration number, the condition and the carried values. Carried
    /// values keep their types; a dimension known before the loop stays known if every iteration
    /// keeps it. Scanned values gain a dimension.
    fn repeat(&mut self, id: NodeId) -> Vec<Fact> {
        let scalar = |dtype| Fact {
            value_type: Some(ValueType::Tensor(dtype)),
            shape: Some(Vec::new()),
        };
        let initial: Vec<Fact> = self.inputs(id).into_iter().skip(2).cloned().collect();
        let mut rounds = if self.loops < MOST_TRACED_LOOPS {
            MOST_ROUNDS
        } else {
            0
        };
        let mut carried: Vec<Fact> = if rounds > 0 {
            initial.clone()
        } else {
            initial.iter().map(without_shape).collect()
        };
        self.loops += 1;
        let results = loop {
            let arguments: Vec<_> = [scalar(DType::Int64), scalar(DType::Bool)]
                .into_iter()
                .chain(carried.iter().cloned())
                .collect();
            let mut results = self
                .inner(id, &arguments)
                .into_iter()
                .next()
                .unwrap_or_default();
            results.drain(..results.len().min(1));
            let kept = |(index, before): (usize, &Fact)| match results.get(index) {
                Some(after) => Fact {
                    value_type: before.value_type,
                    shape: before.clone().or(after).shape,
                },
                None => before.clone(),
            };
            let next: Vec<Fact> = carried.iter().enumerate().map(kept).collect();
            if rounds == 0 || next == carried {
                break results;
            }
            rounds -= 1;
            carried = if rounds > 0 {
                next
            } else {
                initial.iter().map(without_shape).collect()
            };
        };
        self.loops -= 1;
        let outputs =
            results
                .into_iter()
                .enumerate()
                .map(|(index, result)| match initial.get(index) {
                    Some(initial) => Fact {
                        shape: result.clone().or(initial).shape,
                        value_type: result.value_type.or(initial.value_type),
                    },
                    None => with_dimension(&result, 0),
                });
        outputs.collect()
    }

    /// `Scan`: states keep type and shape; scanned values lose a dimension inside and gain one
    /// outside. Version 8 has another input in front, and a batch dimension.
    fn scan(&mut self, id: NodeId, since_version: i64) -> Vec<Fact> {
        let model = self.model;
        let inputs: Vec<Fact> = self.inputs(id).into_iter().cloned().collect();
        let attribute = |name: &str| model.attribute(id, name).value();
        let scanned =
            attribute("num_scan_inputs").and_then(|number| usize::try_from(number.i()).ok());
        let Some(states) = scanned
            .filter(|_| since_version > 8)
            .and_then(|scanned| inputs.len().checked_sub(scanned))
        else {
            let lengths = usize::from(since_version == 8);
            let arguments: Vec<_> = inputs.iter().skip(lengths).map(without_shape).collect();
            return self
                .inner(id, &arguments)
                .first()
                .into_iter()
                .flatten()
                .map(without_shape)
                .collect();
        };
        let axis = |name: &str, index: usize| {
            attribute(name).map_or(Some(0), |axes| axes.ints.get(index).copied())
        };
        let element = |(index, input): (usize, &Fact)| match axis("scan_input_axes", index) {
            Some(axis) => without_dimension(input, axis),
            None => without_shape(input),
        };
        let arguments = inputs[..states]
            .iter()
            .cloned()
            .chain(inputs[states..].iter().enumerate().map(element))
            .collect::<Vec<_>>();
        let results = self
            .inner(id, &arguments)
            .into_iter()
            .next()
            .unwrap_or_default()
            .into_iter()
            .enumerate();
        let outputs = results.map(|(index, result)| match index.checked_sub(states) {
            None => result,
            Some(place) => match axis("scan_output_axes", place) {
                Some(axis) => with_dimension(&result, axis),
                None => without_shape(&result),
            },
        });
        outputs.collect()
    }

    fn call(&mut self, function: ScopeId, arguments: Vec<Fact>) -> Vec<Fact> {
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

    /// Infers the functions of which calls were not inferred for their arguments.
    fn unknown_calls(&mut self) {
        while let Some(function) = self.without_arguments.pop() {
            if !self.calls[&function].results.contains_key(&Vec::new()) {
                self.evaluate(function, Vec::new());
            }
        }
    }

    /// Infers a function for these arguments; an empty list means that the arguments are unknown.
    fn evaluate(&mut self, function: ScopeId, arguments: Vec<Fact>) -> Vec<Fact> {
        self.calls.entry(function).or_default().is_active = true;
        let results = self.scope(function, &arguments);
        let is_in_graph = self.is_in_graph;
        let calls = self.calls.entry(function).or_default();
        calls.is_active = false;
        calls.is_in_graph |= is_in_graph;
        for &value in self.bodies.values.get(&function).into_iter().flatten() {
            let found = &self.known[value.index()];
            let (merged, types) = calls
                .merged
                .entry(value)
                .or_insert_with(|| (found.clone(), Some(TypeSet::of(&[]))));
            *merged = std::mem::take(merged).or(found);
            if is_in_graph {
                *types = types
                    .zip(found.value_type)
                    .and_then(|(types, value_type)| types.with(value_type));
            }
        }
        calls.results.insert(arguments, results.clone());
        results
    }
}

/// Whether a value of this type and shape may have these integers.
fn may_be(ints: &Numbers, known: &Fact) -> bool {
    let has_length = match known.shape.as_deref() {
        Some([]) => ints.len() == 1,
        Some([length]) => length.is_none_or(|length| {
            length
                .size()
                .is_none_or(|length| usize::try_from(length) == Ok(ints.len()))
        }),
        _ => false,
    };
    has_length && ints::is_followed(known.dtype())
}

/// The facts of a node's outputs from their types and shapes; there may be fewer shapes.
fn facts_of(
    types: impl Iterator<Item = Option<ValueType>>,
    shapes: Vec<Option<Dims>>,
) -> Vec<Fact> {
    let kept = |shape: Option<Dims>| {
        shape
            .filter(|shape| is_kept(shape.len()))
            .map(without_negative)
    };
    let shapes = shapes.into_iter().map(kept).chain(std::iter::repeat(None));
    types
        .zip(shapes)
        .map(|(value_type, shape)| Fact { value_type, shape })
        .collect()
}

/// A shape without the negative dimensions that an invalid model may lead to.
fn without_negative(shape: Dims) -> Dims {
    shape
        .into_iter()
        .map(|dim| dim.filter(|dim| dim.size().is_none_or(|size| size >= 0)))
        .collect()
}

/// A scanned value outside of the body; `axis` counts in its shape.
fn with_dimension(known: &Fact, axis: i64) -> Fact {
    let insert = |mut shape: Dims| {
        let rank = shape.len() + 1;
        shape.insert(
            shape::from_front(axis, rank).filter(|_| is_kept(rank))?,
            None,
        );
        Some(shape)
    };
    Fact {
        value_type: known.value_type,
        shape: known.shape.clone().and_then(insert),
    }
}

/// A scanned value inside of the body.
fn without_dimension(known: &Fact, axis: i64) -> Fact {
    let remove = |mut shape: Dims| {
        shape.remove(shape::from_front(axis, shape.len())?);
        Some(shape)
    };
    Fact {
        value_type: known.value_type,
        shape: known.shape.clone().and_then(remove),
    }
}

fn without_shape(known: &Fact) -> Fact {
    Fact {
        value_type: known.value_type,
        shape: None,
    }
}

/// The facts that hold for every branch.
fn join(bodies: Vec<Vec<Fact>>) -> Vec<Fact> {
    let both = |left: Vec<Fact>, right: Vec<Fact>| {
        left.into_iter()
            .zip(right)
            .map(|(left, right)| left.or(&right))
            .collect()
    };
    bodies.into_iter().reduce(both).unwrap_or_default()
}

fn element_of_sequence(known: &Fact) -> Fact {
    match known.value_type {
        Some(ValueType::Sequence(dtype)) => Fact::tensor(dtype),
        _ => known.clone(),
    }
}

fn sequence_of(known: &Fact) -> Fact {
    Fact {
        value_type: known.dtype().map(ValueType::Sequence),
        shape: None,
    }
}
