//! Verification of a change of precision by erasure.
//!
//! The casts that the report lists are removed from the written model, and the types of values are
//! set back. The result must be the original, field by field; constants that were compared are left
//! out of both, so that their values are not in memory. A constant that changed must be the
//! original one, cast by the exact path element by element. No node may be invalid that was valid
//! before. The verification does not depend on the planner: the casts between an input of a node
//! and the original input show the value to which the input refers.
//!
//! 1. An input refers to the original value, to a cast of it between the two types, or to the
//!    source of a cast whose result it was. A cast may start at the source of lossless casts.
//! 2. An attribute may state the new type instead of the old one. An attribute that states one of
//!    the two types may be added.
//! 3. A declaration may have the new type instead of the old one.
//!
//! An emulation keeps all types. The roundings that the report lists are removed instead of casts:
//! calls of a function that has to be the expected one. Cases 1 to 3 do not apply: an input refers
//! to the value that it had, or to a rounding of it. A constant that changed must be the original
//! one, cast there and back. A cast may be removed if it is one of a type to itself.

use std::sync::OnceLock;

use super::fault::Fault;
use super::laws;
use super::left_out::without_nodes;
use super::matching::are_same;
use super::sources::Sources;
use super::unchanged_fields::{compare, with_names_of};
use super::verified::Verified;
use crate::base::hash::{HashMap, HashSet};
use crate::base::parallel;
use crate::graph::{
    Model, NodeId, Origin, ScopeId, ScopeKind, TypeSource, ValueId, graph_mut, holds_graph,
};
use crate::ops::inference::{Inferred, infer};
use crate::precision::{AddedCast, Report};
use crate::protobuf::outline::{MODEL_PROTO, NODE_PROTO};
use crate::protobuf::raw;
use crate::protobuf::schema::{GraphProto, ModelProto, NodeProto, ValueInfoProto};
use onnx_cast::DType;

pub(super) fn verify(original: &Model, written: &Model, report: &Report) -> (Verified, Vec<Fault>) {
    let mut erasure = match Erasure::new(original, written, report) {
        Ok(erasure) => erasure,
        Err(faults) => return (Verified::default(), faults),
    };
    let invalid = erasure.invalid_nodes();
    erasure.faults.extend(invalid);
    erasure.top_level_nodes();
    let (mut erased, mut before) = (
        without_nodes(written.proto(), |_| false),
        without_nodes(original.proto(), |_| false),
    );
    erasure.model(&mut erased, &mut before);
    let Erasure {
        mut faults,
        mut verified,
        ..
    } = erasure;
    verified.nodes = written.topological_order().len();
    faults.extend(compare(
        "",
        &MODEL_PROTO,
        [original, written],
        [&before, &erased],
        |_, _, _| false,
    ));
    (verified, faults)
}

/// The models, and what is known of their nodes and values.
pub(super) struct Erasure<'v> {
    pub original: &'v Model,
    pub written: &'v Model,
    /// The types and shapes of the original, and of the written model.
    pub inferred: [Inferred; 2],
    pub report: &'v Report,
    /// By input and output, one of which is a new name.
    pub added: HashMap<(&'v str, &'v str), &'v AddedCast>,
    /// By path.
    pub removed: HashSet<&'v str>,
    /// By tensor's path: how many numbers are beyond the range, and the magnitude that these get,
    /// unless they become infinite.
    pub beyond: HashMap<&'v str, (u64, Option<f32>)>,
    /// By scope and position of a node of the written model: that of the original.
    nodes: Vec<Vec<Option<NodeId>>>,
    /// By value of the written model: that of the original.
    values: Vec<Option<ValueId>>,
    /// The casts of the original, as trees.
    sources: Sources,
    /// Like `sources`, with lossless casts to other types; computed on first use.
    lossless_sources: OnceLock<Sources>,
    /// By node of the written model: the graphs in its attributes.
    bodies: HashMap<NodeId, Vec<ScopeId>>,
    /// The names of values that reported casts turn into outputs, and the names of these.
    renamed: HashMap<&'v str, &'v str>,
    /// The names that reported casts define, or give to values that they turn into outputs.
    new_names: HashSet<&'v str>,
    pub faults: Vec<Fault>,
    pub verified: Verified,
}

impl<'v> Erasure<'v> {
    /// Pairs the nodes and values of the models.
    fn new(
        original: &'v Model,
        written: &'v Model,
        report: &'v Report,
    ) -> Result<Erasure<'v>, Vec<Fault>> {
        let (before, after) = parallel::join(|| infer(original), || infer(written));
        let casts = || {
            report.casts_added.iter().chain(
                report
                    .emulation
                    .iter()
                    .flat_map(|emulation| &emulation.roundings),
            )
        };
        let mut erasure = Erasure {
            original,
            written,
            inferred: [before, after],
            report,
            added: casts()
                .map(|cast| ((cast.input.as_str(), cast.output.as_str()), cast))
                .collect(),
            removed: report.casts_removed.iter().map(String::as_str).collect(),
            beyond: report
                .tensors
                .iter()
                .map(|each| (each.tensor.as_str(), (each.overflowed, each.bound)))
                .collect(),
            nodes: written
                .scopes()
                .map(|scope| vec![None; written.body(scope).nodes().len()])
                .collect(),
            values: vec![None; written.value_count()],
            sources: Sources::default(),
            lossless_sources: OnceLock::new(),
            bodies: written.subgraphs(),
            renamed: casts()
                .map(|cast| (cast.input.as_str(), cast.output.as_str()))
                .collect(),
            new_names: casts()
                .map(|cast| {
                    if cast.output == cast.value {
                        &*cast.input
                    } else {
                        &*cast.output
                    }
                })
                .collect(),
            faults: Vec::new(),
            verified: Verified::default(),
        };
        let kinds = |model: &Model| {
            model
                .scopes()
                .map(|scope| kind(model.scope_kind(scope)))
                .collect::<Vec<_>>()
        };
        if kinds(original) != kinds(written) {
            return Err(vec![Fault::at(
                "model",
                "has other subgraphs or functions than the original",
            )]);
        }
        for scope in written.scopes() {
            erasure.pair(scope);
        }
        let is_missing = |value: &ValueId| matches!(original.origin(*value), Origin::Missing);
        let missing: HashMap<(ScopeId, &str), ValueId> = original
            .values()
            .filter(is_missing)
            .map(|value| ((original.scope_of(value), original.name(value)), value))
            .collect();
        for value in written
            .values()
            .filter(|&value| !matches!(written.origin(value), Origin::Node { .. }))
        {
            let (scope, name) = (written.scope_of(value), written.name(value));
            let counterpart = match written.origin(value) {
                Origin::Missing => missing.get(&(scope, name)).copied(),
                _ => original.lookup(scope, name),
            };
            erasure.values[value.index()] = counterpart;
        }
        // A cast to the old type has the value of what it casts, which the original has with the
        // new type.
        erasure.sources = Sources::of(original, |node| erasure.is_followed(node));
        if erasure.faults.is_empty() {
            Ok(erasure)
        } else {
            Err(erasure.faults)
        }
    }

    /// Whether a cast of the original may be left out: it was removed, or is to an old type. In an
    /// emulation: it is to the type of its input.
    fn is_followed(&self, node: NodeId) -> bool {
        if self.is_emulated() {
            self.is_removed(node) && self.is_of_type_to_itself(node)
        } else {
            self.is_removed(node)
                || self
                    .original_cast_to(node)
                    .is_some_and(|to| self.is_old(to))
        }
    }

    /// Whether a value of the original was cast from another one by casts that may be left out, and
    /// lossless ones.
    fn is_lossless_source(&self, source: ValueId, of: ValueId) -> bool {
        let is_lossless = |node: NodeId| matches!((self.original_input_type(node), self.original_cast_to(node)), (Some(from), Some(to)) if laws::is_lossless(from, to));
        let sources = self.lossless_sources.get_or_init(|| {
            Sources::of(self.original, |node| {
                self.is_followed(node) || is_lossless(node)
            })
        });
        sources.is_source(source, of)
    }

    /// The type that a cast of the original states.
    pub fn original_cast_to(&self, node: NodeId) -> Option<DType> {
        match self.original.cast_node(node).ok()?.to {
            TypeSource::Attribute(to) => Some(to),
            _ => None,
        }
    }

    fn pair(&mut self, scope: ScopeId) {
        let (original, written) = (self.original, self.written);
        let before: Vec<NodeId> = original
            .nodes(scope)
            .filter(|&node| !self.is_removed(node))
            .collect();
        let after: Vec<NodeId> = written
            .nodes(scope)
            .filter(|&node| self.added_cast(node).is_none())
            .collect();
        if before.len() != after.len() {
            let what = format!(
                "has {} nodes apart from reported casts; must have {}",
                after.len(),
                before.len()
            );
            return self.faults.push(Fault::at(written.scope_path(scope), what));
        }
        for (before, after) in before.into_iter().zip(after) {
            self.nodes[after.scope.index()][after.position as usize] = Some(before);
            for (index, value) in written.outputs(after) {
                self.values[value.index()] = original.output(before, index);
            }
        }
    }

    /// The node of the original that a node of the written model is.
    pub fn counterpart(&self, node: NodeId) -> Option<NodeId> {
        self.nodes[node.scope.index()][node.position as usize]
    }

    /// Compares the nodes of the main graph and of functions one by one: they are not in memory
    /// twice at the same time.
    fn top_level_nodes(&mut self) {
        let (original, written) = (self.original, self.written);
        let is_top_level = |scope: &ScopeId| {
            matches!(
                written.scope_kind(*scope),
                ScopeKind::Main | ScopeKind::Function(_)
            )
        };
        for id in written
            .scopes()
            .filter(is_top_level)
            .flat_map(|scope| written.nodes(scope))
        {
            let Some(counterpart) = self.counterpart(id) else {
                continue;
            };
            let (found, expected) = (written.node(id), original.node(counterpart));
            if are_same([found, expected]) && !holds_graph(found) {
                self.check_inputs(id, counterpart);
                continue;
            }
            let (mut erased, mut before) = (found.clone(), expected.clone());
            self.node(&mut erased, &mut before, id, counterpart);
            let path = original.node_path(counterpart);
            self.faults.extend(compare(
                &path,
                &NODE_PROTO,
                [original, written],
                [&before, &erased],
                |_, _, _| false,
            ));
        }
    }

    /// Sets back everything but the nodes of the main graph and of functions.
    fn model(&mut self, model: &mut ModelProto, before: &mut ModelProto) {
        for scope in self.written.scopes() {
            match self.written.scope_kind(scope) {
                ScopeKind::Main => {
                    if let (Some(graph), Some(before)) =
                        (model.graph.as_mut(), before.graph.as_mut())
                    {
                        self.graph(graph, before, scope);
                    }
                }
                ScopeKind::Function(index) => {
                    let (function, before) = (
                        &mut model.functions[index as usize],
                        &mut before.functions[index as usize],
                    );
                    self.restore_declarations(&mut function.value_info, &before.value_info, scope);
                    self.declarations(&mut function.value_info, &mut before.value_info);
                }
                // Training graphs do not change, and subgraphs are parts of others.
                _ => {}
            }
        }
    }

    fn graph(&mut self, graph: &mut GraphProto, before: &mut GraphProto, scope: ScopeId) {
        let (graph, before): (&mut raw::GraphProto, &mut raw::GraphProto) = (graph, before);
        self.declarations(&mut graph.input, &mut before.input);
        self.declarations(&mut graph.output, &mut before.output);
        self.restore_declarations(&mut graph.value_info, &before.value_info, scope);
        self.declarations(&mut graph.value_info, &mut before.value_info);
        let path = self.original.scope_path(scope);
        let sparse = graph
            .sparse_initializer
            .iter_mut()
            .zip(&mut before.sparse_initializer);
        let halves = sparse.filter_map(|(sparse, before)| {
            Some((sparse.values.as_mut()?, before.values.as_mut()?))
        });
        for (tensor, before) in graph
            .initializer
            .iter_mut()
            .zip(&mut before.initializer)
            .chain(halves)
        {
            self.tensor(tensor, before, |name| format!("{path}/{name}"));
        }
        graph.node = self.nodes(std::mem::take(&mut graph.node), &mut before.node, scope);
    }

    /// Restores the declarations of the results of removed casts, and removes the declarations of
    /// the names that added casts define.
    fn restore_declarations(
        &self,
        infos: &mut Vec<ValueInfoProto>,
        before: &[ValueInfoProto],
        scope: ScopeId,
    ) {
        infos.retain(|info| !self.new_names.contains(info.name()));
        if self.removed.is_empty() {
            return;
        }
        let is_of_removed_cast = |name: &str| {
            let node = self
                .original
                .lookup(scope, name)
                .and_then(|value| self.original.producer(value));
            node.is_some_and(|node| node.scope == scope && self.is_removed(node))
        };
        let mut found = std::mem::take(infos).into_iter().peekable();
        for info in before {
            if found.peek().is_some_and(|next| next.name() == info.name()) {
                infos.extend(found.next());
            } else if is_of_removed_cast(info.name()) {
                infos.push(info.clone());
            }
        }
        infos.extend(found);
    }

    fn nodes(
        &mut self,
        nodes: Vec<NodeProto>,
        before: &mut [NodeProto],
        scope: ScopeId,
    ) -> Vec<NodeProto> {
        let mut erased: HashMap<u32, NodeProto> = HashMap::default();
        for (position, mut node) in (0..).zip(nodes) {
            let id = NodeId { scope, position };
            let Some(counterpart) = self.counterpart(id) else {
                continue;
            };
            self.node(
                &mut node,
                &mut before[counterpart.position as usize],
                id,
                counterpart,
            );
            erased.insert(counterpart.position, node);
        }
        // Removed casts are restored.
        let restored = (0..)
            .zip(before)
            .map(|(position, before)| erased.remove(&position).unwrap_or_else(|| before.clone()));
        restored.collect()
    }

    fn node(
        &mut self,
        node: &mut NodeProto,
        before: &mut NodeProto,
        id: NodeId,
        counterpart: NodeId,
    ) {
        if let Some(named) = with_names_of(before, node) {
            node.device_configurations
                .clone_from(&named.device_configurations);
        }
        for index in 0..node.input.len().min(before.input.len()) {
            if node.input[index] == before.input[index] {
                continue;
            }
            let values = (
                self.written.input(id, index as u32),
                self.original.input(counterpart, index as u32),
            );
            if let (Some(found), Some(expected)) = values
                && self.is_same(found, expected)
            {
                node.input[index].clone_from(&before.input[index]);
            }
        }
        self.check_inputs(id, counterpart);
        for index in 0..node.output.len().min(before.output.len()) {
            if node.output[index] != before.output[index]
                && self.renamed.get(node.output[index].as_str())
                    == Some(&before.output[index].as_str())
            {
                node.output[index].clone_from(&before.output[index]);
            }
        }
        if node.attribute != before.attribute {
            self.attributes(node, before, id, counterpart);
        }
        for scope in self.bodies.get(&id).cloned().unwrap_or_default() {
            let ScopeKind::Subgraph {
                attribute,
                list_index,
                ..
            } = self.written.scope_kind(scope)
            else {
                continue;
            };
            let of = |node| graph_in(node, attribute, list_index);
            if let (Some(graph), Some(before)) = (of(&mut *node), of(&mut *before)) {
                self.graph(graph, before, scope);
            }
        }
    }

    /// Inputs whose names are the same may refer to other values.
    fn check_inputs(&mut self, id: NodeId, counterpart: NodeId) {
        let written = self.written;
        for (index, found) in written.inputs(id) {
            let is_same = self
                .original
                .input(counterpart, index)
                .is_some_and(|expected| self.is_same(found, expected));
            if !is_same {
                let what = format!(
                    "input {index}, '{}', is not the value that it was",
                    written.name(found)
                );
                self.faults.push(Fault::at(written.node_path(id), what));
            }
        }
    }

    /// Whether a value of the written model is one of the original, apart from casts between the
    /// types.
    fn is_same(&self, found: ValueId, expected: ValueId) -> bool {
        let (mut value, mut is_cast) = (found, false);
        loop {
            let is_source = |same| {
                self.sources.is_source(same, expected)
                    || is_cast && self.is_lossless_source(same, expected)
            };
            if self.values[value.index()].is_some_and(is_source) {
                return true;
            }
            let Some(node) = self.written.producer(value) else {
                return false;
            };
            let is_followed = self.added_cast(node).is_some()
                || (!self.is_emulated()
                    && self.written.is_op(node, "Cast")
                    && self
                        .written
                        .cast_node(node)
                        .is_ok_and(|cast| cast.to == TypeSource::Attribute(self.report.to)));
            let Some(input) = self.written.input(node, 0).filter(|_| is_followed) else {
                return false;
            };
            // A rounding is one of the value that it had.
            (value, is_cast) = (input, !self.is_emulated());
        }
    }
}

/// A graph in an attribute of a node.
fn graph_in(
    node: &mut NodeProto,
    attribute: u32,
    list_index: Option<u32>,
) -> Option<&mut GraphProto> {
    graph_mut(node.attribute.get_mut(attribute as usize)?, list_index)
}

/// A kind of scope without the position of its node, which casts change.
fn kind(kind: ScopeKind) -> ScopeKind {
    match kind {
        ScopeKind::Subgraph {
            attribute,
            list_index,
            ..
        } => ScopeKind::Subgraph {
            owner: NodeId {
                scope: ScopeId::MAIN,
                position: 0,
            },
            attribute,
            list_index,
        },
        kind => kind,
    }
}
