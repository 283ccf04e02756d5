//! Operators on bits. `BitShift` is guarded against large shifts. `BitwiseNot` is the difference
//! from the number whose bits are all ones. For the others, the bits of a number become a list of
//! truth values, and that list a sum of powers of two: it has a shape, since onnxruntime keeps the
//! axis over which it sums no elements.

use super::{Expansion, exact, fill, list, type_of};
use crate::convert::context::Context;
use crate::convert::reason::{NodeInvalid, Reason, TypeUnsupported};
use onnx_cast::Class;

pub(super) const EXPANSIONS: &[Expansion] = &[
    exact("BitShift", 28, bit_shift),
    exact("BitwiseAnd", 18, |cx| bitwise(cx, "And")),
    exact("BitwiseNot", 18, bitwise_not),
    exact("BitwiseOr", 18, |cx| bitwise(cx, "Or")),
    exact("BitwiseXor", 18, |cx| bitwise(cx, "Xor")),
];

/// Since version 28 a shift by all bits or more gives zero; before, it is undefined.
fn bit_shift(cx: &Context) -> Result<String, Reason> {
    let dtype = cx.dtype(0)?;
    if dtype.class() != Class::Unsigned {
        return Err(Reason::new(
            TypeUnsupported,
            format!("shifts of {dtype} are not supported before"),
        ));
    }
    let direction = cx
        .string("direction")?
        .ok_or_else(|| Reason::new(NodeInvalid, "the attribute `direction` is missing"))?;
    let direction = match direction.as_str() {
        direction @ ("LEFT" | "RIGHT") => direction,
        other => {
            return Err(Reason::new(
                NodeInvalid,
                format!("`direction` = '{other}' is not LEFT or RIGHT"),
            ));
        }
    };
    let body = "
        bits = Constant <value = $T {$bits}> ()
        zero = Constant <value = $T {0}> ()
        is_small = Less (Y, bits)
        shift = Where (is_small, Y, zero)
        shifted = BitShift <direction: string = \"$direction\"> (X, shift)
        Z = Where (is_small, shifted, zero)";
    Ok(fill(
        body,
        &[
            ("T", &type_of(cx, 0)?),
            ("bits", &dtype.bits()),
            ("direction", &direction),
        ],
    ))
}

fn bitwise_not(cx: &Context) -> Result<String, Reason> {
    let dtype = cx.dtype(0)?;
    let ones = match dtype.class() {
        Class::Unsigned => (u64::MAX >> (64 - dtype.bits().clamp(1, 64))).to_string(),
        _ => "-1".to_owned(),
    };
    let body = "
        ones = Constant <value = $T {$ones}> ()
        Y = Sub (ones, X)";
    Ok(fill(body, &[("T", &type_of(cx, 0)?), ("ones", &ones)]))
}

/// The most bits that have a modulus of type int64.
const MOST_BITS: usize = 62;

/// The truth values of the bits of `$x`, lowest first: a bit is set if the number modulo twice its
/// value is not less than its value.
const BITS: &str = "
    $x_wide = Cast <to = 7> ($x)
    $x_column = Unsqueeze ($x_wide, last)
    $x_rest = Mod ($x_column, moduli)
    $x_clear = Less ($x_rest, values)
    $x_plain = Not ($x_clear)\n";

/// The highest bit of a signed number is its sign.
const SIGN: &str = "
    $x_sign = Less ($x_column, zero)
    $x_plain_digits = Cast <to = 7> ($x_plain)
    $x_sign_digit = Cast <to = 7> ($x_sign)
    $x_digits = Concat <axis: int = -1> ($x_plain_digits, $x_sign_digit)
    $x_bits = Cast <to = 9> ($x_digits)\n";

fn bitwise(cx: &Context, op: &str) -> Result<String, Reason> {
    let dtype = cx.dtype(0)?;
    let is_signed = dtype.class() == Class::Signed;
    let plain = dtype.bits() - usize::from(is_signed);
    if plain > MOST_BITS || !matches!(dtype.class(), Class::Signed | Class::Unsigned) {
        return Err(Reason::new(
            TypeUnsupported,
            format!("the highest bit of {dtype} has no modulus of type INT64"),
        ));
    }
    let values: Vec<i64> = (0..plain).map(|bit| 1 << bit).collect();
    let weights: Vec<i64> = values
        .iter()
        .copied()
        .chain(is_signed.then(|| -(1 << plain)))
        .collect();
    let bits = |name: &str| {
        let sign = if is_signed {
            SIGN
        } else {
            "$x_bits = Identity ($x_plain)\n"
        };
        format!("{BITS}{sign}").replace("$x", name)
    };
    let body = "
        last = Constant <value = int64[1] {-1}> ()
        zero = Constant <value = int64 {0}> ()
        values = Constant <value = int64[$plain] {$values}> ()
        moduli = Constant <value = int64[$plain] {$moduli}> ()
        weights = Constant <value = int64[$all] {$weights}> ()
        $left $right
        set = $op (A_bits, B_bits)
        digits = Cast <to = 7> (set)
        parts = Mul (digits, weights)
        all_dims = Shape (set)
        start = Constant <value = int64[1] {0}> ()
        dims = Slice (all_dims, start, last)
        added = ReduceSum <keepdims: int = 0> (parts, last)
        sum = Reshape (added, dims)
        C = Cast <to = $type> (sum)";
    Ok(fill(
        body,
        &[
            ("plain", &plain),
            ("values", &list(&values)),
            ("moduli", &list(values.iter().map(|value| 2 * value))),
            ("all", &weights.len()),
            ("weights", &list(&weights)),
            ("left", &bits("A")),
            ("right", &bits("B")),
            ("op", &op),
            ("type", &dtype.number()),
        ],
    ))
}
