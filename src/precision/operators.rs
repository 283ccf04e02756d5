//! The operators of the nodes of a model, with what the tables say of them.

use super::policy::is_sensitive;
use super::rules;
use crate::base::hash::HashMap;
use crate::graph::{Model, NodeId};

/// An operator of ai.onnx. For other operators, and for calls of functions, its name is empty, and
/// the tables say nothing.
#[derive(Clone, Copy)]
pub(super) struct Operator<'m> {
    pub name: &'m str,
    /// See [`rules::moves`].
    pub moves: bool,
    /// See [`rules::type_attribute`].
    pub type_attribute: Option<&'static str>,
    /// See [`rules::own`].
    pub own: [&'static [usize]; 2],
    /// See [`is_sensitive`].
    pub is_sensitive: bool,
}

impl Operator<'_> {
    fn of(name: &str) -> Operator<'_> {
        Operator {
            name,
            moves: rules::moves(name),
            type_attribute: rules::type_attribute(name),
            own: rules::own(name),
            is_sensitive: is_sensitive(name),
        }
    }

    /// Whether an input or output keeps its type where its type variable is its own.
    pub fn is_own(&self, is_output: bool, index: usize) -> bool {
        self.own[usize::from(is_output)].contains(&index)
    }
}

/// The operators of the nodes of a model, each looked up once.
pub(super) struct Operators<'m> {
    distinct: Vec<Operator<'m>>,
    /// By scope and position of a node: the index in `distinct`.
    of_nodes: Vec<Vec<u32>>,
}

impl<'m> Operators<'m> {
    pub fn of_model(model: &'m Model) -> Operators<'m> {
        let mut distinct = Vec::new();
        let mut known: HashMap<&str, u32> = HashMap::default();
        let mut index = |node: NodeId| {
            let name = rules::operator(model, node);
            *known.entry(name).or_insert_with(|| {
                distinct.push(Operator::of(name));
                distinct.len() as u32 - 1
            })
        };
        let of_nodes = model
            .scopes()
            .map(|scope| model.nodes(scope).map(&mut index).collect())
            .collect();
        Operators { distinct, of_nodes }
    }

    /// The operator of a node.
    pub fn of(&self, node: NodeId) -> &Operator<'m> {
        &self.distinct[self.index(node)]
    }

    /// The index of a node's operator in [`Operators::distinct`].
    pub fn index(&self, node: NodeId) -> usize {
        self.of_nodes[node.scope.index()][node.position as usize] as usize
    }

    /// The operators, each once.
    pub fn distinct(&self) -> &[Operator<'m>] {
        &self.distinct
    }

    /// Whether a node has one of these operators of ai.onnx.
    pub fn has(&self, names: &[&str]) -> bool {
        self.distinct
            .iter()
            .any(|operator| names.contains(&operator.name))
    }
}
