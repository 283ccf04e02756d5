//! How the results of casts are recognised.

use super::allowed::Allowed;
use super::bounds::Bounds;
use super::codes::code;
use super::definition::{Outcome, result};
use super::difference::Difference;
use super::intervals::Intervals;
use super::native::{self, AreResults};
use super::normals;
use crate::base::threshold::Threshold;
use onnx_cast::{Cast, DType};

/// The number of elements that are compared together before they are compared one by one.
const BLOCK: Threshold = Threshold::new("elements of a compared block", 64);

/// The minimum number of elements for which a table of intervals pays off: it has two entries for
/// each result.
const MANY: Threshold = Threshold::new("elements that are worth a table of intervals", 1 << 13);

/// How the results of casts are recognised.
pub(super) struct Rule<'c> {
    casts: &'c [(Cast, Allowed)],
    /// The bytes of an element of the source, and of a result.
    widths: (usize, usize),
    kind: Kind,
}

enum Kind {
    /// Without casts, the elements are the same.
    Same,
    /// The result of each code of the source.
    Table(Vec<Outcome>),
    /// Blocks are compared by conversions of the machine or by arithmetic, and the elements of
    /// others by intervals or the definition.
    Blocks {
        are_results: AreResults,
        by_intervals: bool,
    },
    /// Blocks are compared by arithmetic, others by the intervals of all results, and the elements
    /// of still others by the definition.
    Bounds {
        bounds: Box<Bounds>,
        are_results: AreResults,
    },
    /// The intervals of sources that have the same result.
    Intervals,
    /// The definition.
    Definition,
}

impl<'c> Rule<'c> {
    pub fn of(casts: &'c [(Cast, Allowed)], from: DType, count: usize) -> Rule<'c> {
        let to = casts.last().map_or(from, |(last, _)| last.to());
        Rule {
            casts,
            widths: (from.bits().div_ceil(8), to.bits().div_ceil(8)),
            kind: kind(casts, from, count),
        }
    }

    /// The first result that differs from what is found.
    pub fn first_difference(&self, source: &[u8], found: &[u8]) -> Option<Difference> {
        let (from, to) = self.widths;
        match &self.kind {
            Kind::Same if source == found => None,
            Kind::Same => source
                .chunks(from)
                .zip(found.chunks(to))
                .position(|(source, found)| source != found)
                .map(Difference::At),
            Kind::Table(results) => self.first(source, found, |source| results[source as usize]),
            Kind::Definition => self.first(source, found, |source| result(self.casts, source)),
            Kind::Intervals => self.first_by(&mut Intervals::of(self.casts), source, found),
            Kind::Bounds {
                bounds,
                are_results,
            } => {
                let are_results = |source: &[u8], found: &[u8]| {
                    are_results(source, found) || bounds.are_results(source, found)
                };
                self.first_in_blocks(source, found, false, are_results)
            }
            Kind::Blocks {
                are_results,
                by_intervals,
            } => self.first_in_blocks(source, found, *by_intervals, are_results),
        }
    }

    /// The first result that differs, in blocks whose results are not shown to be right.
    fn first_in_blocks(
        &self,
        source: &[u8],
        found: &[u8],
        by_intervals: bool,
        are_results: impl Fn(&[u8], &[u8]) -> bool,
    ) -> Option<Difference> {
        let (from, to) = self.widths;
        let (length, mut intervals) = (BLOCK.get(), None);
        let blocks = source
            .chunks(length * from)
            .zip(found.chunks(length * to))
            .enumerate();
        for (block, (source, found)) in blocks {
            if are_results(source, found) {
                continue;
            }
            let difference = if by_intervals {
                self.first_by(
                    intervals.get_or_insert_with(|| Intervals::of(self.casts)),
                    source,
                    found,
                )
            } else {
                self.first(source, found, |source| result(self.casts, source))
            };
            if let Some(difference) = difference {
                return Some(difference.from(block * length));
            }
        }
        None
    }

    /// The first result that is not that of its source.
    fn first(
        &self,
        source: &[u8],
        found: &[u8],
        result: impl Fn(u64) -> Outcome,
    ) -> Option<Difference> {
        self.first_wrong(source, found, |source, found| Ok(result(source)? == found))
    }

    fn first_by(
        &self,
        intervals: &mut Intervals,
        source: &[u8],
        found: &[u8],
    ) -> Option<Difference> {
        self.first_wrong(source, found, |source, found| {
            intervals.has_result(source, found)
        })
    }

    fn first_wrong(
        &self,
        source: &[u8],
        found: &[u8],
        mut is_result: impl FnMut(u64, u64) -> Result<bool, &'static str>,
    ) -> Option<Difference> {
        let (from, to) = self.widths;
        for (index, (source, found)) in source
            .chunks_exact(from)
            .zip(found.chunks_exact(to))
            .enumerate()
        {
            match is_result(code(source), code(found)) {
                Ok(true) => {}
                Ok(false) => return Some(Difference::At(index)),
                Err(why) => return Some(Difference::Undefined(index, why)),
            }
        }
        None
    }
}

fn kind(casts: &[(Cast, Allowed)], from: DType, count: usize) -> Kind {
    if casts.is_empty() {
        return Kind::Same;
    }
    if from.bits() <= 16 && count >= 1 << from.bits() {
        return Kind::Table(
            (0..1 << from.bits())
                .map(|source| result(casts, source))
                .collect(),
        );
    }
    let [(cast, _)] = casts else {
        return Kind::Definition;
    };
    let are_results = normals::of(cast).or_else(|| native::of(cast));
    if let Some(are_results) = are_results
        && let Some(bounds) = Bounds::of(casts, count)
    {
        return Kind::Bounds {
            bounds,
            are_results,
        };
    }
    let by_intervals = count >= MANY.get() && Intervals::suit(cast);
    match are_results {
        Some(are_results) => Kind::Blocks {
            are_results,
            by_intervals,
        },
        None if by_intervals => Kind::Intervals,
        None => Kind::Definition,
    }
}
