//! The rules of a job, and what silences them.

use super::{Noqa, Selection};
use crate::base::options::options;

options! {
    /// How to lint a model.
    #[derive(Clone, Debug, Default)]
    pub struct Options {
        /// The rules and their severities.
        pub selection: Selection,
        /// Whether `recast.noqa` entries of the model suppress findings.
        pub noqa: Noqa,
        /// Which findings are reported of a node that several rules report for the same reason.
        pub overlapping: Overlapping,
    }
}

/// Which findings are reported of a node that several rules report for the same reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overlapping {
    /// The finding of the most specific rule.
    #[default]
    Hidden,
    /// Every finding.
    Shown,
}
