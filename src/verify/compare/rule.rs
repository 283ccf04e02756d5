//! How the results of casts are recognised.

use super::allowed::Allowed;
use super::blocks::{Blocks, LeadingShown};
use super::bounds::Bounds;
use super::codes::code;
use super::definition::{Outcome, result};
use super::difference::Difference;
use super::intervals::{Intervals, SharedIntervals};
use super::{native, normals};
use crate::base::threshold::Threshold;
use onnx_cast::{Cast, DType, Level};

/// The number of elements that are compared together before they are compared one by one.
const BLOCK: Threshold = Threshold::new("elements of a compared block", 64);

/// How the results of casts are recognised.
pub(super) struct Rule<'c> {
    casts: &'c [(Cast, Allowed)],
    /// The bytes of an element of the source, and of a result.
    widths: (usize, usize),
    kind: Kind<'c>,
}

enum Kind<'c> {
    /// Without casts, the elements are the same.
    Same,
    /// The result of each code of the source.
    Table(Vec<Outcome>),
    /// Blocks are compared by conversions of the machine or by arithmetic, and the elements of
    /// others by intervals or the definition.
    Blocks {
        shown: LeadingShown,
        intervals: Option<SharedIntervals<'c>>,
    },
    /// Blocks are compared by arithmetic, others by the intervals of all results, and the elements
    /// of still others by the definition.
    Bounds {
        bounds: Box<Bounds>,
        shown: LeadingShown,
    },
    /// The intervals of sources that have the same result.
    Intervals(SharedIntervals<'c>),
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
            Kind::Intervals(shared) => {
                let mut intervals = shared.take();
                let first = self.first_by(&mut intervals, source, found);
                shared.put_back(intervals);
                first
            }
            Kind::Bounds { bounds, shown } => {
                self.first_in_blocks(source, found, shown, |source, found| {
                    if bounds.are_results(source, found) {
                        return None;
                    }
                    self.first(source, found, |source| result(self.casts, source))
                })
            }
            Kind::Blocks { shown, intervals } => {
                let mut taken = None;
                let first = self.first_in_blocks(source, found, shown, |source, found| {
                    let elements = source.len() / self.widths.0;
                    match intervals {
                        Some(shared) if taken.is_some() || shared.pay_off(elements) => {
                            let intervals = taken.get_or_insert_with(|| shared.take());
                            self.first_by(intervals, source, found)
                        }
                        _ => self.first(source, found, |source| result(self.casts, source)),
                    }
                });
                if let (Some(shared), Some(taken)) = (intervals, taken) {
                    shared.put_back(taken);
                }
                first
            }
        }
    }

    /// The first result that differs, by a comparison of the blocks whose results are not shown to
    /// be right.
    fn first_in_blocks(
        &self,
        source: &[u8],
        found: &[u8],
        shown: &LeadingShown,
        mut first: impl FnMut(&[u8], &[u8]) -> Option<Difference>,
    ) -> Option<Difference> {
        let length = BLOCK.get();
        let mut blocks = Blocks {
            source,
            found,
            widths: self.widths,
            length,
        };
        let mut number = 0;
        loop {
            let leading = shown(blocks);
            blocks = blocks.after(leading);
            number += leading;
            let (source, found) = blocks.first()?;
            if let Some(difference) = first(source, found) {
                return Some(difference.from(number * length));
            }
            blocks = blocks.after(1);
            number += 1;
        }
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

fn kind<'c>(casts: &'c [(Cast, Allowed)], from: DType, count: usize) -> Kind<'c> {
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
    let shown = normals::of(cast, Level::detect()).or_else(|| native::of(cast));
    match (
        shown,
        Bounds::of(casts, count),
        SharedIntervals::of(casts, count),
    ) {
        (Some(shown), Some(bounds), _) => Kind::Bounds { bounds, shown },
        (Some(shown), None, intervals) => Kind::Blocks { shown, intervals },
        (None, _, Some(intervals)) => Kind::Intervals(intervals),
        (None, _, None) => Kind::Definition,
    }
}
