//! Operators on bits. `BitCast` of integers is a `Cast`, which keeps their bits. `BitShift` is
//! guarded against large shifts. `BitwiseNot` is the difference from the number whose bits are all
//! ones. For the others, the bits of a number become a list of
//! truth values, and that list a sum of powers of two: it has a shape, since onnxruntime keeps the
//! axis over which it sums no elements.

use super::{Expansion, exact, fill, list, type_name, type_of};
use crate::convert::context::Context;
use crate::convert::reason::{NodeInvalid, OperatorTooNew, Reason, TypeUnsupported};
use onnx_cast::{Class, DType};

pub(super) const EXPANSIONS: &[Expansion] = &[
    exact("BitCast", 26, cast_of_bits),
    exact("BitShift", 11, shift_by_powers),
    exact("BitShift", 28, bit_shift),
    exact("BitwiseAnd", 18, |cx| bitwise(cx, "And")),
    exact("BitwiseNot", 18, bitwise_not),
    exact("BitwiseOr", 18, |cx| bitwise(cx, "Or")),
    exact("BitwiseXor", 18, |cx| bitwise(cx, "Xor")),
];

/// `Cast` to an integer of the same width keeps the bits (Cast-21).
fn cast_of_bits(cx: &Context) -> Result<String, Reason> {
    let (from, to) = (cx.dtype(0)?, cx.output_dtype(0)?);
    let is_integer = |dtype: DType| matches!(dtype.class(), Class::Signed | Class::Unsigned);
    let is_read = is_integer(from) || from == DType::Bool;
    if from == to {
        Ok("output = Identity (input)".to_owned())
    } else if is_read && is_integer(to) {
        Ok(format!("output = Cast <to: int = {}> (input)", to.number()))
    } else {
        Err(Reason::new(
            OperatorTooNew,
            format!("no older operator reads the bits of {from} as {to}"),
        ))
    }
}

/// The `direction` of a shift of unsigned integers.
fn direction(cx: &Context) -> Result<String, Reason> {
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
    match direction.as_str() {
        "LEFT" | "RIGHT" => Ok(direction),
        other => Err(Reason::new(
            NodeInvalid,
            format!("`direction` = '{other}' is not LEFT or RIGHT"),
        )),
    }
}

/// The lengths of shifts that are looked up: undefined ones beyond are counted modulo it.
const SHIFTS: usize = 64;

/// A product or a quotient of non-negative INT64, with a power of two. At most 32 bits are shifted
/// by at most 31, which gives less than 2^63, and the cast keeps the low bits. Lengths of all bits
/// or more, which are undefined, give zero as in version 28. UINT64 is divided as it is; its
/// products exceed every type.
fn shift_by_powers(cx: &Context) -> Result<String, Reason> {
    if cx.source.settings.narrows_int64 {
        return Err(Reason::new(
            TypeUnsupported,
            "the runtime computes int64, the type of the products, with 32 bits",
        ));
    }
    let (dtype, is_left) = (cx.dtype(0)?, direction(cx)? == "LEFT");
    let bits = dtype.bits();
    if bits > 32 && is_left {
        return Err(Reason::new(
            TypeUnsupported,
            format!("no type holds the products of {dtype} and powers of two"),
        ));
    }
    let wide = if bits > 32 { dtype } else { DType::Int64 };
    let powers = (0..SHIFTS).map(|length| match length {
        length if length < bits => 1 << length,
        _ if is_left => 0,
        _ => 1u64 << 62,
    });
    let body = "
        lengths = Constant <value = int64 {$lengths}> ()
        powers = Constant <value = $wide_name[$lengths] {$powers}> ()
        wide_X = Cast <to = $wide> (X)
        wide_Y = Cast <to = 7> (Y)
        turns = Div (wide_Y, lengths)
        counted = Mul (turns, lengths)
        length = Sub (wide_Y, counted)
        power = Gather <axis: int = 0> (powers, length)
        shifted = $op (wide_X, power)
        Z = Cast <to = $T> (shifted)";
    Ok(fill(
        body,
        &[
            ("lengths", &SHIFTS),
            ("powers", &list(powers)),
            ("wide_name", &type_name(wide)),
            ("wide", &wide.number()),
            ("op", &if is_left { "Mul" } else { "Div" }),
            ("T", &dtype.number()),
        ],
    ))
}

/// Since version 28 a shift by all bits or more gives zero; before, it is undefined.
fn bit_shift(cx: &Context) -> Result<String, Reason> {
    let (dtype, direction) = (cx.dtype(0)?, direction(cx)?);
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

/// The highest bit below the sign, whose modulus is beyond int64: it is set in a positive number
/// that is not less than its value, and in a negative one that is not less than its negated value.
const UPPER: &str = "
    $x_is_less = Less ($x_column, upper)
    $x_is_lowest = Less ($x_column, minus_upper)
    $x_is_positive_upper = Not ($x_is_less)
    $x_is_not_lowest = Not ($x_is_lowest)
    $x_is_negative = Less ($x_column, zero)
    $x_is_negative_upper = And ($x_is_negative, $x_is_not_lowest)
    $x_upper = Or ($x_is_positive_upper, $x_is_negative_upper)
    $x_low_digits = Cast <to = 7> ($x_lower)
    $x_upper_digit = Cast <to = 7> ($x_upper)
    $x_all_digits = Concat <axis: int = -1> ($x_low_digits, $x_upper_digit)
    $x_plain = Cast <to = 9> ($x_all_digits)\n";

/// The truth values of the bits of `$x`, lowest first: a bit is set if the number modulo twice its
/// value is not less than its value.
const BITS: &str = "
    $x_wide = Cast <to = 7> ($x)
    $x_column = Unsqueeze ($x_wide, last)
    $x_rest = Mod ($x_column, moduli)
    $x_clear = Less ($x_rest, values)
    $x_plain = Not ($x_clear)\n";

/// The number of bits that are added up at once: onnxruntime adds INT64 as DOUBLE.
const HALF: usize = 32;

/// The sum of all bits.
const WHOLE: &str = "added = ReduceSum <keepdims: int = 0> (parts, last)";

/// The sums of the lower and of the upper bits, one after the other. No product or sum overflows.
const HALVES: &str = "
    middle = Constant <value = int64[1] {32}> ()
    end = Constant <value = int64[1] {64}> ()
    step = Constant <value = int64 {4294967296}> ()
    low_parts = Slice (parts, start, middle, last)
    high_parts = Slice (parts, middle, end, last)
    low = ReduceSum <keepdims: int = 0> (low_parts, last)
    high = ReduceSum <keepdims: int = 0> (high_parts, last)
    moved = Mul (high, step)
    added = Add (moved, low)";

/// The highest bit of a signed number is its sign.
const SIGN: &str = "
    $x_sign = Less ($x_column, zero)
    $x_plain_digits = Cast <to = 7> ($x_plain)
    $x_sign_digit = Cast <to = 7> ($x_sign)
    $x_digits = Concat <axis: int = -1> ($x_plain_digits, $x_sign_digit)
    $x_bits = Cast <to = 9> ($x_digits)\n";

/// Casts between UINT64 and INT64 keep the bits (Cast-13: "discard higher bits and reinterpret").
fn bitwise(cx: &Context, op: &str) -> Result<String, Reason> {
    let dtype = cx.dtype(0)?;
    if !matches!(dtype.class(), Class::Signed | Class::Unsigned) {
        return Err(Reason::new(
            TypeUnsupported,
            format!("{dtype} is not an integer type"),
        ));
    }
    let is_long = dtype.bits() == 64;
    let is_signed = is_long || dtype.class() == Class::Signed;
    let bits = dtype.bits() - usize::from(is_signed);
    let plain = bits.min(MOST_BITS);
    let values: Vec<i64> = (0..plain).map(|bit| 1 << bit).collect();
    let weights: Vec<i64> = (0..bits)
        .map(|bit| 1 << (bit % HALF))
        .chain(is_signed.then(|| -1 << (bits % HALF)))
        .collect();
    let added = if is_long { HALVES } else { WHOLE };
    let bits = |name: &str| {
        let plain = if is_long {
            BITS.replace("$x_plain", "$x_lower") + UPPER
        } else {
            BITS.to_owned()
        };
        let sign = if is_signed {
            SIGN
        } else {
            "$x_bits = Identity ($x_plain)\n"
        };
        format!("{plain}{sign}").replace("$x", name)
    };
    let body = "
        last = Constant <value = int64[1] {-1}> ()
        zero = Constant <value = int64 {0}> ()
        upper = Constant <value = int64 {4611686018427387904}> ()
        minus_upper = Constant <value = int64 {-4611686018427387904}> ()
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
        $added
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
            ("added", &added),
        ],
    ))
}
