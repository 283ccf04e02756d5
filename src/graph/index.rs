//! The index over a model: petgraph's graph of nodes and values.

use std::sync::Arc;

use petgraph::graph::{DiGraph, NodeIndex};

use super::scope::{NodeId, ScopeId, ScopeKind, enclosing};
use crate::hash::HashMap;

/// A value of a model: what a name in a scope means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub(super) NodeIndex);

impl ValueId {
    /// A number for tables of values: less than [`Model::value_bound`](super::Model::value_bound), and no other value has it.
    #[must_use]
    pub fn index(self) -> usize {
        self.0.index()
    }
}

/// All that is known of a model's structure without its messages.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// By scope.
    pub kinds: Vec<ScopeKind>,
    /// By scope and position: the nodes' vertices.
    pub nodes: Vec<Vec<NodeIndex>>,
    /// By scope: what a name means at the scope's end.
    pub names: Vec<HashMap<Arc<str>, ValueId>>,
    pub graph: DiGraph<Vertex, Link>,
    /// Every node after those whose values it uses.
    pub order: Vec<NodeId>,
    /// By domain, name and overload: the scopes of the model-local functions.
    pub functions: HashMap<[String; 3], ScopeId>,
    /// By function: the nodes that call it.
    pub callers: HashMap<ScopeId, Vec<NodeId>>,
    /// By function that is called, and name: the value that all calls give an attribute; none if they differ.
    pub arguments: HashMap<ScopeId, HashMap<String, Option<Argument>>>,
    /// By outermost scope, and domain: the opset that is imported.
    pub opsets: HashMap<ScopeId, HashMap<String, i64>>,
}

/// Where the value stands that all calls of a function give an attribute.
#[derive(Clone, Copy, Debug)]
pub(super) enum Argument {
    /// In the attribute of this index of a call.
    Call(NodeId, u32),
    /// In the default of this index, which the calls leave it to.
    Default(u32),
}

/// A vertex of the index.
#[derive(Debug)]
pub(super) enum Vertex {
    Node(NodeId),
    Value(ValueData),
}

/// What is known of a value.
#[derive(Debug)]
pub(super) struct ValueData {
    pub scope: ScopeId,
    pub name: Arc<str>,
    pub origin: Origin,
    pub declared: Option<Declared>,
    /// Scopes that have it as an output.
    pub output_of: Vec<ScopeId>,
    pub pin: Option<Pin>,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An input of its scope, by index.
    Input(u32),
    /// An initializer of its graph, by index, which may be listed as an input too.
    Initializer {
        /// The index in `initializer`.
        index: u32,
        /// The index in `input`, if it is listed there.
        input: Option<u32>,
    },
    /// A sparse initializer of its graph, by index, which may be listed as an input too.
    SparseInitializer(u32),
    /// An output of a node.
    Node {
        /// The node.
        node: NodeId,
        /// The index in the node's outputs.
        output: u32,
    },
    /// Nothing in sight defines the name.
    Missing,
}

/// The place in its graph or function where a value's type is stated, with the index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Declared {
    Input(u32),
    Output(u32),
    ValueInfo(u32),
}

/// Why a value must stay although no node may use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pin {
    /// A quantization annotation names it.
    Annotated,
    /// A training step assigns to it.
    Trained,
    /// A scope inside its own defines its name again, and runtimes differ in which of the two they take there.
    Shadowed,
}

/// An edge of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// From a value to the node that has it as its input of this index.
    Input(u32),
    /// From a node to its output of this index.
    Output(u32),
    /// From a value to a node of its scope that holds a graph in which the value is used.
    Capture,
}

impl Index {
    pub fn value(&self, id: ValueId) -> &ValueData {
        match &self.graph[id.0] {
            Vertex::Value(value) => value,
            Vertex::Node(_) => unreachable!("a ValueId is made of a value's vertex only"),
        }
    }

    /// What a name means in a scope, as far as the scopes are read.
    pub fn lookup(&self, scope: ScopeId, name: &str) -> Option<ValueId> {
        let mut current = Some(scope);
        while let Some(scope) = current {
            if let Some(&value) = self.names[scope.0 as usize].get(name) {
                return Some(value);
            }
            current = enclosing(&self.kinds, scope);
        }
        None
    }

    pub fn vertex(&self, node: NodeId) -> NodeIndex {
        self.nodes[node.scope.0 as usize][node.position as usize]
    }
}
