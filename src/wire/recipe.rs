//! Bytes that are computed while the file is written.

use std::fmt;

/// [`Recipe::fill`] is called for pieces that start at multiples of this many bytes. It is a multiple of the bytes that 8
/// elements take, for elements of 1, 2, 3, 4, 6, 8 … 128 bits, so that a piece starts on a whole element of any packing.
pub const GRAIN: usize = 384;

/// A run of bytes of known length that nobody holds in memory: a tensor computed from another one.
///
/// Pieces are independent of each other, so that a writer may compute them in any order and on several threads.
pub trait Recipe: fmt::Debug + Send + Sync {
    /// How many bytes there are.
    fn bytes(&self) -> usize;

    /// The bytes that it computes from, in the same order.
    fn source(&self) -> &[u8];

    /// Computes the bytes from `start`, a multiple of [`GRAIN`], into all of `out`.
    fn fill(&self, start: usize, out: &mut [u8]);
}
