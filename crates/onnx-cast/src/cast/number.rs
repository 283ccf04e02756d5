//! Conversions between machine numbers, written for the vectorizer: no branches, no calls.
//!
//! *Rounding to odd* truncates and sets the lowest bit if the result is inexact. A number rounded
//! this way to `f32` is on the same side of every number with a shorter mantissa as the exact
//! number. Rounding it again, in any mode, to a mantissa at least two bits shorter therefore gives
//! the same result as rounding the exact number.
#![allow(unsafe_code)]

use super::level::Features;
use super::sink::{PIECE, Sink};
use super::stream;

/// A number in memory.
pub(super) trait Lane: Copy {
    const BYTES: usize;
    fn read(bytes: &[u8]) -> Self;
    fn write(self, bytes: &mut [u8]);
}

macro_rules! lanes {
    ($($number:ty)*) => { $(
        impl Lane for $number {
            const BYTES: usize = size_of::<$number>();
            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                <$number>::from_le_bytes(bytes.try_into().expect("chunks have the lane's size"))
            }
            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
        }
    )* };
}

lanes! { u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 }

/// The elements.
#[inline(always)]
pub(super) fn lanes<Element: Lane>(bytes: &[u8]) -> impl Iterator<Item = Element> {
    bytes.chunks_exact(Element::BYTES).map(Element::read)
}

/// Applies a function to each element.
#[inline(always)]
pub(super) fn map<From: Lane, To: Lane, F: Features>(
    source: &[u8],
    sink: &mut Sink<F>,
    function: impl Fn(From) -> To,
) {
    for piece in source.chunks(PIECE.get() * From::BYTES) {
        sink.fill(piece.len() / From::BYTES * To::BYTES, |results| {
            map_piece(piece, results, &function)
        });
    }
}

#[inline(always)]
fn map_piece<From: Lane, To: Lane>(
    source: &[u8],
    target: &mut [u8],
    function: impl Fn(From) -> To,
) {
    const BLOCK: usize = 64;
    let each = |source: &[u8], target: &mut [u8]| {
        for (target, source) in target
            .chunks_exact_mut(To::BYTES)
            .zip(source.chunks_exact(From::BYTES))
        {
            function(From::read(source)).write(target);
        }
    };
    let (mut sources, mut targets) = (
        source.chunks_exact(BLOCK * From::BYTES),
        target.chunks_exact_mut(BLOCK * To::BYTES),
    );
    for (source, target) in sources.by_ref().zip(targets.by_ref()) {
        stream::fetch_ahead(source);
        each(source, target);
    }
    each(sources.remainder(), targets.into_remainder());
}

/// To nearest; NaNs become quiet and keep their sign and high payload bits, on every machine.
#[inline(always)]
pub(super) fn narrow(number: f64) -> f32 {
    let bits = number.to_bits();
    let nan = (bits >> 32 & 0x8000_0000) as u32 | 0x7FC0_0000 | (bits >> 29) as u32 & 0x003F_FFFF;
    if number.is_nan() {
        f32::from_bits(nan)
    } else {
        number as f32
    }
}

/// Exact; NaNs as in [`narrow`].
#[inline(always)]
pub(super) fn widen(number: f32) -> f64 {
    let bits = u64::from(number.to_bits());
    let nan = (bits & 0x8000_0000) << 32 | 0x7FF8_0000_0000_0000 | (bits & 0x003F_FFFF) << 29;
    if number.is_nan() {
        f64::from_bits(nan)
    } else {
        f64::from(number)
    }
}

/// The number with these bits; NaNs become quiet.
#[inline(always)]
pub(super) fn quiet(bits: u32) -> u32 {
    if bits & 0x7FFF_FFFF > 0x7F80_0000 {
        bits | 0x0040_0000
    } else {
        bits
    }
}

/// To odd; NaNs keep their sign and high payload bits.
#[inline(always)]
pub(super) fn odd_from_double(number: f64) -> u32 {
    let nearest = narrow(number);
    let back = f64::from(nearest);
    // Undoes rounding away from zero, including from the largest number to infinity.
    let truncated = nearest.to_bits() - u32::from(back.abs() > number.abs());
    truncated | u32::from(back != number)
}

/// An integer as a `DOUBLE` that rounds to the same result in every float with at most 42 bits of
/// mantissa: beyond 2^53, the low twelve bits are merged into a sticky bit.
#[inline(always)]
pub(super) fn double_with_sticky(integer: i64) -> f64 {
    let (low, small) = (integer & 0xFFF, integer.unsigned_abs() < 1 << 53);
    let marked = (integer - low) | if low == 0 { 0 } else { 0x800 };
    (if small { integer } else { marked }) as f64
}

/// See [`double_with_sticky`].
#[inline(always)]
pub(super) fn unsigned_double_with_sticky(integer: u64) -> f64 {
    let (low, small) = (integer & 0xFFF, integer < 1 << 53);
    let marked = (integer - low) | if low == 0 { 0 } else { 0x800 };
    (if small { integer } else { marked }) as f64
}

/// Casts of a float to integers.
pub(super) trait Float: Lane + PartialOrd {
    /// The low byte of the number truncated to an integer; zero for infinities and NaNs.
    fn low_byte(self) -> u8;
    /// The nearest integer if it is strictly between two numbers, otherwise the number itself.
    fn nearest_between(self, above: f32, below: f32) -> Self;
}

/// Truncates, saturates, and converts NaN to 0, like `as`, which is not vectorized.
pub(super) trait Saturate<Integer> {
    fn saturate(self) -> Integer;
}

macro_rules! floats {
    ($($float:ident: low byte of $whole:ident below $limit:literal, fitting $($fitting:ident)*, wide $($wide:ident)*;)*) => { $(
        impl Float for $float {
            #[inline(always)]
            fn low_byte(self) -> u8 {
                // From the limit on, the low eight bits of a number with such a short mantissa are
                // zero.
                let held = if self.abs() < $limit { self } else { 0.0 };
                // SAFETY: all numbers below the limit are in range of the integer type.
                unsafe { held.to_int_unchecked::<$whole>() as u8 }
            }

            #[inline(always)]
            fn nearest_between(self, above: f32, below: f32) -> $float {
                let inside = self > $float::from(above) && self < $float::from(below);
                if inside { self.round_ties_even() } else { self }
            }
        }
        $(impl Saturate<$fitting> for $float {
            #[inline(always)]
            fn saturate(self) -> $fitting {
                let number = if self.is_nan() { 0.0 } else { self };
                let held = number.max($fitting::MIN as $float).min($fitting::MAX as $float);
                // SAFETY: both limits are exact in the float type and fit the integer type.
                unsafe { held.to_int_unchecked::<i32>() as $fitting }
            }
        })*
        $(impl Saturate<$wide> for $float {
            #[inline(always)]
            fn saturate(self) -> $wide {
                // The end is the highest integer or, if the float type cannot represent it, the
                // next power of two.
                let (lowest, end) = ($wide::MIN as $float, $wide::MAX as $float);
                let inside = self >= lowest && self < end;
                // SAFETY: the number is in range.
                let truncated = unsafe { (if inside { self } else { 0.0 }).to_int_unchecked::<$wide>() };
                let raised = if self < lowest { $wide::MIN } else { truncated };
                if self >= end { $wide::MAX } else { raised }
            }
        })*
    )* };
}

floats! {
    f32: low byte of i32 below 2_147_483_648.0, fitting u8 i8 u16 i16, wide u32 i32 u64 i64;
    f64: low byte of i64 below 9_223_372_036_854_775_808.0, fitting u8 i8 u16 i16, wide u32 i32 u64 i64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_to_odd_keeps_the_side() {
        let one_up = 1.0 + f64::from(f32::EPSILON);
        let cases = [
            (1.0, 1.0_f32.to_bits()),
            (1.0 + 1e-12, 1.0_f32.to_bits() + 1),
            (one_up, 1.0_f32.to_bits() + 1),
            (one_up + 1e-12, 1.0_f32.to_bits() + 1),
            (one_up - 1e-12, 1.0_f32.to_bits() + 1),
            (1e300, f32::MAX.to_bits()),
            (-1e300, f32::MIN.to_bits()),
            (f64::INFINITY, f32::INFINITY.to_bits()),
            (1e-300, 1),
            (-1e-300, 0x8000_0001),
            (-0.0, 0x8000_0000),
        ];
        for (number, bits) in cases {
            assert_eq!(odd_from_double(number), bits, "{number:e}");
        }
        assert!(f32::from_bits(odd_from_double(-f64::NAN)).is_nan());
    }

    #[test]
    fn large_integers_keep_their_side_of_every_short_number() {
        for integer in [
            (1 << 53) + 1,
            i64::MAX,
            i64::MIN,
            i64::MIN + 1,
            -(1 << 53) - 1,
            1 << 60,
            (1 << 60) + 1,
            (1 << 60) - 1,
        ] {
            let marked = double_with_sticky(integer) as i128;
            let step = 1 << 13;
            assert_eq!(
                marked.div_euclid(step),
                i128::from(integer).div_euclid(step),
                "{integer}"
            );
            assert_eq!(
                marked.rem_euclid(step) == 0,
                i128::from(integer).rem_euclid(step) == 0,
                "{integer}"
            );
        }
    }
}
