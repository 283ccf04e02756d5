//! The expected results of casts, computed with arbitrary-precision integers, independently of the
//! arithmetic of the crate.
//!
//! Every finite number of every type is a multiple of the unit 2^-1100. Rounding is a search for
//! the two adjacent codes of the target that enclose a number.

use num_bigint::{BigInt, BigUint, Sign};
use onnx_cast::DType::*;
use onnx_cast::{Contested, DType, RoundMode, Rules};

/// The number 1 in units.
const UNITS: u32 = 1100;

/// The value of an element of a numeric type.
#[derive(Clone, Debug, PartialEq)]
pub enum Meaning {
    /// A number in units; zero has a sign of its own.
    Number {
        negative: bool,
        units: BigUint,
    },
    Infinity {
        negative: bool,
    },
    /// The mantissa as a string of binary digits.
    Nan {
        negative: bool,
        digits: std::string::String,
    },
}

/// The expected result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expected {
    Defined(u64),
    Undefined(u64),
    Contested(u64),
}

impl Expected {
    pub fn code(self) -> u64 {
        match self {
            Expected::Defined(code) | Expected::Undefined(code) | Expected::Contested(code) => code,
        }
    }
}

/// The widths of exponent and mantissa, and the bias.
fn fields(dtype: DType) -> Option<(u32, u32, i64)> {
    Some(match dtype {
        Double => (11, 52, 1023),
        Float => (8, 23, 127),
        Float16 => (5, 10, 15),
        Bfloat16 => (8, 7, 127),
        Float8E4M3Fn => (4, 3, 7),
        Float8E4M3Fnuz => (4, 3, 8),
        Float8E5M2 => (5, 2, 15),
        Float8E5M2Fnuz => (5, 2, 16),
        Float6E2M3 => (2, 3, 1),
        Float6E3M2 => (3, 2, 3),
        Float4E2M1 => (2, 1, 1),
        _ => return None,
    })
}

/// The code of the largest number, without sign.
fn largest(dtype: DType) -> u64 {
    match dtype {
        Double => 0x7FEF_FFFF_FFFF_FFFF,
        Float => 0x7F7F_FFFF,
        Float16 => 0x7BFF,
        Bfloat16 => 0x7F7F,
        Float8E4M3Fn => 0x7E,
        Float8E5M2 => 0x7B,
        Float8E4M3Fnuz | Float8E5M2Fnuz => 0x7F,
        Float6E2M3 | Float6E3M2 => 0x1F,
        Float4E2M1 => 0x7,
        _ => unreachable!("{dtype} is not a float type"),
    }
}

/// The value of a code without sign in units, ignoring special codes.
fn units(dtype: DType, code: u64) -> BigUint {
    let (_, mantissa_bits, bias) = fields(dtype).unwrap();
    let (exponent, mantissa) = ((code >> mantissa_bits) as i64, code % (1 << mantissa_bits));
    let (exponent, significand) = if exponent == 0 {
        (1, mantissa)
    } else {
        (exponent, mantissa + (1 << mantissa_bits))
    };
    BigUint::from(significand) << (i64::from(UNITS) + exponent - bias - i64::from(mantissa_bits))
}

pub fn meaning(dtype: DType, code: u64) -> Meaning {
    let number = |integer: i128| Meaning::Number {
        negative: integer < 0,
        units: BigUint::from(integer.unsigned_abs()) << UNITS,
    };
    let bits = dtype.bits() as u32;
    match dtype {
        Bool => number(i128::from(code != 0)),
        Uint2 | Uint4 | Uint8 | Uint16 | Uint32 | Uint64 => number(code.into()),
        Int2 | Int4 | Int8 | Int16 | Int32 | Int64 => {
            let code = i128::from(code);
            number(if code >= 1 << (bits - 1) {
                code - (1 << bits)
            } else {
                code
            })
        }
        Float8E8M0 if code == 0xFF => Meaning::Nan {
            negative: false,
            digits: "1".to_owned(),
        },
        Float8E8M0 => Meaning::Number {
            negative: false,
            units: BigUint::from(1_u32) << (u64::from(UNITS) + code - 127),
        },
        _ => {
            let negative = code >> (bits - 1) == 1;
            let rest = code % (1 << (bits - 1));
            let (_, mantissa_bits, _) = fields(dtype).unwrap();
            match dtype {
                Float8E4M3Fnuz | Float8E5M2Fnuz if code == 0x80 => Meaning::Nan {
                    negative: true,
                    digits: "1".to_owned(),
                },
                Float8E4M3Fn if rest == 0x7F => Meaning::Nan {
                    negative,
                    digits: "1".to_owned(),
                },
                Double | Float | Float16 | Bfloat16 | Float8E5M2 if rest == largest(dtype) + 1 => {
                    Meaning::Infinity { negative }
                }
                Double | Float | Float16 | Bfloat16 | Float8E5M2 if rest > largest(dtype) => {
                    let digits = format!(
                        "{:0width$b}",
                        rest % (1 << mantissa_bits),
                        width = mantissa_bits as usize
                    );
                    Meaning::Nan { negative, digits }
                }
                _ => Meaning::Number {
                    negative,
                    units: units(dtype, rest),
                },
            }
        }
    }
}

/// The code, without sign, of the number nearest to `numerator / denominator` units, ties to the
/// even code; `None` if that is beyond the largest number.
pub fn nearest(dtype: DType, numerator: &BigUint, denominator: &BigUint) -> Option<u64> {
    let end = largest(dtype) + 1;
    // The code of the number is in [low, high).
    let (mut low, mut high) = (0, end);
    if units(dtype, end) * denominator <= *numerator {
        return None;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if units(dtype, middle) * denominator <= *numerator {
            low = middle
        } else {
            high = middle
        }
    }
    let twice_middle = (units(dtype, low) + units(dtype, high)) * denominator;
    let code = match (numerator * 2_u32).cmp(&twice_middle) {
        std::cmp::Ordering::Less => low,
        std::cmp::Ordering::Greater => high,
        std::cmp::Ordering::Equal => low + low % 2,
    };
    (code < end).then_some(code)
}

/// The result of a cast.
pub fn cast(from: DType, to: DType, rules: Rules, code: u64) -> Expected {
    if from == to && from != Bool {
        let is_infinity = code % 0x80 == 0x7C;
        return match (to, rules.contested) {
            (Float8E5M2, Contested::Text) if rules.saturate && is_infinity => {
                Expected::Contested(code - 1)
            }
            (Float8E5M2, Contested::Runtime) if rules.saturate && is_infinity => {
                Expected::Contested(code)
            }
            _ => Expected::Defined(code),
        };
    }
    let meaning = meaning(from, code);
    match to {
        Bool => Expected::Defined(u64::from(
            !matches!(meaning, Meaning::Number { units, .. } if units == BigUint::ZERO),
        )),
        Float8E8M0 => to_scale(rules, &meaning),
        _ if fields(to).is_some() => to_float(to, rules, &meaning),
        _ => to_integer(from, to, rules, &meaning),
    }
}

fn to_float(to: DType, rules: Rules, meaning: &Meaning) -> Expected {
    let bits = to.bits() as u32;
    let with_sign = |negative: bool, code: u64| {
        if negative {
            code + (1 << (bits - 1))
        } else {
            code
        }
    };
    let is_fnuz = matches!(to, Float8E4M3Fnuz | Float8E5M2Fnuz);
    let largest = largest(to);
    let beyond = |negative: bool| match to {
        Double | Float | Float16 | Bfloat16 => Expected::Defined(with_sign(negative, largest + 1)),
        Float6E2M3 | Float6E3M2 => Expected::Undefined(with_sign(negative, largest)),
        Float4E2M1 => Expected::Defined(with_sign(negative, largest)),
        _ if rules.saturate => Expected::Defined(with_sign(negative, largest)),
        Float8E4M3Fnuz | Float8E5M2Fnuz => Expected::Defined(0x80),
        // NaN in E4M3FN, infinity in E5M2.
        _ => Expected::Defined(with_sign(negative, largest + 1)),
    };
    match meaning {
        Meaning::Number { negative, units } => match nearest(to, units, &BigUint::from(1_u32)) {
            Some(0) if is_fnuz => Expected::Defined(0),
            Some(code) => Expected::Defined(with_sign(*negative, code)),
            None => beyond(*negative),
        },
        Meaning::Infinity { negative } => match rules.contested {
            Contested::Text if is_fnuz && rules.saturate && rules.opset <= 23 => {
                Expected::Contested(0x80)
            }
            Contested::Runtime if is_fnuz && rules.saturate && rules.opset <= 23 => {
                Expected::Contested(with_sign(*negative, largest))
            }
            _ => beyond(*negative),
        },
        Meaning::Nan { negative, digits } => match (to, rules.contested) {
            (Float6E2M3 | Float6E3M2, _) => Expected::Undefined(largest),
            (Float4E2M1, Contested::Text) => Expected::Contested(0x7),
            (Float4E2M1, Contested::Runtime) => {
                Expected::Contested(if *negative { 0x0 } else { 0x8 })
            }
            (Float8E4M3Fnuz | Float8E5M2Fnuz, _) => Expected::Defined(0x80),
            (Float8E4M3Fn, _) => Expected::Defined(with_sign(*negative, 0x7F)),
            (Float8E5M2, _) => Expected::Defined(with_sign(*negative, 0x7E)),
            _ => {
                // A quiet NaN with the high digits of the mantissa.
                let (exponent_bits, mantissa_bits, _) = fields(to).unwrap();
                let digits: std::string::String = format!("1{}", &digits[1..])
                    .chars()
                    .chain("0".repeat(52).chars())
                    .take(mantissa_bits as usize)
                    .collect();
                let code = format!(
                    "{}{}{digits}",
                    u8::from(*negative),
                    "1".repeat(exponent_bits as usize)
                );
                Expected::Defined(u64::from_str_radix(&code, 2).unwrap())
            }
        },
    }
}

fn to_scale(rules: Rules, meaning: &Meaning) -> Expected {
    let defined_edges = matches!(
        (rules.saturate, rules.round_mode),
        (true, RoundMode::Up) | (false, RoundMode::Nearest)
    );
    let edge = |saturated: u64| {
        let code = if rules.saturate { saturated } else { 0xFF };
        if defined_edges {
            Expected::Defined(code)
        } else {
            Expected::Undefined(code)
        }
    };
    let power = |exponent: i64| BigUint::from(1_u32) << (i64::from(UNITS) + exponent);
    match meaning {
        Meaning::Nan { .. } => Expected::Defined(0xFF),
        Meaning::Infinity { negative: true } | Meaning::Number { negative: true, .. } => {
            Expected::Undefined(0xFF)
        }
        Meaning::Infinity { negative: false } => edge(254),
        Meaning::Number { units, .. } if *units > power(127) => edge(254),
        Meaning::Number { units, .. } if *units < power(-127) => edge(0),
        Meaning::Number { units, .. } => {
            let below = (-127..=127)
                .rev()
                .find(|&exponent| power(exponent) <= *units)
                .unwrap();
            let (low, high) = (power(below), power(below + 1));
            let up = match rules.round_mode {
                RoundMode::Up => *units > low,
                RoundMode::Down => false,
                RoundMode::Nearest => &high - units <= units - &low,
                mode => panic!("the oracle does not know {mode:?}"),
            };
            Expected::Defined((below + 127 + i64::from(up)) as u64)
        }
    }
}

fn to_integer(from: DType, to: DType, rules: Rules, meaning: &Meaning) -> Expected {
    let bits = to.bits() as u32;
    let is_signed = matches!(to, Int2 | Int4 | Int8 | Int16 | Int32 | Int64);
    let (lowest, highest) = if is_signed {
        (
            -(BigInt::from(1) << (bits - 1)),
            (BigInt::from(1) << (bits - 1)) - 1,
        )
    } else {
        (BigInt::ZERO, (BigInt::from(1) << bits) - 1)
    };
    let low_bits = |integer: &BigInt| {
        let modulus = BigInt::from(1) << bits;
        let rest = ((integer % &modulus) + &modulus) % &modulus;
        rest.to_u64_digits().1.first().copied().unwrap_or(0)
    };
    let is_narrow = bits < 8;
    let (negative, units) = match meaning {
        Meaning::Nan { .. } => return Expected::Undefined(0),
        Meaning::Infinity { .. } if is_narrow => return Expected::Undefined(0),
        Meaning::Infinity { negative } => {
            return Expected::Undefined(low_bits(if *negative { &lowest } else { &highest }));
        }
        Meaning::Number { negative, units } => (*negative, units),
    };
    let with_sign = |magnitude: BigUint| {
        BigInt::from_biguint(if negative { Sign::Minus } else { Sign::Plus }, magnitude)
    };
    let one = BigUint::from(1_u32) << UNITS;
    let truncated = with_sign(units / &one);
    if fields(from).is_none() && from != Float8E8M0 {
        return Expected::Defined(low_bits(&truncated));
    }
    if truncated < lowest || truncated > highest {
        return Expected::Undefined(low_bits(match (is_narrow, negative) {
            (true, _) => &truncated,
            (false, true) => &lowest,
            (false, false) => &highest,
        }));
    }
    let fraction = units % &one;
    if !is_narrow || fraction == BigUint::ZERO {
        return Expected::Defined(low_bits(&truncated));
    }
    let floor = units / &one;
    let is_odd = &floor % 2_u32 == BigUint::from(1_u32);
    let up = match (fraction * 2_u32).cmp(&one) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => is_odd,
        std::cmp::Ordering::Greater => true,
    };
    let rounded = with_sign(floor + u32::from(up));
    Expected::Contested(low_bits(if rules.contested == Contested::Text {
        &rounded
    } else {
        &truncated
    }))
}

/// The codes of a type around a number of units, given as a fraction, with both signs if the type
/// is signed.
pub fn codes_around(dtype: DType, numerator: &BigUint, denominator: u32) -> Vec<u64> {
    let bits = dtype.bits() as u32;
    if fields(dtype).is_some() {
        let sign = 1_u64 << (bits - 1);
        let middle =
            nearest(dtype, numerator, &BigUint::from(denominator)).unwrap_or(largest(dtype));
        let near = [middle.saturating_sub(1), middle, middle + 1];
        return near
            .into_iter()
            .flat_map(|code| [code, code | sign])
            .collect();
    }
    let whole = (numerator / denominator) >> UNITS;
    let Some(whole) = u64::try_from(&whole).ok().map(i128::from) else {
        return vec![];
    };
    let near = [whole - 1, whole, whole + 1, -whole - 1, -whole, 1 - whole];
    let codes = near.map(|integer| (integer.rem_euclid(1 << bits)) as u64);
    codes
        .into_iter()
        .filter(|&code| matches!(meaning(dtype, code), Meaning::Number { .. }))
        .collect()
}

/// The breakpoints of casts to a type, as fractions of units: its numbers and the midpoints between
/// them, the limits of the integers, powers of two.
pub fn turning_points(to: DType, stride: usize) -> Vec<(BigUint, u32)> {
    let one = || BigUint::from(1_u32) << UNITS;
    let mut points = Vec::new();
    if fields(to).is_some() {
        let codes = 0..=largest(to);
        let stride = if to.bits() > 16 {
            (largest(to) / 1000) as usize | 1
        } else {
            1
        } * stride;
        // Overflow starts after the last step.
        for code in codes
            .step_by(stride)
            .chain([0, 1, largest(to) - 1, largest(to)])
        {
            points.push((units(to, code), 1));
            points.push((units(to, code) + units(to, code + 1), 2));
        }
    }
    for power in (-140..130).step_by(stride) {
        points.push((BigUint::from(1_u32) << (i64::from(UNITS) + power), 1));
        points.push((BigUint::from(3_u32) << (i64::from(UNITS) + power), 1));
    }
    for bits in [1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64] {
        points.push((one() << bits, 1));
        points.push(((one() << bits) - (one() >> 1), 1));
        points.push(((one() << bits) + (one() >> 1), 1));
        points.push(((one() << bits) - one(), 1));
    }
    points.push((BigUint::ZERO, 1));
    points
}

/// Infinities and NaNs, if the type has any, and zeros.
pub fn specials(dtype: DType) -> Vec<u64> {
    let bits = dtype.bits() as u32;
    let ones = u64::MAX >> (64 - bits);
    let mut codes = vec![0, 1, ones, ones >> 1, 1 << (bits - 1)];
    if fields(dtype).is_some() {
        let above = largest(dtype) + 1;
        for code in [
            above - 1,
            above,
            above + 1,
            above + 2,
            above | above >> 1,
            above | ones >> 2 & 0x5555_5555_5555_5555,
        ] {
            codes.extend([code & ones, (code | 1 << (bits - 1)) & ones]);
        }
    }
    codes
}

/// Whether a code is the largest number or the infinity after it.
pub fn is_edge(dtype: DType, code: u64) -> bool {
    code == largest(dtype)
        || (code == largest(dtype) + 1 && matches!(dtype, Double | Float | Float16 | Bfloat16))
}
