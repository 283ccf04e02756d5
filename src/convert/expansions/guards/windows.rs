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
    for axis in 0..count {
        let length = cx
            .dim(0, axis + 2)
            .ok_or_else(|| Reason::new(ShapeUnknown, "the lengths are unknown"))?;
        let at = |values: &[i64], index: usize| values.get(index).copied().unwrap_or(0);
        let (step, before) = (at(&strides, axis).max(1), at(&pads, axis));
        let extent = at(&dilations, axis) * (kernel[axis] - 1) + 1;
        let padded = length + before;
        let free = padded + at(&pads, axis + count) - extent;
        let whole = free / step;
        let begins_inside = free % step != 0 && (whole + 1) * step < padded;
        let last = if begins_inside { whole + 1 } else { whole };
        if let Some(after) = pads.get_mut(axis + count) {
            *after = (last * step + extent - padded).max(0);
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
