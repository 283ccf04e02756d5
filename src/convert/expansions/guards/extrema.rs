//! `ReduceMax` and `ReduceMin`.

use super::super::{fill, type_of};
use super::reduction::{apart_from_next, plain_form};
use crate::convert::context::Context;
use crate::convert::reason::Reason;
use onnx_cast::Class;

/// Of floats with infinities, and of integers apart from the node behind it.
pub(super) fn as_defined(cx: &Context) -> Result<String, Reason> {
    if cx.dtype(0)?.class() == Class::Float {
        with_infinities(cx)
    } else {
        apart_from_next(cx)
    }
}

/// Where every element is the infinity with which a reduction begins, or there is none, the result
/// is that infinity.
///
/// OpenVINO begins with the lowest number for `ReduceMax`, and with the highest for `ReduceMin`. A
/// mask of attention is -infinity where nothing is attended to.
fn with_infinities(cx: &Context) -> Result<String, Reason> {
    let end = if cx.schema.name == "ReduceMax" {
        "-inf"
    } else {
        "inf"
    };
    let form = plain_form(cx)?;
    let body = "
        $constant
        end = Constant <value = $T {$end}> ()
        zero = Constant <value = int32 {0}> ()
        plain = $op (data$axes)
        is_end = Equal (data, end)
        is_other = Not (is_end)
        other = Cast <to: int = 6> (is_other)
        others = $max (other$axes)
        has_others = Greater (others, zero)
        reduced = Where (has_others, plain, end)";
    Ok(fill(
        body,
        &[
            ("constant", &form.constant),
            ("T", &type_of(cx, 0)?),
            ("end", &end),
            ("op", &form.op),
            ("max", &form.op.replace("ReduceMin", "ReduceMax")),
            ("axes", &form.axes),
        ],
    ))
}
