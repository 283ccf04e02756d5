//! FLOAT to smaller floats, to the nearest and halves to even: by the distance of a number from its
//! result. FLOAT16 and BFLOAT16 without subnormal results, FLOAT8 with them.

use std::marker::PhantomData;

use super::blocks::{Blocks, LeadingShown};
use onnx_cast::{Cast, DType, Features, Kernel, Level};

/// The bits of a FLOAT without its sign.
const MAGNITUDE: i32 = 0x7FFF_FFFF;

/// The comparison of a cast with the instructions of a level, if it is one of these.
pub(super) fn of(cast: &Cast, level: Level) -> Option<LeadingShown> {
    let of = match (cast.from(), cast.to()) {
        (DType::Float, DType::Float16) => {
            leading::<Shorts<13, { (127 - 15) << 23 }, 0x0400, 0x7BFF>>
        }
        (DType::Float, DType::Bfloat16) => leading::<Shorts<16, 0, 0x0080, 0x7F7F>>,
        (DType::Float, DType::Float8E4M3Fn) => leading::<Bytes<3, 7, -128, 0x7E>>,
        (DType::Float, DType::Float8E4M3Fnuz) => leading::<Bytes<3, 8, -127, 0x7F>>,
        (DType::Float, DType::Float8E5M2) => leading::<Bytes<2, 15, -128, 0x7B>>,
        (DType::Float, DType::Float8E5M2Fnuz) => leading::<Bytes<2, 16, -127, 0x7F>>,
        _ => return None,
    };
    Some(Box::new(move |blocks| of(level, blocks)))
}

/// A comparison by arithmetic, which is compiled for each level.
trait Arithmetic {
    /// Whether all results of a block are shown to be right.
    fn are_results(source: &[u8], found: &[u8]) -> bool;
}

fn leading<A: Arithmetic>(level: Level, blocks: Blocks) -> usize {
    level.run(Leading::<A>(blocks, PhantomData))
}

struct Leading<'b, A>(Blocks<'b>, PhantomData<A>);

impl<A: Arithmetic> Kernel for Leading<'_, A> {
    type Output = usize;

    #[inline(always)]
    fn run<F: Features>(self) -> usize {
        self.0.leading(A::are_results)
    }
}

/// Results of 16 bits, all of which are from `FIRST` to `LAST`, and to which the sources round. A
/// FLOAT has `LOST` more bits of mantissa; `BIAS` is the difference of the exponents, as bits of a
/// FLOAT.
///
/// Each condition is a number that is not negative, so that the signs of all can be combined.
struct Shorts<const LOST: u32, const BIAS: i32, const FIRST: i32, const LAST: i32>;

impl<const LOST: u32, const BIAS: i32, const FIRST: i32, const LAST: i32> Arithmetic
    for Shorts<LOST, BIAS, FIRST, LAST>
{
    #[inline(always)]
    fn are_results(source: &[u8], found: &[u8]) -> bool {
        let half = 1 << (LOST - 1);
        let pairs = source.as_chunks().0.iter().zip(found.as_chunks().0);
        let combined = pairs.fold(0, |combined, (source, found)| {
            let (source, code) = (
                i32::from_le_bytes(*source),
                i32::from(i16::from_le_bytes(*found)),
            );
            let (value, is_odd) = (code & 0x7FFF, code & 1);
            // The bits of floats are in the order of their magnitudes. A tie belongs to the even
            // neighbour.
            let distance = (source & MAGNITUDE).wrapping_sub((value << LOST).wrapping_add(BIAS));
            let most = half - is_odd;
            let is_near = most.wrapping_sub(distance) | most.wrapping_add(distance);
            let is_normal = (value - FIRST) | (LAST - value);
            let has_same_sign = source ^ code;
            combined | is_near | is_normal | has_same_sign
        });
        combined >= 0
    }
}

/// Results of 8 bits, all of which are codes from `FIRST`, with a sign, up to `LAST`, the largest
/// number with either sign, and to which the sources round. A code has `MANTISSA` bits of mantissa
/// and the exponent `BIAS` for 1.
///
/// Below twice the least normal number, codes are evenly spaced: there the distance is that of the
/// numbers, as a multiple of the least subnormal one. It is exact where it decides: then both are
/// within a factor of two of each other, or the code is zero.
struct Bytes<const MANTISSA: u32, const BIAS: i32, const FIRST: i32, const LAST: i32>;

impl<const MANTISSA: u32, const BIAS: i32, const FIRST: i32, const LAST: i32> Arithmetic
    for Bytes<MANTISSA, BIAS, FIRST, LAST>
{
    #[inline(always)]
    fn are_results(source: &[u8], found: &[u8]) -> bool {
        let lost = 23 - MANTISSA;
        let half = 1 << (lost - 1);
        let bias = (127 - BIAS) << 23;
        let even = 2 << MANTISSA;
        // 1 divided by the least subnormal number: a power of two.
        let scale = f32::from_bits(((127 + BIAS - 1) as u32 + MANTISSA) << 23);
        let pairs = source.as_chunks().0.iter().zip(found);
        let combined = pairs.fold(0, |combined, (source, &found)| {
            let (source, code) = (i32::from_le_bytes(*source), i32::from(found.cast_signed()));
            let (magnitude, value, is_odd) = (source & MAGNITUDE, code & 0x7F, code & 1);
            let distance = magnitude.wrapping_sub((value << lost).wrapping_add(bias));
            let most = half - is_odd;
            let is_near = most.wrapping_sub(distance) | most.wrapping_add(distance);
            // The bits of 0.5, or of the largest number below it.
            let most = 0x3F00_0000 - is_odd;
            let distance = f32::from_bits(magnitude.cast_unsigned()) * scale - value as f32;
            let is_near_evenly = most - (distance.to_bits().cast_signed() & MAGNITUDE);
            let is_even = (value - even) >> 31;
            let is_number = (code - FIRST) | (LAST - value);
            let has_same_sign = source ^ code;
            combined | (is_near_evenly & is_even | is_near & !is_even) | is_number | has_same_sign
        });
        combined >= 0
    }
}
