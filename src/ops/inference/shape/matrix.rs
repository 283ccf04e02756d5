//! Products of matrices, and attention.

use super::dims::{Shapes, broadcast, joined, of_rank};
use crate::ops::inference::known::{Dim, Dims};
use crate::ops::inference::view::View;

pub(super) fn shapes(view: &View) -> Option<Shapes> {
    let shape = match view.schema.name {
        "Attention" => return Some(attention(view)),
        "CausalConvWithState" => return Some(vec![view.shape(0).cloned(), Some(of_rank(3))]),
        "Det" => view
            .shape(0)
            .and_then(|shape| Some(shape[..shape.len().checked_sub(2)?].to_vec())),
        "Einsum" => einsum(view),
        "Gemm" => gemm(view),
        "LinearAttention" => return Some(vec![view.rank(0).map(of_rank), Some(of_rank(4))]),
        "MatMul" | "MatMulInteger" => multiplied(view.shape(0)?, view.shape(1)?),
        "QLinearMatMul" => multiplied(view.shape(0)?, view.shape(3)?),
        "RotaryEmbedding" => view.shape(0).cloned(),
        _ => return None,
    };
    Some(vec![shape])
}

/// The shape of a product of matrices.
pub(in crate::ops::inference) fn multiplied(left: &Dims, right: &Dims) -> Option<Dims> {
    // A vector is a row on the left and a column on the right; its added dimension is removed
    // again.
    let (rows, left) = match left.as_slice() {
        [] => return None,
        [_] => (None, [].as_slice()),
        [batch @ .., rows, _] => (Some(*rows), batch),
    };
    let (columns, right) = match right.as_slice() {
        [] => return None,
        [_] => (None, [].as_slice()),
        [batch @ .., _, columns] => (Some(*columns), batch),
    };
    let mut shape = broadcast(left, right);
    shape.extend(rows.into_iter().chain(columns));
    Some(shape)
}

fn gemm(view: &View) -> Option<Dims> {
    let dim = |input: usize, transposed: &str, axis: usize| -> Dim {
        let axis = if view.flag(transposed)? {
            1 - axis
        } else {
            axis
        };
        view.shape(input).filter(|shape| shape.len() == 2)?[axis]
    };
    Some(vec![dim(0, "transA", 0), dim(1, "transB", 1)])
}

fn attention(view: &View) -> Shapes {
    let query = view.shape(0);
    let output = query.map(|query| match query.as_slice() {
        [batch, heads, length, _] => vec![*batch, *heads, *length, view.dim(2, 3)],
        [batch, length, _] => vec![*batch, *length, None],
        other => of_rank(other.len()),
    });
    vec![output, Some(of_rank(4)), Some(of_rank(4)), Some(of_rank(4))]
}

/// The labels of the output, each with the dimension that an input gives it, and the dimensions of
/// the dots. Nothing is inferred if the rank of an input is unknown.
fn einsum(view: &View) -> Option<Dims> {
    let equation = view.attribute("equation")??;
    let equation: String = String::from_utf8_lossy(equation.s())
        .chars()
        .filter(|character| !character.is_whitespace())
        .collect();
    let (left, right) = match equation.split_once("->") {
        Some((left, right)) => (left, Some(right)),
        None => (equation.as_str(), None),
    };
    let mut dims: Vec<(char, Dim)> = Vec::new();
    let mut dots: Option<Dims> = None;
    let terms: Vec<&str> = left.split(',').collect();
    if terms.len() != view.inputs.len() {
        return None;
    }
    for (index, term) in terms.iter().enumerate() {
        let shape = view.shape(index)?;
        let labels: Vec<char> = term.chars().filter(|&label| label != '.').collect();
        let covered = shape.len().checked_sub(labels.len())?;
        let before = term.find("...").map_or(labels.len(), |dots| {
            term[..dots].chars().filter(|&label| label != '.').count()
        });
        if term.contains("...") {
            let covered = shape[before..before + covered].to_vec();
            dots = Some(dots.map_or(covered.clone(), |dots| broadcast(&dots, &covered)));
        } else if covered != 0 {
            return None;
        }
        for (place, label) in labels.into_iter().enumerate() {
            let dim = if place < before {
                shape[place]
            } else {
                shape[place + covered]
            };
            match dims.iter_mut().find(|(known, _)| *known == label) {
                Some((_, known)) => *known = joined(*known, dim),
                None => dims.push((label, dim)),
            }
        }
    }
    let of_label = |label: char| {
        dims.iter()
            .find(|(known, _)| *known == label)
            .map(|(_, dim)| *dim)
    };
    if let Some(right) = right {
        let at = right.find("...").unwrap_or(right.len());
        let (head, tail) = right.split_at(at);
        let labels = |part: &str| {
            part.chars()
                .filter(|&label| label != '.')
                .map(of_label)
                .collect::<Option<Dims>>()
        };
        let dots = if right.contains("...") {
            dots?
        } else {
            Vec::new()
        };
        Some(
            labels(head)?
                .into_iter()
                .chain(dots)
                .chain(labels(tail)?)
                .collect(),
        )
    } else {
        let once = |label: &char| left.chars().filter(|other| other == label).count() == 1;
        let mut labels: Vec<char> = dims.iter().map(|(label, _)| *label).filter(once).collect();
        labels.sort_unstable();
        Some(
            dots.unwrap_or_default()
                .into_iter()
                .chain(labels.into_iter().filter_map(of_label))
                .collect(),
        )
    }
}
