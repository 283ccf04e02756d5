//! The report of `recast diff`.

use serde::Serialize;

use super::words::plural;
use crate::diff::{Difference, DifferenceKind};
use crate::shown::Shown;

/// Two models and their differences.
#[derive(Debug, Serialize)]
pub struct ComparedModels {
    /// The path of the first model as given.
    pub left: String,
    /// The path of the second model as given.
    pub right: String,
    /// The differences.
    pub differences: Vec<Difference>,
}

/// The text report: one line per difference.
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
            DifferenceKind::Reordered => text.push_line(format_args!("~ {path}: reordered, {left} -> {right}")),
            DifferenceKind::Stored => text.push_line(format_args!("~ {path}: same values, stored in {left} -> {right}")),
        }
    }
    text.push_line(format_args!("{} between {left} and {right}", plural(differences.len(), "difference")));
    text
}
