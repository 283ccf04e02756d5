//! A tensor that is another one, cast: computed piece by piece while the file is written.

use std::ops::Range;

use bytes::Bytes;

use crate::cast::{Cast, Summary};
use crate::wire::Recipe;

/// Elements that go through all casts before the next ones do: a multiple of 8, so that every packing begins on a byte, and few
/// enough that the steps between stay in the cache.
const BLOCK: usize = 8192;

/// The casts of a chain, to be applied to a tensor one after the other, each with its own rounding.
#[derive(Debug)]
pub(super) struct CastRecipe {
    source: Bytes,
    casts: Vec<Cast>,
    elements: usize,
}

impl CastRecipe {
    /// `source` holds `elements` elements of the first cast's type, in the layout of `raw_data`.
    pub(super) fn new(source: Bytes, casts: Vec<Cast>, elements: usize) -> CastRecipe {
        CastRecipe { source, casts, elements }
    }

    /// All the bytes at once.
    pub(super) fn compute(&self) -> Vec<u8> {
        let mut out = vec![0; self.bytes()];
        self.fill(0, &mut out);
        out
    }

    /// What `next`, applied to the computed values, would leave undefined.
    pub(super) fn survey(&self, next: &Cast) -> Summary {
        if self.casts.is_empty() {
            return next.survey(&self.source, self.elements);
        }
        let mut summary = Summary::default();
        let mut block = vec![0; size(next.from().bits(), BLOCK)];
        for first in (0..self.elements).step_by(BLOCK) {
            let elements = BLOCK.min(self.elements - first);
            let part = &mut block[..size(next.from().bits(), elements)];
            self.run(first, elements, part);
            summary = summary.followed_by(first as u64, next.survey(part, elements));
        }
        summary
    }

    /// Computes the elements from `first`, a multiple of 8.
    fn run(&self, first: usize, elements: usize, out: &mut [u8]) {
        let Some((last, steps)) = self.casts.split_last() else {
            return;
        };
        let from = self.casts[0].from().bits();
        let mut current = self.source.slice(size(from, first)..size(from, first) + size(from, elements));
        for step in steps {
            let mut next = vec![0; size(step.to().bits(), elements)];
            step.convert(&current, elements, &mut next);
            current = next.into();
        }
        last.convert(&current, elements, out);
    }
}

impl Recipe for CastRecipe {
    fn bytes(&self) -> usize {
        self.casts.last().map_or(0, |last| size(last.to().bits(), self.elements))
    }

    fn source(&self, range: Range<usize>) -> &[u8] {
        let (Some(first), Some(last)) = (self.casts.first(), self.casts.last()) else {
            return &self.source;
        };
        let place = |byte: usize| size(first.from().bits(), byte * 8 / last.to().bits()).min(self.source.len());
        &self.source[place(range.start)..place(range.end)]
    }

    fn fill(&self, start: usize, out: &mut [u8]) {
        let Some(last) = self.casts.last() else {
            return;
        };
        let bits = last.to().bits();
        let begin = start * 8 / bits;
        let end = self.elements.min((start + out.len()) * 8 / bits);
        // A chain keeps its steps in the cache; a single cast has none.
        let block = if self.casts.len() == 1 { end - begin } else { BLOCK };
        for first in (begin..end).step_by(block.max(1)) {
            let elements = block.min(end - first);
            let place = size(bits, first) - start;
            self.run(first, elements, &mut out[place..place + size(bits, elements)]);
        }
    }
}

/// Bytes of this many elements, packed.
fn size(bits: usize, elements: usize) -> usize {
    (elements * bits).div_ceil(8)
}
