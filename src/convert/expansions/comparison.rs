//! Comparisons. NaN compares as false with everything in both forms.

use super::{Expansion, exact};

pub(super) const EXPANSIONS: &[Expansion] = &[
    exact("GreaterOrEqual", 12, |_| {
        Ok("greater = Greater (A, B) equal = Equal (A, B) C = Or (greater, equal)".to_owned())
    }),
    exact("LessOrEqual", 12, |_| {
        Ok("less = Less (A, B) equal = Equal (A, B) C = Or (less, equal)".to_owned())
    }),
];
