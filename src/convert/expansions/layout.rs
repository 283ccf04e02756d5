//! Operators that repeat or regroup elements.

use super::gather::static_shape;
use super::{Expansion, exact, list, local_output_name};
use crate::convert::context::{Context, counted_from_front};
use crate::convert::reason::{NodeInvalid, Reason, ShapeUnknown, ShapeUnsupported, TooLarge};
use crate::ops::inference::MOST_DIMENSIONS;

pub(super) const EXPANSIONS: &[Expansion] = &[
    exact("Expand", 8, expand),
    exact("Flatten", 9, flatten),
    exact("ReverseSequence", 10, reverse_sequence),
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
    if cx.read_ints(1).is_err() {
        return expand_to_computed(cx);
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

/// Dimensions of one are repeated as often as the computed shape says, and others are not.
fn expand_to_computed(cx: &Context) -> Result<String, Reason> {
    let given = cx.rank(0)?;
    let wanted = cx.dim(1, 0).and_then(|length| usize::try_from(length).ok());
    let wanted = wanted
        .filter(|&length| length <= MOST_DIMENSIONS)
        .ok_or_else(|| Reason::new(ShapeUnknown, "the rank of the result is unknown"))?;
    let rank = given.max(wanted);
    let ones = |count: usize| list(vec![1; count]);
    let aligned = match rank - given {
        0 => "aligned = Identity (input)".to_owned(),
        added => format!(
            "aligned = Unsqueeze <axes: ints = [{}]> (input)",
            list(0..added)
        ),
    };
    let repeated = match rank - wanted {
        0 => "wanted = Identity (long_shape)".to_owned(),
        added => format!(
            "before = Constant <value = int64[{added}] {{{}}}> ()
             wanted = Concat <axis: int = 0> (before, long_shape)",
            ones(added)
        ),
    };
    Ok(format!(
        "long_shape = Cast <to = 7> (shape)
         {aligned}
         {repeated}
         ones = Constant <value = int64[{rank}] {{{}}}> ()
         dims = Shape (aligned)
         is_one = Equal (dims, ones)
         flags = Cast <to = 7> (is_one)
         more = Sub (wanted, ones)
         added = Mul (flags, more)
         repeats = Add (ones, added)
         output = Tile (aligned, repeats)",
        ones(rank)
    ))
}

/// Each row of the first two axes is taken from the mirrored place, if that is in the sequence.
fn reverse_sequence(cx: &Context) -> Result<String, Reason> {
    let (time, batch) = (cx.int_or("time_axis", 0)?, cx.int_or("batch_axis", 1)?);
    if ![(0, 1), (1, 0)].contains(&(time, batch)) {
        return Err(Reason::new(
            NodeInvalid,
            "`time_axis` and `batch_axis` are not the first two axes",
        ));
    }
    let shape = static_shape(cx, 0)?;
    if shape.contains(&0) {
        return Ok("Y = Identity (input)".to_owned());
    }
    let (steps, sequences) = match *shape.as_slice() {
        [steps, sequences, ..] if time == 0 => (steps, sequences),
        [sequences, steps, ..] => (steps, sequences),
        _ => return Err(Reason::new(NodeInvalid, "the input has less than two axes")),
    };
    if steps.max(sequences) > LONGEST_AXIS {
        return Err(Reason::new(
            TooLarge,
            format!("one of the first two axes has more than {LONGEST_AXIS} elements"),
        ));
    }
    let column = |count: i64, axis: i64| match axis {
        0 => format!("{count}, 1"),
        _ => format!("1, {count}"),
    };
    let strides = if time == 0 {
        (sequences, 1)
    } else {
        (1, steps)
    };
    Ok(format!(
        "step = Constant <value = int64[{}] {{{}}}> ()
         sequence = Constant <value = int64[{}] {{{}}}> ()
         lengths_shape = Constant <value = int64[2] {{{}}}> ()
         lengths = Reshape (sequence_lens, lengths_shape)
         one = Constant <value = int64 {{1}}> ()
         last = Sub (lengths, one)
         mirrored = Sub (last, step)
         is_inside = Less (step, lengths)
         place = Where (is_inside, mirrored, step)
         step_stride = Constant <value = int64 {{{}}}> ()
         sequence_stride = Constant <value = int64 {{{}}}> ()
         step_offset = Mul (place, step_stride)
         sequence_offset = Mul (sequence, sequence_stride)
         number = Add (step_offset, sequence_offset)
         list = Constant <value = int64[1] {{-1}}> ()
         numbers = Reshape (number, list)
         rows_shape = Constant <value = int64[2] {{{}, -1}}> ()
         rows = Reshape (input, rows_shape)
         reversed = Gather <axis: int = 0> (rows, numbers)
         shape = Shape (input)
         Y = Reshape (reversed, shape)",
        column(steps, time),
        list(0..steps),
        column(sequences, batch),
        list(0..sequences),
        column(sequences, batch),
        strides.0,
        strides.1,
        steps * sequences,
    ))
}

/// The longest axis whose places become a constant.
const LONGEST_AXIS: i64 = 1 << 14;

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
