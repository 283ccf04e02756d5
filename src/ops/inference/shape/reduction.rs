//! Reductions over axes.

use super::dims::{ONE, Shapes, from_front, of_rank};
use crate::ops::inference::known::Dims;
use crate::ops::inference::view::View;

pub(super) fn shapes(view: &View) -> Option<Shapes> {
    match view.schema.name {
        name if name.starts_with("Reduce") => Some(vec![reduced(view)]),
        "ArgMax" | "ArgMin" => Some(vec![arg_reduced(view)]),
        _ => None,
    }
}

fn reduced(view: &View) -> Option<Dims> {
    let shape = view.shape(0)?;
    let keeps = view.int_or("keepdims", 1)? != 0;
    let is_empty = view.length(1) == Some(0);
    let given = (view.has_input(1) && !is_empty) || view.attribute("axes").is_some();
    let axes: Vec<usize> = match view.axes() {
        Some(axes) if !axes.is_empty() => axes
            .into_iter()
            .map(|axis| from_front(axis, shape.len()))
            .collect::<Option<_>>()?,
        _ if !given && view.int_or("noop_with_empty_axes", 0)? == 0 => (0..shape.len()).collect(),
        _ if !given => return Some(shape.clone()),
        _ if keeps => return Some(of_rank(shape.len())),
        _ => {
            let count = view.length(1).filter(|&count| count > 0)?;
            return Some(of_rank(shape.len().checked_sub(count)?));
        }
    };
    without_axes(shape, &axes, keeps)
}

fn without_axes(shape: &Dims, axes: &[usize], keeps: bool) -> Option<Dims> {
    let dim = |index: usize| {
        if axes.contains(&index) {
            keeps.then_some(ONE)
        } else {
            Some(shape[index])
        }
    };
    Some((0..shape.len()).filter_map(dim).collect())
}

fn arg_reduced(view: &View) -> Option<Dims> {
    let shape = view.shape(0)?;
    let axis = from_front(view.int_or("axis", 0)?, shape.len())?;
    without_axes(shape, &[axis], view.int_or("keepdims", 1)? != 0)
}
