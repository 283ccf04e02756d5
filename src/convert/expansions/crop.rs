//! `CenterCropPad`: elements are moved, not computed.

use super::{Expansion, exact, list};
use crate::convert::context::{Context, counted_from_front};
use crate::convert::reason::{NodeInvalid, Reason};

pub(super) const EXPANSIONS: &[Expansion] = &[exact("CenterCropPad", 18, center_crop_pad)];

fn center_crop_pad(cx: &Context) -> Result<String, Reason> {
    let body = "
        two = Constant <value = int64 {2}> ()
        padded_shape = Max (input_shape, target)
        amount = Sub (padded_shape, input_shape)
        left = Div (amount, two)
        right = Sub (amount, left)
        pads = Concat <axis: int = 0> (left, right)
        padded = Pad (input_data, pads)
        excess = Sub (padded_shape, target)
        start = Div (excess, two)
        end = Add (start, target)
        output_data = Slice (padded, start, end)";
    Ok(target_shape(cx)? + body)
}

/// The shape of the result, of all axes.
fn target_shape(cx: &Context) -> Result<String, Reason> {
    let body = "input_shape = Shape (input_data)\n".to_owned();
    let Some(axes) = cx.ints("axes")? else {
        return Ok(body + "target = Cast <to = 7> (shape)\n");
    };
    let rank = cx.rank(0)?;
    let axes = counted_from_front(axes, rank)?;
    if axes.iter().any(|&axis| axis >= rank as i64) {
        return Err(Reason::new(
            NodeInvalid,
            format!("`axes` = {axes:?} is out of range for rank {rank}"),
        ));
    }
    let part = |axis: usize| {
        let (from, index) = match axes.iter().position(|&given| given == axis as i64) {
            Some(position) => ("given", position),
            None => ("input_shape", axis),
        };
        format!(
            "index_{axis} = Constant <value = int64[1] {{{index}}}> () dim_{axis} = Gather <axis: int = 0> ({from}, index_{axis})\n"
        )
    };
    let dims = list((0..rank).map(|axis| format!("dim_{axis}")));
    let parts: String = (0..rank).map(part).collect();
    Ok(format!(
        "{body}given = Cast <to = 7> (shape)\n{parts}target = Concat <axis: int = 0> ({dims})\n"
    ))
}
