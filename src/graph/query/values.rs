//! Queries of values.

use petgraph::Direction;
use petgraph::visit::EdgeRef;

use super::{tensor_type, visited};
use crate::graph::index::{Declared, Link, NonNodeUse, Origin, ValueId, Vertex};
use crate::graph::model::Model;
use crate::graph::scope::{Body, NodeId, ScopeId};
use crate::protobuf::schema::{TensorProto, ValueInfoProto};
use onnx_cast::DType;

/// # Values: names, producers, consumers, types
impl Model {
    /// All values of all scopes.
    pub fn values(&self) -> impl Iterator<Item = ValueId> + '_ {
        (0..self.index.values.len() as u32).map(ValueId)
    }

    /// The number of values of all scopes. The indices of values are less than it.
    #[must_use]
    pub fn value_count(&self) -> usize {
        self.index.values.len()
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

    /// The origin of a value.
    #[must_use]
    pub fn origin(&self, value: ValueId) -> Origin {
        self.index.value(value).origin
    }

    /// The node that produces a value; `None` for inputs and initializers.
    #[must_use]
    pub fn producer(&self, value: ValueId) -> Option<NodeId> {
        match self.origin(value) {
            Origin::Node { node, .. } => Some(node),
            _ => None,
        }
    }

    /// The consumers of a value: node and index of the input, in any scope where the value is
    /// visible. The order is unspecified.
    pub fn uses(&self, value: ValueId) -> impl Iterator<Item = (NodeId, u32)> + '_ {
        self.index
            .graph
            .edges_directed(self.index.value(value).vertex, Direction::Outgoing)
            .filter_map(|edge| {
                visited::count();
                match (edge.weight(), &self.index.graph[edge.target()]) {
                    (Link::Input(index), Vertex::Node(node)) => Some((*node, *index)),
                    _ => None,
                }
            })
    }

    /// The scopes that return a value as an output.
    #[must_use]
    pub fn scopes_that_output(&self, value: ValueId) -> &[ScopeId] {
        self.index
            .scopes_that_output
            .get(&value)
            .map_or(&[], Vec::as_slice)
    }

    /// Why a value must be kept even if no node consumes it.
    #[must_use]
    pub fn non_node_use(&self, value: ValueId) -> Option<NonNodeUse> {
        let value = self.index.value(value);
        value
            .non_node_use
            .or(value.is_shadowed.then_some(NonNodeUse::Shadowed))
    }

    /// Whether an inner scope defines the name of a value again.
    pub(crate) fn is_shadowed(&self, value: ValueId) -> bool {
        self.index.value(value).is_shadowed
    }

    /// The initializer of a value, overridable or not.
    #[must_use]
    pub fn initializer(&self, value: ValueId) -> Option<&TensorProto> {
        match (self.origin(value), self.body(self.scope_of(value))) {
            (Origin::Initializer { index, .. }, Body::Graph(graph)) => {
                graph.initializer.get(index as usize)
            }
            _ => None,
        }
    }

    /// Whether a value's name is also defined in an enclosing scope. ONNX forbids that, and
    /// runtimes differ in the definition that they use.
    #[must_use]
    pub fn shadows(&self, value: ValueId) -> bool {
        self.shadowed_by(value).is_some()
    }

    /// The value of an enclosing scope whose name a value has, too.
    pub(crate) fn shadowed_by(&self, value: ValueId) -> Option<ValueId> {
        self.enclosing(self.scope_of(value))
            .and_then(|outer| self.lookup(outer, self.name(value)))
    }

    /// The declared type of a value: from an input, an output, `value_info`, or its initializer.
    #[must_use]
    pub fn declared_type(&self, value: ValueId) -> Option<DType> {
        if let Some(tensor) = self.initializer(value) {
            return DType::from_number(tensor.data_type());
        }
        self.declared(value)
            .and_then(|info| info.r#type.as_ref())
            .and_then(tensor_type)
    }

    /// The protobuf message that declares a value's type.
    #[must_use]
    pub fn declared(&self, value: ValueId) -> Option<&ValueInfoProto> {
        let declared = self.index.value(value).declared?;
        let body = self.body(self.scope_of(value));
        let (list, index): (&[ValueInfoProto], u32) = match (declared, body) {
            (Declared::ValueInfo(index), _) => (body.value_info(), index),
            (Declared::Input(index), Body::Graph(graph)) => (&graph.input, index),
            (Declared::Output(index), Body::Graph(graph)) => (&graph.output, index),
            (_, Body::Function(_)) => return None,
        };
        list.get(index as usize)
    }
}
