//! Operators that select elements.

use super::dims::{Shapes, from_front, of_rank, size};
use crate::ops::inference::known::Dims;
use crate::ops::inference::length::Length;
use crate::ops::inference::view::View;

pub(super) fn shapes(view: &View) -> Option<Shapes> {
    let shape = match view.schema.name {
        "Compress" => compressed(view),
        "Gather" => gathered(view),
        "GatherElements" => view.shape(1).cloned(),
        "GatherND" => gathered_tuples(view),
        "NonMaxSuppression" => Some(vec![None, size(3)]),
        "NonZero" => Some(vec![
            view.rank(0).filter(|&rank| rank > 0).and_then(size),
            None,
        ]),
        "OneHot" => one_hot(view),
        "TopK" => return Some(vec![top(view); 2]),
        "Unique" => {
            return Some(vec![
                compressed(view),
                Some(vec![None]),
                Some(vec![None]),
                Some(vec![None]),
            ]);
        }
        _ => return None,
    };
    Some(vec![shape])
}

fn gathered(view: &View) -> Option<Dims> {
    let (data, indices) = (view.shape(0)?, view.shape(1)?);
    let axis = from_front(view.int_or("axis", 0)?, data.len())?;
    Some(
        data[..axis]
            .iter()
            .chain(indices)
            .chain(&data[axis + 1..])
            .copied()
            .collect(),
    )
}

fn gathered_tuples(view: &View) -> Option<Dims> {
    let (data, indices) = (view.shape(0)?, view.shape(1)?);
    let batch = usize::try_from(view.int_or("batch_dims", 0)?).ok()?;
    let (count, places) = indices.split_last()?;
    let taken = batch.checked_add(usize::try_from((*count)?.size()?).ok()?)?;
    Some(places.iter().chain(data.get(taken..)?).copied().collect())
}

/// A list, or the shape with an axis whose length depends on the values.
fn compressed(view: &View) -> Option<Dims> {
    match view.attribute("axis") {
        None => Some(vec![None]),
        Some(axis) => {
            let mut shape = view.shape(0)?.clone();
            let axis = from_front(axis?.i(), shape.len())?;
            shape[axis] = None;
            Some(shape)
        }
    }
}

fn one_hot(view: &View) -> Option<Dims> {
    let indices = view.shape(0)?;
    let axis = from_front(view.int_or("axis", -1)?, indices.len() + 1)?;
    let depth = view.value(1);
    Some(
        indices[..axis]
            .iter()
            .chain([&depth])
            .chain(&indices[axis..])
            .copied()
            .collect(),
    )
}

fn top(view: &View) -> Option<Dims> {
    let mut shape = view.shape(0)?.clone();
    let Some(axis) = from_front(view.int_or("axis", -1)?, shape.len()) else {
        return Some(of_rank(shape.len()));
    };
    shape[axis] = match view.schema.attribute("k") {
        Some(_) => view.attribute("k").flatten().map(|k| Length::Size(k.i())),
        None => view.value(1),
    };
    Some(shape)
}
