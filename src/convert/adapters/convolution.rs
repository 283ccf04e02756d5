//! `ConvTranspose` across opsets: versions 1 11 22.

use super::super::context::Context;
use super::super::reason::{BehaviourDiffers, NodeInvalid, Reason, ShapeUnknown};
use super::adapter::{Adapter, Run, adapter};

pub(super) const ADAPTERS: &[Adapter] = &[adapter("ConvTranspose", 11)
    .up(&[Run(padding_must_be_even)])
    .down(&[Run(padding_becomes_explicit)])];

/// Version 1 places odd padding on the side on which version 11 does not, and with `auto_pad` its
/// output has the size of the input instead of that size times the stride.
fn padding_must_be_even(cx: &mut Context) -> Result<(), Reason> {
    computed_padding(cx)?.map_or(Ok(()), |computed| computed.expect_same())
}

/// Where version 1 has another meaning, `pads` state what version 11 computes: the larger half is
/// at the end for SAME_UPPER, and otherwise at the start. An output that is larger than without
/// padding is padded at its end.
fn padding_becomes_explicit(cx: &mut Context) -> Result<(), Reason> {
    let Some(computed) = computed_padding(cx)? else {
        return Ok(());
    };
    if computed.expect_same().is_ok() {
        return Ok(());
    }
    let (mut smaller, mut larger, mut output) = (Vec::new(), Vec::new(), Vec::new());
    for (padding, limits) in computed.padding.iter().zip(&computed.output_padding) {
        let added = limits.stated + padding.min(&0).abs();
        if added > limits.stated && added >= limits.end {
            return Err(Reason::new(
                BehaviourDiffers,
                "the output is larger than the operator makes it with `output_padding`",
            ));
        }
        let out_of_range = |_| Reason::new(NodeInvalid, "the padding is out of range");
        let padding = i64::try_from(*padding.max(&0)).map_err(out_of_range)?;
        smaller.push(padding / 2);
        larger.push(padding - padding / 2);
        output.push(i64::try_from(added).map_err(out_of_range)?);
    }
    let is_upper = cx.string("auto_pad")?.as_deref() == Some("SAME_UPPER");
    let pads = if is_upper {
        [smaller, larger]
    } else {
        [larger, smaller]
    };
    cx.remove_attribute("auto_pad");
    cx.remove_attribute("output_shape");
    cx.set_ints("pads", pads.concat());
    if output.iter().any(|&padding| padding != 0) {
        cx.set_ints("output_padding", output);
    }
    Ok(())
}

/// The `output_padding` of an axis, and the first number that it must not have.
struct OutputPadding {
    stated: i128,
    end: i128,
}

/// The padding of each axis that follows from `output_shape` or `auto_pad`.
struct ComputedPadding {
    padding: Vec<i128>,
    output_padding: Vec<OutputPadding>,
    /// Whether both versions compute it.
    is_of_both: bool,
}

impl ComputedPadding {
    /// Checks that both versions compute it, and place it alike.
    fn expect_same(&self) -> Result<(), Reason> {
        let is_even = |padding: &i128| *padding >= 0 && padding % 2 == 0;
        if !self.is_of_both {
            Err(Reason::new(
                BehaviourDiffers,
                "`auto_pad` with strides gives other output shapes since opset 11",
            ))
        } else if !self.padding.iter().all(is_even) {
            Err(Reason::new(
                BehaviourDiffers,
                "odd padding is placed on the other side since opset 11",
            ))
        } else {
            Ok(())
        }
    }
}

/// That of version 11, if the node states no `pads`.
fn computed_padding(cx: &Context) -> Result<Option<ComputedPadding>, Reason> {
    let is_same = matches!(
        cx.string("auto_pad")?.as_deref(),
        Some("SAME_UPPER" | "SAME_LOWER")
    );
    let output = cx.ints("output_shape")?;
    if !is_same && output.is_none() {
        return Ok(None);
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
    let is_of_both = output.is_some() || strides.iter().all(|&stride| stride == 1);
    let grown = || -> Vec<i64> {
        let pairs = input.iter().zip(&strides);
        pairs
            .map(|(input, stride)| input.saturating_mul(*stride))
            .collect()
    };
    let output = output.unwrap_or_else(grown);
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
    let output_padding = |axis: usize| OutputPadding {
        stated: extra[axis].into(),
        end: strides[axis].max(dilations[axis]).into(),
    };
    Ok(Some(ComputedPadding {
        padding: (0..input.len()).map(padding).collect(),
        output_padding: (0..input.len()).map(output_padding).collect(),
        is_of_both,
    }))
}
