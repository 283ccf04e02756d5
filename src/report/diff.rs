//! The report of `recast diff`.

use serde::Serialize;

use super::format::plural;
use super::items::put_all;
use crate::base::printable::{Parts, Shown};
use crate::diff::{Difference, DifferenceKind};

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
pub fn diff_text(compared: &ComparedModels) -> Parts<'_> {
    let ComparedModels {
        left,
        right,
        differences,
    } = compared;
    Parts::new(move |put| {
        put_all(differences, put, write_difference)?;
        put(&match differences.len() {
            0 => Shown::line(format_args!("{left} and {right} do not differ")),
            count => Shown::line(format_args!(
                "{} between {left} and {right}",
                plural(count, "difference")
            )),
        })
    })
}

fn write_difference(text: &mut Shown, difference: &Difference) {
    let Difference {
        path,
        kind,
        left,
        right,
    } = difference;
    let [left, right] = [left, right].map(|side| side.as_deref().unwrap_or_default());
    match kind {
        DifferenceKind::Removed => text.push_line(format_args!("- {path}: {left}")),
        DifferenceKind::Added => text.push_line(format_args!("+ {path}: {right}")),
        DifferenceKind::Changed => text.push_line(format_args!("~ {path}: {left} -> {right}")),
        DifferenceKind::Reordered => {
            text.push_line(format_args!("~ {path}: reordered, {left} -> {right}"))
        }
        DifferenceKind::Stored => text.push_line(format_args!(
            "~ {path}: same values, stored in {left} -> {right}"
        )),
    }
}
