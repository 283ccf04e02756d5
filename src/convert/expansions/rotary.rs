//! `RotaryEmbedding`.

use super::{Expansion, by_definition, fill};
use crate::convert::context::Context;
use crate::convert::reason::{NodeInvalid, Reason, ShapeUnsupported};

pub(super) const EXPANSIONS: &[Expansion] =
    &[by_definition("RotaryEmbedding", 23, rotary_embedding)];

/// The heads of a 3-D input become an axis of their own. Then the last axis is rotated, or its
/// first part.
fn rotary_embedding(cx: &Context) -> Result<String, Reason> {
    let (rank, heads) = (cx.rank(0)?, cx.int_or("num_heads", 0)?);
    let mut body = "minus_one = Constant <value = int64[1] {-1}> ()\n".to_owned();
    body += match rank {
        4 => "split = Identity (X) head_axis = Constant <value = int64[1] {1}> ()\n",
        3 if heads > 0 => {
            "head_shape = Constant <value = int64[4] {0, 0, $heads, -1}> ()
             split = Reshape (X, head_shape)
             head_axis = Constant <value = int64[1] {2}> ()\n"
        }
        3 => {
            return Err(Reason::new(
                NodeInvalid,
                "`num_heads` is required for an input of rank 3",
            ));
        }
        _ => {
            return Err(Reason::new(
                ShapeUnsupported,
                format!("the input must have rank 3 or 4, not {rank}"),
            ));
        }
    };
    body += match cx.input(3) {
        Some(_) => {
            "cos_rows = Gather (cos_cache, position_ids) sin_rows = Gather (sin_cache, position_ids)\n"
        }
        None => "cos_rows = Identity (cos_cache) sin_rows = Identity (sin_cache)\n",
    };
    body += "cos = Unsqueeze (cos_rows, head_axis) sin = Unsqueeze (sin_rows, head_axis)\n";
    let size = head_size(cx, rank, heads);
    let part = match cx.int_or("rotary_embedding_dim", 0)? {
        0 => size,
        part => Some(part),
    };
    let is_partial = part != size;
    body += if is_partial {
        "begin = Constant <value = int64[1] {0}> ()
             end = Constant <value = int64[1] {9223372036854775807}> ()
             part = Constant <value = int64[1] {$part}> ()
             rotated = Slice (split, begin, part, minus_one)
             kept = Slice (split, part, end, minus_one)\n"
    } else {
        "rotated = Identity (split)\n"
    };
    body += match (cx.int_or("interleaved", 0)? != 0, part) {
        (true, _) => {
            "even = Constant <value = int64[1] {0}> ()
             odd = Constant <value = int64[1] {1}> ()
             two = Constant <value = int64[1] {2}> ()
             last = Constant <value = int64[1] {9223372036854775807}> ()
             x1 = Slice (rotated, even, last, minus_one, two)
             x2 = Slice (rotated, odd, last, minus_one, two)\n"
        }
        (false, Some(_)) => {
            "first = Constant <value = int64[1] {0}> ()
             half = Constant <value = int64[1] {$half}> ()
             whole = Constant <value = int64[1] {$part}> ()
             x1 = Slice (rotated, first, half, minus_one)
             x2 = Slice (rotated, half, whole, minus_one)\n"
        }
        (false, None) => "x1, x2 = Split <axis: int = -1, num_outputs: int = 2> (rotated)\n",
    };
    body += "
        cos_x1 = Mul (cos, x1)
        sin_x2 = Mul (sin, x2)
        real = Sub (cos_x1, sin_x2)
        sin_x1 = Mul (sin, x1)
        cos_x2 = Mul (cos, x2)
        imaginary = Add (sin_x1, cos_x2)\n";
    body += if cx.int_or("interleaved", 0)? != 0 {
        "real_column = Unsqueeze (real, minus_one)
             imaginary_column = Unsqueeze (imaginary, minus_one)
             pairs = Concat <axis: int = -1> (real_column, imaginary_column)
             rotated_shape = Shape (rotated)
             turned = Reshape (pairs, rotated_shape)\n"
    } else {
        "turned = Concat <axis: int = -1> (real, imaginary)\n"
    };
    body += if is_partial {
        "joined = Concat <axis: int = -1> (turned, kept)\n"
    } else {
        "joined = Identity (turned)\n"
    };
    body += if rank == 3 {
        "shape = Shape (X) Y = Reshape (joined, shape)"
    } else {
        "Y = Identity (joined)"
    };
    let part = part.unwrap_or(0);
    Ok(fill(
        &body,
        &[("heads", &heads), ("part", &part), ("half", &(part / 2))],
    ))
}

fn head_size(cx: &Context, rank: usize, heads: i64) -> Option<i64> {
    let last = cx.last_dim(0)?;
    if rank == 4 {
        Some(last)
    } else {
        (heads > 0).then(|| last / heads)
    }
}
