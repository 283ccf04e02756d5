//! Sizes at which the code works in another way, but the result is the same: the length of a chunk,
//! the work of a thread, the number of items from which a table pays off.
//!
//! Each threshold is a constant beside the code that uses it. Tests replace all thresholds by
//! values of a few bytes or elements, so that small models reach the code paths of large models. A
//! number that is part of a result, such as a limit or an alignment in a file, is not a threshold.

/// A size that never changes a result.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(any(test, feature = "internals")),
    allow(dead_code, reason = "tests read all fields")
)]
pub struct Threshold {
    /// Unique; it chooses the value in tests.
    name: &'static str,
    usual: usize,
    least: usize,
    step: usize,
}

impl Threshold {
    /// A threshold with its value in production; any other value from 1 on is valid, too.
    pub const fn new(name: &'static str, usual: usize) -> Threshold {
        Threshold {
            name,
            usual,
            least: 1,
            step: 1,
        }
    }

    /// The threshold, with only multiples of `step` as valid values: eight elements of any width
    /// begin and end at byte boundaries.
    pub const fn multiple_of(self, step: usize) -> Threshold {
        assert!(self.usual.is_multiple_of(step), "the usual value is valid");
        Threshold {
            least: step,
            step,
            ..self
        }
    }

    /// The threshold, with 0 as a valid value.
    pub const fn or_zero(self) -> Threshold {
        Threshold { least: 0, ..self }
    }

    /// The threshold, with `least` as the minimum of its valid values: shorter chunks of a computed
    /// tensor would take long, since each chunk costs at least a grain.
    pub const fn small_from(self, least: usize) -> Threshold {
        Threshold { least, ..self }
    }

    /// The value in production. No other value is larger, so that an array of this length suffices.
    pub const fn usual(self) -> usize {
        self.usual
    }

    /// The value: a constant in production. An operation that needs it more than once and has to
    /// see one value reads it once.
    #[inline(always)]
    pub fn get(self) -> usize {
        #[cfg(any(test, feature = "internals"))]
        if let Some(seed) = small::seed() {
            return self.small(seed);
        }
        self.usual
    }

    /// A value of few bytes or elements. Some are the smallest that is valid, others a little
    /// larger.
    #[cfg(any(test, feature = "internals"))]
    fn small(self, seed: u64) -> usize {
        const STEPS: [usize; 8] = [0, 1, 2, 3, 5, 8, 13, 21];
        // FNV-1a, whose low bits depend on every byte.
        let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let hash = seed
            .to_le_bytes()
            .into_iter()
            .chain(self.name.bytes())
            .fold(0xcbf2_9ce4_8422_2325, add);
        let steps = STEPS[(hash >> 32) as usize % STEPS.len()];
        (self.least + steps * self.step).min(self.usual)
    }
}

/// All thresholds of the process at once, for tests. As no threshold changes a result, other tests
/// may run meanwhile.
#[cfg(any(test, feature = "internals"))]
pub mod small {
    use std::sync::atomic::{AtomicU64, Ordering};

    /// 0 for the values in production, or one more than the seed.
    static SEED: AtomicU64 = AtomicU64::new(0);

    pub(super) fn seed() -> Option<u64> {
        SEED.load(Ordering::Relaxed).checked_sub(1)
    }

    /// Gives every threshold a value of few bytes or elements, which depends on the seed; `None`:
    /// the value in production.
    pub fn set(seed: Option<u64>) {
        SEED.store(
            seed.map_or(0, |seed| seed.saturating_add(1)),
            Ordering::Relaxed,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_values_are_valid_and_differ() {
        let cases = [
            (Threshold::new("any", 1 << 20), 1..=22, 1),
            (Threshold::new("eights", 1 << 10).multiple_of(8), 8..=176, 8),
            (Threshold::new("zero", 64).or_zero(), 0..=21, 1),
            (Threshold::new("few", 4), 1..=4, 1),
            (Threshold::new("chunk", 1 << 20).small_from(7), 7..=28, 1),
        ];
        for (threshold, range, step) in cases {
            let values: Vec<usize> = (0..200).map(|seed| threshold.small(seed)).collect();
            assert!(
                values
                    .iter()
                    .all(|value| range.contains(value) && value.is_multiple_of(step)),
                "{threshold:?}: {values:?}"
            );
            assert!(
                [*range.start(), *range.end()]
                    .iter()
                    .all(|end| values.contains(end)),
                "{threshold:?}: {values:?}"
            );
            assert_eq!(
                (threshold.get(), threshold.usual()),
                (threshold.usual, threshold.usual)
            );
        }
    }
}
