//! Bytes that are computed while a file is written.
//!
//! A [`Recipe`] is source bytes, the element that each element of the result is, casts, and the length of the result. Data movement and
//! casts commute, so that the movement comes first. Every part can be computed independently: the writer computes chunks on all cores, and
//! no folded tensor is ever whole in memory.

use std::fmt;
use std::panic::RefUnwindSafe;

use crate::base::stored::Stored;

/// [`Recipe::fill`] is called for parts that start at multiples of this number of bytes. It is a multiple of the size of 8 elements of
/// 1, 2, 3, 4, 6, 8 … 128 bits, so that a part starts at the beginning of an element in any packing.
pub const GRAIN: usize = 384;

/// A run of bytes of known length that is not in memory: a tensor that is computed from another one.
///
/// Its parts are independent of each other, so that a writer can compute them in any order and on several threads.
pub trait Recipe: fmt::Debug + Send + Sync + RefUnwindSafe {
    /// The number of bytes.
    fn bytes(&self) -> usize;

    /// The bytes from which it is computed, in the same order.
    fn source(&self) -> &Stored;

    /// Computes the bytes from `start`, a multiple of 384, into all of `out`.
    fn fill(&self, start: usize, out: &mut [u8]);
}

/// Bytes that stay as they are.
impl Recipe for Stored {
    fn bytes(&self) -> usize {
        self.len() as usize
    }

    fn source(&self) -> &Stored {
        self
    }

    fn fill(&self, start: usize, out: &mut [u8]) {
        self.read(start as u64, out);
    }
}
