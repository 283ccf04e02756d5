//! Which scopes, nodes and values of the two models correspond to each other: by the names of
//! values.

use std::sync::OnceLock;

use super::canonical_form::moved_form;
use crate::base::hash::HashMap;
use crate::base::parallel;
use crate::graph::{Model, NodeId, ScopeId, ScopeKind, ValueId};
use crate::protobuf::schema::NodeProto;
use crate::protobuf::{Known, Lossless};

/// The counterparts of the written model in the original.
pub(super) struct Matching<'m> {
    pub original: &'m Model,
    pub written: &'m Model,
    follows_operators: bool,
    scopes: HashMap<ScopeId, ScopeId>,
    /// By scope and position: the positions in the counterparts of the scopes.
    nodes: HashMap<ScopeId, Vec<Option<u32>>>,
    /// By value.
    values: Vec<Option<ValueId>>,
    /// By scope of the original, once one was asked for.
    written_scopes: OnceLock<HashMap<ScopeId, ScopeId>>,
}

impl<'m> Matching<'m> {
    /// Nodes with the same results correspond to each other.
    pub fn by_results(original: &'m Model, written: &'m Model) -> Matching<'m> {
        Matching::new(original, written, false)
    }

    /// Like [`Matching::by_results`], but a node that makes the result of another operator may have
    /// taken the name of that result.
    pub fn by_operators(original: &'m Model, written: &'m Model) -> Matching<'m> {
        Matching::new(original, written, true)
    }

    fn new(original: &'m Model, written: &'m Model, follows_operators: bool) -> Matching<'m> {
        let (scopes, nodes) = (HashMap::default(), HashMap::default());
        let (values, written_scopes) = (Vec::new(), OnceLock::new());
        let mut matching = Matching {
            original,
            written,
            follows_operators,
            scopes,
            nodes,
            values,
            written_scopes,
        };
        let subgraphs: HashMap<_, ScopeId> = original
            .scopes()
            .filter_map(|scope| Some((subgraph_key(original, scope)?, scope)))
            .collect();
        let outermost = |kind: ScopeKind| {
            original
                .scopes()
                .find(|&scope| original.scope_kind(scope) == kind)
        };
        // An inner scope comes after the enclosing one.
        for scope in written.scopes() {
            let counterpart = match subgraph_key(written, scope) {
                Some((owner, attribute, index)) => matching
                    .node(owner)
                    .and_then(|owner| subgraphs.get(&(owner, attribute, index)).copied()),
                None => outermost(written.scope_kind(scope)),
            };
            if let Some(counterpart) = counterpart {
                matching.scopes.insert(scope, counterpart);
                matching.pair_nodes(scope, counterpart);
            }
        }
        let counterpart = |&value: &ValueId| {
            let scope = matching.original_scope(written.scope_of(value))?;
            original.defined(scope, written.name(value))
        };
        matching.values = parallel::map(&written.values().collect::<Vec<ValueId>>(), counterpart);
        matching
    }

    fn pair_nodes(&mut self, scope: ScopeId, counterpart: ScopeId) {
        let (original, written) = (self.original, self.written);
        let named = |model: &'m Model, node| {
            model
                .node(node)
                .output
                .iter()
                .map(String::as_str)
                .filter(|name| !name.is_empty())
        };
        let count = original.nodes(counterpart).len() as u32;
        let mut pairs = vec![None; written.nodes(scope).len()];
        // Most nodes come after the counterpart of the one before.
        let mut next = 0;
        for node in written.nodes(scope) {
            let Some(name) = named(written, node).next() else {
                continue;
            };
            let at_next = NodeId {
                scope: counterpart,
                position: next,
            };
            let found = if next < count && named(original, at_next).any(|other| other == name) {
                Some(at_next)
            } else {
                let value = original.defined(counterpart, name);
                value
                    .and_then(|value| original.producer(value))
                    .filter(|node| node.scope == counterpart)
            };
            let Some(found) = found else { continue };
            next = found.position + 1;
            let found = if self.follows_operators {
                computing(original, found, written.node(node))
            } else {
                found
            };
            pairs[node.position as usize] = Some(found.position);
        }
        // Nodes without results have effects: all are kept, in order.
        let without_results = |model: &'m Model, scope| {
            model
                .nodes(scope)
                .filter(|&node| named(model, node).next().is_none())
                .collect()
        };
        let [left, right]: [Vec<NodeId>; 2] = [
            without_results(written, scope),
            without_results(original, counterpart),
        ];
        for (node, same) in left.into_iter().zip(right) {
            pairs[node.position as usize] = Some(same.position);
        }
        self.nodes.insert(scope, pairs);
    }

    /// The scopes of the written model with those of the original; `None` for one that the original
    /// does not have.
    pub fn scopes(&self) -> impl Iterator<Item = (ScopeId, Option<ScopeId>)> + '_ {
        self.written
            .scopes()
            .map(|scope| (scope, self.original_scope(scope)))
    }

    /// The nodes that do not have the bytes of their counterparts, and these.
    pub fn differing_nodes(&self) -> impl Iterator<Item = [NodeId; 2]> + '_ {
        let nodes = self
            .scopes()
            .filter(|(_, counterpart)| counterpart.is_some())
            .flat_map(|(scope, _)| self.written.nodes(scope));
        nodes
            .filter_map(|node| Some([node, self.node(node)?]))
            .filter(|&[node, same]| !are_same([self.original.node(same), self.written.node(node)]))
    }

    /// The counterpart of a scope.
    pub fn original_scope(&self, scope: ScopeId) -> Option<ScopeId> {
        self.scopes.get(&scope).copied()
    }

    /// The counterpart of a node.
    pub fn node(&self, node: NodeId) -> Option<NodeId> {
        let position = *self.nodes.get(&node.scope)?.get(node.position as usize)?;
        Some(NodeId {
            scope: self.original_scope(node.scope)?,
            position: position?,
        })
    }

    /// The value of the same name in the counterpart of the scope.
    pub fn value(&self, value: ValueId) -> Option<ValueId> {
        self.values[value.index()]
    }

    /// The value of the written model that has the name of a value of the original, in the
    /// counterpart of its scope.
    pub fn in_written(&self, value: ValueId) -> Option<ValueId> {
        let scopes = self.written_scopes.get_or_init(|| {
            let pairs = self
                .scopes()
                .filter_map(|(scope, counterpart)| Some((counterpart?, scope)));
            pairs.collect::<Vec<_>>().into_iter().rev().collect()
        });
        self.written.defined(
            *scopes.get(&self.original.scope_of(value))?,
            self.original.name(value),
        )
    }
}

/// A node, or the one whose result it returns that has the operator and the name of `written`: an
/// output may get its name from the node that computes it.
fn computing(model: &Model, node: NodeId, written: &NodeProto) -> NodeId {
    let returns_input = |node: NodeId| model.is_cast(node) || model.node(node).output.len() == 1;
    let before = |&node: &NodeId| {
        let producer = model.input(node, 0).and_then(|input| model.producer(input));
        producer.filter(|producer| producer.scope == node.scope && returns_input(node))
    };
    let chain = || std::iter::successors(Some(node), before);
    let is_same = |node: &NodeId| {
        let node = model.node(*node);
        // A constant that was computed is not one of the original.
        node.op_type() == written.op_type()
            && (written.op_type() != "Constant" || is_same_constant(node, written))
    };
    let is_named = |node: &NodeId| is_same(node) && model.node(*node).name() == written.name();
    chain()
        .find(is_named)
        .or_else(|| chain().find(is_same))
        .unwrap_or(node)
}

fn is_same_constant(node: &NodeProto, written: &NodeProto) -> bool {
    node.attribute == written.attribute && moved_form(node) == moved_form(written)
}

/// The identity of a subgraph within its model.
fn subgraph_key(model: &Model, scope: ScopeId) -> Option<(NodeId, &str, Option<u32>)> {
    match model.scope_kind(scope) {
        ScopeKind::Subgraph {
            owner,
            attribute,
            list_index,
        } => Some((
            owner,
            model.node(owner).attribute[attribute as usize].name(),
            list_index,
        )),
        _ => None,
    }
}

/// Whether two messages have the same bytes and are as they were read.
pub(super) fn are_same<M: Known>(messages: [&Lossless<M>; 2]) -> bool {
    let [left, right] = messages.map(Lossless::as_source);
    left.is_some() && left == right
}
