//! `Resize` that aligns the corners of lengths that are not whole numbers.

use super::super::{fill, number};
use crate::convert::context::Context;
use crate::convert::reason::{AttributeUnsupported, Reason};

/// OpenCV computes scales anew from the rounded lengths, whatever the coordinates are.
pub(super) fn without_body(_: &Context) -> Result<String, Reason> {
    Err(Reason::new(
        AttributeUnsupported,
        "its guard needs known lengths",
    ))
}

/// With `asymmetric`, places are multiples of the inverse of a factor. The factor is that by which
/// `align_corners` maps places of the input to those of the length before it is rounded. The input
/// is repeated at its end, which changes no place within it, to be long enough for the result.
///
/// OpenVINO and onnxruntime round the length first. There is no such body for nearest neighbours:
/// places that are computed in another way may be rounded to another neighbour.
pub(super) fn aligned(cx: &Context) -> Result<String, Reason> {
    let mode = cx.string("mode")?.unwrap_or_else(|| "nearest".to_owned());
    let places = cx.string("coordinate_transformation_mode")?;
    let is_other = ["exclude_outside", "antialias"]
        .iter()
        .map(|name| cx.int_or(name, 0))
        .any(|flag| flag != Ok(0));
    if places.as_deref() != Some("align_corners")
        || !matches!(mode.as_str(), "linear" | "cubic")
        || is_other
        || cx.has_attribute("axes")
    {
        return Err(Reason::new(
            AttributeUnsupported,
            "there is no guard for these attributes",
        ));
    }
    let cubic = cx.float("cubic_coeff_a")?.unwrap_or(-0.75);
    let body = "
        one = Constant <value = float {1}> ()
        none = Constant <value = int64 {0}> ()
        dims = Shape (X)
        lengths = Cast <to: int = 1> (dims)
        exact_lengths = Mul (lengths, scales)
        new_lengths = Floor (exact_lengths)
        steps = Sub (lengths, one)
        new_steps = Sub (exact_lengths, one)
        ratio = Div (new_steps, steps)
        is_first = Equal (new_lengths, one)
        ratio_or_one = Where (is_first, one, ratio)
        is_single = Equal (lengths, one)
        factors = Where (is_single, exact_lengths, ratio_or_one)
        is_same = Equal (factors, one)
        repeated = Where (is_same, none, dims)
        starts = Sub (dims, dims)
        pads = Concat <axis: int = 0> (starts, repeated)
        longer = Pad <mode: string = \"edge\"> (X, pads)
        resized = Resize <mode: string = \"$mode\", coordinate_transformation_mode: string = \"asymmetric\",
            cubic_coeff_a: float = $cubic> (longer, , factors)
        ends = Cast <to: int = 7> (new_lengths)
        Y = Slice (resized, starts, ends)";
    Ok(fill(body, &[("mode", &mode), ("cubic", &number(cubic))]))
}
