//! Comparison of large casts of FLOAT to small floats without a conversion of each element.
//!
//! Rounding is monotone: if two values of one sign have the same result, so has every value between them. The values that have a result
//! are remembered as an interval, which [`convert_element`] widens with each value that it decides; a value inside needs no conversion.

use bytes::Bytes;

use super::content::{Content, Data};
use crate::elements::cast::{Cast, convert_element};
use crate::elements::dtype::{Class, DType};

/// Elements per unit of work: each has intervals of its own.
const PART: usize = 1 << 22;

/// The bits of a FLOAT without its sign.
const MAGNITUDE: u32 = 0x7FFF_FFFF;

/// The magnitude of an infinity; larger ones are NaN.
const INFINITY: u32 = 0x7F80_0000;

/// A FLOAT tensor with one pending cast, and a tensor that should be the result.
pub(super) struct Comparison<'c> {
    source: &'c Bytes,
    cast: Cast,
    found: &'c Bytes,
    elements: usize,
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
        let is_whole = source.len() == elements * 4 && found_bytes.len() == elements * to.bits() / 8;
        (is_monotone && is_plain && is_whole && found.dtype() == to && cast.from() == DType::Float).then_some(Comparison {
            source,
            cast: *cast,
            found: found_bytes,
            elements,
        })
    }

    /// The number of parts.
    pub fn parts(&self) -> usize {
        self.elements.div_ceil(PART)
    }

    /// The index of the first element of a part that differs.
    pub fn first_difference(&self, part: usize) -> Option<usize> {
        let first = part * PART;
        let count = PART.min(self.elements - first);
        let source = &self.source[first * 4..][..count * 4];
        let width = self.cast.to().bits() / 8;
        let found = &self.found[first * width..][..count * width];
        let mut intervals = Intervals { cast: self.cast, of: vec![(u32::MAX, 0); 2 << self.cast.to().bits()] };
        let sources = source.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        let differing = match width {
            1 => sources.zip(found).position(|(source, &code)| !intervals.has_result(source, code.into())),
            _ => {
                let codes = found.as_chunks().0.iter().map(|bytes| u16::from_le_bytes(*bytes));
                sources.zip(codes).position(|(source, code)| !intervals.has_result(source, code))
            }
        };
        differing.map(|index| first + index)
    }
}

/// By sign of the source and by result: the lowest and the highest magnitude that is known to have the result.
struct Intervals {
    cast: Cast,
    of: Vec<(u32, u32)>,
}

impl Intervals {
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
