//! The subgraphs of nodes, and what is planned for the nodes in them.

use std::borrow::Cow;

use super::planned::PlannedNodes;
use crate::base::hash::HashMap;
use crate::graph::{Model, NodeId, ScopeId, ScopeKind, graph_mut};
use crate::protobuf::raw;
use crate::protobuf::schema::{GraphProto, NodeProto, TensorProto};

/// The graphs in the attributes of a node, except those in lists.
pub(super) fn graphs(node: &NodeProto) -> impl Iterator<Item = &GraphProto> {
    node.attribute
        .iter()
        .filter_map(|attribute| attribute.g.as_ref())
}

/// Like [`graphs`], to change the graphs. Other attributes are not borrowed mutably.
pub(super) fn graphs_mut(node: &mut raw::NodeProto) -> impl Iterator<Item = &mut GraphProto> {
    node.attribute
        .iter_mut()
        .filter(|attribute| attribute.g.is_some())
        .filter_map(|attribute| attribute.g.as_mut())
}

/// Whether a node, or one in its subgraphs, has an input of this name.
pub(super) fn uses(node: &NodeProto, name: &str) -> bool {
    node.input.iter().any(|input| input == name)
        || graphs(node)
            .flat_map(|graph| &graph.node)
            .any(|inner| uses(inner, name))
}

/// The nodes that are planned so far, and the graphs that contain them. Inner scopes are planned
/// first.
pub(super) struct Bodies<'m> {
    model: &'m Model,
    /// By node: the graphs in its attributes.
    inner: HashMap<NodeId, Vec<ScopeId>>,
    /// The nodes that replace a changed node.
    pub nodes: PlannedNodes,
    /// By scope: constants that become initializers.
    initializers: HashMap<ScopeId, Vec<TensorProto>>,
}

impl<'m> Bodies<'m> {
    pub fn new(model: &'m Model) -> Bodies<'m> {
        Bodies {
            model,
            inner: model.subgraphs(),
            nodes: PlannedNodes::default(),
            initializers: HashMap::default(),
        }
    }

    /// The graphs in the attributes of a node.
    pub fn of(&self, id: NodeId) -> &[ScopeId] {
        self.inner.get(&id).map_or(&[], Vec::as_slice)
    }

    /// A node with its subgraphs converted.
    pub fn with_planned(&self, id: NodeId) -> Cow<'m, NodeProto> {
        let model = self.model;
        let mut node = Cow::Borrowed(model.node(id));
        for &scope in self.of(id).iter().filter(|&&scope| self.is_planned(scope)) {
            let ScopeKind::Subgraph {
                attribute,
                list_index,
                ..
            } = model.scope_kind(scope)
            else {
                continue;
            };
            let attribute = &mut node.to_mut().attribute[attribute as usize];
            let Some(graph) = graph_mut(attribute, list_index) else {
                continue;
            };
            let nodes = model
                .nodes(scope)
                .flat_map(|inside| match self.nodes.get(inside) {
                    Some(nodes) => nodes.get().into_owned(),
                    None => vec![self.with_planned(inside).into_owned()],
                });
            graph.node = nodes.collect();
            graph
                .initializer
                .extend(self.initializers.get(&scope).into_iter().flatten().cloned());
        }
        node
    }

    /// Whether a node in a scope, at any depth, has changed.
    fn is_planned(&self, scope: ScopeId) -> bool {
        let is_planned_in = |id: NodeId| self.of(id).iter().any(|&inner| self.is_planned(inner));
        self.model
            .nodes(scope)
            .any(|id| self.nodes.get(id).is_some() || is_planned_in(id))
    }

    /// Plans a new initializer.
    pub fn add_initializer(&mut self, scope: ScopeId, tensor: TensorProto) {
        self.initializers.entry(scope).or_default().push(tensor);
    }

    /// The new initializers, scope by scope, except those that are part of a replaced node.
    pub fn take_initializers(&mut self) -> Vec<(ScopeId, TensorProto)> {
        let mut scopes: Vec<(ScopeId, Vec<TensorProto>)> =
            std::mem::take(&mut self.initializers).into_iter().collect();
        scopes.sort_by_key(|(scope, _)| *scope);
        scopes
            .into_iter()
            .flat_map(|(scope, tensors)| tensors.into_iter().map(move |tensor| (scope, tensor)))
            .collect()
    }

    /// Removes a node with the initializers that it would have been converted with.
    pub fn remove(&mut self, id: NodeId) {
        let added = self.initializers.get_mut(&id.scope);
        if let Some((nodes, added)) = self.nodes.get(id).zip(added) {
            let nodes = nodes.get();
            added.retain(|tensor| !nodes.iter().any(|node| uses(node, tensor.name())));
        }
        self.nodes.remove(id);
    }

    /// Forgets what is planned in the subgraphs of a node: its replacement contains them.
    pub fn forget(&mut self, id: NodeId) {
        for scope in self.of(id).to_vec() {
            self.nodes.forget(scope);
            self.initializers.remove(&scope);
            for node in self.model.nodes(scope) {
                self.forget(node);
            }
        }
    }
}
