//! The index over a model: a petgraph graph of nodes and values.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use onnx_operators::schemas::is_onnx_domain;
use petgraph::Direction;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use super::scope::{NodeId, ScopeId, ScopeKind, enclosing};
use crate::base::hash::HashMap;

/// A value of a model: the definition that a name in a scope refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub(super) u32);

impl ValueId {
    /// The value's index for dense tables: unique, and less than
    /// [`Model::value_count`](super::Model::value_count).
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The structure of a model without its messages.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// By scope.
    pub kinds: Vec<ScopeKind>,
    /// By scope and position: the nodes' vertices.
    pub nodes: Vec<Vec<NodeIndex>>,
    /// By the value's index.
    pub values: Vec<ValueData>,
    /// The concatenated names of all values. See [`ValueData::name_in`].
    pub text: String,
    /// By scope: the value that each name refers to at the scope's end. The tables hold ids only:
    /// their keys are in `text`.
    names: Vec<HashTable<ValueId>>,
    hasher: RandomState,
    /// The scopes that return a value as an output.
    pub scopes_that_output: HashMap<ValueId, Vec<ScopeId>>,
    pub graph: DiGraph<Vertex, Link>,
    /// The values of nodes with many inputs or outputs, by index: in the graph, each would be found
    /// after all others.
    pub wide: HashMap<NodeId, WideNode>,
    /// Every node after the producers of its inputs.
    pub order: Vec<NodeId>,
    /// By domain, name and overload: the scopes of the model-local functions.
    pub functions: HashMap<[String; 3], ScopeId>,
    /// By function: the nodes that call it.
    pub callers: HashMap<ScopeId, Vec<NodeId>>,
    /// By called function and attribute name: the value that all calls give the attribute; `None`
    /// if they differ. Attributes that no call gives a value, and that have no default, are
    /// missing.
    pub arguments: HashMap<ScopeId, HashMap<String, Option<Argument>>>,
    /// By outermost scope: the imported opsets.
    pub opsets: HashMap<ScopeId, Opsets>,
}

/// The imported opsets of an outermost scope.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Opsets {
    /// That of ai.onnx, which is asked for at every node.
    onnx: Option<i64>,
    /// By other domain.
    others: HashMap<String, i64>,
}

impl Opsets {
    /// The opset of a domain.
    pub fn get(&self, domain: &str) -> Option<i64> {
        if is_onnx_domain(domain) {
            self.onnx
        } else {
            self.others.get(domain).copied()
        }
    }

    /// Imports an opset, and returns the one in its place.
    pub fn insert(&mut self, domain: &str, version: i64) -> Option<i64> {
        if is_onnx_domain(domain) {
            self.onnx.replace(version)
        } else {
            self.others.insert(domain.to_owned(), version)
        }
    }
}

/// The place of the value that all calls of a function give an attribute.
#[derive(Clone, Copy, Debug)]
pub(super) enum Argument {
    /// The attribute at this index of a call.
    Call(NodeId, u32),
    /// The default of the function at this index, which the calls do not override.
    Default(ScopeId, u32),
}

/// A vertex of the index.
#[derive(Clone, Copy, Debug)]
pub(super) enum Vertex {
    Node(NodeId),
    Value(ValueId),
}

/// The values of a node with many inputs or outputs; `None` for one that is omitted.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct WideNode {
    pub inputs: Vec<Option<ValueId>>,
    pub outputs: Vec<Option<ValueId>>,
}

/// The record of a value. There is one per value of the model, so its size matters.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ValueData {
    pub vertex: NodeIndex,
    pub scope: ScopeId,
    /// The start of the name in [`Index::text`], and its length.
    name: (u32, u32),
    pub origin: Origin,
    pub declared: Option<Declared>,
    /// Why it must be kept, except that its name is shadowed.
    pub non_node_use: Option<NonNodeUse>,
    /// Whether an inner scope defines its name again.
    pub is_shadowed: bool,
}

impl ValueData {
    /// The value's name. `text` is [`Index::text`].
    pub fn name_in<'t>(&self, text: &'t str) -> &'t str {
        let (start, length) = self.name;
        &text[start as usize..][..length as usize]
    }
}

/// The origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// An input of its scope, by index.
    Input(u32),
    /// An initializer of its graph, by index; it may also be listed as an input.
    Initializer {
        /// The index in `initializer`.
        index: u32,
        /// The index in `input`, if it is also listed there.
        input: Option<u32>,
    },
    /// A sparse initializer of its graph, by index; it may also be listed as an input.
    SparseInitializer(u32),
    /// An output of a node.
    Node {
        /// The node.
        node: NodeId,
        /// The index in the node's outputs.
        output: u32,
    },
    /// The name is not defined in any visible scope.
    Missing,
}

/// The place in a graph or function that declares a value's type, with the index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Declared {
    Input(u32),
    Output(u32),
    ValueInfo(u32),
}

/// Why a value must be kept even if no node consumes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NonNodeUse {
    /// A quantization annotation names it.
    Annotated,
    /// A training step assigns to it.
    Trained,
    /// An inner scope shadows its name, and runtimes differ in the definition that they use there.
    Shadowed,
}

/// An edge of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// From a value to the node that consumes it as the input at this index.
    Input(u32),
    /// From a node to its output at this index.
    Output(u32),
    /// From a value to a node of its scope whose subgraph uses the value.
    Capture,
}

impl Index {
    /// An empty index with capacity for a graph; `text` is the length of its names.
    pub fn with_capacity(nodes: usize, values: usize, edges: usize, text: usize) -> Index {
        let graph = DiGraph::with_capacity(nodes + values, edges);
        Index {
            graph,
            values: Vec::with_capacity(values),
            text: String::with_capacity(text),
            ..Index::default()
        }
    }

    pub fn value(&self, id: ValueId) -> &ValueData {
        &self.values[id.index()]
    }

    pub fn name(&self, id: ValueId) -> &str {
        self.value(id).name_in(&self.text)
    }

    /// The value of a vertex.
    pub fn value_at(&self, vertex: NodeIndex) -> Option<ValueId> {
        match self.graph[vertex] {
            Vertex::Value(value) => Some(value),
            Vertex::Node(_) => None,
        }
    }

    /// Adds a scope, with capacity for this many names.
    pub fn add_scope(&mut self, kind: ScopeKind, nodes: usize, names: usize) -> ScopeId {
        let scope = ScopeId(self.kinds.len() as u32);
        self.kinds.push(kind);
        self.nodes.push(Vec::with_capacity(nodes));
        self.names.push(HashTable::with_capacity(names));
        scope
    }

    /// Adds a value whose name is not bound yet; `None` if the names of the model's values exceed 4
    /// GiB.
    pub fn add_value(&mut self, scope: ScopeId, name: &str, origin: Origin) -> Option<ValueId> {
        let place = (
            u32::try_from(self.text.len()).ok()?,
            u32::try_from(name.len()).ok()?,
        );
        let value = ValueId(u32::try_from(self.values.len()).ok()?);
        let vertex = self.graph.add_node(Vertex::Value(value));
        self.text.push_str(name);
        self.values.push(ValueData {
            vertex,
            scope,
            name: place,
            origin,
            declared: None,
            non_node_use: None,
            is_shadowed: false,
        });
        Some(value)
    }

    /// Binds a value's name to the value, and returns the value that was bound to the name before.
    pub fn bind_name(&mut self, value: ValueId) -> Option<ValueId> {
        let Index {
            names,
            values,
            text,
            hasher,
            ..
        } = self;
        let name_of = |value: &ValueId| values[value.index()].name_in(text);
        let name = name_of(&value);
        let names = &mut names[values[value.index()].scope.0 as usize];
        match names.entry(
            hasher.hash_one(name),
            |other| name_of(other) == name,
            |other| hasher.hash_one(name_of(other)),
        ) {
            Entry::Occupied(mut entry) => Some(std::mem::replace(entry.get_mut(), value)),
            Entry::Vacant(entry) => {
                entry.insert(value);
                None
            }
        }
    }

    /// The value that a name refers to in a scope if that scope defines it, as far as the scope has
    /// been read.
    pub fn local(&self, scope: ScopeId, name: &str) -> Option<ValueId> {
        self.find(scope, name, self.hasher.hash_one(name))
    }

    /// The last value that was defined, if it has this name in this scope. In most models, that is
    /// what the next node consumes.
    pub fn newest(&self, scope: ScopeId, name: &str) -> Option<ValueId> {
        let last = self
            .values
            .last()
            .filter(|last| last.scope == scope && last.name_in(&self.text) == name);
        last.map(|_| ValueId(self.values.len() as u32 - 1))
    }

    /// The value that a name refers to in a scope, as far as the scopes have been read.
    pub fn lookup(&self, scope: ScopeId, name: &str) -> Option<ValueId> {
        let hash = self.hasher.hash_one(name);
        std::iter::successors(Some(scope), |&scope| enclosing(&self.kinds, scope))
            .find_map(|scope| self.find(scope, name, hash))
    }

    fn find(&self, scope: ScopeId, name: &str, hash: u64) -> Option<ValueId> {
        self.names[scope.0 as usize]
            .find(hash, |&value| self.name(value) == name)
            .copied()
    }

    /// The values that the names of a scope refer to, in unspecified order.
    pub fn named_in(&self, scope: ScopeId) -> impl Iterator<Item = ValueId> + '_ {
        self.names[scope.0 as usize].iter().copied()
    }

    /// Lists the values of a node by index, once all its uses are bound.
    pub fn note_wide(&mut self, node: NodeId, inputs: usize, outputs: usize) {
        let mut wide = WideNode {
            inputs: vec![None; inputs],
            outputs: vec![None; outputs],
        };
        for direction in [Direction::Incoming, Direction::Outgoing] {
            for edge in self.graph.edges_directed(self.vertex(node), direction) {
                match *edge.weight() {
                    Link::Input(index) => {
                        wide.inputs[index as usize] = self.value_at(edge.source())
                    }
                    Link::Output(index) => {
                        wide.outputs[index as usize] = self.value_at(edge.target())
                    }
                    Link::Capture => {}
                }
            }
        }
        self.wide.insert(node, wide);
    }

    /// Whether both are the index of the same structure.
    pub fn is_like(&self, other: &Index) -> bool {
        let edges = |index: &Index| {
            index
                .graph
                .raw_edges()
                .iter()
                .map(|edge| (edge.source(), edge.target(), edge.weight))
                .collect::<Vec<_>>()
        };
        self.kinds == other.kinds
            && self.nodes == other.nodes
            && (&self.values, &self.text) == (&other.values, &other.text)
            && (&self.scopes_that_output, &self.order, &self.opsets)
                == (&other.scopes_that_output, &other.order, &other.opsets)
            && (&self.functions, &self.callers, &self.wide)
                == (&other.functions, &other.callers, &other.wide)
            && edges(self) == edges(other)
    }

    /// The kinds of the scopes; the rest of the index is freed.
    pub fn into_kinds(self) -> Vec<ScopeKind> {
        self.kinds
    }

    pub fn vertex(&self, node: NodeId) -> NodeIndex {
        self.nodes[node.scope.0 as usize][node.position as usize]
    }
}
