//! Infers the shapes of a node's outputs, one file per family of operators. An adapter that requires an unknown shape reports that;
//! no rule here guesses.
//!
//! A rule gives the shapes that follow from the inputs, shorter than the outputs if the rest is unknown; none if it does not know the
//! operator.

mod convolution;
mod elementwise;
mod indexing;
mod layout;
mod learning;
mod matrix;
mod models;
mod reduction;
mod values;

pub(super) use layout::slice_length;
pub(super) use values::{range_length, shape_range};

use super::known::{Dim, Shape};
use super::view::View;

/// Shapes by output.
type Shapes = Vec<Option<Shape>>;

const FAMILIES: [fn(&View) -> Option<Shapes>; 8] = [
    elementwise::shapes,
    layout::shapes,
    indexing::shapes,
    reduction::shapes,
    matrix::shapes,
    convolution::shapes,
    learning::shapes,
    values::shapes,
];

/// The shapes of a node's outputs that follow from its inputs; shorter than the outputs if the rest is unknown.
pub(super) fn output_shapes(view: &View) -> Shapes {
    match view.schema.domain {
        "" => FAMILIES.iter().find_map(|family| family(view)).unwrap_or_default(),
        "ai.onnx.ml" => models::shapes(view).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// A dimension of this length.
fn size(length: usize) -> Dim {
    i64::try_from(length).ok()
}

/// `axis` as a non-negative index.
fn from_front(axis: i64, rank: usize) -> Option<usize> {
    let rank = i64::try_from(rank).ok()?;
    let axis = if axis < 0 { axis.checked_add(rank)? } else { axis };
    usize::try_from(axis).ok().filter(|_| axis < rank)
}

/// A shape of this rank.
fn of_rank(rank: usize) -> Shape {
    vec![None; rank]
}

/// The shape to which two shapes broadcast.
pub(super) fn broadcast(left: &[Dim], right: &[Dim]) -> Shape {
    let rank = left.len().max(right.len());
    let dim = |shape: &[Dim], index: usize| (index + shape.len()).checked_sub(rank).map_or(Some(1), |index| shape[index]);
    let join = |index| match (dim(left, index), dim(right, index)) {
        (Some(1), other) | (other, Some(1)) => other,
        (Some(size), _) | (_, Some(size)) => Some(size),
        (None, None) => None,
    };
    (0..rank).map(join).collect()
}

/// The product of dimensions.
fn product(dims: &[Dim]) -> Dim {
    if dims.contains(&Some(0)) {
        return Some(0);
    }
    dims.iter().copied().try_fold(1, |product: i64, dim| product.checked_mul(dim?))
}
