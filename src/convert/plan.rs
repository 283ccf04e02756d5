//! What is to be done to a model: every node of every scope, from the innermost scopes outwards.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::journey::{Arrival, Journey, Stuck};
use super::site::{Place, Record};
use super::{Blocker, Change, Options};
use crate::facts;
use crate::facts::infer::Inferred;
use crate::graph::{Edit, Model, Names, NodeId, Origin, ScopeId, ScopeKind, ValueId, is_onnx_domain};
use crate::hash::{HashMap, HashSet};
use crate::wire::schema::{GraphProto, NodeProto};

/// What is to be done to a model, or what stands in the way.
#[derive(Default)]
pub(super) struct Plan {
    pub edits: Vec<Edit>,
    pub changes: Vec<Change>,
    pub warnings: Vec<Change>,
    pub blockers: Vec<Blocker>,
}

impl Plan {
    /// Plans every node. A scope that does not import ai.onnx has no nodes of it.
    pub fn new(model: &Model, inferred: &OnceCell<Inferred>, options: &Options) -> Plan {
        let mut planner = Planner {
            model,
            options,
            inferred,
            names: Names::new(model),
            inner: inner_scopes(model),
            nodes: HashMap::default(),
            released: Vec::new(),
            edits: Vec::new(),
            changes: Vec::new(),
            warnings: Vec::new(),
            blockers: Vec::new(),
        };
        for scope in model.scopes().rev() {
            let Some(from) = model.opset(scope, "") else { continue };
            if model.enclosing(scope).is_none() {
                planner.root(scope, from);
            }
            for node in model.nodes(scope) {
                planner.node(node, from);
            }
        }
        planner.finish()
    }

    /// The opset closest to the target that no blocker stands in front of; none where that is no opset between the two. Functions
    /// may come from opsets that are not.
    pub fn nearest(&self, from: i64, target: i64) -> Option<i64> {
        let reached = self.blockers.iter().map(|blocker| blocker.opset_step.0);
        match target > from {
            true => reached.min().filter(|&opset| opset > from),
            false => reached.max().filter(|&opset| opset < from),
        }
    }
}

struct Planner<'m> {
    model: &'m Model,
    options: &'m Options,
    inferred: &'m OnceCell<Inferred>,
    names: Names<'m>,
    /// By node: the graphs in its attributes.
    inner: HashMap<NodeId, Vec<ScopeId>>,
    /// What comes in the place of nodes that change.
    nodes: HashMap<NodeId, Vec<NodeProto>>,
    /// Constants that a node used and no longer does.
    released: Vec<ValueId>,
    /// All edits but those of nodes.
    edits: Vec<Edit>,
    changes: Vec<(NodeId, Change)>,
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
    /// The model's opset is stated anew even if it is the same: it may be stated by an old IR version alone.
    fn root(&mut self, root: ScopeId, from: i64) {
        if from != self.options.opset || root == ScopeId::MAIN {
            self.edits.push(Edit::SetOpset { root, version: self.options.opset });
        }
    }

    fn node(&mut self, id: NodeId, from: i64) {
        let (model, target) = (self.model, self.options.opset);
        let proto = model.node(id);
        if !is_onnx_domain(proto.domain()) || model.callee(id).is_some() || is_same(proto.op_type(), from, target) {
            return;
        }
        let named = model.inputs(id).chain(model.outputs(id)).map(|(_, value)| (model.name(value), value));
        let mut values: Vec<_> = named.collect();
        values.sort_unstable();
        values.dedup();
        let ambiguous = values.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].0);
        let place = Place { model, inferred: self.inferred, options: self.options, id, values, bodies: self.bodies(id).to_vec() };
        let node = self.with_planned_bodies(id);
        let mut record = Record::default();
        let mut journey = Journey { place: &place, names: &mut self.names, record: &mut record, target };
        let arrival = match ambiguous {
            Some(name) => {
                let reason = format!("'{name}' is one value as its input and another as its output");
                Err(Stuck { opset_step: (from, target), reason })
            }
            None => journey.advance(node, from),
        };
        match arrival {
            Ok(arrival) => self.keep(id, arrival, record),
            Err(Stuck { opset_step, reason }) => {
                let op = proto.op_type().to_owned();
                self.blockers.push((id, Blocker { node: model.node_path(id), op, opset_step, reason }));
            }
        }
    }

    /// A node with what comes in the place of the nodes in its graphs.
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
            let nodes = model.nodes(scope).flat_map(|inside| match self.nodes.get(&inside) {
                Some(nodes) => nodes.clone(),
                None => vec![self.with_planned_bodies(inside).into_owned()],
            });
            graph.node = nodes.collect();
        }
        node
    }

    fn bodies(&self, id: NodeId) -> &[ScopeId] {
        self.inner.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Whether something in a scope, at any depth, has been changed.
    fn is_planned(&self, scope: ScopeId) -> bool {
        let is_planned_in = |id: NodeId| self.bodies(id).iter().any(|&inner| self.is_planned(inner));
        self.model.nodes(scope).any(|id| self.nodes.contains_key(&id) || is_planned_in(id))
    }

    /// Takes up what came of a node.
    fn keep(&mut self, id: NodeId, arrival: Arrival, record: Record) {
        let change = |what: String| {
            let (node, op) = (self.model.node_path(id), self.model.node(id).op_type().to_owned());
            (id, Change { node, op, what })
        };
        self.warnings.extend(record.warnings.into_iter().map(&change));
        if record.notes.is_empty() {
            return;
        }
        self.changes.push(change(record.notes.join("; ")));
        self.released.extend(record.released);
        let mut nodes: Vec<NodeProto> = arrival.into_nodes();
        let mut initializers = record.initializers;
        // Constants that a later step made superfluous go.
        let own = &self.model.node(id).output;
        let is_used = |name: &String| own.contains(name) || nodes.iter().any(|node| node.input.contains(name));
        let superfluous = record.made.into_iter().filter(|made| made.constant.is_some() && !is_used(&made.name));
        let superfluous: Vec<String> = superfluous.map(|made| made.name).collect();
        let is_wanted = |name: &str| !superfluous.iter().any(|made| made == name);
        nodes.retain(|node| node.output.first().is_none_or(|name| is_wanted(name)));
        initializers.retain(|tensor| is_wanted(tensor.name()));
        let add = |tensor| Edit::AddInitializer { scope: id.scope, tensor: Box::new(tensor) };
        self.edits.extend(initializers.into_iter().map(add));
        self.forget_bodies(id);
        self.nodes.insert(id, nodes);
    }

    /// The bodies inside a node that is replaced are in its replacement already.
    fn forget_bodies(&mut self, id: NodeId) {
        for scope in self.bodies(id).to_vec() {
            for node in self.model.nodes(scope) {
                self.nodes.remove(&node);
                self.forget_bodies(node);
            }
        }
    }

    fn finish(mut self) -> Plan {
        let mut edits = self.remove_released();
        edits.append(&mut self.edits);
        let mut nodes: Vec<_> = self.nodes.into_iter().collect();
        nodes.sort_by_key(|(id, _)| *id);
        edits.extend(nodes.into_iter().map(|(node, with)| Edit::ReplaceNode { node, with }));
        Plan { edits, changes: in_order(self.changes), warnings: in_order(self.warnings), blockers: in_order(self.blockers) }
    }

    /// Constants that lost their last use go, unless they have a name that others rely on.
    fn remove_released(&mut self) -> Vec<Edit> {
        let model = self.model;
        let mut edits = Vec::new();
        let mut seen = HashSet::default();
        for value in std::mem::take(&mut self.released) {
            let name = model.name(value);
            let is_used = |planner: &Self| {
                model.uses(value).any(|(user, _)| match planner.nodes.get(&user) {
                    Some(nodes) => nodes.iter().any(|node| node.input.iter().any(|input| input == name)),
                    None => true,
                })
            };
            if !seen.insert(value) || !model.output_of(value).is_empty() || model.pin(value).is_some() || is_used(self) {
                continue;
            }
            match model.origin(value) {
                Origin::Initializer { input: None, .. } => edits.push(Edit::RemoveInitializer(value)),
                Origin::Node { node, .. } => {
                    self.nodes.insert(node, Vec::new());
                }
                _ => {}
            }
        }
        edits
    }
}

/// Whether an operator is there and the same in two opsets.
fn is_same(op: &str, from: i64, to: i64) -> bool {
    let [present, target] = [from, to].map(|opset| facts::schema("", op, opset));
    let is_same_version =
        || present.zip(target).is_some_and(|(present, target)| std::ptr::eq(present, target) && !target.deprecated);
    from == to || is_same_version()
}

fn in_order<T>(mut items: Vec<(NodeId, T)>) -> Vec<T> {
    items.sort_by_key(|(id, _)| *id);
    items.into_iter().map(|(_, item)| item).collect()
}
