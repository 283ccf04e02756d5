//! Guards: nodes around an operator that make a runtime compute what ONNX defines.
//!
//! The body of a guard is in the opset that the node is converted to, or in a newer one from which
//! it is converted. If it contains the operator, the runtime has to compute it right in this form:
//! the node says so in its doc string, which a second conversion and `lint` read.

mod apart;
mod extrema;
mod fourier;
mod order;
mod overlap;
mod resize;
mod saturation;
mod shift;
mod tile;
mod windows;

use super::{Expansion, by_definition, exact};

/// The opset of bodies whose operators have axes as inputs.
const WITH_AXES: i64 = 13;

pub(super) const GUARDS: &[Expansion] = &[
    exact("Add Div Log Mul Reshape Sub", 7, apart::apart).kept_whole(),
    exact("BitShift", 11, shift::shifted),
    exact("Cast CastLike", 19, saturation::saturated),
    exact("DFT", 20, fourier::along_axis_one),
    exact("MaxPool", 10, windows::padded),
    by_definition("NonMaxSuppression", 10, overlap::beyond_threshold).in_opset(WITH_AXES),
    exact("ReduceMax ReduceMin", 1, extrema::with_infinities).in_opset(WITH_AXES),
    by_definition("Resize", 11, resize::aligned).in_opset(WITH_AXES),
    exact("Tile", 6, tile::expanded).in_opset(WITH_AXES),
    exact("TopK", 1, order::stable).in_opset(WITH_AXES),
];
