//! A tensor that is another one, cast: computed piece by piece while the file is written.

use std::sync::OnceLock;

use bytes::Bytes;

use crate::cast::{Cast, Converter, Summary};
use crate::packed::{self, size};
use crate::wire::Recipe;

/// Elements that go through all casts before the next ones do: a multiple of 8, so that every packing begins on a byte, and few
/// enough that the steps between stay in the cache.
const BLOCK: usize = 8192;

/// Elements from which on the kernels of a cast are worth being made ready.
const WORTH_A_CONVERTER: usize = 512;

/// The casts of a chain, to be applied to a tensor one after the other, each with its own rounding.
#[derive(Debug)]
pub(super) struct CastRecipe {
    source: Bytes,
    steps: Vec<Step>,
    elements: usize,
}

/// A cast, and its kernels once they are needed: small tensors do without.
#[derive(Debug)]
struct Step {
    cast: Cast,
    converter: OnceLock<Converter>,
}

impl Step {
    fn convert(&self, source: &[u8], elements: usize, target: &mut [u8]) {
        match elements {
            0..WORTH_A_CONVERTER => self.cast.convert(source, elements, target),
            _ => self.converter.get_or_init(|| Converter::new(self.cast)).convert(source, elements, target),
        }
    }
}

impl CastRecipe {
    /// `source` holds `elements` elements of the first cast's type, in the layout of `raw_data`.
    pub(super) fn new(source: Bytes, casts: Vec<Cast>, elements: usize) -> CastRecipe {
        let steps = casts.into_iter().map(|cast| Step { cast, converter: OnceLock::new() }).collect();
        CastRecipe { source, steps, elements }
    }

    /// All the bytes at once.
    pub(super) fn compute(&self) -> Vec<u8> {
        let mut out = vec![0; self.bytes()];
        self.fill(0, &mut out);
        out
    }

    /// What `next`, applied to the computed values, would leave undefined.
    pub(super) fn survey(&self, next: &Cast) -> Summary {
        if self.steps.is_empty() {
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
        let Some((last, steps)) = self.steps.split_last() else {
            return;
        };
        let from = self.steps[0].cast.from().bits();
        let mut current = self.source.slice(size(from, first)..size(from, first) + size(from, elements));
        for step in steps {
            let mut next = vec![0; size(step.cast.to().bits(), elements)];
            step.convert(&current, elements, &mut next);
            current = next.into();
        }
        last.convert(&current, elements, out);
    }
}

impl Recipe for CastRecipe {
    fn bytes(&self) -> usize {
        self.steps.last().map_or(0, |last| size(last.cast.to().bits(), self.elements))
    }

    fn source(&self) -> &[u8] {
        &self.source
    }

    fn fill(&self, start: usize, out: &mut [u8]) {
        let Some(last) = self.steps.last() else {
            return;
        };
        let bits = last.cast.to().bits();
        let begin = packed::elements(bits, start);
        let end = self.elements.min(packed::elements(bits, start + out.len()));
        // A chain keeps its steps in the cache; a single cast has none.
        let block = if self.steps.len() == 1 { end - begin } else { BLOCK };
        for first in (begin..end).step_by(block.max(1)) {
            let elements = block.min(end - first);
            let place = size(bits, first) - start;
            self.run(first, elements, &mut out[place..place + size(bits, elements)]);
        }
    }
}
