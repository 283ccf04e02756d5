//! Infers the shapes of a node's outputs, one file per family of operators. An adapter that
//! requires an unknown shape reports that; no rule here guesses.
//!
//! A rule gives the shapes that follow from the inputs, shorter than the outputs if the rest is
//! unknown; none if it does not know the operator.

mod convolution;
mod dims;
mod elementwise;
mod indexing;
mod layout;
mod learning;
mod matrix;
mod models;
mod reduction;
mod values;

pub(in crate::ops) use dims::from_front;
pub(super) use dims::product;
pub(super) use elementwise::broadcast_known;
pub(crate) use elementwise::broadcasts;
pub(super) use layout::slice_range;
pub(super) use matrix::multiplied;
pub(super) use values::{range_length, shape_range};

use super::view::View;
use dims::Shapes;

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

/// The shapes of a node's outputs that follow from its inputs; shorter than the outputs if the rest
/// is unknown.
pub(super) fn output_shapes(view: &View) -> Shapes {
    match view.schema.domain {
        "" => FAMILIES
            .iter()
            .find_map(|family| family(view))
            .unwrap_or_default(),
        "ai.onnx.ml" => models::shapes(view).unwrap_or_default(),
        _ => Vec::new(),
    }
}
