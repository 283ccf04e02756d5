//! `GatherND` and `ScatterND` at negative indices.

use super::super::{fill, list};
use crate::convert::context::Context;
use crate::convert::reason::{Reason, ShapeUnknown};

/// A negative index counts from the end of its axis: the length is added to it.
///
/// OpenCV reads memory in front of the tensor, and tract ends.
pub(super) fn from_front(cx: &Context) -> Result<String, Reason> {
    let (op, output) = (cx.schema.name, cx.schema.outputs[0].name);
    let batches = cx.int_or("batch_dims", 0)?.max(0);
    let unknown = || {
        Reason::new(
            ShapeUnknown,
            "the length of the last axis of `indices` is unknown",
        )
    };
    let last = cx.rank(1)?.checked_sub(1).ok_or_else(unknown)?;
    let count = cx.dim(1, last).ok_or_else(unknown)?;
    let axes: Vec<i64> = (batches..batches.saturating_add(count)).collect();
    let (attribute, setting, updates) = if op == "GatherND" {
        ("batch_dims", format!("<batch_dims: int = {batches}>"), "")
    } else {
        let reduction = cx.string("reduction")?.unwrap_or("none".into());
        let setting = format!("<reduction: string = \"{reduction}\">");
        ("reduction", setting, ", updates")
    };
    let setting = match cx.schema.attribute(attribute) {
        Some(_) => setting,
        None => String::new(),
    };
    let body = "
        none = Constant <value = int64 {0}> ()
        axes = Constant <value = int64[$count] {$axes}> ()
        dims = Shape (data)
        lengths = Gather (dims, axes)
        is_negative = Less (indices, none)
        beyond = Add (indices, lengths)
        places = Where (is_negative, beyond, indices)
        $output = $op $setting (data, places$updates)";
    Ok(fill(
        body,
        &[
            ("count", &axes.len()),
            ("axes", &list(&axes)),
            ("output", &output),
            ("op", &op),
            ("setting", &setting),
            ("updates", &updates),
        ],
    ))
}
