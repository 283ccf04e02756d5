//! Roundings from `f32` as tables of parameters: the vectorizable counterpart of the exact rounding
//! of the reference path.

use super::pair::Cast;
use super::reference::convert_element;
use super::rules::{RoundMode, Rules};
use crate::dtype::DType;
use crate::float_format::{Format, Specials};

/// The rounding of an `f32` (exact, or rounded to odd) to a float of at most 8 bits, or `FLOAT16`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounding {
    /// The clamp of magnitudes; it rounds to the largest number or to the code of overflow.
    pub(super) limit: u32,
    /// The smallest normal number.
    pub(super) lowest: u32,
    /// The number of mantissa bits to discard, added to an exponent so that addition rounds to the
    /// mantissa of the target.
    pub(super) lost: u32,
    /// The value of the exponent field of the smallest subnormal step.
    pub(super) offset: u32,
    /// Magnitudes from here on are treated as NaN.
    pub(super) special: u32,
    pub(super) nan: u32,
    pub(super) nan_sign: u32,
    /// The position of the sign.
    pub(super) sign: u32,
    /// The sign of a zero.
    pub(super) zero_sign: u32,
}

impl Rounding {
    /// The rounding by these rules, for all targets of 4 to 8 bits except `FLOAT8E8M0`.
    pub(super) fn new(to: DType, rules: Rules) -> Rounding {
        let format = Format::of(to).expect("the target is a float");
        let cast = Cast {
            from: DType::Float,
            to,
            rules,
        };
        let of = |number: f32| convert_element(&cast, number.to_bits().into()).0 as u32;
        let field = |exponent: i32| ((exponent + 127) as u32) << 23;
        let lost = 23 - format.mantissa_bits;
        let sign = format.sign_bit() as u32;
        // Overflow rounds to the largest number or to the code above it, the next step of the
        // format.
        let code_at_limit = of(f32::MAX);
        let over = Cast {
            from: to,
            to: DType::Float,
            rules,
        };
        let value = |code: u32| f32::from_bits(convert_element(&over, code.into()).0 as u32);
        let largest = value(format.largest() as u32);
        let step = largest - value(format.largest() as u32 - 1);
        let limit = if u64::from(code_at_limit) == format.largest() {
            largest
        } else {
            largest + step
        };
        Rounding {
            limit: limit.to_bits(),
            lowest: field(format.lowest_exponent()),
            lost: lost << 23,
            offset: (field(format.lowest_exponent()) + (lost << 23)) >> lost,
            special: if of(f32::INFINITY) == of(f32::MAX) {
                0x7F80_0001
            } else {
                0x7F80_0000
            },
            nan: of(f32::NAN),
            nan_sign: of(f32::NAN) ^ of(-f32::NAN),
            sign,
            zero_sign: if format.specials == Specials::NegativeZeroIsNan {
                0
            } else {
                sign
            },
        }
    }

    /// The code of a number.
    #[inline(always)]
    pub(super) fn round(&self, number: u32) -> u32 {
        let magnitude = number & 0x7FFF_FFFF;
        let sign = if number >> 31 == 1 { self.sign } else { 0 };
        let cut = magnitude.min(self.limit);
        // Adding a power of two whose lowest mantissa bit is that of the target rounds to it, ties
        // to even.
        let power = (cut & 0x7F80_0000).max(self.lowest) + self.lost;
        let steps = (f32::from_bits(cut) + f32::from_bits(power)).to_bits() - power;
        let code = steps + (power >> (self.lost >> 23)) - self.offset;
        let signed = code
            | if code == 0 {
                sign & self.zero_sign
            } else {
                sign
            };
        if magnitude >= self.special {
            self.nan ^ (sign & self.nan_sign)
        } else {
            signed
        }
    }
}

/// The rounding of an `f32` to a power of two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scaling {
    /// The addend of the bits before the mantissa is truncated.
    addend: u32,
    zero: u32,
    small: u32,
    large: u32,
}

impl Scaling {
    /// The rounding that the rules ask for.
    pub(super) fn new(rules: Rules) -> Scaling {
        let cast = Cast {
            from: DType::Float,
            to: DType::Float8E8M0,
            rules,
        };
        let of = |number: f32| convert_element(&cast, number.to_bits().into()).0 as u32;
        let addend = match rules.round_mode {
            RoundMode::Up => 0x007F_FFFF,
            RoundMode::Down => 0,
            RoundMode::Nearest => 0x0040_0000,
        };
        Scaling {
            addend,
            zero: of(0.0),
            small: of(f32::from_bits(1)),
            large: of(f32::INFINITY),
        }
    }

    /// The code of a number.
    #[inline(always)]
    pub(super) fn round(&self, number: u32) -> u8 {
        // Exponent fields are codes. 2^-127, whose code is 0, is subnormal and has only the highest
        // mantissa bit set; from it up to 2^-126, the mantissa is relative to it and one bit
        // shorter.
        let normal = number.wrapping_add(self.addend) >> 23;
        let subnormal = (number.wrapping_sub(0x0040_0000) << 1).wrapping_add(self.addend) >> 23;
        let in_range = if number < 0x0080_0000 {
            subnormal
        } else {
            normal
        };
        let from_below = if number < 0x0040_0000 {
            self.small
        } else {
            in_range
        };
        let from_zero = if number == 0 { self.zero } else { from_below };
        let to_large = if number > 0x7F00_0000 {
            self.large
        } else {
            from_zero
        };
        // NaNs and negative numbers.
        (if number > 0x7F80_0000 { 0xFF } else { to_large }) as u8
    }
}

/// `f32` to `BFLOAT16`.
#[inline(always)]
pub(super) fn brain_from_single(number: u32) -> u16 {
    let rounded = number.wrapping_add(0x7FFF + (number >> 16 & 1)) >> 16;
    let nan = number >> 16 | 0x0040;
    (if number & 0x7FFF_FFFF > 0x7F80_0000 {
        nan
    } else {
        rounded
    }) as u16
}
