//! What `recast diff` found.

use serde::Serialize;

use super::words::{line, plural};
use crate::diff::{Difference, DifferenceKind};

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
pub fn diff_text(compared: &ComparedModels) -> String {
    let ComparedModels { left, right, differences } = compared;
    if differences.is_empty() {
        return format!("{left} and {right} do not differ\n");
    }
    let mut text = String::new();
    for Difference { path, kind, left, right } in differences {
        let [left, right] = [left, right].map(|side| side.as_deref().unwrap_or_default());
        match kind {
            DifferenceKind::Removed => line(&mut text, format_args!("- {path}: {left}")),
            DifferenceKind::Added => line(&mut text, format_args!("+ {path}: {right}")),
            DifferenceKind::Changed => line(&mut text, format_args!("~ {path}: {left} -> {right}")),
            DifferenceKind::Reordered => line(&mut text, format_args!("~ {path}: in another order, at {left} stands {right}")),
            DifferenceKind::Stored => line(&mut text, format_args!("~ {path}: the same values, stored in {left} -> {right}")),
        }
    }
    line(&mut text, format_args!("{} between {left} and {right}", plural(differences.len(), "difference")));
    text
}
