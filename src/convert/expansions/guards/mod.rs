//! Guards: nodes around an operator that make a runtime compute what ONNX defines.
//!
//! The body of a guard is in the opset that the node is converted to, or in a newer one from which
//! it is converted. If it contains operators that have guards, the runtime has to compute them right
//! in this form: the nodes say so in their doc strings, which a second conversion and `lint` read.

mod apart;
mod batches;
mod extrema;
mod fourier;
mod index;
mod magnitude;
mod narrowing;
mod order;
mod overlap;
mod quotient;
mod reduction;
mod resize;
mod saturation;
mod shift;
mod size;
mod tile;
mod windows;

use super::{Expansion, by_definition, exact};
use crate::convert::adapters::resize_tables;

/// The opset of bodies whose operators have axes as inputs.
const WITH_AXES: i64 = 13;

pub(super) const GUARDS: &[Expansion] = &[
    exact("Add Div Log Mul Reshape Sub", 7, apart::apart)
        .for_runtime("opencv")
        .kept_whole(),
    exact("AveragePool", 1, windows::averaged)
        .in_opset(WITH_AXES)
        .for_runtime("opencv"),
    exact("BitShift", 11, shift::shifted),
    exact("Cast CastLike", 6, narrowing::wrapped)
        .in_opset(WITH_AXES)
        .for_runtime("opencv"),
    exact("Cast CastLike", 19, saturation::saturated),
    exact("Conv", 1, windows::convolved)
        .in_opset(WITH_AXES)
        .for_runtime("opencv"),
    exact("DFT", 20, fourier::along_axis_one),
    exact("Div", 14, quotient::of_wider)
        .in_opset(WITH_AXES)
        .for_runtime("openvino"),
    exact("GatherND ScatterND", 11, index::from_front),
    by_definition("LogSoftmax", 1, magnitude::log_of_sum).in_opset(reduction::OPSET),
    exact("MatMul", 1, batches::repeated)
        .in_opset(WITH_AXES)
        .for_runtime("opencv"),
    exact("MaxPool", 10, windows::padded),
    by_definition("NonMaxSuppression", 10, overlap::beyond_threshold).in_opset(WITH_AXES),
    by_definition("ReduceLogSumExp", 1, reduction::log_sum_exp)
        .in_opset(reduction::OPSET)
        .for_runtime("opencv")
        .for_refused(),
    by_definition("ReduceLogSumExp", 1, reduction::log_sum_exp)
        .in_opset(reduction::OPSET)
        .for_runtime("tract"),
    by_definition(reduction::MOST, 1, reduction::along_two_axes)
        .in_opset(reduction::OPSET)
        .for_runtime("opencv")
        .for_refused(),
    by_definition(
        "ReduceL1 ReduceLogSum ReduceLogSumExp",
        13,
        reduction::by_sum,
    )
    .in_opset(WITH_AXES)
    .for_runtime("openvino"),
    exact(
        "ReduceMean ReduceProd ReduceSum ReduceSumSquare",
        1,
        reduction::apart_from_next,
    )
    .in_opset(reduction::OPSET)
    .for_runtime("openvino"),
    exact("ReduceMax ReduceMin", 1, extrema::as_defined).in_opset(reduction::OPSET),
    by_definition("Resize", 11, resize::without_body)
        .for_runtime("opencv")
        .or_by(resize_tables::as_defined),
    by_definition("Resize", 11, resize::aligned)
        .in_opset(WITH_AXES)
        .or_by(resize_tables::as_defined),
    exact("Size", 1, size::of_dimensions)
        .in_opset(WITH_AXES)
        .for_runtime("opencv"),
    exact("Softplus", 1, magnitude::linear).in_opset(WITH_AXES),
    exact("Tanh", 1, magnitude::limited).in_opset(WITH_AXES),
    exact("Tile", 6, tile::expanded).in_opset(WITH_AXES),
    exact("TopK", 1, order::stable).in_opset(WITH_AXES),
];
