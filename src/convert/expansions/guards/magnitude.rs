//! Operators that a runtime computes by powers of e that are infinite or zero for large numbers.

use super::super::{axes_from, fill, type_of};
use super::reduction::kept_along_pairs;
use crate::convert::context::Context;
use crate::convert::reason::Reason;
use onnx_cast::DType;

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
        axes_from(cx, cx.int_or("axis", 1)?)?
    };
    let largest = kept_along_pairs("ReduceMax", "input", "largest", &axes);
    let sum = kept_along_pairs("ReduceSum", "powers", "sum", &axes);
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
