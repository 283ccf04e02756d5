//! FLOAT to floats of 8 bits: for each sign and result, the interval of finite magnitudes that have
//! it, from the definition of the cast.

use super::allowed::Allowed;
use super::definition::result;
use crate::base::threshold::Threshold;
use onnx_cast::{Cast, DType};

/// The bits of a FLOAT without its sign, and those of its largest finite magnitude.
const MAGNITUDE: u32 = 0x7FFF_FFFF;
const LARGEST_FINITE: u32 = 0x7F7F_FFFF;

/// The minimum number of elements for which finding the intervals pays off.
const WORTH: Threshold = Threshold::new("elements that are worth intervals", 1 << 15);

/// By sign and result: the lowest magnitude, and the distance of the highest one. A result without
/// an interval has a magnitude that no FLOAT has.
pub(super) struct Bounds([(u32, u32); 512]);

impl Bounds {
    /// The intervals of a single cast of many elements, if it is one of these.
    pub fn of(casts: &[(Cast, Allowed)], count: usize) -> Option<Box<Bounds>> {
        use DType::{Float8E4M3Fn, Float8E4M3Fnuz, Float8E5M2, Float8E5M2Fnuz};
        let [(cast, _)] = casts else { return None };
        let is_one = matches!(
            cast.to(),
            Float8E4M3Fn | Float8E4M3Fnuz | Float8E5M2 | Float8E5M2Fnuz
        );
        if cast.from() != DType::Float || !is_one || count < WORTH.get() {
            return None;
        }
        let mut bounds = Box::new(Bounds([(u32::MAX, 0); 512]));
        for sign in [0, 1] {
            let code = |magnitude: u32| result(casts, (sign << 31 | magnitude).into()).ok();
            let mut first = 0;
            while first <= LARGEST_FINITE {
                let found = code(first)?;
                // The last magnitude with this result: rounding is monotone.
                let (mut last, mut end) = (first, LARGEST_FINITE + 1);
                while end - last > 1 {
                    let middle = last + (end - last) / 2;
                    if code(middle) == Some(found) {
                        last = middle;
                    } else {
                        end = middle;
                    }
                }
                bounds.0[(sign as usize) << 8 | found as usize] = (first, last - first);
                first = last + 1;
            }
        }
        Some(bounds)
    }

    /// Whether all results of a block are shown to be right.
    pub fn are_results(&self, source: &[u8], found: &[u8]) -> bool {
        source
            .as_chunks()
            .0
            .iter()
            .zip(found)
            .fold(true, |all, (source, &code)| {
                let source = u32::from_le_bytes(*source);
                let (lowest, distance) = self.0[((source >> 31) as usize) << 8 | usize::from(code)];
                all & ((source & MAGNITUDE).wrapping_sub(lowest) <= distance)
            })
    }
}
