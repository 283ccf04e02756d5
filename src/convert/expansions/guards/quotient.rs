//! Quotients of integers.

use super::super::fill;
use crate::convert::context::Context;
use crate::convert::reason::Reason;

/// The quotient of integers of 8 bits, in INT32.
///
/// OpenVINO rounds it to the nearest integer if the shape is not static.
pub(super) fn of_wider(cx: &Context) -> Result<String, Reason> {
    let body = "
        dividend = Cast <to: int = 6> (A)
        divisor = Cast <to: int = 6> (B)
        quotient = Div (dividend, divisor)
        C = Cast <to: int = $to> (quotient)";
    Ok(fill(body, &[("to", &cx.dtype(0)?.number())]))
}
