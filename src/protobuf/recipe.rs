//! Bytes that are computed while a file is written.
//!
//! A [`Recipe`] is source bytes, the element that each element of the result is, casts, and the
//! length of the result. Data movement and casts commute, so that the movement comes first. Every
//! part can be computed independently: the writer computes chunks on all cores, and no folded
//! tensor is ever whole in memory.

use std::fmt;
use std::io;
use std::panic::RefUnwindSafe;

use crate::base::stored::Stored;

/// A grain: recipes compute whole multiples of this number of bytes. It is a multiple of the size
/// of 8 elements of 1, 2, 3, 4, 6, 8 … 128 bits, so that grains begin and end between elements in
/// any packing.
pub(super) const GRAIN: usize = 384;

/// A run of bytes of known length that is not in memory: a tensor that is computed from another
/// one.
///
/// Its parts are independent of each other, so that a writer can compute them in any order and on
/// several threads.
pub trait Recipe: fmt::Debug + Send + Sync + RefUnwindSafe {
    /// The number of bytes.
    fn bytes(&self) -> usize;

    /// The bytes from which it is computed, in the same order.
    fn source(&self) -> &Stored;

    /// Why the bytes that were computed are not to be used: its source could not be read.
    fn failure(&self) -> Option<io::Error> {
        self.source().failure()
    }

    /// Computes whole grains: the bytes from `start` into all of `out`. `start` is a multiple of
    /// 384, and `out` ends at another one or at the end of the recipe. Only `fill` of `dyn Recipe`
    /// calls this, and keeps to it.
    fn fill_grains(&self, start: usize, out: &mut [u8]);
}

impl dyn Recipe + '_ {
    /// Computes any part: the bytes from `start` into all of `out`. Where the part begins or ends
    /// inside a grain, that grain is computed beside it.
    ///
    /// # Panics
    /// If the part ends beyond the recipe.
    pub fn fill(&self, start: usize, out: &mut [u8]) {
        let end = start + out.len();
        assert!(
            end <= self.bytes(),
            "a recipe of {} bytes has no part {start}..{end}",
            self.bytes()
        );
        let first = start.next_multiple_of(GRAIN).min(end);
        let last = if end == self.bytes() {
            end
        } else {
            (end - end % GRAIN).max(first)
        };
        let (before, rest) = out.split_at_mut(first - start);
        let (grains, after) = rest.split_at_mut(last - first);
        self.fill_in_grain(start, before);
        if !grains.is_empty() {
            self.fill_grains(first, grains);
        }
        self.fill_in_grain(last, after);
    }

    /// Computes a part of one grain.
    fn fill_in_grain(&self, start: usize, out: &mut [u8]) {
        if out.is_empty() {
            return;
        }
        let before = start % GRAIN;
        let grain = &mut [0; GRAIN][..GRAIN.min(self.bytes() - (start - before))];
        self.fill_grains(start - before, grain);
        out.copy_from_slice(&grain[before..before + out.len()]);
    }

    /// All bytes at once.
    #[must_use]
    pub fn compute(&self) -> Vec<u8> {
        let mut out = vec![0; self.bytes()];
        self.fill(0, &mut out);
        out
    }
}

/// Bytes that stay as they are.
impl Recipe for Stored {
    fn bytes(&self) -> usize {
        self.len() as usize
    }

    fn source(&self) -> &Stored {
        self
    }

    fn fill_grains(&self, start: usize, out: &mut [u8]) {
        self.read(start as u64, out);
    }
}
