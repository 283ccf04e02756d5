//! A survey of the numbers of a constant: how many overflow, underflow or lose precision in a
//! narrower type.

use crate::base::parallel;
use crate::base::stored::Stored;
use crate::base::threshold::Threshold;
use onnx_cast::{
    Cast, DType, Features, Kernel, Level, Rules, convert_element, float_format::Format,
};

/// The number of elements per job of a thread.
const PART: Threshold = Threshold::new("part of a precision survey", 1 << 16);

/// The losses of the elements of a constant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Survey {
    /// The bits of the greatest magnitude; NaN is above infinity.
    pub greatest: u32,
    /// Finite numbers beyond the range of the type.
    pub overflowed: u64,
    /// The least magnitude of these; 0 if there are none.
    pub least_overflowed: f32,
    /// Numbers other than zero that become zero.
    pub became_zero: u64,
    /// Numbers that become subnormal.
    pub became_subnormal: u64,
    /// The largest relative error of a number that becomes a number other than zero; at most 1.
    pub largest_relative_error: f64,
}

impl Survey {
    /// Whether there are numbers other than zero, and all of them become zero.
    pub fn vanishes(self, to: DType) -> bool {
        self.became_zero > 0
            && cast(to).is_some_and(|cast| convert_element(&cast, self.greatest.into()).0 == 0)
    }

    /// Whether there are numbers that the type does not have.
    pub fn changes(self) -> bool {
        self.overflowed > 0 || self.became_zero > 0 || self.largest_relative_error > 0.0
    }

    /// The greatest magnitude, unless it is infinite or NaN.
    pub fn largest(self) -> Option<f64> {
        Some(f32::from_bits(self.greatest).into()).filter(|largest: &f64| largest.is_finite())
    }

    fn and(self, other: Survey) -> Survey {
        let least_overflowed = match (self.overflowed, other.overflowed) {
            (0, _) => other.least_overflowed,
            (_, 0) => self.least_overflowed,
            _ => self.least_overflowed.min(other.least_overflowed),
        };
        Survey {
            greatest: self.greatest.max(other.greatest),
            overflowed: self.overflowed + other.overflowed,
            least_overflowed,
            became_zero: self.became_zero + other.became_zero,
            became_subnormal: self.became_subnormal + other.became_subnormal,
            largest_relative_error: self
                .largest_relative_error
                .max(other.largest_relative_error),
        }
    }
}

/// The magnitudes that divide FLOAT by what becomes of them, as bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    to: DType,
    /// The least magnitude that becomes infinite.
    overflow: u32,
    /// The least magnitude that becomes a normal number, without rounding.
    normal: u32,
    /// The bits that a normal number loses.
    lost: u32,
    /// From DOUBLE and back.
    of_doubles: [Cast; 2],
}

impl Limits {
    /// The limits of FLOAT16 or BFLOAT16; or of FLOAT, with which only DOUBLE is compared.
    pub fn of(to: DType) -> Option<Limits> {
        let cast_between = |from, to| Cast::new(from, to, Rules::default()).ok();
        let of_doubles = [
            cast_between(DType::Double, to)?,
            cast_between(to, DType::Double)?,
        ];
        if to == DType::Float {
            let (overflow, normal) = (f32::INFINITY.to_bits(), f32::MIN_POSITIVE.to_bits());
            return Some(Limits {
                to,
                overflow,
                normal,
                lost: 0,
                of_doubles,
            });
        }
        let format = Format::of(to).filter(|_| matches!(to, DType::Float16 | DType::Bfloat16))?;
        let cast = cast(to)?;
        let is_finite = |bits: u32| !format.is_infinite(convert_element(&cast, bits.into()).0);
        // The conversion is monotonic, so that the limit is found by bisection.
        let (mut finite, mut infinite) = (1.0_f32.to_bits(), f32::INFINITY.to_bits());
        while infinite - finite > 1 {
            let middle = finite.midpoint(infinite);
            if is_finite(middle) {
                finite = middle
            } else {
                infinite = middle
            }
        }
        let exponent = (1 - format.bias + 127).max(1) as u32;
        Some(Limits {
            to,
            overflow: infinite,
            normal: exponent << 23,
            lost: 23 - format.mantissa_bits,
            of_doubles,
        })
    }

    /// The least normal number.
    pub fn least_normal(self) -> f64 {
        f32::from_bits(self.normal).into()
    }

    /// The largest magnitude that becomes zero: half of the least one of the type.
    pub fn becomes_zero(self) -> f64 {
        let digits = 23 - self.lost as i32;
        self.least_normal() * (-f64::from(digits) - 1.0).exp2()
    }

    /// Whether a number is finite, and becomes infinite.
    pub fn overflows(self, bits: u32) -> bool {
        let magnitude = bits & 0x7FFF_FFFF;
        magnitude >= self.overflow && magnitude < f32::INFINITY.to_bits()
    }

    /// The losses of little-endian numbers of type FLOAT.
    pub fn survey(self, numbers: &Stored) -> Survey {
        if self.to == DType::Float {
            return Survey::default();
        }
        let level = Level::detect();
        in_parts(numbers, 4, |part| {
            level.run(Part {
                limits: self,
                elements: part.as_chunks().0,
            })
        })
    }

    /// The number of the type that a DOUBLE becomes.
    fn narrowed(self, number: f64) -> f64 {
        f64::from_bits(
            self.of_doubles
                .iter()
                .fold(number.to_bits(), |code, cast| convert_element(cast, code).0),
        )
    }

    /// Whether a DOUBLE is finite, and becomes infinite.
    pub fn overflows_double(self, number: f64) -> bool {
        number.is_finite() && self.narrowed(number).is_infinite()
    }

    /// The losses of little-endian numbers of type DOUBLE.
    pub fn survey_doubles(self, numbers: &Stored) -> Survey {
        let survey = |element: &[u8; 8]| self.survey_double(f64::from_le_bytes(*element));
        in_parts(numbers, 8, |part| {
            part.as_chunks()
                .0
                .iter()
                .map(survey)
                .fold(Survey::default(), Survey::and)
        })
    }

    fn survey_double(self, number: f64) -> Survey {
        let (number, found) = (number.abs(), self.narrowed(number.abs()));
        let greatest = (number as f32).to_bits();
        if number == 0.0 || !number.is_finite() {
            return Survey {
                greatest,
                ..Survey::default()
            };
        }
        let is_beyond = found.is_infinite();
        let is_rounded = !is_beyond && found != 0.0;
        Survey {
            greatest,
            overflowed: is_beyond.into(),
            least_overflowed: if is_beyond {
                (number as f32).min(f32::MAX)
            } else {
                0.0
            },
            became_zero: (found == 0.0).into(),
            became_subnormal: (is_rounded && found < self.least_normal()).into(),
            largest_relative_error: if is_rounded {
                (number - found).abs() / number
            } else {
                0.0
            },
        }
    }

    #[inline(always)]
    fn survey_part(self, elements: &[[u8; 4]]) -> Survey {
        // The bits of numbers that are not negative have their order. Unlike the maximum of floats,
        // that of integers is vectorized.
        let (mut greatest, mut overflowed, mut small, mut largest) = (0_u32, 0_u32, 0_u32, 0_u32);
        let (mask, half) = ((1_u32 << self.lost) - 1, 1_u32 << (self.lost - 1));
        for element in elements {
            let magnitude = u32::from_le_bytes(*element) & 0x7FFF_FFFF;
            let is_normal = magnitude >= self.normal && magnitude < self.overflow;
            greatest = greatest.max(magnitude);
            overflowed += u32::from(magnitude >= self.overflow && magnitude < 0x7F80_0000);
            small += u32::from(magnitude != 0 && magnitude < self.normal);
            // The distance to the nearest number, in units of the last place of FLOAT.
            let rest = magnitude & mask;
            let distance = if rest > half { mask + 1 - rest } else { rest };
            let significand = (magnitude & 0x007F_FFFF) | 0x0080_0000;
            let error = if is_normal {
                distance as f32 / significand as f32
            } else {
                0.0
            };
            largest = largest.max(error.to_bits());
        }
        let largest = f32::from_bits(largest);
        let found = Survey {
            greatest,
            overflowed: overflowed.into(),
            least_overflowed: if overflowed == 0 {
                0.0
            } else {
                self.least_overflowed(elements)
            },
            largest_relative_error: largest.into(),
            ..Survey::default()
        };
        if small == 0 {
            found
        } else {
            found.and(self.survey_small(elements))
        }
    }

    /// The least magnitude of the numbers beyond the range.
    fn least_overflowed(self, elements: &[[u8; 4]]) -> f32 {
        let bits = elements.iter().map(|element| u32::from_le_bytes(*element));
        bits.filter(|bits| self.overflows(*bits))
            .map(|bits| f32::from_bits(bits).abs())
            .fold(f32::MAX, f32::min)
    }

    /// Numbers that are below the range of normal numbers.
    #[inline(always)]
    fn survey_small(self, elements: &[[u8; 4]]) -> Survey {
        let Some(format) = Format::of(self.to) else {
            return Survey::default();
        };
        let each = f64::from(format.mantissa_bits as i32 - format.lowest_exponent()).exp2();
        let normal = self.least_normal() * each;
        let (mut zeros, mut subnormal, mut largest) = (0_u32, 0_u32, 0_u64);
        for element in elements {
            let bits = u32::from_le_bytes(*element) & 0x7FFF_FFFF;
            let is_small = bits != 0 && bits < self.normal;
            // In units of the smallest number.
            let exact = f64::from(f32::from_bits(bits)) * each;
            let rounded = exact.round_ties_even();
            let is_zero = rounded == 0.0;
            zeros += u32::from(is_small && is_zero);
            subnormal += u32::from(is_small && !is_zero && rounded < normal);
            let error = if is_small && !is_zero {
                (exact - rounded).abs() / exact
            } else {
                0.0
            };
            largest = largest.max(error.to_bits());
        }
        Survey {
            became_zero: zeros.into(),
            became_subnormal: subnormal.into(),
            largest_relative_error: f64::from_bits(largest),
            ..Survey::default()
        }
    }
}

/// The survey of elements of some bytes, in parts that are surveyed at the same time.
fn in_parts(numbers: &Stored, bytes: u64, survey: impl Fn(&[u8]) -> Survey + Sync) -> Survey {
    let of_part = PART.get() as u64 * bytes;
    let part = |index: usize| {
        let start = index as u64 * of_part;
        let end = numbers.len().min(start + of_part);
        match numbers.in_memory() {
            Some(bytes) => survey(&bytes[start as usize..end as usize]),
            None => survey(&numbers.part(start..end)),
        }
    };
    parallel::map_and_join(numbers.len().div_ceil(of_part) as usize, part, Survey::and)
}

/// A part of a constant.
struct Part<'e> {
    limits: Limits,
    elements: &'e [[u8; 4]],
}

impl Kernel for Part<'_> {
    type Output = Survey;

    #[inline(always)]
    fn run<F: Features>(self) -> Survey {
        self.limits.survey_part(self.elements)
    }
}

fn cast(to: DType) -> Option<Cast> {
    Cast::new(DType::Float, to, Rules::default()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The survey by the exact conversion of each element.
    fn expected(to: DType, numbers: &[f32]) -> Survey {
        let (there, back) = (
            cast(to).unwrap(),
            Cast::new(to, DType::Float, Rules::default()).unwrap(),
        );
        let mut found = Survey::default();
        for &number in numbers {
            let rounded =
                convert_element(&back, convert_element(&there, number.to_bits().into()).0).0;
            let rounded = f32::from_bits(rounded as u32);
            let normal = if to == DType::Float16 {
                2.0_f32.powi(-14)
            } else {
                f32::MIN_POSITIVE
            };
            found.greatest = found.greatest.max(number.abs().to_bits());
            if number.is_finite() && rounded.is_infinite() {
                let least = if found.overflowed == 0 {
                    f32::MAX
                } else {
                    found.least_overflowed
                };
                found.least_overflowed = least.min(number.abs());
            }
            if number.is_finite() && number != 0.0 {
                found.overflowed += u64::from(rounded.is_infinite());
                found.became_zero += u64::from(rounded == 0.0);
                // Numbers that round up to the least normal number are normal.
                found.became_subnormal += u64::from(rounded != 0.0 && rounded.abs() < normal);
                if rounded.is_finite() && rounded != 0.0 {
                    let error =
                        ((f64::from(number) - f64::from(rounded)) / f64::from(number)).abs();
                    found.largest_relative_error = found.largest_relative_error.max(error);
                }
            }
        }
        found
    }

    #[test]
    fn the_counts_are_those_of_the_exact_conversion() {
        let edges = [
            0.0,
            -0.0,
            1.0,
            65504.0,
            65519.996,
            65520.0,
            -3.4e38,
            1e-8,
            2.9802322e-8,
            2.980233e-8,
            5.96e-8,
            -6.1e-5,
            6.1035156e-5,
        ];
        let special = [
            f32::INFINITY,
            f32::NAN,
            f32::MAX,
            f32::MIN_POSITIVE,
            1e-45,
            6.097_555e-5,
        ];
        for to in [DType::Float16, DType::Bfloat16] {
            let limits = Limits::of(to).unwrap();
            let spread =
                (0..50_000_u32).map(|index| f32::from_bits(index.wrapping_mul(0x9E37_79B9)));
            let all: Vec<f32> = edges.into_iter().chain(special).chain(spread).collect();
            for numbers in all
                .chunks(1)
                .take(edges.len() + special.len())
                .chain([&all[..]])
            {
                let bytes = Stored::from(
                    numbers
                        .iter()
                        .flat_map(|number| number.to_le_bytes())
                        .collect::<Vec<u8>>(),
                );
                let (found, expected) = (limits.survey(&bytes), expected(to, numbers));
                let counts = |survey: Survey| {
                    (
                        survey.greatest,
                        survey.overflowed,
                        survey.least_overflowed,
                        survey.became_zero,
                        survey.became_subnormal,
                    )
                };
                assert_eq!(counts(found), counts(expected), "{to} {:?}", &numbers[..1]);
                for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
                    let again = level.run(Part {
                        limits,
                        elements: bytes.to_bytes().as_chunks().0,
                    });
                    assert_eq!(again, found, "{to} {:?}: {level:?}", &numbers[..1]);
                }
                let difference =
                    (found.largest_relative_error - expected.largest_relative_error).abs();
                assert!(
                    difference < 1e-6,
                    "{to} {:?}: {found:?}, {expected:?}",
                    &numbers[..1]
                );
            }
        }
    }
}
