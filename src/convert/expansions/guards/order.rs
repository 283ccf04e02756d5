//! `TopK` of equal elements.

use super::super::{fill, list};
use crate::convert::context::Context;
use crate::convert::reason::{OperatorTooNew, Reason, TooLarge};

/// The most elements that are chosen: the key of one is less than the square, an INT32.
const MOST: i64 = 46_340;

/// The first opset with `CumSum`.
const WITH_SUMS: i64 = 11;

/// Of equal elements, those with the lower index come first: ONNX. OpenVINO gives the right values,
/// with the indices of equal elements in any order; along other axes than the last one, it writes to
/// other memory if few elements are behind the axis, which therefore becomes the last one.
///
/// The elements that are better than the last value are chosen, and as many equal to it, from the
/// front, as are left. Their indices are the lowest of `candidates`. The chosen elements are sorted
/// as they are; elements of a group of equal ones are then sorted by their places, with keys of
/// which no two are equal. OpenVINO computes some operators wrong that follow a sum of integers and
/// have as many elements: the number of better elements is therefore added to each place.
pub(super) fn stable(cx: &Context) -> Result<String, Reason> {
    let behind = cx.axes_behind(cx.int_or("axis", -1)?)?;
    if behind == 0 {
        return along_last(cx, behind, ["X", "Values", "Indices"]);
    }
    let rank = cx.rank(0)?;
    let mut perm: Vec<usize> = (0..rank).collect();
    perm.swap(rank - 1 - behind, rank - 1);
    let perm = format!("Transpose <perm: ints = [{}]>", list(perm));
    let body = along_last(cx, behind, ["turned", "turned_values", "turned_indices"])?;
    let indices = if cx.uses_output(1) {
        format!("Indices = {perm} (turned_indices)")
    } else {
        String::new()
    };
    Ok(format!(
        "turned = {perm} (X)
         {body}
         Values = {perm} (turned_values)
         {indices}"
    ))
}

/// Along the last axis of an input of the body, which has this many axes behind it in the node's.
fn along_last(cx: &Context, behind: usize, names: [&str; 3]) -> Result<String, Reason> {
    let [from, values, indices] = names;
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
        ("X", &from),
        ("Values", &values),
        ("Indices", &indices),
        ("largest", &largest),
        ("better", &if largest == 0 { "Less" } else { "Greater" }),
        ("best", &if largest == 0 { "ArgMin" } else { "ArgMax" }),
    ];
    if !cx.uses_output(1) {
        return Ok(fill(
            &format!("{count} {PLAIN}").replace("$places", "$Indices"),
            parameters,
        ));
    }
    let chosen = format!("{count} {PLAIN}").replace("$places", "any");
    if known == Some(1) {
        return Ok(fill(&(chosen + BEST), parameters));
    }
    if cx.schema.since_version < WITH_SUMS {
        return Err(Reason::new(
            OperatorTooNew,
            format!("the guard needs CumSum of opset {WITH_SUMS}"),
        ));
    }
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
    Ok(fill(&(chosen + STABLE), parameters))
}

const PLAIN: &str = "
    $Values, $places = TopK <axis: int = -1, largest: int = $largest> ($X, count)\n";

const BEST: &str = "
    $Indices = $best <axis: int = -1, keepdims: int = 1> ($X)";

const STABLE: &str = "
    one = Constant <value = int64 {1}> ()
    none = Constant <value = int64 {0}> ()
    first = Constant <value = int64[1] {0}> ()
    second = Constant <value = int64[1] {1}> ()
    last = Constant <value = int64[1] {-1}> ()
    end = Constant <value = int64[1] {9223372036854775807}> ()
    axis = Constant <value = int64 {-1}> ()
    axes = Constant <value = int64[1] {-1}> ()
    number = Cast <to: int = 6> (count)
    worst = Slice ($Values, last, end, axes)
    is_better = $better ($X, worst)
    better = Cast <to: int = 6> (is_better)
    better_number = ReduceSum <keepdims: int = 1> (better, axes)
    is_equal = Equal ($X, worst)
    equal = Cast <to: int = 6> (is_equal)
    equal_place = CumSum (equal, axis)
    place_in_all = Add (equal_place, better_number)
    is_early = LessOrEqual (place_in_all, number)
    is_early_equal = And (is_equal, is_early)
    is_chosen = Or (is_better, is_early_equal)
    dims = Shape ($X)
    length = Gather (dims, axis)
    range = Range (none, length, one)
    index = Cast <to: int = 6> (range)
    beyond = Cast <to: int = 6> (length)
    candidates = Where (is_chosen, index, beyond)
    places, any_place = TopK <axis: int = -1, largest: int = 0> (candidates, count)
    chosen_index = Cast <to: int = 7> (places)
    chosen = GatherElements <axis: int = -1> ($X, chosen_index)
    sorted, order = TopK <axis: int = -1, largest: int = $largest> (chosen, count)
    sorted_first = Slice (sorted, first, second, axes)
    sorted_rest = Slice (sorted, first, last, axes)
    previous = Concat <axis: int = -1> (sorted_first, sorted_rest)
    is_repeated = Equal (sorted, previous)
    is_new = Not (is_repeated)
    new = Cast <to: int = 6> (is_new)
    group = CumSum (new, axis)
    group_key = Mul (group, number)
    place = Cast <to: int = 6> (order)
    key = Add (group_key, place)
    any_key, rank = TopK <axis: int = -1, largest: int = 0> (key, count)
    stable_order = GatherElements <axis: int = -1> (order, rank)
    $Indices = GatherElements <axis: int = -1> (chosen_index, stable_order)";
