//! The rules of a lint, and what is not reported.

use super::Selection;
use crate::base::options::options;

options! {
    /// How to lint a model.
    #[derive(Clone, Debug, Default)]
    pub struct Options {
        /// The rules and their severities.
        pub selection: Selection,
        /// Whether findings are reported that `recast.noqa` entries of the model suppress.
        pub ignore_noqa: bool,
        /// Whether all findings are reported of a node that several rules report for the same
        /// reason, and not that of the most specific rule alone.
        pub show_overlapping: bool,
    }
}
