//! What `recast diff` found.

use serde::Serialize;

use super::words::plural;
use crate::diff::{Difference, DifferenceKind};
use crate::shown::Shown;

/// Two models and their differences.
#[derive(Debug, Serialize)]
pub struct ComparedModels {
    /// One model, as it was named.
    pub left: String,
    /// The other.
    pub right: String,
    /// What differs.
    pub differences: Vec<Difference>,
}

/// The report for people: a line for each difference.
#[must_use]
pub fn diff_text(compared: &ComparedModels) -> Shown {
    let ComparedModels { left, right, differences } = compared;
    if differences.is_empty() {
        return Shown::line(format_args!("{left} and {right} do not differ"));
    }
    let mut text = Shown::default();
    for Difference { path, kind, left, right } in differences {
        let [left, right] = [left, right].map(|side| side.as_deref().unwrap_or_default());
        match kind {
            DifferenceKind::Removed => text.push_line(format_args!("- {path}: {left}")),
            DifferenceKind::Added => text.push_line(format_args!("+ {path}: {right}")),
            DifferenceKind::Changed => text.push_line(format_args!("~ {path}: {left} -> {right}")),
            DifferenceKind::Reordered => text.push_line(format_args!("~ {path}: in another order, at {left} stands {right}")),
            DifferenceKind::Stored => text.push_line(format_args!("~ {path}: the same values, stored in {left} -> {right}")),
        }
    }
    text.push_line(format_args!("{} between {left} and {right}", plural(differences.len(), "difference")));
    text
}
