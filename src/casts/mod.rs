//! The casts of a model, with their types. Lint rules report them, and passes rewrite them.

mod cast;
pub mod folding;
mod moves;

use std::cell::OnceCell;

use crate::base::hash::HashMap;
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
    casts: Vec<ResolvedCast<'m>>,
    /// By result: the index of the cast.
    by_output: HashMap<ValueId, usize>,
}

impl<'m> Casts<'m> {
    /// Reads the casts of a model.
    #[must_use]
    pub fn of(model: &'m Model) -> Casts<'m> {
        let mut casts = Casts {
            model,
            inferred: OnceCell::new(),
            casts: Vec::new(),
            by_output: HashMap::default(),
        };
        casts.casts = cast_nodes(model)
            .filter_map(|node| read_cast(&casts, node))
            .collect();
        casts.by_output = casts
            .iter()
            .enumerate()
            .filter_map(|(index, cast)| Some((cast.output?, index)))
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
        let by_node: HashMap<NodeId, &ResolvedCast> =
            self.iter().map(|cast| (cast.node, cast)).collect();
        self.model
            .topological_order()
            .iter()
            .filter_map(|node| by_node.get(node).copied())
            .collect()
    }

    /// The cast that produces a value.
    #[must_use]
    pub fn producing(&self, value: ValueId) -> Option<&ResolvedCast<'m>> {
        self.by_output.get(&value).map(|&index| &self.casts[index])
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
