//! The binary float formats as rows of data, with a single rounding function: [`Format::round`].

use crate::dtype::DType;

/// The special codes of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Specials {
    /// The highest exponent encodes infinities, and NaNs with a payload.
    Ieee,
    /// No infinity; the code with all bits set, with either sign, is NaN.
    TopIsNan,
    /// No infinity and no negative zero; the code of negative zero is NaN.
    NegativeZeroIsNan,
    /// Every code is a finite number.
    AllFinite,
    /// A power of two: no sign, no zero, no infinity; the code with all bits set is NaN.
    Scale,
}

/// A binary float format of at most 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Width of the exponent field.
    pub exponent_bits: u32,
    /// Width of the mantissa field, without the hidden bit.
    pub mantissa_bits: u32,
    /// The value of the exponent field for the exponent zero.
    pub bias: i32,
    /// The special codes.
    pub specials: Specials,
}

const fn format(exponent_bits: u32, mantissa_bits: u32, bias: i32, specials: Specials) -> Format {
    Format {
        exponent_bits,
        mantissa_bits,
        bias,
        specials,
    }
}

impl Format {
    /// The format of a float type; `None` for all other types.
    #[must_use]
    pub const fn of(dtype: DType) -> Option<Format> {
        Some(match dtype {
            DType::Double => format(11, 52, 1023, Specials::Ieee),
            DType::Float => format(8, 23, 127, Specials::Ieee),
            DType::Float16 => format(5, 10, 15, Specials::Ieee),
            DType::Bfloat16 => format(8, 7, 127, Specials::Ieee),
            DType::Float8E4M3Fn => format(4, 3, 7, Specials::TopIsNan),
            DType::Float8E4M3Fnuz => format(4, 3, 8, Specials::NegativeZeroIsNan),
            DType::Float8E5M2 => format(5, 2, 15, Specials::Ieee),
            DType::Float8E5M2Fnuz => format(5, 2, 16, Specials::NegativeZeroIsNan),
            DType::Float8E8M0 => format(8, 0, 127, Specials::Scale),
            DType::Float6E2M3 => format(2, 3, 1, Specials::AllFinite),
            DType::Float6E3M2 => format(3, 2, 3, Specials::AllFinite),
            DType::Float4E2M1 => format(2, 1, 1, Specials::AllFinite),
            _ => return None,
        })
    }

    /// The code of the largest finite number.
    #[must_use]
    pub const fn largest(self) -> u64 {
        let all_ones = (1 << (self.exponent_bits + self.mantissa_bits)) - 1;
        match self.specials {
            Specials::Ieee => self.infinity() - 1,
            Specials::TopIsNan | Specials::Scale => all_ones - 1,
            Specials::NegativeZeroIsNan | Specials::AllFinite => all_ones,
        }
    }

    /// The code of positive infinity; in formats without infinity, the first code above the
    /// largest.
    #[must_use]
    pub const fn infinity(self) -> u64 {
        match self.specials {
            Specials::Ieee => ((1 << self.exponent_bits) - 1) << self.mantissa_bits,
            _ => self.largest() + 1,
        }
    }

    /// The code of the quiet NaN without payload and, if NaNs have a sign, with the sign bit clear.
    #[must_use]
    pub const fn nan(self) -> Option<u64> {
        match self.specials {
            Specials::Ieee => Some(self.infinity() | 1 << (self.mantissa_bits - 1)),
            Specials::TopIsNan | Specials::Scale => Some(self.largest() + 1),
            Specials::NegativeZeroIsNan => Some(self.sign_bit()),
            Specials::AllFinite => None,
        }
    }

    /// The sign bit; zero in unsigned formats.
    #[must_use]
    pub const fn sign_bit(self) -> u64 {
        match self.specials {
            Specials::Scale => 0,
            _ => 1 << (self.exponent_bits + self.mantissa_bits),
        }
    }

    /// Whether a code is a NaN.
    #[must_use]
    pub const fn is_nan(self, code: u64) -> bool {
        match self.specials {
            Specials::Ieee => code & !self.sign_bit() > self.infinity(),
            Specials::TopIsNan | Specials::Scale => code & !self.sign_bit() > self.largest(),
            Specials::NegativeZeroIsNan => code == self.sign_bit(),
            Specials::AllFinite => false,
        }
    }

    /// Whether a code is an infinity.
    #[must_use]
    pub const fn is_infinite(self, code: u64) -> bool {
        matches!(self.specials, Specials::Ieee) && code & !self.sign_bit() == self.infinity()
    }

    /// The exponent of the smallest normal number.
    #[must_use]
    pub const fn lowest_exponent(self) -> i32 {
        1 - self.bias
    }

    /// Rounds `magnitude * 2^exponent` to nearest, ties to even, with an exponent field of all bits
    /// above the mantissa; greater exponents are clamped. The result is a code without sign; a code
    /// above [`Format::largest`] means overflow, which the caller handles.
    #[must_use]
    pub const fn round(self, magnitude: u64, exponent: i32) -> u64 {
        if magnitude == 0 {
            return 0;
        }
        let exponent = exponent as i64;
        let binade = exponent + magnitude.ilog2() as i64;
        let lowest = self.lowest_exponent() as i64;
        let normal = if binade < lowest { lowest } else { binade };
        // The result counts steps of 2^step; rounding up into the next binade carries into the
        // exponent field.
        let step = normal - self.mantissa_bits as i64;
        let steps = if step <= exponent {
            magnitude << (exponent - step)
        } else {
            shift_right_to_even(magnitude, step - exponent)
        };
        // The steps of a normal number account for one or two binades.
        let greatest = (u64::MAX >> self.mantissa_bits) - 2;
        let field = (normal - lowest) as u64;
        ((if field < greatest { field } else { greatest }) << self.mantissa_bits) + steps
    }
}

/// Divides by `2^shift`, to nearest, ties to even. The shift is positive.
const fn shift_right_to_even(magnitude: u64, shift: i64) -> u64 {
    if shift > 64 {
        return 0;
    }
    // The discarded bits, shifted to the top of a word.
    let (quotient, rest) = if shift == 64 {
        (0, magnitude)
    } else {
        (magnitude >> shift, magnitude << (64 - shift))
    };
    let half = 1 << 63;
    quotient + (rest > half || (rest == half && quotient & 1 == 1)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(dtype: DType, magnitude: u64, exponent: i32) -> u64 {
        Format::of(dtype).unwrap().round(magnitude, exponent)
    }

    #[test]
    fn special_codes_match_the_specifications() {
        let cases = [
            (DType::Float16, 0x7BFF, 0x7C00, Some(0x7E00)),
            (DType::Bfloat16, 0x7F7F, 0x7F80, Some(0x7FC0)),
            (DType::Float8E4M3Fn, 0x7E, 0x7F, Some(0x7F)),
            (DType::Float8E4M3Fnuz, 0x7F, 0x80, Some(0x80)),
            (DType::Float8E5M2, 0x7B, 0x7C, Some(0x7E)),
            (DType::Float8E5M2Fnuz, 0x7F, 0x80, Some(0x80)),
            (DType::Float8E8M0, 0xFE, 0xFF, Some(0xFF)),
            (DType::Float6E2M3, 0x1F, 0x20, None),
            (DType::Float6E3M2, 0x1F, 0x20, None),
            (DType::Float4E2M1, 0x7, 0x8, None),
        ];
        for (dtype, largest, infinity, nan) in cases {
            let format = Format::of(dtype).unwrap();
            assert_eq!(
                (format.largest(), format.infinity(), format.nan()),
                (largest, infinity, nan),
                "{dtype}"
            );
        }
    }

    #[test]
    fn huge_numbers_round_to_codes_above_the_largest() {
        for dtype in DType::ALL {
            let Some(format) = Format::of(*dtype) else {
                continue;
            };
            for exponent in [
                1024,
                3071,
                3072,
                3073,
                4096,
                1 << 13,
                1 << 20,
                i32::MAX - 64,
                i32::MAX,
            ] {
                for magnitude in [1, 3, u64::MAX] {
                    assert!(
                        format.round(magnitude, exponent) > format.largest(),
                        "{dtype}: {magnitude} * 2^{exponent}"
                    );
                }
            }
            assert_eq!(format.round(u64::MAX, i32::MIN), 0, "{dtype}");
        }
    }

    #[test]
    fn rounding_matches_the_hardware() {
        for bits in (0..u64::from(f32::INFINITY.to_bits())).step_by(9_973) {
            let value = f32::from_bits(bits as u32);
            let (magnitude, exponent) = match bits >> 23 {
                0 => (bits, -149),
                field => (bits & 0x7F_FFFF | 0x80_0000, field as i32 - 150),
            };
            assert_eq!(round(DType::Float, magnitude, exponent), bits);
            assert_eq!(
                round(DType::Double, magnitude, exponent),
                f64::from(value).to_bits()
            );
            let narrow = round(DType::Float16, magnitude, exponent).min(0x7C00);
            assert_eq!(
                narrow,
                u64::from(half::f16::from_f32(value).to_bits()),
                "{value:e}"
            );
        }
    }

    #[test]
    fn tiny_numbers_round_to_zero() {
        assert_eq!(round(DType::Float16, u64::MAX, -1000), 0);
        assert_eq!(
            round(DType::Float16, u64::MAX, -64 - 25),
            0,
            "just below the tie"
        );
        assert_eq!(
            round(DType::Float16, 1 << 63 | 1, -63 - 25),
            1,
            "just above the tie"
        );
        assert_eq!(round(DType::Float16, 1, -25), 0, "the tie goes to even");
        assert_eq!(round(DType::Float16, 3, -26), 1);
    }
}
