//! Operators that repeat or regroup elements.

use super::{Expansion, exact, list, local_output_name};
use crate::convert::context::{Context, counted_from_front};
use crate::convert::reason::{NodeInvalid, Reason, ShapeUnknown, ShapeUnsupported};
use crate::ops::inference::MOST_DIMENSIONS;

pub(super) const EXPANSIONS: &[Expansion] = &[
    exact("Expand", 8, expand),
    exact("Flatten", 9, flatten),
    exact("Split", 13, split),
];

/// 1. One element: repeated as often as each dimension says. 2. Known shapes: repeated along the
///    dimensions of one.
fn expand(cx: &Context) -> Result<String, Reason> {
    let shape = cx.known_input(0).static_shape();
    let length = cx.known_input(1).static_shape();
    if let (Some(shape), Some(&[length])) = (&shape, length.as_deref())
        && shape.iter().all(|&dim| dim == 1)
        && let Ok(rank) = usize::try_from(length)
        && (shape.len().max(1)..=MOST_DIMENSIONS).contains(&rank)
    {
        return Ok(format!(
            "ones = Constant <value = int64[{rank}] {{{}}}> ()
             element = Reshape (input, ones)
             output = Tile (element, shape)",
            list(vec![1; rank])
        ));
    }
    let Some(shape) = shape.filter(|shape| !shape.contains(&0)) else {
        return Err(Reason::new(
            ShapeUnknown,
            "the shape of the input must be known, without zeros",
        ));
    };
    let target = cx.read_ints(1)?;
    let rank = shape.len().max(target.len());
    let at = |dims: &[i64], axis: usize| {
        (axis + dims.len())
            .checked_sub(rank)
            .map_or(1, |axis| dims[axis])
    };
    let mut repeats = Vec::new();
    for axis in 0..rank {
        repeats.push(match (at(&shape, axis), at(&target, axis)) {
            (1, wanted) => wanted,
            (given, wanted) if wanted == 1 || wanted == given => 1,
            (given, wanted) => {
                return Err(Reason::new(
                    NodeInvalid,
                    format!("{given} elements cannot be broadcast to {wanted}"),
                ));
            }
        });
    }
    if rank == 0 {
        return Ok("output = Identity (input)".to_owned());
    }
    let aligned: Vec<i64> = (0..rank).map(|axis| at(&shape, axis)).collect();
    Ok(format!(
        "aligned_shape = Constant <value = int64[{rank}] {{{}}}> ()
         repeats = Constant <value = int64[{rank}] {{{}}}> ()
         aligned = Reshape (input, aligned_shape)
         output = Tile (aligned, repeats)",
        list(&aligned),
        list(&repeats)
    ))
}

/// A reshape to two dimensions, one of which may be unknown. A length of zero in the shape would
/// mean that of the input.
fn flatten(cx: &Context) -> Result<String, Reason> {
    let shape = cx
        .known_input(0)
        .shape
        .ok_or_else(|| Reason::new(ShapeUnknown, "the rank of the input is unknown"))?;
    let axis = counted_from_front(vec![cx.int_or("axis", 1)?], shape.len())?[0];
    let axis = usize::try_from(axis)
        .ok()
        .filter(|&axis| axis <= shape.len());
    let axis = axis.ok_or_else(|| {
        Reason::new(
            NodeInvalid,
            format!("`axis` is out of range for rank {}", shape.len()),
        )
    })?;
    let length = |dims: &[Option<i64>]| {
        dims.iter()
            .try_fold(1, |product: i64, dim| product.checked_mul((*dim)?))
    };
    let (rows, columns) = match (length(&shape[..axis]), length(&shape[axis..])) {
        (None, None) => {
            return Err(Reason::new(
                ShapeUnknown,
                "both dimensions of the result are unknown",
            ));
        }
        (Some(0), _) | (_, Some(0)) => {
            return Err(Reason::new(ShapeUnsupported, "the input has no elements"));
        }
        (rows, columns) => (rows.unwrap_or(-1), columns.unwrap_or(-1)),
    };
    Ok(format!(
        "shape = Constant <value = int64[2] {{{rows}, {columns}}}> ()
         output = Reshape (input, shape)"
    ))
}

/// Parts of computed lengths: slices, each of which begins where the one before ends. A constant
/// becomes an attribute instead.
fn split(cx: &Context) -> Result<String, Reason> {
    if cx.input(1).is_none() {
        return Err(Reason::new(
            ShapeUnknown,
            "the lengths of the parts are not an input",
        ));
    }
    let axis = cx.int_or("axis", 0)?;
    let mut body = format!(
        "axes = Constant <value = int64[1] {{{axis}}}> ()
         end_0 = Constant <value = int64[1] {{0}}> ()\n"
    );
    for part in 0..cx.node.output.len() {
        let output = local_output_name(cx, part).unwrap_or_default();
        body += &format!(
            "index_{part} = Constant <value = int64[1] {{{part}}}> ()
             length_{part} = Gather <axis: int = 0> (split, index_{part})
             end_{} = Add (end_{part}, length_{part})
             {output} = Slice (input, end_{part}, end_{}, axes)\n",
            part + 1,
            part + 1
        );
    }
    Ok(body)
}
