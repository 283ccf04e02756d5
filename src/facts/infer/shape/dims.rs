//! Dimensions and shapes, as all families need them.

use super::super::known::{Dim, Shape};

/// Shapes by output.
pub(super) type Shapes = Vec<Option<Shape>>;

/// A dimension of this length.
pub(super) fn size(length: usize) -> Dim {
    i64::try_from(length).ok()
}

/// `axis` as a non-negative index.
pub(super) fn from_front(axis: i64, rank: usize) -> Option<usize> {
    let rank = i64::try_from(rank).ok()?;
    let axis = if axis < 0 { axis.checked_add(rank)? } else { axis };
    usize::try_from(axis).ok().filter(|_| axis < rank)
}

/// A shape of this rank.
pub(super) fn of_rank(rank: usize) -> Shape {
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
pub(super) fn product(dims: &[Dim]) -> Dim {
    if dims.contains(&Some(0)) {
        return Some(0);
    }
    dims.iter().copied().try_fold(1, |product: i64, dim| product.checked_mul(dim?))
}
