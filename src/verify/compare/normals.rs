//! FLOAT to the normal values of FLOAT16 and BFLOAT16, to the nearest and halves to even: by the distance of a number from its result.

use super::native::AreResults;
use crate::elements::cast::Cast;
use crate::elements::dtype::DType;

/// The bits of a FLOAT without its sign.
const MAGNITUDE: i32 = 0x7FFF_FFFF;

/// The comparison of a cast, if it is one of these.
pub(super) fn of(cast: &Cast) -> Option<AreResults> {
    match (cast.from(), cast.to()) {
        (DType::Float, DType::Float16) => Some(are_results::<13, { (127 - 15) << 23 }, 0x0400, 0x7BFF>),
        (DType::Float, DType::Bfloat16) => Some(are_results::<16, 0, 0x0080, 0x7F7F>),
        _ => None,
    }
}

/// Whether all results are from `FIRST` to `LAST`, and the sources round to them. A FLOAT has `LOST` more bits of mantissa; `BIAS` is the
/// difference of the exponents, as bits of a FLOAT.
///
/// Each condition is a number that is not negative, so that the signs of all can be combined.
fn are_results<const LOST: u32, const BIAS: i32, const FIRST: i32, const LAST: i32>(source: &[u8], found: &[u8]) -> bool {
    let half = 1 << (LOST - 1);
    let pairs = source.as_chunks().0.iter().zip(found.as_chunks().0);
    let combined = pairs.fold(0, |combined, (source, found)| {
        let (source, code) = (i32::from_le_bytes(*source), i32::from(i16::from_le_bytes(*found)));
        let (value, is_odd) = (code & 0x7FFF, code & 1);
        // The bits of floats are in the order of their magnitudes. A tie belongs to the even neighbour.
        let distance = (source & MAGNITUDE).wrapping_sub((value << LOST).wrapping_add(BIAS));
        let most = half - is_odd;
        let is_near = most.wrapping_sub(distance) | most.wrapping_add(distance);
        let is_normal = (value - FIRST) | (LAST - value);
        let has_same_sign = source ^ code;
        combined | is_near | is_normal | has_same_sign
    });
    combined >= 0
}
