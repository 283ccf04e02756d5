//! The changes that fixes make, as a difference of the model's text.

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::udiff::UnifiedHunkHeader;
use similar::{DiffOp, DiffTag};

use crate::base::printable::{ADDED, INFO, PLAIN, REMOVED, STRONG, Shown};
use crate::onnx_text;
use crate::protobuf::schema::ModelProto;

/// Equal lines that are shown around a change.
const CONTEXT: usize = 2;

/// The unified difference of two models as text; empty if their texts are equal.
#[must_use]
pub fn model_diff(path: &str, before: &ModelProto, after: &ModelProto) -> Shown {
    let (before, after) = (onnx_text::print(before), onnx_text::print(after));
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.lines().collect(), after.lines().collect());
    let mut shown = Shown::default();
    for (number, changes) in hunks(&before, &after).iter().enumerate() {
        if number == 0 {
            shown.push_styled_line(&[(STRONG, &format!("--- {path}"))]);
            shown.push_styled_line(&[(STRONG, &format!("+++ {path}"))]);
        }
        shown.push_styled_line(&[(INFO, &UnifiedHunkHeader::new(changes).to_string())]);
        for change in changes {
            let (tag, old, new) = change.as_tag_tuple();
            let mut push = |style, sign, lines: &[&str]| {
                for line in lines {
                    shown.push_styled_line(&[(style, &format!("{sign}{line}"))]);
                }
            };
            if tag == DiffTag::Equal {
                push(PLAIN, ' ', &before[old]);
            } else {
                push(REMOVED, '-', &before[old]);
                push(ADDED, '+', &after[new]);
            }
        }
    }
    shown
}

/// The changes of lines, those near each other together.
///
/// Only this algorithm is compiled: `similar::TextDiff` contains all of them.
fn hunks(before: &[&str], after: &[&str]) -> Vec<Vec<DiffOp>> {
    let mut changes = Compact::new(Replace::new(Capture::new()), before, after);
    let (old, new) = (0..before.len(), 0..after.len());
    match myers::diff(&mut changes, before, old, after, new) {
        Ok(()) => changes.into_inner().into_inner().into_grouped_ops(CONTEXT),
    }
}
