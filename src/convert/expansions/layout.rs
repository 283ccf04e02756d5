//! Operators that repeat elements.

use super::{Expansion, exact};
use crate::convert::context::Context;
use crate::convert::reason::Code::{NodeInvalid, ShapeUnknown};
use crate::convert::reason::Reason;

pub(super) const EXPANSIONS: &[Expansion] = &[exact("Expand", 8, expand)];

/// 1. One element: repeated as often as each dimension says. 2. Known shapes: repeated along the dimensions of one.
fn expand(cx: &Context) -> Result<String, Reason> {
    let shape = cx.known_input(0).static_shape();
    let length = cx.known_input(1).static_shape();
    let ones = |rank: usize| vec!["1"; rank].join(",");
    if let (Some(shape), Some(&[length])) = (&shape, length.as_deref())
        && shape.iter().all(|&dim| dim == 1)
        && let Ok(rank) = usize::try_from(length)
        && rank >= shape.len().max(1)
    {
        return Ok(format!(
            "ones = Constant <value = int64[{rank}] {{{}}}> ()
             element = Reshape (input, ones)
             output = Tile (element, shape)",
            ones(rank)
        ));
    }
    let Some(shape) = shape.filter(|shape| !shape.contains(&0)) else {
        return Err(ShapeUnknown.because("the shape of the input must be known, without zeros"));
    };
    let target = cx.read_ints(1)?;
    let rank = shape.len().max(target.len());
    let at = |dims: &[i64], axis: usize| (axis + dims.len()).checked_sub(rank).map_or(1, |axis| dims[axis]);
    let mut repeats = Vec::new();
    for axis in 0..rank {
        repeats.push(match (at(&shape, axis), at(&target, axis)) {
            (1, wanted) => wanted,
            (given, wanted) if wanted == 1 || wanted == given => 1,
            (given, wanted) => return Err(NodeInvalid.because(format!("{given} elements cannot be broadcast to {wanted}"))),
        });
    }
    if rank == 0 {
        return Ok("output = Identity (input)".to_owned());
    }
    let list = |dims: &[i64]| dims.iter().map(|dim| dim.to_string()).collect::<Vec<_>>().join(",");
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
