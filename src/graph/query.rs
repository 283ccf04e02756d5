//! Read-only queries of a model.

use petgraph::Direction;
use petgraph::visit::EdgeRef;

use super::index::{Declared, Link, Origin, Pin, ValueId, Vertex};
use super::model::Model;
use super::scope::{Body, NodeId, ScopeId, ScopeKind, body, enclosing, node_path, node_place, root, scope_path};
use crate::base::error::ModelPlace;
use crate::elements::dtype::DType;
use crate::protobuf::ir_version::OPSET_IMPORT;
use crate::protobuf::raw::type_proto;
use crate::protobuf::schema::{NodeProto, TensorProto, TypeProto, ValueInfoProto};

/// Whether a domain is that of ONNX's own operators, which is spelled in two ways.
#[must_use]
pub fn is_onnx_domain(domain: &str) -> bool {
    matches!(domain, "" | "ai.onnx")
}

/// A domain's name; the longer spelling for ONNX's own domain.
#[must_use]
pub fn domain_name(domain: &str) -> &str {
    if is_onnx_domain(domain) { "ai.onnx" } else { domain }
}

impl Model {
    /// All scopes; an inner scope comes after the enclosing one.
    pub fn scopes(&self) -> impl DoubleEndedIterator<Item = ScopeId> + use<> {
        (0..self.index.kinds.len() as u32).map(ScopeId)
    }

    /// Which body a scope is.
    #[must_use]
    pub fn scope_kind(&self, scope: ScopeId) -> ScopeKind {
        self.index.kinds[scope.0 as usize]
    }

    /// The enclosing scope, whose names are visible inside this one.
    #[must_use]
    pub fn enclosing(&self, scope: ScopeId) -> Option<ScopeId> {
        enclosing(&self.index.kinds, scope)
    }

    /// The protobuf message of a scope.
    ///
    /// # Panics
    /// If the scope belongs to another model.
    #[must_use]
    pub fn body(&self, scope: ScopeId) -> Body<'_> {
        body(&self.proto, &self.index.kinds, scope).expect("a scope of this model has a body")
    }

    /// The path of a scope in errors and reports: `graph`, `graph/if_1.then_branch`, `function/my.domain:Fn`.
    #[must_use]
    pub fn scope_path(&self, scope: ScopeId) -> String {
        scope_path(&self.proto, &self.index.kinds, scope)
    }

    /// The path of a node in errors and reports: `graph/if_1.then_branch/cast_3`; `graph/#12:Cast` if the node has no name.
    #[must_use]
    pub fn node_path(&self, node: NodeId) -> String {
        node_path(&self.proto, &self.index.kinds, node)
    }

    /// The place of a node in errors.
    #[must_use]
    pub(crate) fn node_place(&self, node: NodeId) -> ModelPlace {
        node_place(&self.proto, &self.index.kinds, node)
    }

    /// The place of a scope in errors.
    #[must_use]
    pub(crate) fn scope_place(&self, scope: ScopeId) -> ModelPlace {
        ModelPlace::of_scope(self.scope_path(scope))
    }

    /// The ids of a scope's nodes in order.
    pub fn nodes(&self, scope: ScopeId) -> impl ExactSizeIterator<Item = NodeId> + use<> {
        (0..self.index.nodes[scope.0 as usize].len() as u32).map(move |position| NodeId { scope, position })
    }

    /// The nodes of all scopes in topological order: each node after the producers of its inputs.
    #[must_use]
    pub fn topological_order(&self) -> &[NodeId] {
        &self.index.order
    }

    /// A node's protobuf message.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &NodeProto {
        &self.body(id.scope).nodes()[id.position as usize]
    }

    /// The value of a node's input at this index; `None` if the input is omitted.
    #[must_use]
    pub fn input(&self, node: NodeId, index: u32) -> Option<ValueId> {
        match self.index.wide.get(&node) {
            Some(wide) => wide.inputs.get(index as usize).copied().flatten(),
            None => self.links(node, Direction::Incoming).find(|&(_, link)| link == Link::Input(index)).map(|(value, _)| value),
        }
    }

    /// The values that a node consumes, with the index of the input. A value that is used twice occurs twice. The order is
    /// unspecified.
    pub fn inputs(&self, node: NodeId) -> impl Iterator<Item = (u32, ValueId)> + '_ {
        self.links(node, Direction::Incoming).filter_map(|(value, link)| match link {
            Link::Input(index) => Some((index, value)),
            Link::Output(_) | Link::Capture => None,
        })
    }

    /// The value of a node's output at this index; `None` if the output is omitted.
    #[must_use]
    pub fn output(&self, node: NodeId, index: u32) -> Option<ValueId> {
        match self.index.wide.get(&node) {
            Some(wide) => wide.outputs.get(index as usize).copied().flatten(),
            None => self.links(node, Direction::Outgoing).find(|&(_, link)| link == Link::Output(index)).map(|(value, _)| value),
        }
    }

    /// The values that a node produces, with the index of the output. The order is unspecified.
    pub fn outputs(&self, node: NodeId) -> impl Iterator<Item = (u32, ValueId)> + '_ {
        self.links(node, Direction::Outgoing).filter_map(|(value, link)| match link {
            Link::Output(index) => Some((index, value)),
            Link::Input(_) | Link::Capture => None,
        })
    }

    fn links(&self, node: NodeId, direction: Direction) -> impl Iterator<Item = (ValueId, Link)> + '_ {
        let vertex = self.index.vertex(node);
        self.index.graph.edges_directed(vertex, direction).filter_map(move |edge| {
            visited::count();
            let other = if direction == Direction::Incoming { edge.source() } else { edge.target() };
            self.index.value_at(other).map(|value| (value, *edge.weight()))
        })
    }

    /// The consumers of a value: node and index of the input, in any scope where the value is visible. The order is
    /// unspecified.
    pub fn uses(&self, value: ValueId) -> impl Iterator<Item = (NodeId, u32)> + '_ {
        self.index.graph.edges_directed(self.index.value(value).vertex, Direction::Outgoing).filter_map(|edge| {
            visited::count();
            match (edge.weight(), &self.index.graph[edge.target()]) {
                (Link::Input(index), Vertex::Node(node)) => Some((*node, *index)),
                _ => None,
            }
        })
    }

    /// The scopes that return a value as an output.
    #[must_use]
    pub fn output_of(&self, value: ValueId) -> &[ScopeId] {
        self.index.output_of.get(&value).map_or(&[], Vec::as_slice)
    }

    /// Why a value must be kept even if no node consumes it.
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

    /// All values of all scopes.
    pub fn values(&self) -> impl Iterator<Item = ValueId> + '_ {
        (0..self.index.values.len() as u32).map(ValueId)
    }

    /// An upper bound of the indices of values.
    #[must_use]
    pub fn value_bound(&self) -> usize {
        self.index.values.len()
    }

    /// The initializer of a value, overridable or not.
    #[must_use]
    pub fn initializer(&self, value: ValueId) -> Option<&TensorProto> {
        match (self.origin(value), self.body(self.scope_of(value))) {
            (Origin::Initializer { index, .. }, Body::Graph(graph)) => graph.initializer.get(index as usize),
            _ => None,
        }
    }

    /// The opset of a domain that a scope is written in: a function imports its own opsets, any other scope uses the model's. A
    /// model of IR 1 or 2 has no imports and is written in opset 1.
    #[must_use]
    pub fn opset(&self, scope: ScopeId, domain: &str) -> Option<i64> {
        let root = self.root(scope);
        let stated = self.index.opsets.get(&root).and_then(|opsets| opsets.get(domain_name(domain)).copied());
        match self.body(root) {
            Body::Graph(_) if self.ir_version() < OPSET_IMPORT && self.proto().opset_import.is_empty() => Some(1),
            Body::Graph(_) | Body::Function(_) => stated,
        }
    }

    /// The outermost enclosing scope.
    #[must_use]
    pub fn root(&self, scope: ScopeId) -> ScopeId {
        root(&self.index.kinds, scope)
    }

    /// The model's IR version; zero if it is missing.
    #[must_use]
    pub fn ir_version(&self) -> i64 {
        self.proto().ir_version()
    }

    /// Whether a value's name is also defined in an enclosing scope. ONNX forbids that, and runtimes differ in the definition
    /// that they use.
    #[must_use]
    pub fn shadows(&self, value: ValueId) -> bool {
        self.enclosing(self.scope_of(value)).is_some_and(|outer| self.lookup(outer, self.name(value)).is_some())
    }

    /// The value that a name refers to at the end of a scope.
    #[must_use]
    pub fn lookup(&self, scope: ScopeId, name: &str) -> Option<ValueId> {
        self.index.lookup(scope, name)
    }

    /// The declared type of a value: from an input, an output, `value_info`, or its initializer.
    #[must_use]
    pub fn declared_type(&self, value: ValueId) -> Option<DType> {
        if let Some(tensor) = self.initializer(value) {
            return DType::from_number(tensor.data_type());
        }
        self.declared(value).and_then(|info| info.r#type.as_ref()).and_then(tensor_type)
    }

    /// The protobuf message that declares a value's type.
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

/// Counts the edges that queries visit, so that tests can tell linear work from quadratic work.
#[cfg(test)]
pub(crate) mod visited {
    use std::cell::Cell;

    thread_local!(static EDGES: Cell<u64> = const { Cell::new(0) });

    pub(super) fn count() {
        EDGES.set(EDGES.get() + 1);
    }

    /// The edges that this thread visits during some work.
    pub(crate) fn during(work: impl FnOnce()) -> u64 {
        let before = EDGES.get();
        work();
        EDGES.get() - before
    }
}

#[cfg(not(test))]
mod visited {
    pub(super) fn count() {}
}

/// The element type of a dense tensor type.
#[must_use]
pub fn tensor_type(proto: &TypeProto) -> Option<DType> {
    match &proto.value {
        Some(type_proto::Value::TensorType(tensor)) => DType::from_number(tensor.elem_type()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::onnx_text;

    fn model(text: &str) -> Model {
        Model::new(onnx_text::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn inputs_and_outputs_are_found_by_index_in_constant_time() {
        let visits = |many: usize| {
            let names = |letter: char| (0..many).map(|index| format!("{letter}{index}")).collect::<Vec<_>>().join(", ");
            let (inputs, outputs) = (names('a'), names('b'));
            let model = model(&format!("<ir_version: 10> g ({inputs}) => ({outputs}) {{ {outputs} = Op ({inputs}, \"\", a0) }}"));
            let node = model.nodes(ScopeId::MAIN).next().unwrap();
            visited::during(|| {
                for index in 0..many as u32 {
                    assert_eq!(model.input(node, index).map(|value| model.name(value)), Some(format!("a{index}").as_str()));
                    assert_eq!(model.output(node, index).map(|value| model.name(value)), Some(format!("b{index}").as_str()));
                }
                let many = many as u32;
                assert_eq!([many, many + 2, u32::MAX].map(|index| model.input(node, index)), [None; 3]);
                assert_eq!(model.input(node, many + 1), model.input(node, 0));
                assert_eq!(model.output(node, many), None);
            })
        };
        assert!(visits(8) > 0, "edges are counted");
        assert_eq!([visits(500), visits(1000)], [0, 0]);
    }

    #[test]
    fn a_wide_node_in_a_subgraph_uses_outer_and_later_values() {
        let inputs = |name: &str| {
            (0..20).map(|index| if index == 7 { name.to_owned() } else { "x".to_owned() }).collect::<Vec<_>>().join(", ")
        };
        let model = model(&format!(
            "<ir_version: 10> g (x, c) => (y) {{
                y = If (c) <then_branch = t () => (p) {{ p = Op ({}) q = Neg (x) }}, else_branch = e () => (r) {{ r = Op ({}) }}>
                z = Neg (x)
            }}",
            inputs("q"),
            inputs("missing"),
        ));
        let names = model.scopes().flat_map(|scope| model.nodes(scope)).filter(|&node| model.node(node).op_type() == "Op");
        let found: Vec<_> = names.map(|node| [6, 7].map(|index| model.input(node, index).map(|value| model.name(value)))).collect();
        assert_eq!(found, [[Some("x"), Some("q")], [Some("x"), Some("missing")]]);
    }
}
