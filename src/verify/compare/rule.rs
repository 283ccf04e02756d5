//! How the results of casts are recognised.

use super::codes::{Elements, code};
use super::intervals::Intervals;
use super::native::{self, AreResults};
use super::normals;
use crate::elements::cast::{Cast, convert_element};

/// Elements that are compared together before one of them is looked at.
pub(super) const BLOCK: usize = 64;

/// How the results of casts are recognised.
pub(super) struct Rule<'c> {
    casts: &'c [Cast],
    /// The bytes of an element of the source, and of a result.
    widths: (usize, usize),
    kind: Kind,
}

enum Kind {
    /// Without casts, the elements are the same.
    Same,
    /// The result of each code of the source.
    Table(Vec<u64>),
    /// Blocks are compared by conversions of the machine or by arithmetic, and the elements of others by the definition or by intervals.
    Blocks { are_results: AreResults, by_intervals: bool },
    /// The intervals of sources that have the same result.
    Intervals,
    /// The definition.
    Definition,
}

impl<'c> Rule<'c> {
    pub fn of(casts: &'c [Cast], source: &Elements, count: usize) -> Rule<'c> {
        let to_bits = casts.last().map_or(source.bits, |last| last.to().bits());
        Rule { casts, widths: (source.width(), to_bits.div_ceil(8)), kind: kind(casts, source.bits, count) }
    }

    /// The index of the first result that differs from what is found.
    pub fn first_difference(&self, source: &[u8], found: &[u8]) -> Option<usize> {
        let (from, to) = self.widths;
        let pairs = source.chunks_exact(from).zip(found.chunks_exact(to)).enumerate();
        match &self.kind {
            Kind::Same if source == found => None,
            Kind::Same => first(pairs, |source, found| source == found),
            Kind::Table(results) => match to {
                1 => first(pairs, |source, found| results[code(source) as usize] as u8 == found[0]),
                _ => first(pairs, |source, found| results[code(source) as usize] == code(found)),
            },
            Kind::Definition => first(pairs, |source, found| self.result(code(source)) == code(found)),
            Kind::Intervals => {
                let mut intervals = Intervals::new(self.casts[0]);
                first(pairs, |source, found| intervals.has_result(code(source), code(found)))
            }
            Kind::Blocks { are_results, by_intervals } => {
                let mut intervals = None;
                let blocks = source.chunks(BLOCK * from).zip(found.chunks(BLOCK * to)).enumerate();
                for (block, (source, found)) in blocks {
                    if are_results(source, found) {
                        continue;
                    }
                    let pairs = source.chunks_exact(from).zip(found.chunks_exact(to)).enumerate();
                    let index = if *by_intervals {
                        let intervals = intervals.get_or_insert_with(|| Intervals::new(self.casts[0]));
                        first(pairs, |source, found| intervals.has_result(code(source), code(found)))
                    } else {
                        first(pairs, |source, found| self.result(code(source)) == code(found))
                    };
                    if let Some(index) = index {
                        return Some(block * BLOCK + index);
                    }
                }
                None
            }
        }
    }

    /// The result of an element.
    fn result(&self, source: u64) -> u64 {
        self.casts.iter().fold(source, |element, cast| convert_element(cast, element).0)
    }
}

fn kind(casts: &[Cast], from_bits: usize, count: usize) -> Kind {
    if casts.is_empty() {
        return Kind::Same;
    }
    let result = |source: u64| casts.iter().fold(source, |element, cast| convert_element(cast, element).0);
    if from_bits <= 16 && count >= 1 << from_bits {
        return Kind::Table((0..1 << from_bits).map(result).collect());
    }
    let [cast] = casts else { return Kind::Definition };
    let by_intervals = Intervals::suit(cast);
    match normals::of(cast).or_else(|| native::of(cast)) {
        Some(are_results) => Kind::Blocks { are_results, by_intervals },
        None if by_intervals => Kind::Intervals,
        None => Kind::Definition,
    }
}

/// The index of the first pair that is not of a source and its result.
fn first<'p>(
    mut pairs: impl Iterator<Item = (usize, (&'p [u8], &'p [u8]))>,
    mut is_result: impl FnMut(&[u8], &[u8]) -> bool,
) -> Option<usize> {
    pairs.find(|(_, (source, found))| !is_result(source, found)).map(|(index, _)| index)
}
