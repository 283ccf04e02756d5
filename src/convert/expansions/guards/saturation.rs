//! Casts to FLOAT8 that saturate.

use super::super::fill;
use crate::convert::context::Context;
use crate::convert::reason::{Reason, TypeUnsupported};
use onnx_cast::DType;

/// A cast to FLOAT8 with `saturate` = 1, for a runtime that does not saturate, and that rounds FLOAT
/// to FLOAT16 on the way (`casts.txt` of the facts of onnx-operators: OpenVINO).
///
/// NaN is the one without other bits: on some processors, OpenVINO makes numbers of NaN of other
/// bits. Everything else is clipped to the largest finite number, which includes
/// infinities: ONNX's table for `saturate` = 1. A number between the largest one and half a step
/// above it rounds to the largest one too, so clipping does not change its result. The remaining
/// casts cannot overflow: `saturate` has no effect on them.
///
/// Rounding twice differs from rounding once only next to a tie, where it gives the neighbour on the
/// other side. The result is therefore the closest to the number of three candidates: its cast, and
/// the casts of a slightly larger and a slightly smaller number. The differences are exact in FLOAT.
/// The first candidate is preferred: two are equally close only at a tie, which FLOAT16 contains.
pub(super) fn saturated(cx: &Context) -> Result<String, Reason> {
    let (from, to) = (cx.dtype(0)?, cx.output_dtype(0)?);
    let largest = match to {
        DType::Float8E4M3Fn => "448.0",
        DType::Float8E5M2 => "57344.0",
        _ => return Err(unsupported(to)),
    };
    let rounded = match from {
        // Every number of these types has at most the 11 digits of FLOAT16.
        DType::Float16 | DType::Bfloat16 => "rounded = Identity (clipped)",
        DType::Float
        | DType::Int16
        | DType::Uint16
        | DType::Int32
        | DType::Uint32
        | DType::Int64
        | DType::Uint64 => CLOSEST,
        _ => return Err(unsupported(from)),
    };
    let body = format!("{CLIPPED} {rounded} {SATURATED}");
    Ok(fill(&body, &[("largest", &largest), ("to", &to.number())]))
}

fn unsupported(dtype: DType) -> Reason {
    Reason::new(TypeUnsupported, format!("there is no guard for {dtype}"))
}

/// Integers beyond 2^24 are rounded, and exceed the largest number anyway.
const CLIPPED: &str = "
    low = Constant <value = float {-$largest}> ()
    high = Constant <value = float {$largest}> ()
    number = Cast <to = 1> (input)
    is_nan = IsNaN (number)
    clipped = Clip (number, low, high)
";

/// The factors are less than half a step of FLOAT8 from 1, and more than half a step of FLOAT16,
/// also for its numbers near the smallest tie of FLOAT8E5M2, which are subnormal.
const CLOSEST: &str = "
    up = Constant <value = float {1.015625}> ()
    down = Constant <value = float {0.984375}> ()
    code = Cast <to = $to, saturate = 0> (clipped)
    same = Cast <to = 1> (code)
    more = Mul (clipped, up)
    clipped_more = Clip (more, low, high)
    upper_code = Cast <to = $to, saturate = 0> (clipped_more)
    upper = Cast <to = 1> (upper_code)
    less = Mul (clipped, down)
    lower_code = Cast <to = $to, saturate = 0> (less)
    lower = Cast <to = 1> (lower_code)
    from_same = Sub (clipped, same)
    distance = Abs (from_same)
    from_upper = Sub (clipped, upper)
    upper_distance = Abs (from_upper)
    from_lower = Sub (clipped, lower)
    lower_distance = Abs (from_lower)
    is_upper = Less (upper_distance, distance)
    same_or_upper = Where (is_upper, upper, same)
    is_lower = Less (lower_distance, distance)
    rounded = Where (is_lower, lower, same_or_upper)
";

const SATURATED: &str = "
    nan = Constant <value = float {nan}> ()
    saturated = Where (is_nan, nan, rounded)
    output = Cast <to = $to, saturate = 0> (saturated)
";
