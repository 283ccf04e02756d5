//! The kernels that a cast is run over its elements; between two of them, over chunks that fit the first two caches.

use rayon::prelude::*;

use super::Cast;
use super::chain::chain;
use super::level::Level;
use super::sink::{Spare, Target};
use super::stage::Stage;
use super::stream::{self, LINE};
use crate::packed::{part, part_mut};

/// The most elements that stand between two kernels: so many that the pauses between the kernels, when nobody asks for memory,
/// hardly count. This, and what a chunk of fewer has, is a multiple of eight, so that every chunk begins on a byte, and of what makes a
/// cache line of the narrowest type.
const CHUNK: usize = 4096;

/// Elements that a thread takes at a time.
const PART: usize = 64 * CHUNK;

/// Results of this size do not stay in the caches anyway.
const LARGE: usize = 8 << 20;

/// A cast made ready: its kernels chosen, its tables filled. Worth keeping for casts of many parts.
#[derive(Clone, Debug)]
pub struct Converter {
    cast: Cast,
    level: Level,
    stages: Vec<Stage>,
    /// The width of what the last kernel gives a byte for.
    packing: Option<usize>,
}

/// Room for a chunk between two kernels, where elements have four bytes at most.
#[repr(align(64))]
struct Buffer([u8; CHUNK * 4]);

impl Converter {
    /// A converter for the machine's best instruction set.
    ///
    /// # Panics
    /// When one of the types is not numeric.
    #[must_use]
    pub fn new(cast: Cast) -> Converter {
        Converter::for_level(cast, Level::detect())
    }

    /// A converter for an instruction set.
    ///
    /// # Panics
    /// When the machine does not have it, or one of the types is not numeric.
    #[must_use]
    pub fn for_level(cast: Cast, level: Level) -> Converter {
        assert!(level.is_available(), "this machine does not have {level:?}");
        let stages = chain(&cast);
        let packing = (cast.to.bits() < 8 && !matches!(stages.as_slice(), [Stage::Copy])).then_some(cast.to.bits());
        Converter { cast, level, stages, packing }
    }

    /// What it converts.
    #[must_use]
    pub fn cast(&self) -> &Cast {
        &self.cast
    }

    /// Converts elements: see [`Cast::convert`].
    ///
    /// # Panics
    /// When `source` is shorter than `elements` elements, or `target` has not exactly their length.
    pub fn convert(&self, source: &[u8], elements: usize, target: &mut [u8]) {
        self.cast.check_source(source, elements);
        self.cast.check_target(elements, target);
        self.convert_part(source, elements, target, target.len() >= LARGE);
    }

    /// Converts elements on all threads of the pool that it is called in.
    ///
    /// # Panics
    /// As [`Converter::convert`].
    pub fn convert_parallel(&self, source: &[u8], elements: usize, target: &mut [u8]) {
        self.cast.check_source(source, elements);
        self.cast.check_target(elements, target);
        let past_caches = target.len() >= LARGE;
        let bytes = PART * self.cast.to.bits() / 8;
        target.par_chunks_mut(bytes).enumerate().for_each(|(part_index, target)| {
            let first = part_index * PART;
            let count = PART.min(elements - first);
            self.convert_part(part(self.cast.from.bits(), source, first, count), count, target, past_caches);
        });
    }

    fn convert_part(&self, source: &[u8], elements: usize, target: &mut [u8], past_caches: bool) {
        let (chunk, between) = match self.stages.as_slice() {
            [first, _] => (CHUNK, first.bytes_out()),
            _ => (elements, 0),
        };
        let (mut spare, mut buffer) = (Spare::new(), Buffer([0; CHUNK * 4]));
        let mut done = 0;
        while done < elements {
            let count = if done == 0 && past_caches { self.up_to_a_line(target) } else { chunk }.min(elements - done);
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

    /// Elements of a first chunk such that the next begins on a cache line, if there is such a number.
    fn up_to_a_line(&self, target: &[u8]) -> usize {
        let before = target.as_ptr().align_offset(LINE);
        let bits = self.cast.to.bits();
        (8..CHUNK)
            .step_by(4)
            .find(|count| count * bits == before * 8 && (count * self.cast.from.bits()).is_multiple_of(8))
            .unwrap_or(CHUNK)
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
    fn results_past_the_caches_and_in_parallel_are_the_same_wherever_they_stand() {
        let pairs = [
            (DType::Float16, DType::Float),
            (DType::Float, DType::Float16),
            (DType::Float, DType::Float),
            (DType::Int8, DType::Double),
            (DType::Float, DType::Uint4),
            (DType::Float, DType::Float8E5M2),
            (DType::Float, DType::Float4E2M1),
            (DType::Float, DType::Float6E2M3),
            (DType::Int8, DType::Float16),
            (DType::Int8, DType::Int4),
            (DType::Uint8, DType::Int2),
            (DType::Int64, DType::Bfloat16),
            (DType::Int2, DType::Float6E2M3),
            (DType::Float6E3M2, DType::Bfloat16),
        ];
        for (from, to) in pairs {
            let elements = 2 * PART + 3 * CHUNK + 5;
            let size = |dtype: DType| (elements * dtype.bits()).div_ceil(8);
            let source: Vec<u8> = (0..size(from)).map(|index| (index * 31 % 251) as u8).collect();
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
                    assert_eq!(memory.last(), Some(&0xFF), "{cast:?} with {level:?} at {offset} writes too far");
                }
                let mut target = vec![0xFF; size(to)];
                converter.convert_parallel(&source, elements, &mut target);
                assert!(target == expected, "{cast:?} with {level:?} in parallel");
            }
        }
    }
}
