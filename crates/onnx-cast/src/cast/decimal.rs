//! Decimal literals of numbers: parsed exactly, written in plain notation.

use super::reference::Value;
use crate::float_format::Format;

/// The number of a decimal literal: `0.d1 d2 d3 … * 10^point`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    pub(super) negative: bool,
    /// The digits without leading and trailing zeros; empty for zero.
    digits: Vec<u8>,
    point: i64,
    /// Whether the literal is a plain integer: digits with or without a sign, no point, no
    /// exponent.
    pub(super) is_plain_integer: bool,
}

/// Of the digits after this many, only matters whether all are zero: ties between `DOUBLE`s have
/// fewer digits.
const DIGITS_THAT_MATTER: usize = 1200;

/// A power of ten whose reciprocal and itself are out of range of every type.
const POINT_LIMIT: i64 = 400;

impl Decimal {
    /// Parses `[+-] digits [. digits] [e [+-] digits]`, with at least one digit before or after the
    /// point.
    pub(super) fn parse(literal: &[u8]) -> Option<Decimal> {
        let (negative, unsigned) = split_sign(literal);
        let (mantissa, exponent) = match unsigned
            .iter()
            .position(|byte| byte.eq_ignore_ascii_case(&b'e'))
        {
            Some(place) => (&unsigned[..place], Some(&unsigned[place + 1..])),
            None => (unsigned, None),
        };
        let (whole, fraction) = match mantissa.iter().position(|&byte| byte == b'.') {
            Some(place) => (&mantissa[..place], &mantissa[place + 1..]),
            None => (mantissa, [].as_slice()),
        };
        let all_digits = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
        if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        let point = exponent
            .map_or(Some(0), parse_exponent)?
            .saturating_add(whole.len() as i64);
        let is_plain_integer = mantissa.len() == whole.len() && exponent.is_none();
        let mut digits: Vec<u8> = whole
            .iter()
            .chain(fraction)
            .map(|digit| digit - b'0')
            .collect();
        let zeros = digits.iter().take_while(|&&digit| digit == 0).count();
        digits.drain(..zeros);
        Some(Decimal {
            negative,
            is_plain_integer,
            ..Decimal::new(digits, point.saturating_sub(zeros as i64))
        })
    }

    /// The exact value, as [`Value::Finite`] describes it.
    pub(super) fn value(&self) -> Value {
        let (magnitude, exponent, inexact) = self.magnitude();
        Value::Finite {
            negative: self.negative,
            magnitude: magnitude | u64::from(inexact),
            exponent,
        }
    }

    /// The number, truncated toward zero; `None` if it does not fit.
    pub(super) fn truncated(&self) -> Option<i128> {
        let (magnitude, exponent, _) = self.magnitude();
        let whole = match exponent {
            1.. => return None,
            0 => magnitude,
            _ => magnitude.checked_shr(exponent.unsigned_abs()).unwrap_or(0),
        };
        Some(if self.negative {
            -i128::from(whole)
        } else {
            i128::from(whole)
        })
    }

    /// `magnitude * 2^exponent`, truncated to 64 bits, and whether any nonzero bits were discarded.
    fn magnitude(&self) -> (u64, i32, bool) {
        if self.digits.is_empty() {
            return (0, 0, false);
        }
        if self.point.abs() > POINT_LIMIT {
            return (1 << 63, if self.point > 0 { 10_000 } else { -10_000 }, true);
        }
        let kept = &self.digits[..self.digits.len().min(DIGITS_THAT_MATTER)];
        let mut inexact = kept.len() < self.digits.len();
        let mut words = Words::default();
        for &digit in kept {
            words.multiply_add(10, digit.into());
        }
        let mut exponent = 0;
        let power = self.point - kept.len() as i64;
        for _ in 0..power {
            words.multiply_add(10, 0);
        }
        if power < 0 {
            // At least 64 bits of quotient, as a factor of ten has fewer than four bits.
            let room = 64 + 4 * power.unsigned_abs() as usize;
            words.shift_left(room.div_ceil(32));
            exponent -= (room.div_ceil(32) * 32) as i32;
            for _ in power..0 {
                inexact |= words.divide(10) != 0;
            }
        }
        let (top, dropped, rest) = words.top();
        (top, exponent + dropped, inexact || rest)
    }
}

fn split_sign(literal: &[u8]) -> (bool, &[u8]) {
    match literal {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, literal),
    }
}

/// An exponent, clamped to the limits of its type.
fn parse_exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = split_sign(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let magnitude = digits.iter().fold(0_i64, |sum, digit| {
        sum.saturating_mul(10)
            .saturating_add(i64::from(digit - b'0'))
    });
    Some(if negative { -magnitude } else { magnitude })
}

/// A natural number of any size, lowest word first, without leading zero words.
#[derive(Default)]
struct Words(Vec<u32>);

impl Words {
    fn multiply_add(&mut self, factor: u32, addend: u32) {
        let mut carry = u64::from(addend);
        for word in &mut self.0 {
            let product = u64::from(*word) * u64::from(factor) + carry;
            (*word, carry) = (product as u32, product >> 32);
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    fn shift_left(&mut self, words: usize) {
        self.0.splice(..0, std::iter::repeat_n(0, words));
    }

    /// Divides in place and returns the remainder.
    fn divide(&mut self, divisor: u32) -> u32 {
        let mut rest = 0;
        for word in self.0.iter_mut().rev() {
            let dividend = u64::from(rest) << 32 | u64::from(*word);
            (*word, rest) = (
                (dividend / u64::from(divisor)) as u32,
                (dividend % u64::from(divisor)) as u32,
            );
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        rest
    }

    /// The highest 64 bits, the number of bits below them (negative if there are fewer than 64),
    /// and whether any of those is set.
    fn top(&self) -> (u64, i32, bool) {
        let word = |place: usize| {
            u128::from(
                self.0
                    .len()
                    .checked_sub(place + 1)
                    .map_or(0, |index| self.0[index]),
            )
        };
        let high = word(0) << 64 | word(1) << 32 | word(2);
        let unused = 96 - (128 - high.leading_zeros());
        let normalized = high << unused;
        let rest = normalized & u128::from(u32::MAX) != 0
            || self.0.iter().rev().skip(3).any(|&word| word != 0);
        (
            (normalized >> 32) as u64,
            self.0.len() as i32 * 32 - 64 - unused as i32,
            rest,
        )
    }
}

/// Formats a finite number in plain notation with the fewest digits that round-trip in its format.
pub(super) fn shortest(format: Format, code: u64, exact: f64) -> String {
    let scientific = format!("{:.160e}", exact.abs());
    let (mantissa, power) = scientific
        .split_once('e')
        .expect("scientific notation has an exponent");
    let digits: Vec<u8> = mantissa
        .bytes()
        .filter(u8::is_ascii_digit)
        .map(|digit| digit - b'0')
        .collect();
    let point = power.parse::<i64>().expect("the exponent is an integer") + 1;
    let reads_back = |decimal: &Decimal| match decimal.value() {
        Value::Finite {
            magnitude,
            exponent,
            ..
        } => format.round(magnitude, exponent) == code,
        _ => false,
    };
    let found = (1..digits.len()).find_map(|length| {
        let below = Decimal::new(digits[..length].to_vec(), point);
        let above = below.next(length);
        let first = if digits[length] < 5 {
            [below, above]
        } else {
            [above, below]
        };
        first.into_iter().find(reads_back)
    });
    found.unwrap_or_else(|| Decimal::new(digits, point)).plain()
}

/// Formats a finite number with all its digits.
pub(super) fn every_digit(exact: f64) -> String {
    let all = format!("{exact:.1100}");
    all.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Decimal {
    fn new(mut digits: Vec<u8>, point: i64) -> Decimal {
        while digits.last() == Some(&0) {
            digits.pop();
        }
        Decimal {
            negative: false,
            digits,
            point,
            is_plain_integer: false,
        }
    }

    /// The next number of `length` digits.
    fn next(&self, length: usize) -> Decimal {
        let mut digits = self.digits.clone();
        digits.resize(length, 0);
        for place in (0..length).rev() {
            if digits[place] < 9 {
                digits[place] += 1;
                return Decimal::new(digits, self.point);
            }
            digits[place] = 0;
        }
        Decimal::new(vec![1], self.point + 1)
    }

    fn plain(&self) -> String {
        let digit = |place: i64| {
            usize::try_from(place)
                .ok()
                .and_then(|place| self.digits.get(place))
                .map_or('0', |&digit| (b'0' + digit).into())
        };
        let mut text: String = (0..self.point.max(0)).map(digit).collect();
        if text.is_empty() {
            text.push('0');
        }
        if self.point < self.digits.len() as i64 {
            text.push('.');
            text.extend(
                (self.point.min(0)..0)
                    .map(|_| '0')
                    .chain((self.point.max(0)..self.digits.len() as i64).map(digit)),
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::DType;

    /// The code of a literal, rounded to a type.
    fn code(dtype: DType, literal: &str) -> u64 {
        let format = Format::of(dtype).unwrap();
        let value = Decimal::parse(literal.as_bytes()).unwrap().value();
        let Value::Finite {
            negative,
            magnitude,
            exponent,
        } = value
        else {
            panic!("{literal}")
        };
        format.round(magnitude, exponent) | if negative { format.sign_bit() } else { 0 }
    }

    #[test]
    fn literals_round_like_the_standard_library() {
        let cases = "
            0 -0.0 1 .5 5. 1e0 0.1 123456789012345678901234567890 9007199254740993 9007199254740993.00000000001
            1.7976931348623157e308 4.9e-324 2.4703282292062327e-324 2.4703282292062328e-324 1e-400 2.2250738585072011e-308 1e22
            1e23 8.5e-30 0.000000000000000000000000000000000000000000000000000000000000000000000001e72
            3.14159265358979323846264338327950288
        ";
        for case in cases.split_whitespace() {
            assert_eq!(
                code(DType::Double, case),
                case.parse::<f64>().unwrap().to_bits(),
                "{case}"
            );
        }
    }

    #[test]
    fn a_distant_digit_breaks_a_tie() {
        let beyond = format!("2049.{}1", "0".repeat(5000));
        for (literal, expected) in [("2049", 2048.0), (&beyond, 2050.0)] {
            assert_eq!(
                code(DType::Float16, literal),
                u64::from(half::f16::from_f32(expected).to_bits())
            );
        }
    }
}
