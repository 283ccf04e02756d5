//! Intervals of sources that have the same result.
//!
//! Rounding is monotone: if two numbers of one sign have the same result, so has every number
//! between them. The numbers that have a result are remembered as an interval, which the definition
//! of the cast widens with each number that it decides; a number inside needs no conversion.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::allowed::Allowed;
use super::definition::result;
use crate::base::threshold::Threshold;
use onnx_cast::{Cast, Class, DType};

/// The minimum number of elements for which a table of intervals pays off: it has two entries for
/// each result.
const MANY: Threshold = Threshold::new("elements that are worth a table of intervals", 1 << 13);

/// By sign of the source and by result: the lowest and the highest magnitude that is known to have
/// the result.
pub(super) struct Intervals<'c> {
    casts: &'c [(Cast, Allowed)],
    /// The bit of the sign of a source.
    sign: u64,
    /// The bits of the magnitude of an infinity; larger ones are NaN.
    infinity: u64,
    of: Vec<(u64, u64)>,
}

/// The intervals of a single cast that the parts of a tensor have widened.
pub(super) struct SharedIntervals<'c> {
    casts: &'c [(Cast, Allowed)],
    /// The number of elements that had to be compared one by one.
    elements: AtomicUsize,
    unused: Mutex<Vec<Intervals<'c>>>,
}

impl<'c> SharedIntervals<'c> {
    /// None yet; `None` if the casts or the number of elements do not suit.
    pub fn of(casts: &'c [(Cast, Allowed)], count: usize) -> Option<SharedIntervals<'c>> {
        (count >= MANY.get() && Intervals::suit(&casts[0].0)).then(|| SharedIntervals {
            casts,
            elements: AtomicUsize::new(0),
            unused: Mutex::default(),
        })
    }

    /// Whether intervals pay off, after some more elements that have to be compared one by one.
    pub fn pay_off(&self, elements: usize) -> bool {
        self.elements.fetch_add(elements, Ordering::Relaxed) + elements >= MANY.get()
    }

    /// Takes intervals that an earlier part widened, or new ones.
    pub fn take(&self) -> Intervals<'c> {
        let unused = self.unused().pop();
        unused.unwrap_or_else(|| Intervals::of(self.casts))
    }

    /// Returns intervals, for the parts that follow.
    pub fn put_back(&self, intervals: Intervals<'c>) {
        self.unused().push(intervals);
    }

    fn unused(&self) -> MutexGuard<'_, Vec<Intervals<'c>>> {
        self.unused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'c> Intervals<'c> {
    /// Whether a cast is from a float of the machine to a type of at most 16 bits, and monotone:
    /// the low bits of integers are not, nor are the results of FLOAT8E8M0, which are NaN for small
    /// numbers and for large ones. Numbers whose result ONNX does not define are larger than all
    /// others, so that none of them is in an interval of others.
    fn suit(cast: &Cast) -> bool {
        let to = cast.to();
        let is_monotone = to.class() == Class::Float && to != DType::Float8E8M0;
        matches!(cast.from(), DType::Float | DType::Double) && is_monotone && to.bits() <= 16
    }

    /// No intervals of a single cast.
    fn of(casts: &'c [(Cast, Allowed)]) -> Intervals<'c> {
        let cast = casts[0].0;
        let (sign, infinity) = match cast.from() {
            DType::Float => (1 << 31, f32::INFINITY.to_bits().into()),
            _ => (1 << 63, f64::INFINITY.to_bits()),
        };
        Intervals {
            casts,
            sign,
            infinity,
            of: vec![(u64::MAX, 0); 2 << cast.to().bits()],
        }
    }

    /// Whether a source has a result, or why that does not count.
    pub fn has_result(&mut self, source: u64, found: u64) -> Result<bool, &'static str> {
        let magnitude = source & (self.sign - 1);
        let half = if source & self.sign == 0 {
            0
        } else {
            self.of.len() / 2
        };
        let Some((lowest, highest)) = self.of.get_mut(half + found as usize) else {
            return Ok(false);
        };
        if *lowest <= magnitude && magnitude <= *highest {
            return Ok(true);
        }
        if result(self.casts, source)? != found {
            return Ok(false);
        }
        if magnitude <= self.infinity {
            *lowest = magnitude.min(*lowest);
            *highest = magnitude.max(*highest);
        }
        Ok(true)
    }
}
