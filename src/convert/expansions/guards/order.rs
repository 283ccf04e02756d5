//! `TopK` of equal elements.

use super::super::{fill, list};
use crate::convert::context::Context;
use crate::convert::reason::{OperatorTooNew, Reason, TooLarge};

/// The most elements that are chosen: the key of one is less than the square, an INT32.
const MOST: i64 = 46_340;

/// The first opset with `CumSum`.
const WITH_SUMS: i64 = 11;

/// Of equal elements, those with the lower index come first: ONNX. OpenVINO gives the right values,
/// with the indices of equal elements in any order.
///
/// The elements that are better than the last value are chosen, and as many equal to it, from the
/// front, as are left. Their indices are the lowest of `candidates`. The chosen elements are sorted
/// as they are; elements of a group of equal ones are then sorted by their places, with keys of
/// which no two are equal.
pub(super) fn stable(cx: &Context) -> Result<String, Reason> {
    let axis = cx.int_or("axis", -1)?;
    let largest = cx.int_or("largest", 1)?;
    let (count, known) = if let Some(k) = cx.int("k")? {
        (
            format!("count = Constant <value = int64[1] {{{k}}}> ()"),
            Some(k),
        )
    } else {
        let known = cx.read_ints(1).ok().and_then(|ints| ints.first().copied());
        ("count = Identity (K)".to_owned(), known)
    };
    let parameters: &[(&str, &dyn std::fmt::Display)] = &[
        ("axis", &axis),
        ("largest", &largest),
        ("better", &if largest == 0 { "Less" } else { "Greater" }),
        ("best", &if largest == 0 { "ArgMin" } else { "ArgMax" }),
    ];
    if !cx.uses_output(1) {
        return Ok(fill(
            &format!("{count} {PLAIN}").replace("$indices", "Indices"),
            parameters,
        ));
    }
    let values = format!("{count} {PLAIN}").replace("$indices", "any");
    if known == Some(1) {
        return Ok(fill(&(values + BEST), parameters));
    }
    if cx.schema.since_version < WITH_SUMS {
        return Err(Reason::new(
            OperatorTooNew,
            format!("the guard needs CumSum of opset {WITH_SUMS}"),
        ));
    }
    let behind = cx.axes_behind(axis)?;
    let shape = cx.known_input(0).shape;
    let length = shape.and_then(|shape| *shape.iter().rev().nth(behind)?);
    if [known, length]
        .into_iter()
        .flatten()
        .min()
        .is_some_and(|most| most > MOST)
    {
        return Err(Reason::new(TooLarge, "too many elements are chosen"));
    }
    let dims: Vec<i64> = std::iter::once(-1)
        .chain(std::iter::repeat_n(1, behind))
        .collect();
    let body = fill(&(values + STABLE), parameters);
    Ok(fill(
        &body,
        &[("rank", &dims.len()), ("dims", &list(&dims))],
    ))
}

const PLAIN: &str = "
    Values, $indices = TopK <axis: int = $axis, largest: int = $largest> (X, count)\n";

const BEST: &str = "
    Indices = $best <axis: int = $axis, keepdims: int = 1> (X)";

const STABLE: &str = "
    one = Constant <value = int64 {1}> ()
    none = Constant <value = int64 {0}> ()
    first = Constant <value = int64[1] {0}> ()
    second = Constant <value = int64[1] {1}> ()
    last = Constant <value = int64[1] {-1}> ()
    end = Constant <value = int64[1] {9223372036854775807}> ()
    axis = Constant <value = int64 {$axis}> ()
    axes = Constant <value = int64[1] {$axis}> ()
    index_dims = Constant <value = int64[$rank] {$dims}> ()
    number = Cast <to: int = 6> (count)
    worst = Slice (Values, last, end, axes)
    is_better = $better (X, worst)
    better = Cast <to: int = 6> (is_better)
    better_number = ReduceSum <keepdims: int = 1> (better, axes)
    is_equal = Equal (X, worst)
    equal = Cast <to: int = 6> (is_equal)
    equal_place = CumSum (equal, axis)
    left = Sub (number, better_number)
    is_early = LessOrEqual (equal_place, left)
    is_early_equal = And (is_equal, is_early)
    is_chosen = Or (is_better, is_early_equal)
    dims = Shape (X)
    length = Gather (dims, axis)
    range = Range (none, length, one)
    index_list = Cast <to: int = 6> (range)
    index = Reshape (index_list, index_dims)
    beyond = Cast <to: int = 6> (length)
    candidates = Where (is_chosen, index, beyond)
    places, any_place = TopK <axis: int = $axis, largest: int = 0> (candidates, count)
    chosen_index = Cast <to: int = 7> (places)
    chosen = GatherElements <axis: int = $axis> (X, chosen_index)
    sorted, order = TopK <axis: int = $axis, largest: int = $largest> (chosen, count)
    sorted_first = Slice (sorted, first, second, axes)
    sorted_rest = Slice (sorted, first, last, axes)
    previous = Concat <axis: int = $axis> (sorted_first, sorted_rest)
    is_repeated = Equal (sorted, previous)
    is_new = Not (is_repeated)
    new = Cast <to: int = 6> (is_new)
    group = CumSum (new, axis)
    group_key = Mul (group, number)
    place = Cast <to: int = 6> (order)
    key = Add (group_key, place)
    any_key, rank = TopK <axis: int = $axis, largest: int = 0> (key, count)
    stable_order = GatherElements <axis: int = $axis> (order, rank)
    Indices = GatherElements <axis: int = $axis> (chosen_index, stable_order)";
