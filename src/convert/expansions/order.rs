//! `TopK` of any type, and of a computed number of elements.

use std::fmt::Display;

use super::gather::{static_shape, stride};
use super::{Expansion, exact, fill, list};
use crate::convert::context::{Context, counted_from_front};
use crate::convert::reason::{
    NodeInvalid, NotConstant, Reason, ShapeUnknown, TooLarge, TypeUnsupported,
};
use onnx_cast::DType;

pub(super) const EXPANSIONS: &[Expansion] = &[
    exact("TopK", 10, first_of_all).against(&[NotConstant]),
    exact("TopK", 11, by_rank).against(&[TypeUnsupported]),
];

/// The longest axis whose elements are compared with one another.
const LONGEST_COMPARED: i64 = 1 << 9;

/// The axis, its length, and the rank of the input.
fn sorted_axis(cx: &Context) -> Result<(i64, i64, usize), Reason> {
    let rank = cx.rank(0)?;
    let axis = counted_from_front(vec![cx.int_or("axis", -1)?], rank)?[0];
    if axis >= rank as i64 {
        return Err(Reason::new(NodeInvalid, "`axis` is out of range"));
    }
    let length = cx.dim(0, axis).filter(|&length| length > 0);
    let length = length.ok_or_else(|| {
        Reason::new(
            ShapeUnknown,
            "`k` is not constant, and the length of the axis must be known",
        )
    })?;
    Ok((axis, length, rank))
}

/// All elements are sorted.
fn first_of_all(cx: &Context) -> Result<String, Reason> {
    let (axis, length, _) = sorted_axis(cx)?;
    let body = "
        all_values, all_indices = TopK <axis: int = $axis, k: int = $length> (X)
        one = Constant <value = int64[1] {1}> ()
        long_k = Cast <to = 7> (K)
        ones = Tile (one, long_k)
        row = NonZero (ones)
        places = Squeeze <axes: ints = [0]> (row)
        Values = Gather <axis: int = $axis> (all_values, places)
        Indices = Gather <axis: int = $axis> (all_indices, places)";
    Ok(fill(body, &[("axis", &axis), ("length", &length)]))
}

/// The most lists that are sorted, whose offsets become a constant.
const MOST_LISTS: i64 = 1 << 16;

/// The place of an integer is the number of those before it: greater ones, or less, and equal ones
/// with a lower index. One integer has each place, so that the sum of the indices at a place is its
/// index.
fn by_rank(cx: &Context) -> Result<String, Reason> {
    let dtype = cx.dtype(0)?;
    if !matches!(dtype, DType::Int64 | DType::Uint64) {
        return Err(Reason::new(
            TypeUnsupported,
            format!("TopK does not support {dtype} before opset 11"),
        ));
    }
    let (axis, length, rank) = sorted_axis(cx)?;
    let shape = static_shape(cx, 0)?;
    let stride = stride(&shape, axis as usize);
    let others = [&shape[..axis as usize], &[1], &shape[axis as usize + 1..]].concat();
    let lists: i64 = others.iter().product();
    if length > LONGEST_COMPARED || lists > MOST_LISTS {
        return Err(Reason::new(
            TooLarge,
            format!(
                "more than {LONGEST_COMPARED} integers, or {MOST_LISTS} lists of them, are sorted"
            ),
        ));
    }
    // Of the first element of each list in the flattened input.
    let offsets = (0..lists).map(|list| list / stride * stride * length + list % stride);
    let beats = match cx.int_or("largest", 1)? {
        0 => "Less",
        _ => "Greater",
    };
    let body = "
        own = Unsqueeze <axes: ints = [$next]> (X)
        other = Unsqueeze <axes: ints = [$axis]> (X)
        beats = $beats (other, own)
        loses = $beats (own, other)
        differs = Or (beats, loses)
        equals = Not (differs)
        is_before = Constant <value = bool[$length, $length$ones] {$order}> ()
        precedes = And (equals, is_before)
        comes_first = Or (beats, precedes)
        first_flags = Cast <to = 7> (comes_first)
        place = ReduceSum <axes: ints = [$next], keepdims: int = 1> (first_flags)
        one = Constant <value = int64[1] {1}> ()
        long_k = Cast <to = 7> (K)
        counts = Tile (one, long_k)
        row = NonZero (counts)
        wanted_shape = Constant <value = int64[$wanted_rank] {-1$ones}> ()
        wanted = Reshape (row, wanted_shape)
        is_there = Equal (place, wanted)
        there_flags = Cast <to = 7> (is_there)
        number = Constant <value = int64[$length, 1$ones] {$numbers}> ()
        numbered = Mul (there_flags, number)
        Indices = ReduceSum <axes: ints = [$axis], keepdims: int = 0> (numbered)
        stride = Constant <value = int64 {$stride}> ()
        steps = Mul (Indices, stride)
        offsets = Constant <value = int64[$offsets_shape] {$offsets}> ()
        places = Add (steps, offsets)
        list = Constant <value = int64[1] {-1}> ()
        flat = Reshape (X, list)
        Values = Gather (flat, places)";
    // Own elements along one axis, others along the next.
    let order = (0..length).flat_map(|own| (0..length).map(move |other| i64::from(other < own)));
    let ones = ", 1".repeat(rank - 1 - axis as usize);
    let parameters: &[(&str, &dyn Display)] = &[
        ("axis", &axis),
        ("next", &(axis + 1)),
        ("length", &length),
        ("ones", &ones),
        ("order", &list(order)),
        ("numbers", &list(0..length)),
        ("wanted_rank", &(rank - axis as usize)),
        ("beats", &beats),
        ("stride", &stride),
        ("offsets_shape", &list(others)),
        ("offsets", &list(offsets)),
    ];
    Ok(fill(body, parameters))
}
