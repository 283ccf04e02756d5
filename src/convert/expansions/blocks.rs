//! `DepthToSpace` and `SpaceToDepth` with a `mode` that the older version lacks: elements are
//! regrouped.

use super::{Expansion, exact, fill};
use crate::convert::context::Context;
use crate::convert::reason::{NodeInvalid, Reason};

pub(super) const EXPANSIONS: &[Expansion] = &[
    exact("DepthToSpace", 11, depth_to_space),
    exact("SpaceToDepth", 28, space_to_depth),
];

fn block_size(cx: &Context) -> Result<i64, Reason> {
    cx.int("blocksize")?
        .filter(|&size| size > 0)
        .ok_or_else(|| Reason::new(NodeInvalid, "`blocksize` is missing or not positive"))
}

/// Columns, rows, depth: the channels of a block follow each other. The other mode has an
/// equivalent.
fn depth_to_space(cx: &Context) -> Result<String, Reason> {
    let block = block_size(cx)?;
    let (split, order) = match cx.string("mode")?.as_deref() {
        Some("CRD") => ("channels, block, block, rows, columns", "0, 1, 4, 2, 5, 3"),
        _ => ("block, block, channels, rows, columns", "0, 3, 4, 1, 5, 2"),
    };
    Ok(regrouped(block, ["Div", "Mul"], split, order))
}

fn space_to_depth(cx: &Context) -> Result<String, Reason> {
    let block = block_size(cx)?;
    let order = match cx.string("mode")?.as_deref() {
        Some("CRD") => "0, 1, 3, 5, 2, 4",
        _ => "0, 3, 5, 1, 2, 4",
    };
    Ok(regrouped(
        block,
        ["Mul", "Div"],
        "depth, height, block, width, block",
        order,
    ))
}

/// The input split into these axes after the batch, in another order, and joined again. The
/// operators give the number of channels and the lengths of the other axes.
fn regrouped(block: i64, [channels, lengths]: [&str; 2], split: &str, order: &str) -> String {
    let body = "
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
        area = Constant <value = int64[1] {$area}> ()
        channels = $channels (depth, area)
        height = $lengths (rows, block)
        width = $lengths (columns, block)
        split_shape = Concat <axis: int = 0> (batch, $split)
        split = Reshape (input, split_shape)
        turned = Transpose <perm: ints = [$order]> (split)
        shape = Concat <axis: int = 0> (batch, channels, height, width)
        output = Reshape (turned, shape)";
    let area = block.saturating_mul(block);
    fill(
        body,
        &[
            ("block", &block),
            ("area", &area),
            ("channels", &channels),
            ("lengths", &lengths),
            ("split", &split),
            ("order", &order),
        ],
    )
}
