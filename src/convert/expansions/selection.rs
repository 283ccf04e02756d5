//! Selections at computed places before `NonZero` (opset 9): a `Loop` finds one place after the
//! other.

use super::{Expansion, element_count, exact, fill, list};
use crate::convert::context::{Context, counted_from_front};
use crate::convert::reason::{NodeInvalid, Reason, TypeUnsupported};
use onnx_cast::DType;

pub(super) const EXPANSIONS: &[Expansion] = &[
    exact("Compress", 9, compress),
    exact("NonZero", 9, non_zero),
    exact("OneHot", 9, one_hot),
];

/// The most numbers that are a constant.
const LONGEST_LIST: i64 = 1 << 12;

/// The numbers from zero up to a scalar, which may be known.
fn numbers(name: &str, count: &str, known: Option<i64>) -> String {
    if let Some(known) = known.filter(|known| (0..=LONGEST_LIST).contains(known)) {
        let all = list(0..known);
        return format!("{name} = Constant <value = int64[{known}] {{{all}}}> ()");
    }
    let body = "
        $name_go = Constant <value = bool {1}> ()
        $name_list = Constant <value = int64[1] {-1}> ()
        $name_end, $name_column = Loop <body = $name_count_up (int64 $name_iteration, bool $name_goes, int64 $name_present) => ($name_goes_on, $name_same, $name_row) {
            $name_goes_on = Identity ($name_goes)
            $name_same = Identity ($name_present)
            $name_row = Reshape ($name_iteration, $name_list)
        }> ($count, $name_go, $count)
        $name = Reshape ($name_column, $name_list)";
    fill(body, &[("name", &name), ("count", &count)])
}

/// The places of the elements of `given` that are not zero, in the order of the flattened tensor.
fn places(count: Option<i64>) -> String {
    let body = "
        list = Constant <value = int64[1] {-1}> ()
        goes = Constant <value = bool {1}> ()
        given_flags = Cast <to = 9> (given)
        given_numbers = Cast <to = 1> (given_flags)
        rest = Reshape (given_numbers, list)
        rest_shape = Shape (rest)
        first = Constant <value = int64 {0}> ()
        rest_length = Gather (rest_shape, first)
        $numbers
        ones = Cast <to = 7> (rest)
        count = ReduceSum <axes: ints = [0], keepdims: int = 0> (ones)
        unused, found = Loop <body = find (int64 iteration, bool go, float[?] present) => (goes_on, next, place) {
            goes_on = Identity (go)
            place = ArgMax <axis: int = 0> (present)
            is_here = Equal (numbers, place)
            is_elsewhere = Not (is_here)
            kept = Cast <to = 1> (is_elsewhere)
            next = Mul (present, kept)
        }> (count, goes, rest)
        places = Reshape (found, list)";
    fill(
        body,
        &[("numbers", &numbers("numbers", "rest_length", count))],
    )
}

fn compress(cx: &Context) -> Result<String, Reason> {
    let data = match cx.int("axis")? {
        Some(axis) => {
            let axis = cx.axes_from_front(vec![axis])?[0];
            format!("output = Gather <axis: int = {axis}> (input, places)")
        }
        None => "flat = Reshape (input, list) output = Gather (flat, places)".to_owned(),
    };
    let places = places(cx.dim(1, 0));
    Ok(format!("given = Identity (condition) {places} {data}"))
}

/// The indices of a place are the digits of its number, the last axis first.
fn non_zero(cx: &Context) -> Result<String, Reason> {
    if cx.dtype(0)? == DType::String {
        return Err(Reason::new(
            TypeUnsupported,
            "no cast tells empty strings from others",
        ));
    }
    let rank = cx.rank(0)?;
    if rank == 0 {
        return Err(Reason::new(
            NodeInvalid,
            "runtimes disagree on the indices of a scalar",
        ));
    }
    let count = cx.known_input(0).static_shape();
    let count = count.and_then(|dims| element_count(&dims));
    let mut body = format!(
        "given = Identity (X) {}
         left_{rank} = Identity (places)
         shape = Shape (X)\n",
        places(count)
    );
    for axis in (1..rank).rev() {
        // Runtimes refuse to divide by the length of an empty axis, also where they divide nothing.
        let digit = "
            axis_$axis = Constant <value = int64 {$axis}> ()
            length_$axis = Gather (shape, axis_$axis)
            is_long_$axis = Cast <to = 9> (length_$axis)
            is_empty_$axis = Not (is_long_$axis)
            added_$axis = Cast <to = 7> (is_empty_$axis)
            divisor_$axis = Add (length_$axis, added_$axis)
            left_$axis = Div (left_$next, divisor_$axis)
            covered_$axis = Mul (left_$axis, divisor_$axis)
            digit_$axis = Sub (left_$next, covered_$axis)
            row_$axis = Unsqueeze <axes: ints = [0]> (digit_$axis)\n";
        body += &fill(digit, &[("axis", &axis), ("next", &(axis + 1))]);
    }
    body += "row_0 = Unsqueeze <axes: ints = [0]> (left_1)";
    let rows = list((0..rank).map(|axis| format!("row_{axis}")));
    Ok(format!("{body} Y = Concat <axis: int = 0> ({rows})"))
}

/// The index along the new axis is compared with each number.
fn one_hot(cx: &Context) -> Result<String, Reason> {
    let rank = cx.rank(0)?;
    let axis = counted_from_front(vec![cx.int_or("axis", -1)?], rank + 1)?[0];
    if axis > rank as i64 {
        return Err(Reason::new(NodeInvalid, "`axis` is out of range"));
    }
    let depth = cx
        .read_ints(1)
        .ok()
        .and_then(|depth| depth.first().copied());
    let others = list((0..=rank as i64).filter(|&other| other != axis));
    let column = if rank == 0 {
        "column = Identity (numbers)".to_owned()
    } else {
        format!("column = Unsqueeze <axes: ints = [{others}]> (numbers)")
    };
    let body = "
        scalar = Constant <value = int64[0] {}> ()
        depth_number = Cast <to = 7> (depth)
        depth_scalar = Reshape (depth_number, scalar)
        $numbers
        $column
        index = Cast <to = 7> (indices)
        index_column = Unsqueeze <axes: ints = [$axis]> (index)
        is_hot = Equal (index_column, column)
        choice = Cast <to = 7> (is_hot)
        output = Gather <axis: int = 0> (values, choice)";
    Ok(fill(
        body,
        &[
            ("numbers", &numbers("numbers", "depth_scalar", depth)),
            ("column", &column),
            ("axis", &axis),
        ],
    ))
}
