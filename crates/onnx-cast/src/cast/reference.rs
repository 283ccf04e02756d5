//! The exact path: one element at a time, by its exact value. All kernels are tested against it.
//!
//! Decode once, encode once: the exact value of any source element is a NaN, an infinity, or
//! `magnitude * 2^exponent`.

use super::pair::Cast;
use super::rules::{Contested, RoundMode, Rules};
use super::summary::Verdict;
use crate::dtype::{Class, DType};
use crate::float_format::{Format, Specials};
use crate::packed::mask;
use Verdict::{Defined, Undefined};
use std::cmp::Ordering;

/// The exact value of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// The mantissa bits are at the top of `payload`, the quiet bit first.
    Nan { negative: bool, payload: u64 },
    /// Either infinity.
    Infinite { negative: bool },
    /// `magnitude * 2^exponent`, exactly. (A decimal literal may have more than 64 bits: then the
    /// lowest bit of the magnitude is sticky, which is equivalent for every rounding to 53 bits or
    /// fewer.)
    Finite {
        negative: bool,
        magnitude: u64,
        exponent: i32,
    },
}

/// The result for one source element, given in the low bits of `source`.
#[must_use]
pub fn convert_element(cast: &Cast, source: u64) -> (u64, Verdict) {
    match (cast.from, cast.to) {
        (DType::Bool, DType::Bool) => (u64::from(source != 0), Defined),
        (DType::Float8E5M2, DType::Float8E5M2) if cast.rules.saturate && source & 0x7F == 0x7C => {
            let result = if cast.rules.contested == Contested::Text {
                source - 1
            } else {
                source
            };
            (result, Verdict::Contested(SAME_TYPE_INFINITY))
        }
        (from, to) if from == to => (source, Defined),
        (from, to) if is_integer(from) && is_integer(to) => {
            (integer(from, source) as u64 & mask(to.bits()), Defined)
        }
        (from, to) => encode(to, &cast.rules, decode(from, source)),
    }
}

fn is_integer(dtype: DType) -> bool {
    matches!(dtype.class(), Class::Signed | Class::Unsigned)
}

/// The value of an element of an integer type.
fn integer(dtype: DType, bits: u64) -> i128 {
    let unused = 128 - dtype.bits();
    let shifted = u128::from(bits) << unused;
    if dtype.class() == Class::Signed {
        shifted.cast_signed() >> unused
    } else {
        (shifted >> unused).cast_signed()
    }
}

/// The exact value of an element of a numeric type.
pub(super) fn decode(dtype: DType, bits: u64) -> Value {
    match dtype.class() {
        Class::Bool => Value::Finite {
            negative: false,
            magnitude: u64::from(bits != 0),
            exponent: 0,
        },
        Class::Signed | Class::Unsigned => {
            let integer = integer(dtype, bits);
            Value::Finite {
                negative: integer < 0,
                magnitude: integer.unsigned_abs() as u64,
                exponent: 0,
            }
        }
        Class::Float => decode_float(Format::of(dtype).expect("a float type has a format"), bits),
        Class::String | Class::Complex => unreachable!("Cast::convert takes numeric types only"),
    }
}

fn decode_float(format: Format, bits: u64) -> Value {
    let (negative, code) = (bits & format.sign_bit() != 0, bits & !format.sign_bit());
    match format.specials {
        // Its sign bit is set, and so is that of its NaN in runtimes.
        Specials::NegativeZeroIsNan if negative && code == 0 => {
            return Value::Nan {
                negative: true,
                payload: 0,
            };
        }
        Specials::TopIsNan | Specials::Scale if code > format.largest() => {
            return Value::Nan {
                negative,
                payload: 0,
            };
        }
        Specials::Ieee if code == format.infinity() => return Value::Infinite { negative },
        Specials::Ieee if code > format.infinity() => {
            return Value::Nan {
                negative,
                payload: code << (64 - format.mantissa_bits),
            };
        }
        _ => {}
    }
    let (field, mantissa) = (
        (code >> format.mantissa_bits) as i32,
        code & !(u64::MAX << format.mantissa_bits),
    );
    let hidden = 1 << format.mantissa_bits;
    let (magnitude, binade) = match field {
        _ if format.specials == Specials::Scale => (hidden, field - format.bias),
        0 => (mantissa, format.lowest_exponent()),
        _ => (hidden | mantissa, field - format.bias),
    };
    Value::Finite {
        negative,
        magnitude,
        exponent: binade - format.mantissa_bits as i32,
    }
}

/// The single rounding from an exact value to a numeric type.
pub(super) fn encode(to: DType, rules: &Rules, value: Value) -> (u64, Verdict) {
    match to.class() {
        Class::Bool => (
            u64::from(!matches!(value, Value::Finite { magnitude: 0, .. })),
            Defined,
        ),
        Class::Signed | Class::Unsigned => encode_integer(to, rules, value),
        Class::Float if to == DType::Float8E8M0 => encode_scale(rules, value),
        Class::Float => encode_float(to, rules, value),
        Class::String | Class::Complex => unreachable!("Cast::convert takes numeric types only"),
    }
}

const SAME_TYPE_INFINITY: &str =
    "an infinity, cast to its own type FLOAT8E5M2: the text saturates it, runtimes copy it";
const FNUZ_INFINITY: &str = "an infinity, cast to a FNUZ type: the text of opsets 19 to 23 says NaN, runtimes give the largest number";
/// The first opset whose text and runtimes agree on infinities cast to FNUZ types.
pub const FNUZ_SETTLED: u32 = 24;

const FLOAT4_NAN: &str = "a NaN, cast to FLOAT4E2M1: the text says 6, runtimes give a zero";
const FLOAT6_RANGE: &str = "a number beyond the largest of the 6-bit type, which has no infinity";
const FLOAT6_NAN: &str = "a NaN, cast to a 6-bit float type, which has none";

fn encode_float(to: DType, rules: &Rules, value: Value) -> (u64, Verdict) {
    let format = Format::of(to).expect("a float type has a format");
    let largest = format.largest();
    let signed = |negative: bool, code: u64| {
        if negative {
            code | format.sign_bit()
        } else {
            code
        }
    };
    // In FNUZ formats the code of -0 is NaN: zero has no sign, and NaN is a single code.
    let one_zero = format.specials == Specials::NegativeZeroIsNan;
    let overflow = |negative: bool| match to {
        DType::Float6E2M3 | DType::Float6E3M2 => {
            (signed(negative, largest), Undefined(FLOAT6_RANGE))
        }
        DType::Float4E2M1 => (signed(negative, largest), Defined),
        _ if to.is_float8() && rules.saturate => (signed(negative, largest), Defined),
        _ if one_zero => (format.infinity(), Defined),
        _ => (signed(negative, format.infinity()), Defined),
    };
    match value {
        Value::Finite {
            negative,
            magnitude,
            exponent,
        } => match format.round(magnitude, exponent) {
            0 if one_zero => (0, Defined),
            code if code <= largest => (signed(negative, code), Defined),
            _ => overflow(negative),
        },
        Value::Infinite { negative } => {
            let contested = one_zero && rules.saturate && rules.opset < FNUZ_SETTLED;
            match rules.contested {
                _ if !contested => overflow(negative),
                Contested::Text => (format.infinity(), Verdict::Contested(FNUZ_INFINITY)),
                Contested::Runtime => {
                    (signed(negative, largest), Verdict::Contested(FNUZ_INFINITY))
                }
            }
        }
        Value::Nan { negative, payload } => match (to, format.nan()) {
            (DType::Float4E2M1, _) => {
                let text = rules.contested == Contested::Text;
                (
                    if text { largest } else { signed(!negative, 0) },
                    Verdict::Contested(FLOAT4_NAN),
                )
            }
            (_, None) => (largest, Undefined(FLOAT6_NAN)),
            (DType::Double | DType::Float | DType::Float16 | DType::Bfloat16, Some(nan)) => (
                signed(negative, nan | payload >> (64 - format.mantissa_bits)),
                Defined,
            ),
            (_, Some(nan)) if one_zero => (nan, Defined),
            (_, Some(nan)) => (signed(negative, nan), Defined),
        },
    }
}

const SCALE_NEGATIVE: &str = "a negative number or -0, cast to FLOAT8E8M0, which has no sign";
const SCALE_ZERO: &str = "a zero, cast to FLOAT8E8M0: defined for saturate with 'up' and for no saturation with 'nearest' only";
const SCALE_LARGE: &str = "above 2^127, cast to FLOAT8E8M0: defined for saturate with 'up' and for no saturation with 'nearest' only";
const SCALE_SMALL: &str = "below 2^-127, cast to FLOAT8E8M0: defined for saturate with 'up' and for no saturation with 'nearest' only";

fn encode_scale(rules: &Rules, value: Value) -> (u64, Verdict) {
    const NAN: u64 = 0xFF;
    let two_cases = matches!(
        (rules.saturate, rules.round_mode),
        (true, RoundMode::Up) | (false, RoundMode::Nearest)
    );
    let edge = |code: u64, why: &'static str| {
        (
            if rules.saturate { code } else { NAN },
            if two_cases { Defined } else { Undefined(why) },
        )
    };
    let (magnitude, exponent) = match value {
        Value::Nan { .. } => return (NAN, Defined),
        Value::Infinite { negative: true } | Value::Finite { negative: true, .. } => {
            return (NAN, Undefined(SCALE_NEGATIVE));
        }
        Value::Infinite { negative: false } => return edge(0xFE, SCALE_LARGE),
        Value::Finite { magnitude: 0, .. } => return edge(0, SCALE_ZERO),
        Value::Finite {
            magnitude,
            exponent,
            ..
        } => (magnitude, exponent),
    };
    let binade = exponent + magnitude.ilog2() as i32;
    let is_power = magnitude.is_power_of_two();
    if binade > 127 || (binade == 127 && !is_power) {
        return edge(0xFE, SCALE_LARGE);
    }
    if binade < -127 {
        return edge(0, SCALE_SMALL);
    }
    // The number is in [2^binade, 2^(binade + 1)); its second highest bit selects the upper half.
    let upper_half = magnitude << magnitude.leading_zeros() >= 3 << 62;
    let up = match rules.round_mode {
        RoundMode::Up => !is_power,
        RoundMode::Down => false,
        RoundMode::Nearest => upper_half,
    };
    ((binade + 127 + i32::from(up)) as u64, Defined)
}

const INTEGER_RANGE: &str = "the truncated number is outside the range of the integer type";
const INTEGER_NAN: &str = "a NaN has no integer value";
const FRACTION: &str =
    "a fraction, cast to a 2- or 4-bit integer: the text rounds to nearest, runtimes truncate";

/// The result of a cast from a float to an integer type.
fn encode_integer(to: DType, rules: &Rules, value: Value) -> (u64, Verdict) {
    let narrow = to.bits() < 8;
    let low_bits = |negative: bool, steps: u128| {
        (if negative {
            steps.wrapping_neg()
        } else {
            steps
        }) as u64
            & mask(to.bits())
    };
    let limit = |negative: bool| integer_limit(to, negative).unsigned_abs();
    let (negative, magnitude, exponent) = match value {
        Value::Nan { .. } => return (0, Undefined(INTEGER_NAN)),
        Value::Infinite { .. } if narrow => return (0, Undefined(INTEGER_RANGE)),
        Value::Infinite { negative } => {
            return (
                low_bits(negative, limit(negative)),
                Undefined(INTEGER_RANGE),
            );
        }
        Value::Finite {
            negative,
            magnitude,
            exponent,
        } => (negative, u128::from(magnitude), exponent),
    };
    let truncated = match exponent {
        // 2^64 exceeds every integer type, and from there on all low bits are zero, as in this
        // substitute.
        64.. => 1 << 127,
        0.. => magnitude << exponent,
        _ => magnitude.checked_shr(exponent.unsigned_abs()).unwrap_or(0),
    };
    if truncated > limit(negative) {
        let ours = if narrow { truncated } else { limit(negative) };
        return (low_bits(negative, ours), Undefined(INTEGER_RANGE));
    }
    let whole = magnitude == 0
        || exponent >= 0
        || truncated.checked_shl(exponent.unsigned_abs()) == Some(magnitude);
    match rules.contested {
        _ if whole || !narrow => (low_bits(negative, truncated), Defined),
        Contested::Text => (
            low_bits(negative, rounded(magnitude, exponent)),
            Verdict::Contested(FRACTION),
        ),
        Contested::Runtime => (low_bits(negative, truncated), Verdict::Contested(FRACTION)),
    }
}

/// The nearest integer to a number below 2^64 in magnitude with a negative exponent, ties to even.
fn rounded(magnitude: u128, exponent: i32) -> u128 {
    // A magnitude has at most 64 bits, so a shift can be clamped to a hundred bits.
    let fraction_bits = exponent.unsigned_abs().min(100);
    let (floor, rest) = (
        magnitude >> fraction_bits,
        magnitude & ((1 << fraction_bits) - 1),
    );
    match (rest << 1).cmp(&(1 << fraction_bits)) {
        Ordering::Less => floor,
        Ordering::Equal => floor + (floor & 1),
        Ordering::Greater => floor + 1,
    }
}

/// The lowest or the highest number of an integer type.
pub(super) fn integer_limit(dtype: DType, lowest: bool) -> i128 {
    let values = 1_i128 << dtype.bits();
    match (dtype.class(), lowest) {
        (Class::Signed, true) => -values / 2,
        (Class::Signed, false) => values / 2 - 1,
        (_, true) => 0,
        (_, false) => values - 1,
    }
}
