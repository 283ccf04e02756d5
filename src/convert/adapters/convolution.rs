//! `ConvTranspose` across opsets: versions 1 11 22.

use super::super::context::Context;
use super::super::reason::{BehaviourDiffers, NodeInvalid, Reason, ShapeUnknown};
use super::adapter::{Adapter, Run, adapter};

pub(super) const ADAPTERS: &[Adapter] = &[adapter("ConvTranspose", 11)
    .up(&[Run(paddings_must_be_even)])
    .down(&[Run(paddings_must_be_even)])];

/// Padding computed from `output_shape` or `auto_pad` is split between the two sides of an axis.
/// Versions 1 and 11 place odd padding on different sides.
fn paddings_must_be_even(cx: &mut Context) -> Result<(), Reason> {
    let is_same = matches!(
        cx.string("auto_pad")?.as_deref(),
        Some("SAME_UPPER" | "SAME_LOWER")
    );
    let output = cx.ints("output_shape")?;
    if !is_same && output.is_none() {
        return Ok(());
    }
    let spatial = |index: usize| -> Option<Vec<i64>> {
        cx.known_input(index)
            .shape?
            .get(2..)?
            .iter()
            .copied()
            .collect()
    };
    let (Some(input), Some(weights)) = (spatial(0), spatial(1)) else {
        return Err(Reason::new(
            ShapeUnknown,
            "opset 11 places odd padding on the other side; whether the padding is odd depends on shapes that are unknown",
        ));
    };
    let kernel = cx.ints("kernel_shape")?.unwrap_or(weights);
    let list = |name: &str, default: i64| -> Result<Vec<i64>, Reason> {
        Ok(cx.ints(name)?.unwrap_or_else(|| vec![default; input.len()]))
    };
    let (strides, dilations, extra) = (
        list("strides", 1)?,
        list("dilations", 1)?,
        list("output_padding", 0)?,
    );
    // The output has the input's size in version 1, and that size times the stride in version 11.
    if output.is_none() && strides.iter().any(|&stride| stride != 1) {
        return Err(Reason::new(
            BehaviourDiffers,
            "`auto_pad` with strides gives other output shapes since opset 11",
        ));
    }
    let output = output.unwrap_or_else(|| input.clone());
    let lists = [&kernel, &strides, &dilations, &extra, &output];
    if lists
        .iter()
        .any(|list| list.len() != input.len() || list.iter().any(|&number| number < 0))
    {
        return Err(Reason::new(
            NodeInvalid,
            "the lists of numbers must match the rank of the input, without negative values",
        ));
    }
    let padding = |axis: usize| {
        let [input, kernel, stride, dilation, extra, output] =
            [&input, &kernel, &strides, &dilations, &extra, &output]
                .map(|list| i128::from(list[axis]));
        stride * (input - 1) + extra + (kernel - 1) * dilation + 1 - output
    };
    if (0..input.len()).all(|axis| padding(axis) >= 0 && padding(axis) % 2 == 0) {
        Ok(())
    } else {
        Err(Reason::new(
            BehaviourDiffers,
            "odd padding is placed on the other side since opset 11",
        ))
    }
}
