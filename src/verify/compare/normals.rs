//! FLOAT to smaller floats, to the nearest and halves to even: by the distance of a number from its
//! result, which is neither infinite nor NaN.

use std::marker::PhantomData;

use super::blocks::{Blocks, LeadingShown};
use onnx_cast::{Cast, DType, Features, Kernel, Level};

/// The bits of a FLOAT without its sign.
const MAGNITUDE: i32 = 0x7FFF_FFFF;

/// The bits of its exponent.
const EXPONENT: i32 = 0x7F80_0000;

/// The comparison of a cast with the instructions of a level, if it is one of these.
pub(super) fn of(cast: &Cast, level: Level) -> Option<LeadingShown> {
    let of = match (cast.from(), cast.to()) {
        (DType::Float, DType::Float16) => leading::<Codes<2, 10, 15, -0x8000, 0x7BFF>>,
        (DType::Float, DType::Bfloat16) => leading::<Codes<2, 7, 127, -0x8000, 0x777F>>,
        (DType::Float, DType::Float8E4M3Fn) => leading::<Codes<1, 3, 7, -0x80, 0x7E>>,
        (DType::Float, DType::Float8E4M3Fnuz) => leading::<Codes<1, 3, 8, -0x7F, 0x7F>>,
        (DType::Float, DType::Float8E5M2) => leading::<Codes<1, 2, 15, -0x80, 0x7B>>,
        (DType::Float, DType::Float8E5M2Fnuz) => leading::<Codes<1, 2, 16, -0x7F, 0x7F>>,
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

/// Codes of `WIDTH` bytes from `FIRST`, with a sign, up to `LAST`, with either sign, to which the
/// sources round. They have `MANTISSA` bits of mantissa and the exponent `BIAS` for 1.
///
/// The sum of a FLOAT and a power of two is rounded to the spacing of the FLOATs that follow this
/// power. If that is the spacing of the codes around the number, the sum is as many steps above the
/// power as the nearest code is above zero, or above the codes of smaller exponents. `LAST` is the
/// largest number, or the largest one for which FLOAT has such a power.
struct Codes<
    const WIDTH: usize,
    const MANTISSA: u32,
    const BIAS: i32,
    const FIRST: i32,
    const LAST: i32,
>;

impl<const WIDTH: usize, const MANTISSA: u32, const BIAS: i32, const FIRST: i32, const LAST: i32>
    Arithmetic for Codes<WIDTH, MANTISSA, BIAS, FIRST, LAST>
{
    #[inline(always)]
    fn are_results(source: &[u8], found: &[u8]) -> bool {
        let lost = 23 - MANTISSA;
        // Below the least normal number, the spacing is that above it.
        let least = (128 - BIAS) << 23;
        let most = least + (((LAST >> MANTISSA) - 1) << 23);
        let pairs = source.as_chunks().0.iter().zip(found.as_chunks().0);
        let nothing = (0, 0);
        let (different, negative) =
            pairs.fold(nothing, |(different, negative), (source, found)| {
                let (source, code) = (i32::from_le_bytes(*source), signed::<WIDTH>(*found));
                let value = code & (MAGNITUDE >> (32 - 8 * WIDTH));
                let exponent = (source & EXPONENT).clamp(least, most);
                let power = exponent + ((lost as i32) << 23);
                let sum = float(source & MAGNITUDE) + float(power);
                let steps = sum.to_bits().cast_signed() - power;
                let nearest = steps + ((exponent - least) >> lost);
                let is_number = (code - FIRST) | (LAST - value);
                let has_same_sign = source ^ code;
                (
                    different | (nearest ^ value),
                    negative | is_number | has_same_sign,
                )
            });
        different == 0 && negative >= 0
    }
}

/// The number with these bits.
#[inline(always)]
fn float(bits: i32) -> f32 {
    f32::from_bits(bits.cast_unsigned())
}

/// A code with the sign of its highest bit.
#[inline(always)]
fn signed<const WIDTH: usize>(code: [u8; WIDTH]) -> i32 {
    let mut word = [0; 4];
    word[4 - WIDTH..].copy_from_slice(&code);
    i32::from_le_bytes(word) >> (32 - 8 * WIDTH)
}
