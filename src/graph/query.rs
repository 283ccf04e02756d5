//! Read-only questions to a model.

use petgraph::Direction;
use petgraph::visit::EdgeRef;

use super::Model;
use super::index::{Declared, Link, Origin, Pin, ValueId, Vertex};
use super::scope::{Body, NodeId, ScopeId};
use crate::dtype::DType;
use crate::ir_version::OPSET_IMPORT;
use crate::wire::raw::type_proto;
use crate::wire::schema::{NodeProto, TensorProto, TypeProto, ValueInfoProto};

/// Whether a domain is that of ONNX's own operators, which has two names.
#[must_use]
pub fn is_onnx_domain(domain: &str) -> bool {
    matches!(domain, "" | "ai.onnx")
}

/// A domain's name, in the longer form for ONNX's own.
#[must_use]
pub fn domain_name(domain: &str) -> &str {
    if is_onnx_domain(domain) { "ai.onnx" } else { domain }
}

impl Model {
    /// The ids of a scope's nodes in order.
    pub fn nodes(&self, scope: ScopeId) -> impl ExactSizeIterator<Item = NodeId> + use<> {
        (0..self.index.nodes[scope.0 as usize].len() as u32).map(move |position| NodeId { scope, position })
    }

    /// The nodes of all scopes, each after those whose values it uses.
    #[must_use]
    pub fn topological_order(&self) -> &[NodeId] {
        &self.index.order
    }

    /// A node's message.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &NodeProto {
        &self.body(id.scope).nodes()[id.position as usize]
    }

    /// The value that a node's input of this index means; none if the input is left out.
    #[must_use]
    pub fn input(&self, node: NodeId, index: u32) -> Option<ValueId> {
        self.links(node, Direction::Incoming).find(|&(_, link)| link == Link::Input(index)).map(|(value, _)| value)
    }

    /// The values that a node uses, with the index of the input; one used twice comes twice, in no certain order.
    pub fn inputs(&self, node: NodeId) -> impl Iterator<Item = (u32, ValueId)> + '_ {
        self.links(node, Direction::Incoming).filter_map(|(value, link)| match link {
            Link::Input(index) => Some((index, value)),
            Link::Output(_) | Link::Capture => None,
        })
    }

    /// The value that a node's output of this index defines; none if the output is left out.
    #[must_use]
    pub fn output(&self, node: NodeId, index: u32) -> Option<ValueId> {
        self.links(node, Direction::Outgoing).find(|&(_, link)| link == Link::Output(index)).map(|(value, _)| value)
    }

    /// The values that a node defines, with the index of the output; in no certain order.
    pub fn outputs(&self, node: NodeId) -> impl Iterator<Item = (u32, ValueId)> + '_ {
        self.links(node, Direction::Outgoing).filter_map(|(value, link)| match link {
            Link::Output(index) => Some((index, value)),
            Link::Input(_) | Link::Capture => None,
        })
    }

    fn links(&self, node: NodeId, direction: Direction) -> impl Iterator<Item = (ValueId, Link)> + '_ {
        let vertex = self.index.vertex(node);
        self.index.graph.edges_directed(vertex, direction).filter_map(move |edge| {
            let other = if direction == Direction::Incoming { edge.source() } else { edge.target() };
            self.index.value_at(other).map(|value| (value, *edge.weight()))
        })
    }

    /// The inputs of nodes that use a value, in any scope that sees it; in no certain order.
    pub fn uses(&self, value: ValueId) -> impl Iterator<Item = (NodeId, u32)> + '_ {
        self.index.graph.edges_directed(self.index.value(value).vertex, Direction::Outgoing).filter_map(|edge| {
            match (edge.weight(), &self.index.graph[edge.target()]) {
                (Link::Input(index), Vertex::Node(node)) => Some((*node, *index)),
                _ => None,
            }
        })
    }

    /// The scopes that have a value as an output.
    #[must_use]
    pub fn output_of(&self, value: ValueId) -> &[ScopeId] {
        self.index.output_of.get(&value).map_or(&[], Vec::as_slice)
    }

    /// Why a value must stay although no node may use it.
    #[must_use]
    pub fn pin(&self, value: ValueId) -> Option<Pin> {
        self.index.value(value).pin
    }

    /// A value's name.
    #[must_use]
    pub fn name(&self, value: ValueId) -> &str {
        self.index.name(value)
    }

    /// The scope that defines a value.
    #[must_use]
    pub fn scope_of(&self, value: ValueId) -> ScopeId {
        self.index.value(value).scope
    }

    /// Where a value comes from.
    #[must_use]
    pub fn origin(&self, value: ValueId) -> Origin {
        self.index.value(value).origin
    }

    /// The node that makes a value.
    #[must_use]
    pub fn producer(&self, value: ValueId) -> Option<NodeId> {
        match self.origin(value) {
            Origin::Node { node, .. } => Some(node),
            _ => None,
        }
    }

    /// All values of all scopes.
    pub fn values(&self) -> impl Iterator<Item = ValueId> + '_ {
        (0..self.index.values.len() as u32).map(ValueId)
    }

    /// More than the index of any value.
    #[must_use]
    pub fn value_bound(&self) -> usize {
        self.index.values.len()
    }

    /// The initializer behind a value, overridable or not.
    #[must_use]
    pub fn initializer(&self, value: ValueId) -> Option<&TensorProto> {
        match (self.origin(value), self.body(self.scope_of(value))) {
            (Origin::Initializer { index, .. }, Body::Graph(graph)) => graph.initializer.get(index as usize),
            _ => None,
        }
    }

    /// The opset of a domain that a scope is written in: a function states its own, any other scope has the model's. A model of IR
    /// 1 or 2 cannot state one and is written in opset 1.
    #[must_use]
    pub fn opset(&self, scope: ScopeId, domain: &str) -> Option<i64> {
        let root = self.root(scope);
        let stated = self.index.opsets.get(&root).and_then(|opsets| opsets.get(domain_name(domain)).copied());
        match self.body(root) {
            Body::Graph(_) if self.ir_version() < OPSET_IMPORT && self.proto().opset_import.is_empty() => Some(1),
            Body::Graph(_) | Body::Function(_) => stated,
        }
    }

    /// The outermost scope around a scope.
    #[must_use]
    pub fn root(&self, mut scope: ScopeId) -> ScopeId {
        while let Some(outer) = self.enclosing(scope) {
            scope = outer;
        }
        scope
    }

    /// The model's IR version; zero if it states none.
    #[must_use]
    pub fn ir_version(&self) -> i64 {
        self.proto().ir_version()
    }

    /// Whether a scope around a value's own defines its name too. ONNX forbids that; runtimes differ in which of the two they take.
    #[must_use]
    pub fn shadows(&self, value: ValueId) -> bool {
        self.enclosing(self.scope_of(value)).is_some_and(|outer| self.lookup(outer, self.name(value)).is_some())
    }

    /// What a name means at the end of a scope.
    #[must_use]
    pub fn lookup(&self, scope: ScopeId, name: &str) -> Option<ValueId> {
        self.index.lookup(scope, name)
    }

    /// What the model states of a value's type: at an input, an output, in `value_info`, or by its initializer.
    #[must_use]
    pub fn declared_type(&self, value: ValueId) -> Option<DType> {
        if let Some(tensor) = self.initializer(value) {
            return DType::from_number(tensor.data_type());
        }
        self.declared(value).and_then(|info| info.r#type.as_ref()).and_then(tensor_type)
    }

    /// The message that states a value's type.
    #[must_use]
    pub fn declared(&self, value: ValueId) -> Option<&ValueInfoProto> {
        let body = self.body(self.scope_of(value));
        let (list, index): (&[ValueInfoProto], u32) = match (self.index.value(value).declared?, body) {
            (Declared::ValueInfo(index), _) => (body.value_info(), index),
            (Declared::Input(index), Body::Graph(graph)) => (&graph.input, index),
            (Declared::Output(index), Body::Graph(graph)) => (&graph.output, index),
            (_, Body::Function(_)) => return None,
        };
        list.get(index as usize)
    }
}

/// The element type of a dense tensor type.
#[must_use]
pub fn tensor_type(proto: &TypeProto) -> Option<DType> {
    match &proto.value {
        Some(type_proto::Value::TensorType(tensor)) => DType::from_number(tensor.elem_type()),
        _ => None,
    }
}
