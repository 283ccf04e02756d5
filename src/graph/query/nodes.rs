//! Queries of nodes.

use petgraph::Direction;
use petgraph::visit::EdgeRef;

use super::visited;
use crate::base::error::ModelPlace;
use crate::graph::index::{Link, ValueId};
use crate::graph::model::Model;
use crate::graph::scope::{NodeId, ScopeId, ScopeKind, node_path, node_place};
use crate::protobuf::schema::NodeProto;

/// # Nodes, and the values that they consume and produce
impl Model {
    /// The ids of a scope's nodes in order.
    pub fn nodes(&self, scope: ScopeId) -> impl ExactSizeIterator<Item = NodeId> + use<> {
        (0..self.index.nodes[scope.0 as usize].len() as u32)
            .map(move |position| NodeId { scope, position })
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

    /// The path of a node in errors and reports: `graph/if_1.then_branch/cast_3`; `graph/#12:Cast`
    /// if the node has no name.
    #[must_use]
    pub fn node_path(&self, node: NodeId) -> String {
        node_path(&self.proto, &self.index.kinds, node)
    }

    /// The place of a node in errors.
    #[must_use]
    pub(crate) fn node_place(&self, node: NodeId) -> ModelPlace {
        node_place(&self.proto, &self.index.kinds, node)
    }

    /// The value of a node's input at this index; `None` if the input is omitted.
    #[must_use]
    pub fn input(&self, node: NodeId, index: u32) -> Option<ValueId> {
        match self.index.wide.get(&node) {
            Some(wide) => wide.inputs.get(index as usize).copied().flatten(),
            None => self
                .inputs(node)
                .find(|&(at, _)| at == index)
                .map(|(_, value)| value),
        }
    }

    /// The values that a node consumes, with the index of the input. A value that is used twice
    /// occurs twice. The order is unspecified.
    pub fn inputs(&self, node: NodeId) -> impl Iterator<Item = (u32, ValueId)> + '_ {
        self.links(node, Direction::Incoming)
    }

    /// The value of a node's output at this index; `None` if the output is omitted.
    #[must_use]
    pub fn output(&self, node: NodeId, index: u32) -> Option<ValueId> {
        match self.index.wide.get(&node) {
            Some(wide) => wide.outputs.get(index as usize).copied().flatten(),
            None => self
                .outputs(node)
                .find(|&(at, _)| at == index)
                .map(|(_, value)| value),
        }
    }

    /// The values that a node produces, with the index of the output. The order is unspecified.
    pub fn outputs(&self, node: NodeId) -> impl Iterator<Item = (u32, ValueId)> + '_ {
        self.links(node, Direction::Outgoing)
    }

    /// The values of a node's inputs, which are incoming, or outputs, with their indices.
    fn links(
        &self,
        node: NodeId,
        direction: Direction,
    ) -> impl Iterator<Item = (u32, ValueId)> + '_ {
        let vertex = self.index.vertex(node);
        self.index
            .graph
            .edges_directed(vertex, direction)
            .filter_map(move |edge| {
                visited::count();
                let other = if direction == Direction::Incoming {
                    edge.source()
                } else {
                    edge.target()
                };
                match *edge.weight() {
                    Link::Input(index) | Link::Output(index) => {
                        self.index.value_at(other).map(|value| (index, value))
                    }
                    Link::Capture => None,
                }
            })
    }

    /// The nodes whose subgraphs contain a scope, innermost first.
    pub(crate) fn owners(&self, scope: ScopeId) -> impl Iterator<Item = NodeId> {
        let owner = |scope| match self.scope_kind(scope) {
            ScopeKind::Subgraph { owner, .. } => Some(owner),
            _ => None,
        };
        std::iter::successors(owner(scope), move |outer| owner(outer.scope))
    }

    /// A node, and the nodes in whose subgraphs it is, innermost first.
    pub(crate) fn with_owners(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::once(node).chain(self.owners(node.scope))
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
            let names = |letter: char| {
                (0..many)
                    .map(|index| format!("{letter}{index}"))
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            let (inputs, outputs) = (names('a'), names('b'));
            let model = model(&format!(
                "<ir_version: 10> g ({inputs}) => ({outputs}) {{ {outputs} = Op ({inputs}, \"\", a0) }}"
            ));
            let node = model.nodes(ScopeId::MAIN).next().unwrap();
            visited::during(|| {
                for index in 0..many as u32 {
                    assert_eq!(
                        model.input(node, index).map(|value| model.name(value)),
                        Some(format!("a{index}").as_str())
                    );
                    assert_eq!(
                        model.output(node, index).map(|value| model.name(value)),
                        Some(format!("b{index}").as_str())
                    );
                }
                let many = many as u32;
                assert_eq!(
                    [many, many + 2, u32::MAX].map(|index| model.input(node, index)),
                    [None; 3]
                );
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
            (0..20)
                .map(|index| {
                    if index == 7 {
                        name.to_owned()
                    } else {
                        "x".to_owned()
                    }
                })
                .collect::<Vec<_>>()
                .join(", ")
        };
        let model = model(&format!(
            "<ir_version: 10> g (x, c) => (y) {{
                y = If (c) <then_branch = t () => (p) {{ p = Op ({}) q = Neg (x) }}, else_branch = e () => (r) {{ r = Op ({}) }}>
                z = Neg (x)
            }}",
            inputs("q"),
            inputs("missing"),
        ));
        let names = model
            .scopes()
            .flat_map(|scope| model.nodes(scope))
            .filter(|&node| model.node(node).op_type() == "Op");
        let found: Vec<_> = names
            .map(|node| [6, 7].map(|index| model.input(node, index).map(|value| model.name(value))))
            .collect();
        assert_eq!(
            found,
            [[Some("x"), Some("q")], [Some("x"), Some("missing")]]
        );
    }
}
