//! The conversion plan: converts every node of every scope, innermost scopes first, into edits.

use super::reason::Code::NameAmbiguous;
use std::borrow::Cow;
use std::cell::OnceCell;

use super::context::{Record, Source};
use super::convert_node::{Blocked, Converted, NodeConverter};
use super::functions::{self, Functions};
use super::planned::PlannedNodes;
use super::{Blocker, Change, ExpandInto, Expanded, Options, ir};
use crate::control::{Unit, cancelled};
use crate::error::Invalid;
use crate::facts;
use crate::facts::infer::Inferred;
use crate::graph::{Edit, Model, Names, NodeId, Origin, ScopeId, ScopeKind, ValueId, is_onnx_domain};
use crate::hash::{HashMap, HashSet};
use crate::wire::schema::{GraphProto, NodeProto};
use std::sync::Arc;

/// The conversion plan of a model: edits and their report, or blockers.
#[derive(Default)]
pub(super) struct Plan {
    pub edits: Vec<Edit>,
    pub changes: Vec<Change>,
    pub expansions: Vec<Expanded>,
    pub warnings: Vec<Change>,
    pub blockers: Vec<Blocker>,
}

impl Plan {
    /// Plans the conversion of every node. A scope that does not import ai.onnx has no nodes of it.
    ///
    /// # Errors
    /// If the operation is cancelled.
    pub fn new(model: &Model, inferred: &OnceCell<Inferred>, options: &Options) -> Result<Plan, Invalid> {
        let adds_functions = options.expand_into == ExpandInto::Function && ir::allows_functions(model, options);
        let mut planner = Planner {
            functions: adds_functions.then(|| Functions::new(model, options.opset)),
            model,
            options,
            inferred,
            names: Names::new(model),
            inner: inner_scopes(model),
            nodes: PlannedNodes::default(),
            texts: HashSet::default(),
            same: HashMap::default(),
            released: Vec::new(),
            edits: Vec::new(),
            changes: Vec::new(),
            expansions: Vec::new(),
            warnings: Vec::new(),
            blockers: Vec::new(),
        };
        let nodes = model.scopes().map(|scope| model.nodes(scope).len() as u64).sum();
        let counter = model.control().counter(Unit::Nodes, nodes);
        for scope in model.scopes().rev() {
            let Some(from) = model.opset(scope, "") else { continue };
            if model.enclosing(scope).is_none() {
                planner.root(scope, from);
            }
            for node in model.nodes(scope) {
                planner.node(node, from);
                if !counter.add(1) {
                    return Err(cancelled());
                }
            }
        }
        Ok(planner.finish())
    }

    /// The opset closest to the target without blockers; none if that is not between the two. Functions may import opsets that are
    /// not between them either.
    pub fn nearest(&self, from: i64, target: i64) -> Option<i64> {
        let possible = self.blockers.iter().map(|blocker| blocker.opset_step.0);
        match target > from {
            true => possible.min().filter(|&opset| opset > from),
            false => possible.max().filter(|&opset| opset < from),
        }
    }
}

struct Planner<'m> {
    /// The functions that operators are expanded into, if that is requested.
    functions: Option<Functions>,
    model: &'m Model,
    options: &'m Options,
    inferred: &'m OnceCell<Inferred>,
    names: Names<'m>,
    /// By node: the graphs in its attributes.
    inner: HashMap<NodeId, Vec<ScopeId>>,
    /// The nodes that replace a changed node.
    nodes: PlannedNodes,
    /// Texts of the report. Many nodes have the same operator and change in the same way.
    texts: HashSet<Arc<str>>,
    /// By operator and opset: whether it is the same in the target.
    same: HashMap<(&'m str, i64), bool>,
    /// Constants that a node no longer uses.
    released: Vec<ValueId>,
    /// All edits except those of nodes.
    edits: Vec<Edit>,
    changes: Vec<(NodeId, Change)>,
    expansions: Vec<(NodeId, Expanded)>,
    warnings: Vec<(NodeId, Change)>,
    blockers: Vec<(NodeId, Blocker)>,
}

fn inner_scopes(model: &Model) -> HashMap<NodeId, Vec<ScopeId>> {
    let mut inner: HashMap<NodeId, Vec<ScopeId>> = HashMap::default();
    for scope in model.scopes() {
        if let ScopeKind::Subgraph { owner, .. } = model.scope_kind(scope) {
            inner.entry(owner).or_default().push(scope);
        }
    }
    inner
}

impl<'m> Planner<'m> {
    /// Sets the opset even if it is the same: a model of an old IR version may import none.
    fn root(&mut self, root: ScopeId, from: i64) {
        if from != self.options.opset || root == ScopeId::MAIN {
            self.edits.push(Edit::SetOpset { root, version: self.options.opset });
        }
    }

    fn node(&mut self, id: NodeId, from: i64) {
        let (model, target) = (self.model, self.options.opset);
        let proto = model.node(id);
        if !is_onnx_domain(proto.domain()) || model.callee(id).is_some() || self.is_same(proto.op_type(), from) {
            return;
        }
        let named = model.inputs(id).chain(model.outputs(id)).map(|(_, value)| (model.name(value), value));
        let mut values: Vec<_> = named.collect();
        values.sort_unstable();
        values.dedup();
        let ambiguous = values.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].0);
        let source = Source {
            model,
            inferred: self.inferred,
            settings: self.options.settings(),
            id,
            values,
            bodies: self.bodies(id).to_vec(),
        };
        let node = self.with_planned_bodies(id);
        let mut record = Record::default();
        let mut converter =
            NodeConverter { source: &source, names: &mut self.names, record: &mut record, target, adapters: self.options.adapters };
        let converted = match ambiguous {
            Some(name) => {
                let reason = NameAmbiguous.because(format!("'{name}' names one value as an input and another as an output"));
                Err(Blocked { opset_step: (from, target), reason })
            }
            None => converter.convert(node, from),
        };
        match converted {
            Ok(converted) => self.keep(id, converted, record),
            Err(Blocked { opset_step, reason }) => {
                let op = proto.op_type().to_owned();
                self.blockers
                    .push((id, Blocker { node: model.node_path(id), op, opset_step, code: reason.code, reason: reason.text }));
            }
        }
    }

    /// A node with its subgraphs converted.
    fn with_planned_bodies(&self, id: NodeId) -> Cow<'m, NodeProto> {
        let model = self.model;
        let mut node = Cow::Borrowed(model.node(id));
        for &scope in self.bodies(id).iter().filter(|&&scope| self.is_planned(scope)) {
            let ScopeKind::Subgraph { attribute, list_index, .. } = model.scope_kind(scope) else { continue };
            let attribute = &mut node.to_mut().attribute[attribute as usize];
            let graph: Option<&mut GraphProto> = match list_index {
                Some(index) => attribute.graphs.get_mut(index as usize),
                None => attribute.g.as_mut(),
            };
            let Some(graph) = graph else { continue };
            let nodes = model.nodes(scope).flat_map(|inside| match self.nodes.get(inside) {
                Some(nodes) => nodes.get().into_owned(),
                None => vec![self.with_planned_bodies(inside).into_owned()],
            });
            graph.node = nodes.collect();
        }
        node
    }

    /// Whether an operator exists and is the same in an opset and the target.
    fn is_same(&mut self, op: &'m str, from: i64) -> bool {
        let target = self.options.opset;
        *self.same.entry((op, from)).or_insert_with(|| is_same(op, from, target))
    }

    fn bodies(&self, id: NodeId) -> &[ScopeId] {
        self.inner.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Whether a node in a scope, at any depth, has changed.
    fn is_planned(&self, scope: ScopeId) -> bool {
        let is_planned_in = |id: NodeId| self.bodies(id).iter().any(|&inner| self.is_planned(inner));
        self.model.nodes(scope).any(|id| self.nodes.get(id).is_some() || is_planned_in(id))
    }

    /// Records the result for a node.
    fn keep(&mut self, id: NodeId, converted: Converted, record: Record) {
        for warning in &record.warnings {
            let change = self.change(id, warning);
            self.warnings.push((id, change));
        }
        if record.notes.is_empty() {
            return;
        }
        let change = self.change(id, &record.notes.join("; "));
        self.changes.push((id, change));
        self.expansions.extend(record.expanded.iter().map(|&(op, class, nodes)| {
            let expanded = Expanded { node: self.model.node_path(id).into(), op, class, nodes };
            (id, expanded)
        }));
        self.released.extend(record.released);
        let mut nodes: Vec<NodeProto> = converted.into_nodes();
        let mut initializers = record.initializers;
        // Removes added constants that a later step no longer uses.
        let own = &self.model.node(id).output;
        let is_used = |name: &String| own.contains(name) || nodes.iter().any(|node| uses(node, name));
        let superfluous = record.made.into_iter().filter(|made| made.constant.is_some() && !is_used(&made.name));
        let superfluous: Vec<String> = superfluous.map(|made| made.name).collect();
        let is_wanted = |name: &str| !superfluous.iter().any(|made| made == name);
        nodes.retain(|node| node.output.first().is_none_or(|name| is_wanted(name)));
        initializers.retain(|tensor| is_wanted(tensor.name()));
        if let Some(functions) = self.functions.as_mut().filter(|_| !record.expanded.is_empty() && initializers.is_empty())
            && functions::may_call(self.model.scope_kind(self.model.root(id.scope)))
        {
            nodes = vec![functions.call(self.model.node(id), &nodes)];
        }
        let add = |tensor| Edit::AddInitializer { scope: id.scope, tensor: Box::new(tensor) };
        self.edits.extend(initializers.into_iter().map(add));
        self.forget_bodies(id);
        self.nodes.push(id, nodes.into());
    }

    fn change(&mut self, id: NodeId, what: &str) -> Change {
        let model = self.model;
        Change { node: model.node_path(id).into(), op: self.shared(model.node(id).op_type()), what: self.shared(what) }
    }

    fn shared(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return Arc::clone(known);
        }
        let text: Arc<str> = text.into();
        if self.texts.len() < MOST_SHARED_TEXTS {
            self.texts.insert(Arc::clone(&text));
        }
        text
    }

    /// The replacement of a node already contains its converted subgraphs.
    fn forget_bodies(&mut self, id: NodeId) {
        for scope in self.bodies(id).to_vec() {
            self.nodes.forget(scope);
            for node in self.model.nodes(scope) {
                self.forget_bodies(node);
            }
        }
    }

    fn finish(mut self) -> Plan {
        let mut edits = self.remove_released();
        edits.append(&mut self.edits);
        let functions = self.functions.take().map(Functions::into_made).unwrap_or_default();
        edits.extend(functions.into_iter().map(|function| Edit::AddFunction(Box::new(function))));
        // One more is the IR version.
        edits.reserve_exact(self.nodes.len() + 1);
        edits.extend(self.nodes.into_edits());
        Plan {
            edits,
            changes: in_order(self.changes),
            expansions: in_order(self.expansions),
            warnings: in_order(self.warnings),
            blockers: in_order(self.blockers),
        }
    }

    /// Removes constants that lost their last use, unless their name must stay.
    fn remove_released(&mut self) -> Vec<Edit> {
        let model = self.model;
        let mut edits = Vec::new();
        let mut seen = HashSet::default();
        for value in std::mem::take(&mut self.released) {
            let name = model.name(value);
            let is_used = |planner: &Self| {
                model.uses(value).any(|(user, _)| match planner.nodes.get(user) {
                    Some(nodes) => nodes.get().iter().any(|node| node.input.iter().any(|input| input == name)),
                    None => true,
                })
            };
            if !seen.insert(value) || !model.output_of(value).is_empty() || model.pin(value).is_some() || is_used(self) {
                continue;
            }
            match model.origin(value) {
                Origin::Initializer { input: None, .. } => edits.push(Edit::RemoveInitializer(value)),
                Origin::Node { node, .. } => self.nodes.remove(node),
                _ => {}
            }
        }
        edits
    }
}

/// How many different texts of the report are kept to be shared. More are unlikely to recur.
const MOST_SHARED_TEXTS: usize = 1024;

/// Whether a node, or one in its subgraphs, has an input of this name.
fn uses(node: &NodeProto, name: &String) -> bool {
    let graphs = node.attribute.iter().filter_map(|attribute| attribute.g.as_ref());
    node.input.contains(name) || graphs.flat_map(|graph| &graph.node).any(|inner| uses(inner, name))
}

/// Whether an operator exists and is the same in two opsets.
fn is_same(op: &str, from: i64, to: i64) -> bool {
    let [present, target] = [from, to].map(|opset| facts::schema("", op, opset));
    let is_same_version =
        || present.zip(target).is_some_and(|(present, target)| std::ptr::eq(present, target) && !target.deprecated);
    from == to || is_same_version()
}

fn in_order<T>(mut items: Vec<(NodeId, T)>) -> Vec<T> {
    items.sort_by_key(|(id, _)| *id);
    let mut items: Vec<T> = items.into_iter().map(|(_, item)| item).collect();
    // The list reuses the memory of the pairs.
    items.shrink_to_fit();
    items
}
