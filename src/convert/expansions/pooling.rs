//! `AveragePool` with dilations: a convolution with ones, divided by the number of elements in the window.

use super::{Expansion, by_definition, fill, list};
use crate::convert::context::Context;
use crate::convert::reason::Code::{AttributeUnsupported, NodeInvalid, ShapeUnknown};
use crate::convert::reason::Reason;

pub(super) const EXPANSIONS: &[Expansion] = &[by_definition("AveragePool", 19, average_pool)];

/// The most weights of the convolution.
const MOST_WEIGHTS: i64 = 1 << 14;

fn average_pool(cx: &Context) -> Result<String, Reason> {
    if cx.int_or("ceil_mode", 0)? != 0 {
        return Err(AttributeUnsupported.because("convolutions have no `ceil_mode`"));
    }
    let channels = cx.known_input(0).shape.and_then(|shape| shape.get(1).copied().flatten());
    let channels = channels.ok_or_else(|| ShapeUnknown.because("the number of channels must be known"))?;
    let kernel = cx.ints("kernel_shape")?.ok_or_else(|| NodeInvalid.because("the attribute `kernel_shape` is missing"))?;
    let area = kernel.iter().try_fold(1, |area: i64, &size| area.checked_mul(size)).unwrap_or(i64::MAX);
    let weights = channels.checked_mul(area).filter(|&weights| weights > 0 && weights <= MOST_WEIGHTS);
    let weights =
        weights.ok_or_else(|| NodeInvalid.because(format!("the convolution would have more than {MOST_WEIGHTS} weights")))?;
    let mut attributes = format!("group: int = {channels}, kernel_shape: ints = [{}]", list(&kernel));
    for name in ["dilations", "pads", "strides"] {
        if let Some(values) = cx.ints(name)? {
            attributes += &format!(", {name}: ints = [{}]", list(&values));
        }
    }
    if let Some(pad) = cx.string("auto_pad")? {
        attributes += &format!(", auto_pad: string = \"{pad}\"");
    }
    let body = match cx.int_or("count_include_pad", 0)? {
        0 => {
            "weights = Constant <value = $T[$dims] {$ones}> ()
             sum = Conv <$attributes> (X, weights)
             shape = Shape (X)
             elements = ConstantOfShape <value = $T[1] {1}> (shape)
             count = Conv <$attributes> (elements, weights)
             Y = Div (sum, count)"
        }
        _ => {
            "weights = Constant <value = $T[$dims] {$ones}> ()
             sum = Conv <$attributes> (X, weights)
             area = Constant <value = $T {$area}> ()
             Y = Div (sum, area)"
        }
    };
    let dims = [vec![channels, 1], kernel].concat();
    Ok(fill(
        body,
        &[
            ("T", &super::type_of(cx, 0)?),
            ("dims", &list(&dims)),
            ("ones", &list(vec![1; weights as usize])),
            ("attributes", &attributes),
            ("area", &area.to_string()),
        ],
    ))
}
