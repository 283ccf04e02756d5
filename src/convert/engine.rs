//! Walks every node of every scope from one opset to another, and applies what comes of it if nothing is in the way.

use std::collections::{HashMap, HashSet};

use super::hop::{Hop, Reason};
use super::names::Names;
use super::site::{Made, Place, Record, Site};
use super::{Blocker, Change, Conversion, NotConverted, Options, Report, check, hops, ir};
use crate::error::Invalid;
use crate::facts::infer::{Inferred, Known, infer};
use crate::facts::{self, LATEST_OPSET, Schema};
use crate::graph::{Body, Edit, Model, NodeId, Origin, ScopeId, ScopeKind, ValueId, is_onnx_domain};
use crate::wire::schema::{GraphProto, NodeProto, OperatorSetIdProto};

/// Moves a model to an opset of ai.onnx.
///
/// # Errors
/// Where a node cannot move, with all such nodes; where the request cannot be met, or the model states no opset.
pub fn convert(model: Model, options: &Options) -> Result<Conversion, NotConverted> {
    if !(1..=LATEST_OPSET).contains(&options.opset) {
        let what = format!("there is no opset {}: this version of recast knows 1 to {LATEST_OPSET}", options.opset);
        return Err(Invalid::at("--opset", what).into());
    }
    let from = stated_opset(&model)?;
    let plan = Plan::new(&model, options)?;
    let adds_initializers = plan.edits.iter().any(|edit| matches!(edit, Edit::AddInitializer { .. }));
    let ir_to = ir::choose(&model, from, adds_initializers, options)?;
    if !plan.blockers.is_empty() {
        let nearest = plan.nearest(from, options.opset);
        return Err(NotConverted::Blocked { from, blockers: plan.blockers, nearest });
    }
    let report =
        Report { from, to: options.opset, ir_from: model.ir_version(), ir_to, changes: plan.changes, warnings: plan.warnings };
    let mut edits = plan.edits;
    if ir_to != model.ir_version() {
        edits.push(Edit::SetIrVersion(ir_to));
    }
    let model = model.apply(edits).map_err(|refused| refused.0)?;
    Ok(Conversion { model, report })
}

/// The opset that the model is in, if it states exactly one that is known.
fn stated_opset(model: &Model) -> Result<i64, Invalid> {
    let imports = &model.proto().opset_import;
    let mut stated = imports.iter().filter(|import| is_onnx_domain(import.domain()));
    let (first, second): (Option<&OperatorSetIdProto>, _) = (stated.next(), stated.next());
    match (first.map(|import| import.version()), second) {
        (Some(_), Some(_)) => Err(Invalid::at("opset_import", "states more than one opset of ai.onnx")),
        (Some(version), None) if (1..=LATEST_OPSET).contains(&version) => Ok(version),
        (Some(version), None) => {
            let what = format!("opset {version} of ai.onnx is none that this version of recast knows (1 to {LATEST_OPSET})");
            Err(Invalid::at("opset_import", what))
        }
        (None, _) => model
            .opset(main_scope(model)?, "")
            .ok_or_else(|| Invalid::at("opset_import", "states no opset of ai.onnx, so that there is nothing to convert from")),
    }
}

fn main_scope(model: &Model) -> Result<ScopeId, Invalid> {
    model.scopes().next().ok_or_else(|| Invalid::at("model", "has no graph"))
}

/// What is to be done to a model.
#[derive(Default)]
struct Plan {
    edits: Vec<Edit>,
    changes: Vec<Change>,
    warnings: Vec<Change>,
    blockers: Vec<Blocker>,
}

impl Plan {
    fn new(model: &Model, options: &Options) -> Result<Plan, Invalid> {
        let inferred = infer(model);
        let mut planner = Planner {
            model,
            options,
            inferred: &inferred,
            names: Names::new(model),
            inner: inner_scopes(model),
            nodes: HashMap::new(),
            released: Vec::new(),
            initializers: Vec::new(),
            changes: Vec::new(),
            warnings: Vec::new(),
            blockers: Vec::new(),
        };
        let mut roots = Vec::new();
        for scope in model.scopes().rev() {
            let Some(from) = model.opset(scope, "") else { continue };
            if model.enclosing(scope).is_none() {
                roots.push((scope, from));
            }
            for node in model.nodes(scope) {
                planner.node(node, from);
            }
        }
        for (root, from) in roots {
            if !(1..=LATEST_OPSET).contains(&from) {
                return Err(Invalid::at(model.scope_path(root), format!("states the unknown opset {from} of ai.onnx")));
            }
            if from != options.opset || model.scope_kind(root) == ScopeKind::Main {
                planner.edit_opset(root);
            }
        }
        Ok(planner.finish())
    }

    /// The opset closest to the target that no blocker stands in front of.
    fn nearest(&self, from: i64, target: i64) -> Option<i64> {
        let reached = self.blockers.iter().map(|blocker| blocker.opset_step.0);
        let nearest = if target > from { reached.min() } else { reached.max() };
        nearest.filter(|&opset| opset != from)
    }
}

struct Planner<'m> {
    model: &'m Model,
    options: &'m Options,
    inferred: &'m Inferred,
    names: Names<'m>,
    /// By node: the graphs in its attributes.
    inner: HashMap<NodeId, Vec<ScopeId>>,
    /// What comes in the place of nodes that change.
    nodes: HashMap<NodeId, Vec<NodeProto>>,
    /// Constants that a node used and no longer does.
    released: Vec<ValueId>,
    initializers: Vec<Edit>,
    changes: Vec<(NodeId, Change)>,
    warnings: Vec<(NodeId, Change)>,
    blockers: Vec<(NodeId, Blocker)>,
}

fn inner_scopes(model: &Model) -> HashMap<NodeId, Vec<ScopeId>> {
    let mut inner: HashMap<NodeId, Vec<ScopeId>> = HashMap::new();
    for scope in model.scopes() {
        if let ScopeKind::Subgraph { owner, .. } = model.scope_kind(scope) {
            inner.entry(owner).or_default().push(scope);
        }
    }
    inner
}

impl<'m> Planner<'m> {
    fn node(&mut self, id: NodeId, from: i64) {
        let model = self.model;
        let proto = model.node(id);
        if !is_onnx_domain(proto.domain()) || (!model.proto().functions.is_empty() && model.callee(id).is_some()) {
            return;
        }
        let target = self.options.opset;
        let present = facts::schema("", proto.op_type(), from);
        if present.is_some_and(|schema| facts::schema("", schema.name, target).is_some_and(|other| std::ptr::eq(schema, other))) {
            return;
        }
        let place = Place { model, inferred: self.inferred, options: self.options, id, values: values_of(model, id) };
        let mut record = Record::default();
        let mut journey = Journey { place: &place, names: &mut self.names, record: &mut record, target };
        let node = rewritten(&self.nodes, &self.inner, model, id);
        match journey.advance(node, from) {
            Ok(nodes) => self.keep(id, nodes, record),
            Err(stuck) => {
                let op = proto.op_type().to_owned();
                let opset_step = (stuck.at, stuck.next);
                self.blockers.push((id, Blocker { node: model.node_path(id), op, opset_step, reason: stuck.reason }));
            }
        }
    }

    /// Takes up what came of a node.
    fn keep(&mut self, id: NodeId, mut nodes: Vec<NodeProto>, record: Record) {
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
        match self.move_constants(id, &mut nodes, &record.made) {
            Ok(()) => {
                self.forget_inner(id);
                self.nodes.insert(id, nodes);
            }
            Err(reason) => {
                let op = self.model.node(id).op_type().to_owned();
                let opset_step = (9, self.options.opset);
                self.blockers.push((id, Blocker { node: self.model.node_path(id), op, opset_step, reason }));
            }
        }
    }

    /// Constants that a later step made superfluous go. `Constant` had few types before opset 9: those of other types become
    /// initializers.
    fn move_constants(&mut self, id: NodeId, nodes: &mut Vec<NodeProto>, made: &[Made]) -> Result<(), Reason> {
        let used: HashSet<String> = nodes.iter().flat_map(|node| node.input.iter().cloned()).collect();
        let is_own = |name: &str| self.model.node(id).output.iter().any(|output| output == name);
        let is_superfluous = |made: &Made| made.constant.is_some() && !used.contains(&made.name) && !is_own(&made.name);
        let made: Vec<&Made> = made
            .iter()
            .filter(|made| {
                if is_superfluous(made) {
                    nodes.retain(|node| node.output.first() != Some(&made.name));
                }
                !is_superfluous(made)
            })
            .collect();
        for &constant in &made {
            let Some(tensor) = constant.constant.as_ref().filter(|_| !is_admitted(&constant.known, self.options.opset)) else {
                continue;
            };
            if matches!(self.model.body(id.scope), Body::Function(_)) {
                return Err(format!("the new constant '{}' cannot stand in a function before opset 9", constant.name));
            }
            nodes.retain(|node| node.output.first() != Some(&constant.name));
            let mut tensor = tensor.clone();
            tensor.name = Some(constant.name.clone());
            self.initializers.push(Edit::AddInitializer { scope: id.scope, tensor: Box::new(tensor) });
        }
        Ok(())
    }

    /// The bodies inside a node that is replaced are in its replacement already.
    fn forget_inner(&mut self, id: NodeId) {
        for scope in self.inner.get(&id).cloned().unwrap_or_default() {
            for node in self.model.nodes(scope) {
                self.nodes.remove(&node);
                self.forget_inner(node);
            }
        }
    }

    fn edit_opset(&mut self, root: ScopeId) {
        self.initializers.push(Edit::SetOpset { root, version: self.options.opset });
    }

    fn finish(mut self) -> Plan {
        let mut edits = self.remove_released();
        edits.append(&mut self.initializers);
        let mut nodes: Vec<_> = self.nodes.into_iter().collect();
        nodes.sort_by_key(|(id, _)| *id);
        edits.extend(nodes.into_iter().map(|(node, with)| Edit::ReplaceNode { node, with }));
        Plan { edits, changes: in_order(self.changes), warnings: in_order(self.warnings), blockers: in_order(self.blockers) }
    }

    /// Constants that lost their last use go, unless they were without use before, or have a name that others rely on.
    fn remove_released(&mut self) -> Vec<Edit> {
        let model = self.model;
        let mut edits = Vec::new();
        let mut seen = HashSet::new();
        for value in std::mem::take(&mut self.released) {
            let is_used = |planner: &Self| {
                let name = model.name(value);
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

fn in_order<T>(mut items: Vec<(NodeId, T)>) -> Vec<T> {
    items.sort_by_key(|(id, _)| *id);
    items.into_iter().map(|(_, item)| item).collect()
}

fn values_of(model: &Model, id: NodeId) -> Vec<(&str, ValueId)> {
    let inputs = model.inputs(id).map(|(_, value)| value);
    let outputs = (0..model.node(id).output.len() as u32).filter_map(|index| model.output(id, index));
    inputs.chain(outputs).map(|value| (model.name(value), value)).collect()
}

/// A node with what comes in the place of the nodes in its graphs.
fn rewritten(
    plans: &HashMap<NodeId, Vec<NodeProto>>,
    inner: &HashMap<NodeId, Vec<ScopeId>>,
    model: &Model,
    id: NodeId,
) -> NodeProto {
    let mut node = model.node(id).clone();
    for &scope in inner.get(&id).into_iter().flatten() {
        let ScopeKind::Subgraph { attribute, list_index, .. } = model.scope_kind(scope) else { continue };
        let touched = |node: NodeId| plans.contains_key(&node) || inner.contains_key(&node);
        if !model.nodes(scope).any(touched) {
            continue;
        }
        let attribute = &mut node.attribute[attribute as usize];
        let graph: Option<&mut GraphProto> = match list_index {
            Some(index) => attribute.graphs.get_mut(index as usize),
            None => attribute.g.as_mut(),
        };
        let Some(graph) = graph else { continue };
        let nodes = model.nodes(scope).flat_map(|inside| match plans.get(&inside) {
            Some(nodes) => nodes.clone(),
            None => vec![rewritten(plans, inner, model, inside)],
        });
        graph.node = nodes.collect();
    }
    node
}

/// An opset with the oldest version of `Constant`.
const FIRST_CONSTANT: i64 = 1;

/// Whether a `Constant` of this opset can have such a value.
fn is_admitted(known: &Known, opset: i64) -> bool {
    let output = facts::schema("", "Constant", opset).and_then(|schema| schema.output(0));
    known.value_type.is_some_and(|value_type| output.is_some_and(|output| output.types.contains(value_type)))
}

/// A node on its whole way.
struct Journey<'a, 'm> {
    place: &'a Place<'m>,
    names: &'a mut Names<'m>,
    record: &'a mut Record,
    target: i64,
}

/// Where a node got stuck.
struct Stuck {
    at: i64,
    next: i64,
    reason: Reason,
}

/// The next version of an operator on its way.
struct Next {
    /// The opset of the step's newer version.
    step: i64,
    /// The opset that is reached.
    opset: i64,
    is_up: bool,
}

impl Journey<'_, '_> {
    /// The nodes that a node becomes on its way from an opset to the target.
    fn advance(&mut self, node: NodeProto, at: i64) -> Result<Vec<NodeProto>, Stuck> {
        let (mut node, mut at) = (node, at);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        loop {
            let op = node.op_type().to_owned();
            let Some(schema) = facts::schema("", &op, at) else {
                let reason = format!("opset {at} of ai.onnx has no operator '{op}'");
                return Err(Stuck { at, next: self.target, reason });
            };
            let Some(next) = next_version(schema, at, self.target) else { break };
            let stuck = |reason: Reason| match next.is_up {
                true => Stuck { at: next.step - 1, next: next.step, reason },
                false => Stuck { at: next.step, next: next.step - 1, reason },
            };
            if op == "Constant" && next.step == 9 && !next.is_up && self.leaves_to_initializer(&node) {
                break;
            }
            let mut site = Site {
                place: self.place,
                names: &mut *self.names,
                record: &mut *self.record,
                schema,
                to: next.opset,
                node,
                before: Vec::new(),
                after: Vec::new(),
            };
            hop(&mut site, &op, &next).map_err(stuck)?;
            let Site { node: moved, before: new_before, after: new_after, .. } = site;
            node = moved;
            for new in new_before {
                before.extend(self.advance_new(new, next.opset)?);
            }
            let mut behind = Vec::new();
            for new in new_after {
                behind.extend(self.advance_new(new, next.opset)?);
            }
            behind.append(&mut after);
            after = behind;
            at = next.opset;
        }
        before.push(node);
        before.append(&mut after);
        Ok(before)
    }

    /// `Constant` has few types before opset 9: one of another type ends its way as an initializer.
    fn leaves_to_initializer(&mut self, node: &NodeProto) -> bool {
        let value = node.attribute.iter().find(|attribute| attribute.name() == "value");
        let (Some(tensor), Some(name)) = (value.and_then(|attribute| attribute.t.clone()), node.output.first()) else {
            return false;
        };
        let known = Known::of_tensor(&tensor);
        if is_admitted(&known, FIRST_CONSTANT) {
            return false;
        }
        self.record.notes.push("became an initializer".to_owned());
        self.record.made.push(Made { name: name.clone(), known, constant: Some(tensor) });
        true
    }

    /// A new constant holds its value in an attribute that every version has.
    fn advance_new(&mut self, node: NodeProto, at: i64) -> Result<Vec<NodeProto>, Stuck> {
        match node.op_type() {
            "Constant" => Ok(vec![node]),
            _ => self.advance(node, at),
        }
    }
}

/// The next version on the way from an opset to another; none where the operator is the same in both.
fn next_version(schema: &'static Schema, at: i64, target: i64) -> Option<Next> {
    if target > at {
        let newer = facts::versions("", schema.name).iter().find(|version| version.since_version > at)?;
        let step = newer.since_version;
        return (step <= target).then_some(Next { step, opset: step, is_up: true });
    }
    let step = schema.since_version;
    (step > target).then_some(Next { step, opset: step - 1, is_up: false })
}

/// One version step of one node.
fn hop(site: &mut Site, op: &str, next: &Next) -> Result<(), Reason> {
    let found: Option<&Hop> = hops::find(op, next.step);
    let actions = match found {
        Some(hop) if next.is_up => hop.up,
        Some(hop) => hop.down,
        None if hops::is_types_only(op, next.step) => &[],
        None if !next.is_up => return Err(format!("{op} is new in opset {}", next.step)),
        None => return Err(format!("no rule says how {op} changes in opset {}", next.step)),
    };
    for action in actions {
        action.apply(site)?;
    }
    let name = site.node.op_type().to_owned();
    let target = facts::schema("", &name, next.opset);
    let target = target.ok_or_else(|| format!("{name} is new in opset {}", next.opset + 1))?;
    site.trim_to(target);
    check::fits(site, target)
}
