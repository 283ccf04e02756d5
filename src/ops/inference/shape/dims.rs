//! Dimensions and shapes, as all families need them.

use crate::ops::inference::known::{Dim, Dims};
use crate::ops::inference::length::Length;

/// Shapes by output.
pub(super) type Shapes = Vec<Option<Dims>>;

/// A dimension of one.
pub(super) const ONE: Dim = Some(Length::Size(1));

/// A dimension of this length.
pub(super) fn size(length: usize) -> Dim {
    i64::try_from(length).ok().map(Length::Size)
}

/// `axis` as a non-negative index.
pub(in crate::ops) fn from_front(axis: i64, rank: usize) -> Option<usize> {
    let rank = i64::try_from(rank).ok()?;
    let axis = if axis < 0 {
        axis.checked_add(rank)?
    } else {
        axis
    };
    usize::try_from(axis).ok().filter(|_| axis < rank)
}

/// A shape of this rank.
pub(super) fn of_rank(rank: usize) -> Dims {
    vec![None; rank]
}

/// The shape to which two shapes broadcast.
pub(super) fn broadcast(left: &[Dim], right: &[Dim]) -> Dims {
    let rank = left.len().max(right.len());
    let dim = |shape: &[Dim], index: usize| {
        (index + shape.len())
            .checked_sub(rank)
            .map_or(ONE, |index| shape[index])
    };
    (0..rank)
        .map(|index| joined(dim(left, index), dim(right, index)))
        .collect()
}

/// The dimension to which two dimensions broadcast: they are equal, or one of them is 1.
pub(super) fn joined(left: Dim, right: Dim) -> Dim {
    match (left, right) {
        (ONE, other) | (other, ONE) => other,
        (size @ Some(Length::Size(_)), _) | (_, size @ Some(Length::Size(_))) => size,
        (left, right) => left.filter(|_| left == right),
    }
}

/// The product of dimensions.
pub(in crate::ops::inference) fn product(dims: &[Dim]) -> Dim {
    if dims.contains(&Some(Length::Size(0))) {
        return Some(Length::Size(0));
    }
    dims.iter()
        .copied()
        .try_fold(Length::Size(1), |product, dim| product.checked_mul(dim?))
}
