//! Hyperbolic functions and their inverses, computed in DOUBLE, so that also those of numbers near
//! zero are rounded once.

use std::fmt::Display;

use super::{Expansion, by_definition, fill};
use crate::convert::context::Context;
use crate::convert::reason::{Reason, TypeUnsupported};
use onnx_cast::DType;

pub(super) const EXPANSIONS: &[Expansion] = &[
    // NaN below one, where ONNX's definition is: the root of a negative number.
    by_definition("Acosh", 9, |cx| {
        in_double(
            cx,
            "below = Sub (x, one)
             above = Add (x, one)
             below_root = Sqrt (below)
             above_root = Sqrt (above)
             root = Mul (below_root, above_root)
             sum = Add (x, root)
             y = Log (sum)",
        )
    }),
    by_definition("Asinh", 9, |cx| {
        odd(
            cx,
            ["-0.16666666666666666", "0.075"],
            "square = Mul (large, large)
             more = Add (square, one)
             root = Sqrt (more)
             sum = Add (large, root)
             of_large = Log (sum)",
        )
    }),
    by_definition("Atanh", 9, |cx| {
        odd(
            cx,
            ["0.3333333333333333", "0.2"],
            "half = Constant <value = double {0.5}> ()
             more = Add (one, large)
             less = Sub (one, large)
             quotient = Div (more, less)
             logarithm = Log (quotient)
             of_large = Mul (half, logarithm)",
        )
    }),
    by_definition("Cosh", 9, |cx| {
        in_double(cx, &format!("{COSH} y = Identity (cosh)"))
    }),
    // Near zero, the difference of two powers has few digits.
    by_definition("Sinh", 9, |cx| {
        in_double(cx, &format!("{COSH} tanh = Tanh (x) y = Mul (tanh, cosh)"))
    }),
];

const COSH: &str = "
    half = Constant <value = double {0.5}> ()
    negated = Neg (x)
    growing = Exp (x)
    falling = Exp (negated)
    sum = Add (growing, falling)
    cosh = Mul (half, sum)\n";

/// A body that computes `y` of `x`, both of type DOUBLE.
fn in_double(cx: &Context, body: &str) -> Result<String, Reason> {
    let dtype = cx.dtype(0)?;
    if dtype == DType::Double {
        return Err(Reason::new(
            TypeUnsupported,
            "no wider type makes up for the rounding of DOUBLE",
        ));
    }
    Ok(format!(
        "one = Constant <value = double {{1}}> ()
         x = Cast <to = 11> (input)
         {body}
         output = Cast <to = {}> (y)",
        dtype.number()
    ))
}

/// An odd function: a series x + a x^3 + b x^5 near zero, and `of_large` of the magnitude `large`
/// elsewhere. Both are divided by the magnitude, so that infinities, NaN and the sign of zero are
/// those of `x`.
fn odd(cx: &Context, [third, fifth]: [&str; 2], of_large: &str) -> Result<String, Reason> {
    let body = "
        limit = Constant <value = double {1e-3}> ()
        most = Constant <value = double {1e39}> ()
        third = Constant <value = double {$third}> ()
        fifth = Constant <value = double {$fifth}> ()
        magnitude = Abs (x)
        is_large = Greater (magnitude, limit)
        large_flag = Cast <to = 11> (is_large)
        small_flag = Sub (one, large_flag)
        small = Min (magnitude, limit)
        small_square = Mul (small, small)
        fifth_term = Mul (fifth, small_square)
        both_terms = Add (third, fifth_term)
        change = Mul (both_terms, small_square)
        small_factor = Add (one, change)
        at_least = Max (magnitude, limit)
        large = Min (at_least, most)
        $of_large
        large_factor = Div (of_large, large)
        small_part = Mul (small_flag, small_factor)
        large_part = Mul (large_flag, large_factor)
        factor = Add (small_part, large_part)
        y = Mul (x, factor)";
    let parameters: &[(&str, &dyn Display)] = &[
        ("third", &third),
        ("fifth", &fifth),
        ("of_large", &of_large),
    ];
    in_double(cx, &fill(body, parameters))
}
