//! Operators that create tensors, and those on strings and sequences.

use super::dims::{Shapes, of_rank, size};
use crate::graph::ConstantValue;
use crate::ops::inference::known::{Dim, Dims, is_kept, sizes};
use crate::ops::inference::length::Length;
use crate::ops::inference::view::View;
use crate::ops::readings;

pub(super) fn shapes(view: &View) -> Option<Shapes> {
    let shape = match view.schema.name {
        "BlackmanWindow" | "HammingWindow" | "HannWindow" => Some(vec![view.value(0)]),
        "Constant" => constant(view),
        "ConstantOfShape" => view.values_or_unknown(0),
        "ImageDecoder" => Some(of_rank(3)),
        "MelWeightMatrix" => Some(of_rank(2)),
        "Multinomial" => Some(vec![view.dim(0, 0), view.size_or("sample_size", 1)]),
        "OptionalHasElement" | "SequenceLength" | "Size" => Some(Vec::new()),
        "RandomNormal" | "RandomUniform" => view
            .ints("shape")
            .filter(|dims| is_kept(dims.len()))
            .map(sizes),
        "Range" => Some(vec![range(view)]),
        "StringNormalizer" | "TfIdfVectorizer" => view.rank(0).map(of_rank),
        "Shape" => Some(vec![dims(view)]),
        _ => return None,
    };
    Some(vec![shape])
}

fn constant(view: &View) -> Option<Dims> {
    let dims = ConstantValue::of_node(view.node).ok()?.dims()?;
    is_kept(dims.len()).then(|| sizes(&dims))
}

fn dims(view: &View) -> Dim {
    let rank = view.rank(0)?;
    let (start, end) = shape_range(view, rank)?;
    size(end - start)
}

/// Which dimensions `Shape` gives.
pub(in crate::ops::inference) fn shape_range(view: &View, rank: usize) -> Option<(usize, usize)> {
    let wide = i64::try_from(rank).ok()?;
    let clamped = |index: i64| {
        usize::try_from(
            if index < 0 {
                index.saturating_add(wide)
            } else {
                index
            }
            .clamp(0, wide),
        )
        .ok()
    };
    let start = clamped(view.int_or("start", 0)?)?;
    let end = clamped(view.int_or("end", wide)?)?;
    Some((start, end.max(start)))
}

fn range(view: &View) -> Dim {
    match (view.value(0)?, view.value(1)?, view.value(2)?) {
        // A length that is counted is not negative.
        (Length::Size(0), limit @ Length::Symbol(_), Length::Size(1)) => Some(limit),
        (start, limit, delta) => {
            range_length(view, start.size()?, limit.size()?, delta.size()?).map(Length::Size)
        }
    }
}

/// The number of elements of a `Range` of integers.
pub(in crate::ops::inference) fn range_length(
    view: &View,
    start: i64,
    limit: i64,
    delta: i64,
) -> Option<i64> {
    let length = view.choose(readings::range_length(
        [start, limit, delta].map(i128::from),
    )?)?;
    i64::try_from(length).ok()
}
