//! Sets of versions of a runtime.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Not};

/// A set of the versions of a table, by their index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Versions(u64);

impl Versions {
    /// No version.
    pub const NONE: Versions = Versions(0);

    /// Every version.
    pub const ALL: Versions = Versions(u64::MAX);

    /// The versions between two, including both.
    #[must_use]
    pub fn between(first: usize, last: usize) -> Versions {
        (first..=last.min(63)).fold(Versions::NONE, |set, index| set | Versions(1 << index))
    }

    /// Whether the set has a version.
    #[must_use]
    pub fn contains(self, index: usize) -> bool {
        index < 64 && self.0 & 1 << index != 0
    }

    /// Whether the set has no version.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether every version of this set is in the other.
    #[must_use]
    pub fn is_subset(self, other: Versions) -> bool {
        self.0 & !other.0 == 0
    }

    /// The versions that follow each other: the first and the last of each range, of this many
    /// versions.
    pub fn ranges(self, count: usize) -> Vec<(usize, usize)> {
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        for index in (0..count).filter(|&index| self.contains(index)) {
            match ranges.last_mut().filter(|(_, last)| last + 1 == index) {
                Some((_, last)) => *last = index,
                None => ranges.push((index, index)),
            }
        }
        ranges
    }
}

impl BitAnd for Versions {
    type Output = Versions;

    fn bitand(self, other: Versions) -> Versions {
        Versions(self.0 & other.0)
    }
}

impl BitOr for Versions {
    type Output = Versions;

    fn bitor(self, other: Versions) -> Versions {
        Versions(self.0 | other.0)
    }
}

impl Not for Versions {
    type Output = Versions;

    fn not(self) -> Versions {
        Versions(!self.0)
    }
}

impl BitAndAssign for Versions {
    fn bitand_assign(&mut self, other: Versions) {
        *self = *self & other;
    }
}

impl BitOrAssign for Versions {
    fn bitor_assign(&mut self, other: Versions) {
        *self = *self | other;
    }
}
