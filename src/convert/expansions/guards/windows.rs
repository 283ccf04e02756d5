//! `MaxPool` that rounds its lengths up.

use super::super::list;
use crate::convert::context::Context;
use crate::convert::reason::{Reason, ShapeUnknown};

/// The padding at the end becomes what the last window needs, and lengths are rounded down.
///
/// ONNX leaves out a last window that begins in the padding after the input, and OpenVINO does not.
pub(super) fn rounded_down(cx: &Context) -> Result<String, Reason> {
    let kernel = cx.required("kernel_shape", |shape| Some(shape.ints.to_vec()))?;
    let count = kernel.len();
    let strides = cx.ints("strides")?.unwrap_or_else(|| vec![1; count]);
    let dilations = cx.ints("dilations")?.unwrap_or_else(|| vec![1; count]);
    let mut pads = cx.ints("pads")?.unwrap_or_else(|| vec![0; 2 * count]);
    for (axis, &size) in kernel.iter().enumerate() {
        let length = cx
            .dim(0, axis + 2)
            .ok_or_else(|| Reason::new(ShapeUnknown, "the lengths are unknown"))?;
        let at = |values: &[i64], index: usize| values.get(index).copied().unwrap_or(0);
        let (step, before) = (at(&strides, axis).max(1), at(&pads, axis));
        let extent = at(&dilations, axis)
            .saturating_mul(size.saturating_sub(1))
            .saturating_add(1);
        let padded = length.saturating_add(before);
        let free = padded
            .saturating_add(at(&pads, axis + count))
            .saturating_sub(extent);
        let whole = free / step;
        let next = whole.saturating_add(1).saturating_mul(step);
        let start = if free % step != 0 && next < padded {
            next
        } else {
            whole.saturating_mul(step)
        };
        if let Some(after) = pads.get_mut(axis + count) {
            *after = start.saturating_add(extent).saturating_sub(padded).max(0);
        }
    }
    let outputs = if cx.has_output(1) { "Y, Indices" } else { "Y" };
    let storage = cx.int_or("storage_order", 0)?;
    Ok(format!(
        "{outputs} = MaxPool <kernel_shape: ints = [{}], strides: ints = [{}], dilations: ints = [{}], pads: ints = [{}],
            storage_order: int = {storage}> (X)",
        list(kernel),
        list(strides),
        list(dilations),
        list(pads)
    ))
}
