//! A tensor with pending moves and casts, computed chunk by chunk while the file is written.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use super::element_map::ElementMap;
use crate::base::parallel;
use crate::base::stored::Stored;
use crate::base::threshold::Threshold;
use crate::protobuf::Recipe;
use onnx_cast::{
    Cast, Converter, DType, Summary,
    packed::{self, size},
};

/// Elements per chunk that passes through all casts: a multiple of 8, so that chunks are
/// byte-aligned in every packing, and small enough to keep intermediate results in the cache.
const BLOCK: Threshold = Threshold::new("block of a chain of casts", 8192).multiple_of(8);

/// Elements per unit of work when a survey runs on several threads.
const PART: Threshold =
    Threshold::new("part of a tensor's survey", 8 * BLOCK.usual()).multiple_of(8);

/// The minimum number of elements for which preparing the kernels of a cast pays off.
const WORTH_A_CONVERTER: Threshold = Threshold::new("elements worth a converter", 512).or_zero();

/// The storage of elements narrower than a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Packing {
    /// Packed, as in `raw_data`.
    Packed,
    /// One byte each, as in `.npy` files; the high bits are ignored.
    Byte,
}

/// Stored numbers, and which of them are meant.
#[derive(Clone, Debug)]
pub(super) struct StoredNumbers {
    pub bytes: Stored,
    pub dtype: DType,
    pub packing: Packing,
    /// The element that each element is; without it, each is the one at its own index. With it, the
    /// bytes are in memory.
    pub map: Option<Arc<ElementMap>>,
    pub elements: usize,
}

impl StoredNumbers {
    /// A range of elements, packed; `first` is a multiple of 8.
    fn part(&self, first: usize, elements: usize) -> Bytes {
        let bits = self.dtype.bits();
        let width = if self.is_unpacked() { 8 } else { bits };
        let stored = match &self.map {
            Some(map) => {
                let mut moved = vec![0; size(width, elements)];
                map.copy(width / 8, &self.bytes.to_bytes(), first, &mut moved);
                moved.into()
            }
            None => self.bytes.part(
                size(width, first) as u64..(size(width, first) + size(width, elements)) as u64,
            ),
        };
        if !self.is_unpacked() {
            return stored;
        }
        let mut packed = vec![0; size(bits, elements)];
        packed::pack(bits, &stored, &mut packed);
        packed.into()
    }

    fn is_unpacked(&self) -> bool {
        self.packing == Packing::Byte && self.dtype.bits() < 8
    }
}

/// A chain of casts applied to a tensor in sequence, each with its own rounding.
#[derive(Debug)]
pub(super) struct CastRecipe {
    source: StoredNumbers,
    steps: Vec<CastStep>,
    /// The storage of the result.
    packing: Packing,
}

/// A cast with its lazily prepared kernels; small tensors do not need them.
#[derive(Debug)]
struct CastStep {
    cast: Cast,
    converter: OnceLock<Converter>,
}

impl CastStep {
    fn convert(&self, source: &[u8], elements: usize, target: &mut [u8]) {
        if elements < WORTH_A_CONVERTER.get() {
            self.cast.convert(source, elements, target);
        } else {
            self.converter
                .get_or_init(|| Converter::new(self.cast))
                .convert(source, elements, target);
        }
    }
}

impl CastRecipe {
    /// The input type of the first cast is the type of the source.
    pub(super) fn new(source: StoredNumbers, casts: Vec<Cast>, packing: Packing) -> CastRecipe {
        let steps = casts
            .into_iter()
            .map(|cast| CastStep {
                cast,
                converter: OnceLock::new(),
            })
            .collect();
        CastRecipe {
            source,
            steps,
            packing,
        }
    }

    /// Counts, on all cores, the values that `next` would leave undefined, as long as
    /// `is_cancelled` is false.
    pub(super) fn survey(&self, next: &Cast, is_cancelled: impl Fn() -> bool + Sync) -> Summary {
        let (all, of_part) = (self.source.elements, PART.get());
        let part = |index: usize| {
            let first = index * of_part;
            if is_cancelled() {
                Summary::default()
            } else {
                self.survey_part(next, first, of_part.min(all - first))
            }
        };
        parallel::map_and_join(all.div_ceil(of_part), part, |before, after| {
            before.followed_by(0, after)
        })
    }

    /// Indices in the summary are relative to the start of the tensor.
    fn survey_part(&self, next: &Cast, first: usize, elements: usize) -> Summary {
        if self.steps.is_empty() {
            return Summary::default().followed_by(
                first as u64,
                next.survey(&self.source.part(first, elements), elements),
            );
        }
        let mut summary = Summary::default();
        let block = BLOCK.get();
        let mut results = vec![0; size(next.from().bits(), block)];
        let end = first + elements;
        for first in (first..end).step_by(block) {
            let elements = block.min(end - first);
            let part = &mut results[..size(next.from().bits(), elements)];
            self.run(first, elements, part);
            summary = summary.followed_by(first as u64, next.survey(part, elements));
        }
        summary
    }

    /// Computes the elements from `first`, a multiple of 8, in packed form.
    fn run(&self, first: usize, elements: usize, out: &mut [u8]) {
        let mut current = self.source.part(first, elements);
        let Some((last, steps)) = self.steps.split_last() else {
            return out.copy_from_slice(&current);
        };
        for step in steps {
            let mut next = vec![0; size(step.cast.to().bits(), elements)];
            step.convert(&current, elements, &mut next);
            current = next.into();
        }
        last.convert(&current, elements, out);
    }

    /// Bits per packed element.
    fn packed_bits(&self) -> usize {
        self.steps
            .last()
            .map_or(self.source.dtype, |last| last.cast.to())
            .bits()
    }

    /// Bits per stored element.
    fn bits(&self) -> usize {
        if self.packing == Packing::Byte {
            self.packed_bits().max(8)
        } else {
            self.packed_bits()
        }
    }
}

impl Recipe for CastRecipe {
    fn bytes(&self) -> usize {
        size(self.bits(), self.source.elements)
    }

    fn source(&self) -> &Stored {
        &self.source.bytes
    }

    fn fill_grains(&self, start: usize, out: &mut [u8]) {
        let (bits, packed_bits) = (self.bits(), self.packed_bits());
        let begin = packed::elements(bits, start);
        let end = self
            .source
            .elements
            .min(packed::elements(bits, start + out.len()));
        let covered = size(bits, begin)..size(bits, end);
        assert!(
            covered == (start..start + out.len()),
            "{start}..{} is not a part of whole elements",
            start + out.len()
        );
        // Chains are chunked to keep intermediate results in the cache; a single cast of packed
        // elements has none.
        let has_steps = self.steps.len() != 1 || self.source.is_unpacked() || bits != packed_bits;
        let block = if has_steps { BLOCK.get() } else { end - begin };
        for first in (begin..end).step_by(block.max(1)) {
            let elements = block.min(end - first);
            let place = size(bits, first) - start;
            let target = &mut out[place..place + size(bits, elements)];
            if bits == packed_bits {
                self.run(first, elements, target);
            } else {
                let mut packed = vec![0; size(packed_bits, elements)];
                self.run(first, elements, &mut packed);
                packed::unpack(packed_bits, &packed, target);
            }
        }
    }
}
