//! Rounding, thresholds and the recognition of NaN.

use super::{Expansion, exact, fill, list, number, type_name, type_of};
use crate::convert::context::Context;
use crate::convert::reason::{Reason, ShapeUnknown, TooLarge};
use onnx_cast::DType;

pub(super) const EXPANSIONS: &[Expansion] = &[
    exact("EyeLike", 9, eye_like),
    exact("IsNaN", 9, is_nan),
    exact("Round", 11, round),
    exact("ThresholdedRelu", 10, thresholded),
];

/// Rounds floats to the nearest integer, halves to the even one, without `Round`. Zeros have no
/// sign.
pub(super) fn rounded(input: &str, output: &str, float: &str, dtype: DType) -> String {
    let body = "
        half = Constant <value = $T {0.5}> ()
        below = Floor ($input)
        rest = Sub ($input, below)
        is_more = Greater (rest, half)
        is_less = Less (rest, half)
        is_decided = Or (is_more, is_less)
        is_tie = Not (is_decided)
        halved = Mul (below, half)
        halved_below = Floor (halved)
        is_odd = Greater (halved, halved_below)
        is_odd_tie = And (is_tie, is_odd)
        goes_up = Or (is_more, is_odd_tie)
        step = Cast <to = $number> (goes_up)
        $output = Add (below, step)";
    fill(
        body,
        &[
            ("input", &input),
            ("output", &output),
            ("T", &float),
            ("number", &dtype.number()),
        ],
    )
}

/// The magnitude is rounded, and gets the sign back. A result of zero is the input times zero,
/// which has its sign.
fn round(cx: &Context) -> Result<String, Reason> {
    let body = "
        magnitude = Abs (X)
        $rounded
        nothing = Constant <value = $T {0}> ()
        mirrored = Neg (whole)
        is_negative = Less (X, nothing)
        signed = Where (is_negative, mirrored, whole)
        zero = Mul (X, nothing)
        is_nonzero = Greater (whole, nothing)
        Y = Where (is_nonzero, signed, zero)";
    let float = type_of(cx, 0)?;
    Ok(fill(
        body,
        &[
            (
                "rounded",
                &rounded("magnitude", "whole", &float, cx.dtype(0)?),
            ),
            ("T", &float),
        ],
    ))
}

/// A number is less than one or greater than zero.
fn is_nan(cx: &Context) -> Result<String, Reason> {
    let body = "
        one = Constant <value = $T {1}> ()
        zero = Constant <value = $T {0}> ()
        is_below_one = Less (X, one)
        is_above_zero = Greater (X, zero)
        is_number = Or (is_below_one, is_above_zero)
        Y = Not (is_number)";
    Ok(fill(body, &[("T", &type_of(cx, 0)?)]))
}

/// Also the operator of onnxruntime before opset 10.
pub(super) fn thresholded(cx: &Context) -> Result<String, Reason> {
    let body = "
        threshold = Constant <value = $T {$alpha}> ()
        zero = Constant <value = $T {0}> ()
        is_above = Greater (X, threshold)
        Y = Where (is_above, X, zero)";
    Ok(fill(
        body,
        &[
            ("T", &type_of(cx, 0)?),
            ("alpha", &number(cx.float("alpha")?.unwrap_or(1.0))),
        ],
    ))
}

/// The most elements of a constant matrix.
const MOST_ELEMENTS: i64 = 1 << 14;

/// A constant, for a shape that is known.
fn eye_like(cx: &Context) -> Result<String, Reason> {
    let shape = cx.known_input(0).static_shape().unwrap_or_default();
    let &[rows, columns] = shape.as_slice() else {
        return Err(Reason::new(
            ShapeUnknown,
            "the shape of the matrix must be known",
        ));
    };
    if rows
        .checked_mul(columns)
        .is_none_or(|elements| elements > MOST_ELEMENTS)
    {
        return Err(Reason::new(
            TooLarge,
            format!("the matrix has more than {MOST_ELEMENTS} elements"),
        ));
    }
    let diagonal = cx.int_or("k", 0)?;
    let elements = (0..rows).flat_map(|row| {
        (0..columns).map(move |column| i64::from(Some(column) == row.checked_add(diagonal)))
    });
    let dtype = type_name(cx.output_dtype(0)?);
    Ok(format!(
        "output = Constant <value = {dtype}[{rows},{columns}] {{{}}}> ()",
        list(elements)
    ))
}
