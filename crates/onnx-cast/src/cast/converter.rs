//! Runs the kernels of a cast over its elements; chains of two kernels run over chunks that fit in
//! the L1 and L2 caches.

use super::chain::chain;
use super::level::Level;
use super::pair::Cast;
use super::sink::{Spare, Target};
use super::stage::Stage;
use super::stream::{self, LINE};
use crate::packed::{part, part_mut};
use crate::threshold::Threshold;

/// The maximum number of elements per chunk between two kernels, large enough to amortize the
/// switch between kernels, during which no memory is requested. All chunk sizes are multiples of
/// eight, so that every chunk is byte-aligned, and of the elements that fill a cache line with the
/// narrowest type.
const CHUNK: Threshold = Threshold::new("chunk between kernels", 4096).multiple_of(8);

/// The size from which results bypass the caches, as they would not fit.
const LARGE: Threshold = Threshold::new("results that bypass the caches", 8 << 20).or_zero();

/// A prepared cast: its kernels are selected and its tables filled. Reuse it to cast several parts.
#[derive(Clone, Debug)]
pub struct Converter {
    cast: Cast,
    level: Level,
    stages: Vec<Stage>,
    /// The packed width of results that the last kernel writes one per byte.
    packing: Option<usize>,
}

/// A buffer for a chunk between two kernels, whose elements have at most four bytes.
#[repr(align(64))]
struct Buffer([u8; CHUNK.usual() * 4]);

impl Converter {
    /// A converter for the best instruction set of the machine.
    ///
    /// # Panics
    /// If one of the types is not numeric.
    #[must_use]
    pub fn new(cast: Cast) -> Converter {
        Converter::for_level(cast, Level::detect())
    }

    /// A converter for an instruction set.
    ///
    /// # Panics
    /// If the machine does not support it, or one of the types is not numeric.
    #[must_use]
    pub fn for_level(cast: Cast, level: Level) -> Converter {
        assert!(level.is_available(), "this machine does not have {level:?}");
        let stages = chain(&cast);
        let packing = (cast.to.bits() < 8 && !matches!(stages.as_slice(), [Stage::Copy]))
            .then_some(cast.to.bits());
        Converter {
            cast,
            level,
            stages,
            packing,
        }
    }

    /// The cast.
    #[must_use]
    pub fn cast(&self) -> &Cast {
        &self.cast
    }

    /// Converts elements: see [`Cast::convert`].
    ///
    /// # Panics
    /// If `source` is shorter than `elements` elements, or the length of `target` is not exactly
    /// theirs.
    pub fn convert(&self, source: &[u8], elements: usize, target: &mut [u8]) {
        self.cast.check_source(source, elements);
        self.cast.check_target(elements, target);
        self.convert_part(source, elements, target, target.len() >= LARGE.get());
    }

    fn convert_part(&self, source: &[u8], elements: usize, target: &mut [u8], past_caches: bool) {
        let (chunk, between) = match self.stages.as_slice() {
            [first, _] => (CHUNK.get(), first.bytes_out()),
            _ => (elements, 0),
        };
        let (mut spare, mut buffer) = (Spare::new(), Buffer([0; CHUNK.usual() * 4]));
        let mut done = 0;
        while done < elements {
            let count = if done == 0 && past_caches {
                self.up_to_a_line(target)
            } else {
                chunk
            }
            .min(elements - done);
            let part = part(self.cast.from.bits(), source, done, count);
            let result = part_mut(self.cast.to.bits(), target, done, count);
            let target = Target::new(result, &mut spare, self.packing, past_caches);
            self.convert_chunk(part, target, &mut buffer.0[..count * between]);
            done += count;
        }
        let padding = (elements % 8 * self.cast.to.bits()).wrapping_neg() % 8;
        if let Some(last) = target.last_mut() {
            *last &= 0xFF >> padding;
        }
        if past_caches {
            stream::finish();
        }
    }

    /// The length of a first chunk after which the next starts on a cache line, if possible.
    fn up_to_a_line(&self, target: &[u8]) -> usize {
        let (before, chunk) = (target.as_ptr().align_offset(LINE), CHUNK.get());
        let bits = self.cast.to.bits();
        (8..chunk)
            .step_by(4)
            .find(|count| {
                count * bits == before * 8 && (count * self.cast.from.bits()).is_multiple_of(8)
            })
            .unwrap_or(chunk)
    }

    fn convert_chunk(&self, chunk: &[u8], target: Target, held: &mut [u8]) {
        match self.stages.as_slice() {
            [last] => last.run(self.level, chunk, target),
            [first, last] => {
                first.run(self.level, chunk, Target::Near(held));
                last.run(self.level, held, target);
            }
            _ => unreachable!("a chain has one stage or two"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cast::Rules;
    use crate::dtype::DType;

    #[test]
    fn streamed_results_are_the_same_at_every_alignment() {
        use DType::*;
        let casts: [(DType, &[DType]); 7] = [
            (Float16, &[Float]),
            (
                Float,
                &[Float16, Float, Uint4, Float8E5M2, Float4E2M1, Float6E2M3],
            ),
            (Int8, &[Double, Float16, Int4]),
            (Uint8, &[Int2]),
            (Int64, &[Bfloat16]),
            (Int2, &[Float6E2M3]),
            (Float6E3M2, &[Bfloat16]),
        ];
        for (from, to) in casts
            .into_iter()
            .flat_map(|(from, targets)| targets.iter().map(move |&to| (from, to)))
        {
            let elements = 3 * CHUNK.usual() + 5;
            let size = |dtype: DType| (elements * dtype.bits()).div_ceil(8);
            let source: Vec<u8> = (0..size(from))
                .map(|index| (index * 31 % 251) as u8)
                .collect();
            let cast = Cast::new(from, to, Rules::default()).unwrap();
            let mut expected = vec![0; size(to)];
            cast.convert_exactly(&source, elements, &mut expected);
            for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
                let converter = Converter::for_level(cast, level);
                for offset in [0, 1, 16, 60] {
                    let mut memory = vec![0xFF; size(to) + offset + 1];
                    let target = &mut memory[offset..offset + size(to)];
                    converter.convert_part(&source, elements, target, true);
                    assert!(target == expected, "{cast:?} with {level:?} at {offset}");
                    assert_eq!(
                        memory.last(),
                        Some(&0xFF),
                        "{cast:?} with {level:?} at {offset} writes out of bounds"
                    );
                }
            }
        }
    }
}
