//! Activation functions. Infinite and NaN inputs give what ONNX's formula gives for them: the Gelu,
//! Mish and Swish of negative infinity, for instance, is NaN.

use super::{Expansion, by_definition, exact, fill, number, type_of};
use crate::convert::context::Context;
use crate::convert::reason::{AttributeUnsupported, Reason, TypeUnsupported};
use onnx_cast::Class;

pub(super) const EXPANSIONS: &[Expansion] = &[
    by_definition("Celu", 12, celu),
    by_definition("Gelu", 20, gelu),
    exact("HardSwish", 14, hard_swish),
    by_definition("Mish", 18, mish),
    exact("Shrink", 9, shrink).in_opset(9),
    exact("Sign", 9, sign),
    by_definition("Swish", 24, swish),
];

/// For a positive `alpha` the two terms of ONNX's formula are never both other than zero, and the
/// sum is a scaled `Elu`. Where `alpha` < 1, `X` / `alpha` overflows for inputs beyond the largest
/// number times `alpha`.
fn celu(cx: &Context) -> Result<String, Reason> {
    let alpha = cx.float("alpha")?.unwrap_or(1.0);
    if !(alpha > 0.0 && alpha.is_finite()) {
        return Err(Reason::new(
            AttributeUnsupported,
            format!("`alpha` = {alpha} is not a positive number"),
        ));
    }
    let body = "
        alpha = Constant <value = $T {$alpha}> ()
        scaled = Div (X, alpha)
        elu = Elu <alpha: float = 1.0> (scaled)
        Y = Mul (alpha, elu)";
    Ok(fill(
        body,
        &[("T", &type_of(cx, 0)?), ("alpha", &number(alpha))],
    ))
}

/// Numbers beyond `lambd` are moved by `bias` towards zero, and the others are zero.
fn shrink(cx: &Context) -> Result<String, Reason> {
    let dtype = cx.dtype(0)?;
    if dtype.class() != Class::Float {
        return Err(Reason::new(
            TypeUnsupported,
            format!("`lambd` and `bias` are no {dtype}"),
        ));
    }
    let body = "
        bias = Constant <value = $T {$bias}> ()
        most = Constant <value = $T {$lambd}> ()
        least = Constant <value = $T {$least}> ()
        zero = Constant <value = $T {0}> ()
        is_high = Greater (input, most)
        is_low = Less (input, least)
        high = Cast <to: int = $number> (is_high)
        low = Cast <to: int = $number> (is_low)
        sign = Sub (high, low)
        shift = Mul (sign, bias)
        shifted = Sub (input, shift)
        is_beyond = Or (is_high, is_low)
        output = Where (is_beyond, shifted, zero)";
    let lambd = cx.float("lambd")?.unwrap_or(0.5);
    let parameters: &[(&str, &dyn std::fmt::Display)] = &[
        ("T", &type_of(cx, 0)?),
        ("number", &dtype.number()),
        ("bias", &number(cx.float("bias")?.unwrap_or(0.0))),
        ("lambd", &number(lambd)),
        ("least", &number(-lambd)),
    ];
    Ok(fill(body, parameters))
}

/// One for numbers above zero, less one for those below.
fn sign(cx: &Context) -> Result<String, Reason> {
    let dtype = cx.dtype(0)?;
    let body = match dtype.class() {
        Class::Unsigned => {
            "is_positive = Cast <to: int = 9> (input)
             output = Cast <to: int = $number> (is_positive)"
        }
        _ => {
            "zero = Constant <value = $T {0}> ()
             is_positive = Greater (input, zero)
             positive = Cast <to: int = $number> (is_positive)
             is_negative = Less (input, zero)
             negative = Cast <to: int = $number> (is_negative)
             output = Sub (positive, negative)"
        }
    };
    Ok(fill(
        body,
        &[("T", &type_of(cx, 0)?), ("number", &dtype.number())],
    ))
}

fn gelu(cx: &Context) -> Result<String, Reason> {
    let body = match cx.string("approximate")?.as_deref() {
        None | Some("none") => {
            "
            sqrt_two = Constant <value = $T {1.4142135623730951}> ()
            one = Constant <value = $T {1}> ()
            half = Constant <value = $T {0.5}> ()
            scaled = Div (X, sqrt_two)
            erf = Erf (scaled)
            shifted = Add (erf, one)
            phi = Mul (shifted, half)
            Y = Mul (X, phi)"
        }
        Some("tanh") => {
            "
            cubic = Constant <value = $T {0.044715}> ()
            sqrt_two_over_pi = Constant <value = $T {0.7978845608028654}> ()
            one = Constant <value = $T {1}> ()
            half = Constant <value = $T {0.5}> ()
            square = Mul (X, X)
            cube = Mul (square, X)
            cube_scaled = Mul (cubic, cube)
            sum = Add (X, cube_scaled)
            scaled = Mul (sqrt_two_over_pi, sum)
            tanh = Tanh (scaled)
            shifted = Add (one, tanh)
            phi = Mul (half, shifted)
            Y = Mul (X, phi)"
        }
        Some(other) => {
            return Err(Reason::new(
                AttributeUnsupported,
                format!("unknown `approximate` = '{other}'"),
            ));
        }
    };
    Ok(fill(body, &[("T", &type_of(cx, 0)?)]))
}

fn hard_swish(_: &Context) -> Result<String, Reason> {
    let body = "
        gate = HardSigmoid <alpha: float = 0.16666667, beta: float = 0.5> (X)
        Y = Mul (X, gate)";
    Ok(body.to_owned())
}

fn mish(_: &Context) -> Result<String, Reason> {
    let body = "
        softplus = Softplus (X)
        tanh = Tanh (softplus)
        Y = Mul (X, tanh)";
    Ok(body.to_owned())
}

fn swish(cx: &Context) -> Result<String, Reason> {
    let body = "
        alpha = Constant <value = $T {$alpha}> ()
        scaled = Mul (alpha, X)
        gate = Sigmoid (scaled)
        Y = Mul (X, gate)";
    Ok(fill(
        body,
        &[
            ("T", &type_of(cx, 0)?),
            ("alpha", &number(cx.float("alpha")?.unwrap_or(1.0))),
        ],
    ))
}
