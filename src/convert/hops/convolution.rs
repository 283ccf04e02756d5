//! `ConvTranspose` across opsets: versions 1 11 22.

use super::super::hop::Action::Run;
use super::super::hop::{Hop, Reason, hop};
use super::super::site::Site;

pub(super) const HOPS: &[Hop] =
    &[hop(&["ConvTranspose"], 11).up(&[Run(paddings_must_be_even)]).down(&[Run(paddings_must_be_even)])];

/// Paddings that are computed, from `output_shape` or `auto_pad`, are split between the two sides of an axis. Where they are odd, the
/// texts of versions 1 and 11 give the larger half to different sides.
fn paddings_must_be_even(site: &mut Site) -> Result<(), Reason> {
    let is_same = matches!(site.string("auto_pad")?.as_deref(), Some("SAME_UPPER" | "SAME_LOWER"));
    let output = site.ints("output_shape")?;
    if !is_same && output.is_none() {
        return Ok(());
    }
    let spatial = |index: usize| -> Option<Vec<i64>> { site.known_input(index).shape?.get(2..)?.iter().copied().collect() };
    let (Some(input), Some(weights)) = (spatial(0), spatial(1)) else {
        return Err(
            "the shapes must be known to see whether the padding is split evenly, as opset 11 splits it otherwise".to_owned()
        );
    };
    let kernel = site.ints("kernel_shape")?.unwrap_or(weights);
    let list = |name: &str, default: i64| -> Result<Vec<i64>, Reason> {
        Ok(site.ints(name)?.unwrap_or_else(|| vec![default; input.len()]))
    };
    let (strides, dilations, extra) = (list("strides", 1)?, list("dilations", 1)?, list("output_padding", 0)?);
    // Version 1 wants an output of the input's size, version 11 one of that size times the stride.
    if output.is_none() && strides.iter().any(|&stride| stride != 1) {
        return Err("`auto_pad` with strides gives other shapes from opset 11 on".to_owned());
    }
    let output = output.unwrap_or_else(|| input.clone());
    let lists = [&kernel, &strides, &dilations, &extra, &output];
    if lists.iter().any(|list| list.len() != input.len() || list.iter().any(|&number| number < 0)) {
        return Err("its lists of numbers do not fit the rank of its input, or hold negative numbers".to_owned());
    }
    let padding = |axis: usize| {
        let [input, kernel, stride, dilation, extra, output] =
            [&input, &kernel, &strides, &dilations, &extra, &output].map(|list| i128::from(list[axis]));
        stride * (input - 1) + extra + (kernel - 1) * dilation + 1 - output
    };
    match (0..input.len()).all(|axis| padding(axis) >= 0 && padding(axis) % 2 == 0) {
        true => Ok(()),
        false => Err("its padding is odd, and its larger half stands on the other side from opset 11 on".to_owned()),
    }
}
