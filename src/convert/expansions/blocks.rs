//! `DepthToSpace` and `SpaceToDepth` with a `mode` that the older version lacks: elements are regrouped.

use super::{Expansion, exact, fill};
use crate::convert::context::Context;
use crate::convert::reason::Code::NodeInvalid;
use crate::convert::reason::Reason;

pub(super) const EXPANSIONS: &[Expansion] = &[exact("DepthToSpace", 11, depth_to_space), exact("SpaceToDepth", 28, space_to_depth)];

fn block_size(cx: &Context) -> Result<i64, Reason> {
    cx.int("blocksize")?.filter(|&size| size > 0).ok_or_else(|| NodeInvalid.because("`blocksize` is missing or not positive"))
}

/// The dimensions of the input, one by one; the body defines `channels`, `height` and `width`.
const DIMS: &str = "
        dims = Shape (input)
        first = Constant <value = int64[1] {0}> ()
        second = Constant <value = int64[1] {1}> ()
        third = Constant <value = int64[1] {2}> ()
        fourth = Constant <value = int64[1] {3}> ()
        batch = Gather <axis: int = 0> (dims, first)
        depth = Gather <axis: int = 0> (dims, second)
        rows = Gather <axis: int = 0> (dims, third)
        columns = Gather <axis: int = 0> (dims, fourth)
        block = Constant <value = int64[1] {$block}> ()
        area = Constant <value = int64[1] {$area}> ()\n";

/// Columns, rows, depth: the channels of a block follow each other. The other mode has an equivalent.
fn depth_to_space(cx: &Context) -> Result<String, Reason> {
    let block = block_size(cx)?;
    let order = match cx.string("mode")?.as_deref() {
        Some("CRD") => ("channels, block, block", "0, 1, 4, 2, 5, 3"),
        _ => ("block, block, channels", "0, 3, 4, 1, 5, 2"),
    };
    let body = format!(
        "{DIMS}
        channels = Div (depth, area)
        height = Mul (rows, block)
        width = Mul (columns, block)
        split_shape = Concat <axis: int = 0> (batch, {}, rows, columns)
        split = Reshape (input, split_shape)
        turned = Transpose <perm: ints = [{}]> (split)
        shape = Concat <axis: int = 0> (batch, channels, height, width)
        output = Reshape (turned, shape)",
        order.0, order.1
    );
    Ok(fill(&body, &[("block", &block.to_string()), ("area", &block.saturating_mul(block).to_string())]))
}

fn space_to_depth(cx: &Context) -> Result<String, Reason> {
    let block = block_size(cx)?;
    let order = match cx.string("mode")?.as_deref() {
        Some("CRD") => "0, 1, 3, 5, 2, 4",
        _ => "0, 3, 5, 1, 2, 4",
    };
    let body = format!(
        "{DIMS}
        channels = Mul (depth, area)
        height = Div (rows, block)
        width = Div (columns, block)
        split_shape = Concat <axis: int = 0> (batch, depth, height, block, width, block)
        split = Reshape (input, split_shape)
        turned = Transpose <perm: ints = [{order}]> (split)
        shape = Concat <axis: int = 0> (batch, channels, height, width)
        output = Reshape (turned, shape)"
    );
    Ok(fill(&body, &[("block", &block.to_string()), ("area", &block.saturating_mul(block).to_string())]))
}
