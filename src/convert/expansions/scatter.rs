//! `TensorScatter`: elements are moved, not computed.

use super::{Expansion, exact, fill, list};
use crate::convert::context::{Context, counted_from_front};
use crate::convert::reason::{AttributeUnsupported, NodeInvalid, Reason};

pub(super) const EXPANSIONS: &[Expansion] = &[exact("TensorScatter", 24, tensor_scatter)];

/// The place of each element of the update along the axis, and a scatter to these places.
fn tensor_scatter(cx: &Context) -> Result<String, Reason> {
    let rank = cx.rank(0)?;
    let axis = counted_from_front(vec![cx.int_or("axis", -2)?], rank)?[0];
    if axis == 0 || axis >= rank as i64 {
        return Err(Reason::new(
            NodeInvalid,
            "`axis` must not be that of the batch, nor out of range",
        ));
    }
    let shape = |place: usize| list((0..rank).map(|at| if at == place { -1 } else { 1 }));
    let mut body = "
        update_shape = Shape (update)
        axis = Constant <value = int64 {$axis}> ()
        zero = Constant <value = int64 {0}> ()
        one = Constant <value = int64 {1}> ()
        length = Gather (update_shape, axis)
        order = Range (zero, length, one)
        order_shape = Constant <value = int64[$rank] {$order_shape}> ()
        steps = Reshape (order, order_shape)\n"
        .to_owned();
    body += match cx.input(2) {
        Some(_) => {
            "starts_shape = Constant <value = int64[$rank] {$starts_shape}> ()
             starts = Reshape (write_indices, starts_shape)
             places = Add (starts, steps)\n"
        }
        None => "places = Identity (steps)\n",
    };
    body += match cx.string("mode")?.as_deref().unwrap_or("linear") {
        "linear" => "wrapped = Identity (places)\n",
        "circular" => {
            "cache_shape = Shape (past_cache)
             cache_length = Gather (cache_shape, axis)
             wrapped = Mod (places, cache_length)\n"
        }
        other => {
            return Err(Reason::new(
                AttributeUnsupported,
                format!("unknown `mode` = '{other}'"),
            ));
        }
    };
    body += "
        index = Expand (wrapped, update_shape)
        present_cache = ScatterElements <axis: int = $axis> (past_cache, index, update)";
    let (order_shape, starts_shape) = (shape(axis as usize), shape(0));
    Ok(fill(
        &body,
        &[
            ("axis", &axis),
            ("rank", &rank),
            ("order_shape", &order_shape),
            ("starts_shape", &starts_shape),
        ],
    ))
}
