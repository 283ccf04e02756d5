//! Intervals of sources that have the same result.
//!
//! Rounding is monotone: if two numbers of one sign have the same result, so has every number between them. The numbers that have a result
//! are remembered as an interval, which the definition of the cast widens with each number that it decides; a number inside needs no
//! conversion.

use crate::elements::cast::{Cast, convert_element};
use crate::elements::dtype::{Class, DType};

/// By sign of the source and by result: the lowest and the highest magnitude that is known to have the result.
pub(super) struct Intervals {
    cast: Cast,
    /// The bit of the sign of a source.
    sign: u64,
    /// The bits of the magnitude of an infinity; larger ones are NaN.
    infinity: u64,
    of: Vec<(u64, u64)>,
}

impl Intervals {
    /// Whether a cast is from a float of the machine to a type of at most 16 bits, and monotone: the low bits of integers are not, nor are
    /// the results of FLOAT8E8M0, which are NaN for small numbers and for large ones.
    pub fn suit(cast: &Cast) -> bool {
        let to = cast.to();
        let is_monotone = to.class() == Class::Float && to != DType::Float8E8M0;
        matches!(cast.from(), DType::Float | DType::Double) && is_monotone && to.bits() <= 16
    }

    /// No intervals.
    pub fn new(cast: Cast) -> Intervals {
        let (sign, infinity) = match cast.from() {
            DType::Float => (1 << 31, f32::INFINITY.to_bits().into()),
            _ => (1 << 63, f64::INFINITY.to_bits()),
        };
        Intervals { cast, sign, infinity, of: vec![(u64::MAX, 0); 2 << cast.to().bits()] }
    }

    /// Whether a source has a result.
    pub fn has_result(&mut self, source: u64, result: u64) -> bool {
        let magnitude = source & (self.sign - 1);
        let half = if source & self.sign == 0 { 0 } else { self.of.len() / 2 };
        let Some((lowest, highest)) = self.of.get_mut(half + result as usize) else { return false };
        if *lowest <= magnitude && magnitude <= *highest {
            return true;
        }
        if convert_element(&self.cast, source).0 != result {
            return false;
        }
        if magnitude <= self.infinity {
            *lowest = magnitude.min(*lowest);
            *highest = magnitude.max(*highest);
        }
        true
    }
}
