//! Operators that a runtime computes by powers of e that are infinite or zero for large numbers.

use super::super::{axes_from, fill, list, type_of};
use super::reduction::{along_pairs, axes, expect_highest};
use crate::convert::context::Context;
use crate::convert::reason::Reason;
use onnx_cast::DType;

/// The opset of the bodies: all reductions have axes as an input.
pub(super) const OPSET: i64 = 18;

/// The numbers beyond which `Tanh` is 1 in every type.
const MOST_OF_TANH: &str = "20";

/// `Tanh` of numbers that are limited, which has the same result.
///
/// OpenCV divides by the sum of e^2x and 1, and gives NaN if that is infinite, from 45 on.
pub(super) fn limited(cx: &Context) -> Result<String, Reason> {
    let body = "
        highest = Constant <value = $T {$most}> ()
        lowest = Constant <value = $T {-$most}> ()
        above = Max (input, lowest)
        within = Min (above, highest)
        output = Tanh (within)";
    let parameters: &[(&str, &dyn std::fmt::Display)] =
        &[("T", &type_of(cx, 0)?), ("most", &MOST_OF_TANH)];
    Ok(fill(body, parameters))
}

/// `Softplus` of numbers up to a limit, from which on it is its input: the rest is less than half a
/// step of the type.
///
/// OpenCV and tract compute the logarithm of e^x + 1, which is infinite from 89 on, or in FLOAT16
/// from 12 on.
pub(super) fn linear(cx: &Context) -> Result<String, Reason> {
    let limit = match cx.dtype(0)? {
        DType::Float16 => "10",
        _ => "40",
    };
    let body = "
        limit = Constant <value = $T {$limit}> ()
        low = Min (X, limit)
        curve = Softplus (low)
        Y = Max (X, curve)";
    let parameters: &[(&str, &dyn std::fmt::Display)] =
        &[("T", &type_of(cx, 0)?), ("limit", &limit)];
    Ok(fill(body, parameters))
}

/// `LogSoftmax` by its definition: the difference from the largest number, and from the logarithm
/// of the sum of its powers.
///
/// OpenCV and tract compute the logarithm of Softmax, which is -infinity where that is zero. OpenCV
/// takes the nodes of the definition for `LogSoftmax` if a `Sub` is the last one.
pub(super) fn log_of_sum(cx: &Context) -> Result<String, Reason> {
    let axes = if cx.schema.since_version >= 13 {
        vec![cx.int_or("axis", -1)?]
    } else {
        let axes = axes_from(cx, cx.int_or("axis", 1)?)?;
        axes.split(", ")
            .filter_map(|axis| axis.parse().ok())
            .collect()
    };
    let largest = along_pairs("ReduceMax", "input", "largest", &axes);
    let sum = along_pairs("ReduceSum", "powers", "sum", &axes);
    Ok(format!(
        "{largest}
         shifted = Sub (input, largest)
         powers = Exp (shifted)
         {sum}
         logarithm = Log (sum)
         rest = Neg (logarithm)
         output = Add (shifted, rest)"
    ))
}

/// `ReduceLogSumExp` by its definition, with the largest element, so that no power is infinite; one
/// reduction after another, along two axes at most.
///
/// OpenCV and tract compute the logarithm of the sum of the powers, which is infinite from 89 on, or
/// in FLOAT16 from 12 on. OpenCV skips elements of three axes.
pub(super) fn log_sum_exp(cx: &Context) -> Result<String, Reason> {
    let axes = axes(cx)?;
    let highest = expect_highest(cx)?;
    let largest = along_pairs("ReduceMax", "data", "largest", &axes);
    let sum = along_pairs("ReduceSum", "powers", "sum", &axes);
    let end = if cx.int_or("keepdims", 1)? == 0 {
        format!(
            "axes = Constant <value = int64[{}] {{{}}}> ()
             reduced = Squeeze (kept, axes)",
            axes.len(),
            list(&axes)
        )
    } else {
        "reduced = Identity (kept)".to_owned()
    };
    let body = format!(
        "lowest = Constant <value = $T {{-$highest}}> ()
         highest = Constant <value = $T {{$highest}}> ()
         {largest}
         above = Max (largest, lowest)
         finite = Min (above, highest)
         shifted = Sub (data, finite)
         powers = Exp (shifted)
         {sum}
         logarithm = Log (sum)
         kept = Add (logarithm, finite)
         {end}"
    );
    Ok(fill(
        &body,
        &[("T", &type_of(cx, 0)?), ("highest", &highest)],
    ))
}
