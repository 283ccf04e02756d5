//! Bytes that are computed several times, and are the same each time.
//!
//! A file that is not stored anywhere, such as a stream, cannot be read again after it is written:
//! its verification computes the bytes once, and the writer computes them again. [`Sealed`]
//! compares checksums of both, so that only bytes that were verified are passed on.

use std::hash::BuildHasher;
use std::io;
use std::sync::{Arc, OnceLock};

use foldhash::quality::FixedState;

use super::recipe::{GRAIN, Recipe};
use crate::base::stored::Stored;
use crate::base::threshold::Threshold;

/// The number of bytes per checksum.
const PART: Threshold = Threshold::new("bytes with a checksum", 2730 * GRAIN).multiple_of(GRAIN);

/// A recipe that notes a checksum of each part when it is first computed, and fails if a part is
/// computed differently later.
#[derive(Debug)]
pub struct Sealed {
    recipe: Arc<dyn Recipe>,
    part: usize,
    sums: Vec<OnceLock<u64>>,
    changed: OnceLock<()>,
}

impl Sealed {
    /// A recipe of which no part was computed yet.
    #[must_use]
    pub fn new(recipe: Arc<dyn Recipe>) -> Sealed {
        Sealed::with_parts(recipe, PART.get())
    }

    /// Like [`Sealed::new`], with parts of another length, a multiple of the grain.
    fn with_parts(recipe: Arc<dyn Recipe>, part: usize) -> Sealed {
        let sums = (0..recipe.bytes().div_ceil(part))
            .map(|_| OnceLock::new())
            .collect();
        Sealed {
            recipe,
            part,
            sums,
            changed: OnceLock::new(),
        }
    }
}

impl Recipe for Sealed {
    fn bytes(&self) -> usize {
        self.recipe.bytes()
    }

    fn source(&self) -> &Stored {
        self.recipe.source()
    }

    fn failure(&self) -> Option<io::Error> {
        let changed = || {
            io::Error::other(
                "computed values changed after they were verified, and were not written",
            )
        };
        self.recipe
            .failure()
            .or_else(|| self.changed.get().map(|()| changed()))
    }

    fn fill_grains(&self, start: usize, out: &mut [u8]) {
        let end = start + out.len();
        let mut computed = vec![0; self.part.min(self.bytes())];
        for number in start / self.part..end.div_ceil(self.part) {
            let first = number * self.part;
            let part = &mut computed[..self.part.min(self.bytes() - first)];
            self.recipe.fill(first, part);
            let sum = FixedState::default().hash_one(&*part);
            if *self.sums[number].get_or_init(|| sum) != sum {
                self.changed.get_or_init(|| ());
            }
            let (from, to) = (start.max(first), end.min(first + part.len()));
            out[from - start..to - start].copy_from_slice(&part[from - first..to - first]);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// Numbered bytes, one of which can change.
    #[derive(Debug)]
    struct Changing {
        source: Stored,
        has_changed: AtomicBool,
    }

    impl Recipe for Changing {
        fn bytes(&self) -> usize {
            self.source.len() as usize
        }

        fn source(&self) -> &Stored {
            &self.source
        }

        fn fill_grains(&self, start: usize, out: &mut [u8]) {
            self.source.read(start as u64, out);
            let changing = 3 * GRAIN + 7;
            if self.has_changed.load(Ordering::Relaxed)
                && (start..start + out.len()).contains(&changing)
            {
                out[changing - start] ^= 1;
            }
        }
    }

    #[test]
    fn a_part_that_is_computed_differently_later_is_a_failure() {
        let source: Stored = (0..5 * GRAIN + 11)
            .map(|index| (index % 251) as u8)
            .collect::<Vec<u8>>()
            .into();
        let changing = Arc::new(Changing {
            source: source.clone(),
            has_changed: AtomicBool::new(false),
        });
        let sealed = Sealed::with_parts(Arc::<Changing>::clone(&changing), 2 * GRAIN);
        let read = |start: usize, length: usize| {
            let mut out = vec![0; length];
            (&sealed as &dyn Recipe).fill(start, &mut out);
            out
        };
        // Parts of any length and place, some of them several times.
        for (start, length) in [
            (0, 5 * GRAIN + 11),
            (5, 1),
            (2 * GRAIN - 1, 2),
            (GRAIN, 3 * GRAIN),
            (5 * GRAIN, 11),
        ] {
            assert_eq!(
                read(start, length),
                source.part(start as u64..(start + length) as u64),
                "{length} bytes from {start}"
            );
        }
        assert!(sealed.failure().is_none());
        changing.has_changed.store(true, Ordering::Relaxed);
        let _ = read(0, GRAIN);
        assert!(sealed.failure().is_none(), "this part has not changed");
        let _ = read(3 * GRAIN - 1, 2);
        assert!(sealed.failure().is_some_and(|error| {
            error
                .to_string()
                .contains("changed after they were verified")
        }));
    }
}
