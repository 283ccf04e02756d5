//! The casts of a model, with their types. Lint rules report them, and passes rewrite them.

mod cast;
pub mod folding;
mod moves;

use std::cell::OnceCell;

use crate::graph::{Model, NodeId, TypeSource, ValueId};
use crate::ops::inference::{Inferred, infer};
use onnx_cast::DType;

pub use cast::{CastPair, ResolvedCast};
pub use moves::{admits, keeps_kernels, keeps_kernels_of_cast, moves, runs};

/// The valid casts of a model whose types are known.
#[derive(Debug)]
pub struct Casts<'m> {
    model: &'m Model,
    inferred: OnceCell<Inferred>,
    /// In document order, which is that of the nodes' ids.
    casts: Vec<ResolvedCast<'m>>,
}

impl<'m> Casts<'m> {
    /// Reads the casts of a model.
    #[must_use]
    pub fn of(model: &'m Model) -> Casts<'m> {
        let mut casts = Casts {
            model,
            inferred: OnceCell::new(),
            casts: Vec::new(),
        };
        casts.casts = cast_nodes(model)
            .filter_map(|node| read_cast(&casts, node))
            .collect();
        // A declaration of the result of a cast may be wrong.
        let made: Vec<_> = casts
            .iter()
            .map(|cast| casts.producing(cast.input).map(|first| first.to))
            .collect();
        casts
            .casts
            .iter_mut()
            .zip(made)
            .for_each(|(cast, made)| cast.from = made.or(cast.from));
        casts
    }

    /// The casts, in document order.
    pub fn iter(&self) -> std::slice::Iter<'_, ResolvedCast<'m>> {
        self.casts.iter()
    }

    /// The casts, each after the producers of its inputs.
    #[must_use]
    pub fn in_topological_order(&self) -> Vec<&ResolvedCast<'m>> {
        let order = self.model.topological_order().iter();
        order.filter_map(|&node| self.at(node)).collect()
    }

    /// The index in document order of the cast that is this node.
    #[must_use]
    pub fn index(&self, node: NodeId) -> Option<usize> {
        self.casts
            .binary_search_by_key(&node, |cast| cast.node)
            .ok()
    }

    fn at(&self, node: NodeId) -> Option<&ResolvedCast<'m>> {
        self.index(node).map(|index| &self.casts[index])
    }

    /// The cast that produces a value.
    #[must_use]
    pub fn producing(&self, value: ValueId) -> Option<&ResolvedCast<'m>> {
        self.at(self.model.producer(value)?)
    }

    /// The casts of the results of other casts, in document order.
    pub fn cast_pairs(&self) -> impl Iterator<Item = CastPair<'_, 'm>> {
        self.iter().filter_map(|second| {
            let first = self.producing(second.input)?;
            Some(CastPair {
                from: first.from?,
                first,
                second,
            })
        })
    }

    /// The element type of a value, if the model declares it or it can be inferred.
    #[must_use]
    pub fn dtype(&self, value: ValueId) -> Option<DType> {
        self.model
            .element_type(value)
            .or_else(|| self.inferred().of(value).dtype())
    }

    /// The types and shapes inferred for the values of the model.
    #[must_use]
    pub fn inferred(&self) -> &Inferred {
        self.inferred.get_or_init(|| infer(self.model))
    }
}

/// Every `Cast` and `CastLike`, valid or not, in document order.
pub fn cast_nodes(model: &Model) -> impl Iterator<Item = NodeId> + use<'_> {
    let nodes = model.scopes().flat_map(|scope| model.nodes(scope));
    nodes.filter(|&node| model.is_cast(node))
}

fn read_cast<'m>(casts: &Casts<'m>, node: NodeId) -> Option<ResolvedCast<'m>> {
    let model = casts.model;
    let cast = model.cast_node(node).ok()?;
    let to = match cast.to {
        TypeSource::Attribute(to) => to,
        TypeSource::Like(like) => casts.dtype(like)?,
    };
    Some(ResolvedCast {
        node,
        proto: model.node(node),
        opset: model.opset(node.scope, "")?,
        input: cast.input,
        output: cast.output,
        from: casts.dtype(cast.input),
        to,
        saturate: cast.saturate,
        round_mode: cast.round_mode,
    })
}
