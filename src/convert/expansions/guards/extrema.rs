//! `ReduceMax` and `ReduceMin` of infinities.

use super::super::{fill, type_of};
use crate::convert::context::Context;
use crate::convert::reason::Reason;

/// Where every element is the infinity with which a reduction begins, or there is none, the result
/// is that infinity.
///
/// OpenVINO begins with the lowest number for `ReduceMax`, and with the highest for `ReduceMin`. A
/// mask of attention is -infinity where nothing is attended to.
pub(super) fn with_infinities(cx: &Context) -> Result<String, Reason> {
    let end = if cx.schema.name == "ReduceMax" {
        "-inf"
    } else {
        "inf"
    };
    let mut attributes = vec![format!("keepdims: int = {}", cx.int_or("keepdims", 1)?)];
    let has_input = cx.input(1).is_some();
    if cx.to >= 18 {
        let keeps = cx.int_or("noop_with_empty_axes", 0)?;
        attributes.push(format!("noop_with_empty_axes: int = {keeps}"));
    } else if let Some(axes) = cx.ints("axes")? {
        attributes.push(format!("axes: ints = [{}]", super::super::list(axes)));
    }
    let body = "
        end = Constant <value = $T {$end}> ()
        zero = Constant <value = int32 {0}> ()
        plain = $op <$attributes> (data$axes)
        is_end = Equal (data, end)
        is_other = Not (is_end)
        other = Cast <to: int = 6> (is_other)
        others = ReduceMax <$attributes> (other$axes)
        has_others = Greater (others, zero)
        reduced = Where (has_others, plain, end)";
    Ok(fill(
        body,
        &[
            ("T", &type_of(cx, 0)?),
            ("end", &end),
            ("op", &cx.schema.name),
            ("attributes", &attributes.join(", ")),
            ("axes", &if has_input { ", axes" } else { "" }),
        ],
    ))
}
