//! Convolutions and pooling with padding that a runtime computes otherwise.

use super::super::list;
use crate::convert::context::Context;
use crate::convert::reason::{AttributeUnsupported, NodeInvalid, Reason, ShapeUnknown};

/// The padding is explicit: at the end what the last window needs, so that lengths are rounded down.
///
/// ONNX leaves out a last window that begins in the padding after the input, and OpenVINO and OpenCV
/// do not.
pub(super) fn padded(cx: &Context) -> Result<String, Reason> {
    let kernel = cx.required("kernel_shape", |shape| Some(shape.ints.to_vec()))?;
    let windows = attributes(cx, &kernel)?;
    let outputs = if cx.has_output(1) { "Y, Indices" } else { "Y" };
    let storage = match cx.int("storage_order")? {
        Some(order) => format!(", storage_order: int = {order}"),
        None => String::new(),
    };
    Ok(format!("{outputs} = MaxPool <{windows}{storage}> (X)"))
}

/// The padding of `auto_pad` is explicit.
///
/// OpenCV pads the wrong side with SAME_LOWER, and with SAME_UPPER and strides other elements than
/// the first ones.
pub(super) fn convolved(cx: &Context) -> Result<String, Reason> {
    let of_weights = || {
        let weights = cx.known_input(1).static_shape()?;
        Some(weights.get(2..)?.to_vec())
    };
    let kernel = cx.ints("kernel_shape")?.or_else(of_weights);
    let kernel = kernel.ok_or_else(unknown_lengths)?;
    let windows = attributes(cx, &kernel)?;
    let group = cx.int_or("group", 1)?;
    let bias = if cx.input(2).is_some() { ", B" } else { "" };
    Ok(format!(
        "Y = Conv <{windows}, group: int = {group}> (X, W{bias})"
    ))
}

/// Like [`convolved`]; windows that are rounded up are not supported, since those that exceed the
/// padding have fewer elements.
pub(super) fn averaged(cx: &Context) -> Result<String, Reason> {
    let kernel = cx.required("kernel_shape", |shape| Some(shape.ints.to_vec()))?;
    let auto_pad = cx.string("auto_pad")?.unwrap_or_default();
    if !matches!(auto_pad.as_ref(), "SAME_UPPER" | "SAME_LOWER") {
        return Err(Reason::new(
            AttributeUnsupported,
            "`auto_pad` does not state the padding",
        ));
    }
    let windows = attributes(cx, &kernel)?;
    let counts = cx.int_or("count_include_pad", 0)?;
    Ok(format!(
        "Y = AveragePool <{windows}, count_include_pad: int = {counts}> (X)"
    ))
}

fn unknown_lengths() -> Reason {
    Reason::new(ShapeUnknown, "the lengths are unknown")
}

/// The attributes of the windows, with explicit padding.
fn attributes(cx: &Context, kernel: &[i64]) -> Result<String, Reason> {
    let count = kernel.len();
    let strides = cx.ints("strides")?.unwrap_or_else(|| vec![1; count]);
    let dilations = cx.ints("dilations")?.unwrap_or_else(|| vec![1; count]);
    let given = cx.ints("pads")?.unwrap_or_else(|| vec![0; 2 * count]);
    let auto_pad = cx.string("auto_pad")?.unwrap_or_default();
    let rounds_up = cx.int_or("ceil_mode", 0)? == 1;
    let mut pads = vec![0; 2 * count];
    for (axis, &size) in kernel.iter().enumerate() {
        let length = cx.dim(0, axis + 2).ok_or_else(unknown_lengths)?;
        let at = |values: &[i64], index: usize| values.get(index).copied().unwrap_or(0);
        let extent = at(&dilations, axis)
            .saturating_mul(size.saturating_sub(1))
            .saturating_add(1);
        let windows = Windows {
            length,
            step: at(&strides, axis).max(1),
            extent,
        };
        let (before, after) = match auto_pad.as_ref() {
            "NOTSET" | "" => {
                let before = at(&given, axis);
                let after = windows.used_padding(before, at(&given, axis + count), rounds_up);
                (before, after)
            }
            "SAME_UPPER" => {
                let padding = windows.same_padding();
                (padding / 2, padding - padding / 2)
            }
            "SAME_LOWER" => {
                let padding = windows.same_padding();
                (padding - padding / 2, padding / 2)
            }
            "VALID" => (0, windows.used_padding(0, 0, rounds_up)),
            _ => return Err(Reason::new(NodeInvalid, "`auto_pad` is unknown")),
        };
        pads[axis] = before;
        pads[axis + count] = after;
    }
    let attributes = [
        ("kernel_shape", kernel),
        ("strides", &strides),
        ("dilations", &dilations),
        ("pads", &pads),
    ];
    // Pooling has dilations in later versions only.
    let known = attributes
        .into_iter()
        .filter(|(name, _)| cx.schema.attribute(name).is_some());
    Ok(list(known.map(|(name, values)| {
        format!("{name}: ints = [{}]", list(values))
    })))
}

/// The windows along an axis.
struct Windows {
    /// The length of the input.
    length: i64,
    step: i64,
    /// The length of the input that a window spans.
    extent: i64,
}

impl Windows {
    /// The padding after the input that the last window reaches.
    fn used_padding(&self, before: i64, after: i64, rounds_up: bool) -> i64 {
        let padded = self.length.saturating_add(before);
        let free = padded.saturating_add(after).saturating_sub(self.extent);
        let whole = free / self.step;
        let next = whole.saturating_add(1).saturating_mul(self.step);
        let start = if rounds_up && free % self.step != 0 && next < padded {
            next
        } else {
            whole.saturating_mul(self.step)
        };
        start
            .saturating_add(self.extent)
            .saturating_sub(padded)
            .max(0)
    }

    /// The padding with which there is a window for each step in the input.
    fn same_padding(&self) -> i64 {
        let last = self.length.saturating_sub(1) / self.step * self.step;
        last.saturating_add(self.extent)
            .saturating_sub(self.length)
            .max(0)
    }
}
