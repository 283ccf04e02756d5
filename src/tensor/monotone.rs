//! Comparison of large casts of FLOAT to small floats without a conversion of each element.
//!
//! Rounding is monotone: if two values of one sign have the same result, so has every value between them. The values that have a result
//! are remembered as an interval, which [`convert_element`] widens with each value that it decides; a value inside needs no conversion.
//! For the normal values of FLOAT16 and BFLOAT16 the interval is known beforehand ([`Normals`]), so that blocks of them are compared
//! by vector instructions.

use super::content::{Content, Data};
use crate::base::stored::Stored;
use crate::base::threshold::Threshold;
use crate::elements::cast::{Cast, convert_element};
use crate::elements::dtype::{Class, DType};

/// Elements per unit of work: each has intervals of its own.
const PART: Threshold = Threshold::new("part of a monotone comparison", 1 << 22);

/// Elements that are compared together before one of them is looked at.
const BLOCK: usize = 64;

/// The bits of a FLOAT without its sign.
const MAGNITUDE: u32 = 0x7FFF_FFFF;

/// The magnitude of an infinity; larger ones are NaN.
const INFINITY: u32 = 0x7F80_0000;

/// A FLOAT tensor with one pending cast, and a tensor that should be the result.
pub(super) struct Comparison<'c> {
    source: &'c Stored,
    cast: Cast,
    found: &'c Stored,
    elements: usize,
    of_part: usize,
}

impl<'c> Comparison<'c> {
    /// `None` for tensors that are compared otherwise.
    pub fn of(expected: &'c Content, found: &'c Content) -> Option<Comparison<'c>> {
        let (Data::Numbers(source, casts), Data::Numbers(found_bytes, none)) = (expected.data(), found.data()) else { return None };
        let [cast] = casts.as_slice() else { return None };
        let to = expected.dtype();
        // NaN is the result of small values and of large ones for FLOAT8E8M0.
        let is_monotone = to.class() == Class::Float && matches!(to.bits(), 8 | 16) && to != DType::Float8E8M0;
        let is_plain = none.is_empty() && expected.map().is_none() && found.map().is_none();
        let elements = expected.elements();
        let is_whole = source.len() == elements as u64 * 4 && found_bytes.len() == (elements * to.bits() / 8) as u64;
        (is_monotone && is_plain && is_whole && found.dtype() == to && cast.from() == DType::Float).then_some(Comparison {
            source,
            cast: *cast,
            found: found_bytes,
            elements,
            of_part: PART.get(),
        })
    }

    /// The number of parts.
    pub fn parts(&self) -> usize {
        self.elements.div_ceil(self.of_part)
    }

    /// The index of the first element of a part that differs.
    pub fn first_difference(&self, part: usize) -> Option<usize> {
        let first = part * self.of_part;
        let count = self.of_part.min(self.elements - first);
        let source = self.source.part((first * 4) as u64..((first + count) * 4) as u64);
        let width = self.cast.to().bits() / 8;
        let found = self.found.part((first * width) as u64..((first + count) * width) as u64);
        let sources = source.as_chunks().0;
        let mut intervals = Intervals::new(self.cast);
        let differing = match width {
            1 => {
                let mut pairs = sources.iter().zip(&found);
                pairs.position(|(source, &code)| !intervals.has_result(u32::from_le_bytes(*source), code.into()))
            }
            _ => first_differing_pair(&mut intervals, &Normals::of(self.cast.to()), sources, found.as_chunks().0),
        };
        differing.map(|index| first + index)
    }
}

/// The index of the first result of 16 bits that differs.
fn first_differing_pair(intervals: &mut Intervals, normals: &Normals, sources: &[[u8; 4]], codes: &[[u8; 2]]) -> Option<usize> {
    let blocks = sources.chunks(BLOCK).zip(codes.chunks(BLOCK));
    for (block, (sources, codes)) in blocks.enumerate() {
        let is_shown = |(sources, codes)| normals.are_results(sources, codes);
        if sources.first_chunk().zip(codes.first_chunk()).is_some_and(is_shown) {
            continue;
        }
        let mut pairs = sources.iter().zip(codes);
        let differs =
            |(source, code): (&[u8; 4], &[u8; 2])| !intervals.has_result(u32::from_le_bytes(*source), u16::from_le_bytes(*code));
        if let Some(index) = pairs.position(differs) {
            return Some(block * BLOCK + index);
        }
    }
    None
}

/// The values that round to the normal values of a type of 16 bits, to the nearest and halves to even.
struct Normals {
    /// Bits of the mantissa of a FLOAT that the type lacks.
    lost: u32,
    /// The difference of the exponents, as bits of a FLOAT.
    bias: u32,
    first: u32,
    last: u32,
}

impl Normals {
    fn of(dtype: DType) -> Normals {
        match dtype {
            DType::Float16 => Normals { lost: 13, bias: (127 - 15) << 23, first: 0x0400, last: 0x7BFF },
            _ => Normals { lost: 16, bias: 0, first: 0x0080, last: 0x7F7F },
        }
    }

    /// Whether all codes of a block are of normal values, to which the sources round. Without branches, which vector instructions lack.
    fn are_results(&self, sources: &[[u8; 4]; BLOCK], codes: &[[u8; 2]; BLOCK]) -> bool {
        let pairs = sources.iter().zip(codes);
        pairs.fold(true, |all, (source, code)| all & self.has_result(u32::from_le_bytes(*source), u16::from_le_bytes(*code)))
    }

    /// Whether a code is of a normal value, and a FLOAT rounds to it.
    fn has_result(&self, source: u32, code: u16) -> bool {
        let code = u32::from(code);
        let (value, is_odd) = (code & 0x7FFF, code & 1);
        let half = 1 << (self.lost - 1);
        // A tie belongs to the even neighbour.
        let lowest = ((value << self.lost) + self.bias).wrapping_sub(half) + is_odd;
        let is_inside = (source & MAGNITUDE).wrapping_sub(lowest) <= 2 * (half - is_odd);
        let is_normal = value.wrapping_sub(self.first) <= self.last - self.first;
        let has_same_sign = (source >> 16 ^ code) & 0x8000 == 0;
        is_inside & is_normal & has_same_sign
    }
}

/// By sign of the source and by result: the lowest and the highest magnitude that is known to have the result.
struct Intervals {
    cast: Cast,
    of: Vec<(u32, u32)>,
}

impl Intervals {
    fn new(cast: Cast) -> Intervals {
        Intervals { cast, of: vec![(u32::MAX, 0); 2 << cast.to().bits()] }
    }

    fn has_result(&mut self, source: u32, code: u16) -> bool {
        let magnitude = source & MAGNITUDE;
        let index = (source >> 31) as usize * (self.of.len() / 2) + usize::from(code);
        let (lowest, highest) = &mut self.of[index];
        if *lowest <= magnitude && magnitude <= *highest {
            return true;
        }
        if convert_element(&self.cast, source.into()).0 != u64::from(code) {
            return false;
        }
        if magnitude <= INFINITY {
            (*lowest, *highest) = ((*lowest).min(magnitude), (*highest).max(magnitude));
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elements::cast::Rules;

    #[test]
    fn normal_values_have_the_results_of_the_conversion_and_no_others() {
        for to in [DType::Float16, DType::Bfloat16] {
            let normals = Normals::of(to);
            let cast = Cast::new(DType::Float, to, Rules::default()).unwrap();
            let result = |source: u32| convert_element(&cast, source.into()).0 as u16;
            for code in 0..=u16::MAX {
                let value = u32::from(code & 0x7FFF);
                let is_normal = (normals.first..=normals.last).contains(&value);
                let middle = (value << normals.lost).wrapping_add(normals.bias) & MAGNITUDE | u32::from(code >> 15) << 31;
                let half = 1 << (normals.lost - 1);
                for distance in [0, half - 1, half, half + 1] {
                    for source in [middle.wrapping_sub(distance), middle.wrapping_add(distance)] {
                        let expected = is_normal && result(source) == code;
                        // The values below the smallest normal value are twice as dense there: some are left to the intervals.
                        let is_left = value == normals.first && expected && source & MAGNITUDE < middle & MAGNITUDE;
                        assert!(
                            normals.has_result(source, code) == expected || is_left,
                            "{to} {code:#06x} {source:#010x}: {expected} expected"
                        );
                    }
                }
                assert!(!is_normal || normals.has_result(middle, code) && !normals.has_result(middle ^ 1 << 31, code));
            }
        }
    }
}
