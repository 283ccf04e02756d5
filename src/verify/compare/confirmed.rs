//! A second implementation of the casts between numbers, which has no code of their definition: the
//! result is the number of its type that is nearest, which the machine's own conversions or the
//! distances to its neighbours show.

use super::super::laws::{INFINITY, NAN, NEGATIVE_ZERO, Representable, numbers};
use onnx_cast::{Cast, Class, DType, RoundMode, Rules};

/// A number of any type.
#[derive(Clone, Copy)]
enum Number {
    Integer(i128),
    Float(f64),
    /// The nearest DOUBLE of a number.
    Rounded(f64),
}

/// Whether a result that ONNX defines is right. The payload of a NaN, and strings, are left to the
/// definition.
pub(super) fn is_confirmed(cast: &Cast, source: u64, result: u64) -> bool {
    let Some(number) = number(cast.from(), source) else {
        let is_nan = cast.from().class() == Class::Float;
        return !is_nan || !has_nan(cast.to()) || self::number(cast.to(), result).is_none();
    };
    match (cast.to(), number) {
        (DType::Bool, Number::Integer(number)) => result == u64::from(number != 0),
        (DType::Bool, Number::Float(number) | Number::Rounded(number)) => {
            result == u64::from(number != 0.0)
        }
        (DType::Double, Number::Integer(number)) => result == (number as f64).to_bits(),
        (DType::Double, Number::Float(number) | Number::Rounded(number)) => {
            result == number.to_bits()
        }
        (DType::Float, Number::Integer(number)) => result == u64::from((number as f32).to_bits()),
        (DType::Float, Number::Float(number) | Number::Rounded(number)) => {
            result == u64::from((number as f32).to_bits())
        }
        (DType::Float8E8M0, number) => is_scale(cast.rules(), number, result),
        (to, number) if to.class() == Class::Float => {
            is_nearest(to, cast.rules().saturate, number, result)
        }
        (to, Number::Integer(number)) => result == low_bits(to, number),
        // Floats beyond the range of a type of integers have no defined result.
        (to, Number::Float(number) | Number::Rounded(number)) => {
            result == low_bits(to, number.trunc() as i128)
        }
    }
}

/// Whether a text has the number of a code, to which it is cast, or from which it was. Texts that
/// the standard library does not read are left to the definition, as are those of NaN.
pub fn is_text_confirmed(dtype: DType, saturate: bool, text: &[u8], code: u64) -> bool {
    let Ok(text) = String::from_utf8(text.to_vec()) else {
        return true;
    };
    match dtype.class() {
        Class::Signed | Class::Unsigned => text
            .parse()
            .map_or(true, |number| code == low_bits(dtype, number)),
        Class::Float if dtype == DType::Double => text.parse().map_or(true, |number: f64| {
            number.is_nan() || code == number.to_bits()
        }),
        Class::Float if dtype == DType::Float => text.parse().map_or(true, |number: f32| {
            number.is_nan() || code == u64::from(number.to_bits())
        }),
        Class::Float if dtype != DType::Float8E8M0 => text.parse().map_or(true, |number: f64| {
            number.is_nan() || is_nearest(dtype, saturate, Number::Rounded(number), code)
        }),
        _ => true,
    }
}

/// Whether a cast makes an infinity of a finite number.
pub(super) fn becomes_infinite(cast: &Cast, source: u64, result: u64) -> bool {
    let is_finite = match number(cast.from(), source) {
        Some(Number::Float(number) | Number::Rounded(number)) => number.is_finite(),
        Some(Number::Integer(_)) => true,
        None => false,
    };
    is_finite
        && matches!(number(cast.to(), result), Some(Number::Float(number)) if number.is_infinite())
}

/// The number of a code; `None` for NaN, and for types that are not of numbers.
fn number(dtype: DType, code: u64) -> Option<Number> {
    let float = match (dtype, dtype.class()) {
        (_, Class::String | Class::Complex) => return None,
        (_, Class::Bool) => return Some(Number::Integer((code != 0).into())),
        (_, Class::Unsigned) => return Some(Number::Integer(code.into())),
        (_, Class::Signed) => {
            let sign = 1 << (dtype.bits() - 1);
            return Some(Number::Integer(i128::from(code ^ sign) - i128::from(sign)));
        }
        (DType::Double, _) => f64::from_bits(code),
        (DType::Float, _) => f64::from(f32::from_bits(code as u32)),
        (DType::Float8E8M0, _) if code == 0xFF => return None,
        (DType::Float8E8M0, _) => power_of_two(code as i32 - 127),
        _ => {
            let format = Small::of(dtype)?;
            let (is_negative, magnitude) = format.parts(code);
            let number = match magnitude {
                0 if is_negative && !format.has_negative_zero => return None,
                _ if magnitude <= format.largest => format.magnitude(magnitude),
                _ if format.has_infinity && magnitude == format.largest + 1 => f64::INFINITY,
                _ => return None,
            };
            if is_negative { -number } else { number }
        }
    };
    (!float.is_nan()).then_some(Number::Float(float))
}

fn has_nan(dtype: DType) -> bool {
    numbers(dtype).is_some_and(|numbers| numbers.specials & NAN != 0)
}

fn low_bits(to: DType, number: i128) -> u64 {
    number as u64 & (u64::MAX >> (64 - to.bits()))
}

/// A float of at most 16 bits.
struct Small {
    sign: u64,
    /// The bits of the mantissa.
    stored: u32,
    /// The exponent of the smallest number.
    unit: i32,
    /// The code of the largest number.
    largest: u64,
    has_infinity: bool,
    has_negative_zero: bool,
}

impl Small {
    fn of(dtype: DType) -> Option<Small> {
        let Representable {
            digits,
            unit,
            largest,
            specials,
        } = numbers(dtype)?;
        let stored = digits - 1;
        // The mantissa of the largest number, below its first digit, and the exponent that its
        // first digit has.
        let exponent = (largest.to_bits() >> 52) as i32 - 1023;
        let mantissa = largest.to_bits() << 12 >> (64 - stored);
        let field = (exponent - stored as i32 - unit + 1) as u64;
        Some(Small {
            sign: 1 << (dtype.bits() - 1),
            stored,
            unit,
            largest: field << stored | mantissa,
            has_infinity: specials & INFINITY != 0,
            has_negative_zero: specials & NEGATIVE_ZERO != 0,
        })
    }

    fn parts(&self, code: u64) -> (bool, u64) {
        (code & self.sign != 0, code & (self.sign - 1))
    }

    /// The number of a code without a sign, or beside the largest one what the next number would
    /// be.
    fn magnitude(&self, code: u64) -> f64 {
        let (field, mantissa) = (
            (code >> self.stored) as i32,
            code & ((1 << self.stored) - 1),
        );
        let first = if field == 0 { 0 } else { 1 << self.stored };
        (first | mantissa) as f64 * power_of_two(self.unit + field.max(1) - 1)
    }
}

/// Whether no other number of the type is nearer; of two that are as near, the even one.
fn is_nearest(to: DType, saturate: bool, number: Number, result: u64) -> bool {
    let Some(format) = Small::of(to) else {
        return true;
    };
    let (number, is_exact) = match number {
        Number::Integer(number) => (number as f64, number as f64 as i128 == number),
        Number::Float(number) => (number, true),
        Number::Rounded(number) => (number, false),
    };
    let (is_negative, magnitude) = format.parts(result);
    let middle_above = |code: u64| (format.magnitude(code) + format.magnitude(code + 1)) / 2.0;
    // Whether a number is at most, or at least, the middle between two codes, of which one is
    // chosen.
    let is_side = |ordering: std::cmp::Ordering, side: std::cmp::Ordering, code: u64| {
        ordering == side || ordering.is_eq() && (code.is_multiple_of(2) || !is_exact)
    };
    let compared = |code: u64| number.abs().total_cmp(&middle_above(code));
    use std::cmp::Ordering::{Equal, Greater, Less};
    let beyond = compared(format.largest);
    let saturates = to.bits() < 8 || to.is_float8() && saturate;
    let is_overflow = || is_overflow(&format, saturates, number.is_sign_negative(), result);
    if !is_side(beyond, Less, format.largest) {
        return is_overflow();
    }
    // The number itself may be on either side.
    if beyond == Equal && !is_exact && is_overflow() {
        return true;
    }
    let has_sign =
        is_negative == (number.is_sign_negative() && (magnitude > 0 || format.has_negative_zero));
    let is_low_enough =
        magnitude <= format.largest && is_side(compared(magnitude), Less, magnitude);
    let is_high_enough = magnitude == 0 || is_side(compared(magnitude - 1), Greater, magnitude);
    has_sign && is_low_enough && is_high_enough
}

/// Whether a FLOAT8E8M0 is the result of a number, by its distance from that power of two (Cast-24,
/// `round_mode`; outside of the range, `saturate`).
fn is_scale(rules: Rules, number: Number, result: u64) -> bool {
    let compared = |limit: f64| match number {
        Number::Integer(number) if limit.fract() == 0.0 && limit < 1e30 => {
            number.cmp(&(limit as i128))
        }
        Number::Integer(number) => (number as f64).total_cmp(&limit),
        Number::Float(number) | Number::Rounded(number) => number.total_cmp(&limit),
    };
    let is_above = |limit| compared(limit).is_gt();
    let is_from = |limit| compared(limit).is_ge();
    let outside = |code| result == if rules.saturate { code } else { 0xFF };
    if !is_from(power_of_two(-127)) {
        return outside(0);
    }
    if is_above(power_of_two(127)) {
        return outside(0xFE);
    }
    let power = power_of_two(result as i32 - 127);
    result < 0xFF
        && match rules.round_mode {
            RoundMode::Up => is_above(power / 2.0) && !is_above(power),
            RoundMode::Down => is_from(power) && !is_from(power * 2.0),
            RoundMode::Nearest => is_from(power * 0.75) && !is_from(power * 1.5),
            _ => false,
        }
}

/// Whether a result is that of numbers beyond the range: the largest number, infinity or NaN.
fn is_overflow(format: &Small, saturates: bool, is_negative: bool, result: u64) -> bool {
    let magnitude = if saturates {
        format.largest
    } else {
        format.largest + 1
    };
    // A type with one zero has one NaN, in place of the negative zero.
    let has_one_nan = !saturates && !format.has_negative_zero;
    let expected = if is_negative {
        magnitude | format.sign
    } else {
        magnitude
    };
    result == if has_one_nan { format.sign } else { expected }
}

fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}
