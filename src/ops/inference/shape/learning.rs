//! Normalization, recurrent networks, losses.

use super::dims::{ONE, Shapes, from_front, size};
use crate::ops::inference::known::{Dim, Dims};
use crate::ops::inference::length::Length;
use crate::ops::inference::view::View;

pub(super) fn shapes(view: &View) -> Option<Shapes> {
    let input = || view.shape(0).cloned();
    let channels = || Some(vec![view.dim(0, 1)]);
    Some(match view.schema.name {
        "BatchNormalization" => vec![input(), channels(), channels(), channels(), channels()],
        "GroupNormalization" | "InstanceNormalization" | "RMSNormalization" => vec![input()],
        "LayerNormalization" => vec![input(), statistics(view), statistics(view)],
        "SimplifiedLayerNormalization" => vec![input(), statistics(view)],
        "GRU" | "RNN" => recurrent(view, 1),
        "LSTM" => recurrent(view, 2),
        "NegativeLogLikelihoodLoss" => vec![loss(view)],
        "SoftmaxCrossEntropyLoss" => vec![loss(view), input()],
        _ => return None,
    })
}

/// Mean and deviation have one element for each normalized part.
fn statistics(view: &View) -> Option<Dims> {
    let shape = view.shape(0)?;
    let axis = from_front(view.int_or("axis", -1)?, shape.len())?;
    Some(
        shape
            .iter()
            .enumerate()
            .map(|(index, &dim)| if index < axis { dim } else { ONE })
            .collect(),
    )
}

fn loss(view: &View) -> Option<Dims> {
    match view.attribute("reduction") {
        Some(reduction) if reduction?.s() == b"none" => view.shape(1).cloned(),
        _ => Some(Vec::new()),
    }
}

fn recurrent(view: &View, states: usize) -> Shapes {
    let dim = |axis: usize| view.dim(0, axis);
    let directions: Dim = match view.attribute("direction") {
        None => ONE,
        Some(direction) => direction.and_then(|direction| {
            size(if direction.s() == b"bidirectional" {
                2
            } else {
                1
            })
        }),
    };
    let hidden = view
        .attribute("hidden_size")
        .flatten()
        .map(|hidden| Length::Size(hidden.i()));
    let layout = view.int_or("layout", 0);
    let (all, last) = match layout {
        Some(0) => (
            vec![dim(0), directions, dim(1), hidden],
            vec![directions, dim(1), hidden],
        ),
        Some(_) => (
            vec![dim(0), dim(1), directions, hidden],
            vec![dim(0), directions, hidden],
        ),
        None => (vec![None; 4], vec![None; 3]),
    };
    std::iter::once(Some(all))
        .chain(std::iter::repeat_n(Some(last), states))
        .collect()
}
