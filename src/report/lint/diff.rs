//! The changes that fixes make, as a difference of the model's text.

use similar::TextDiff;

use crate::base::printable::{ADDED, INFO, PLAIN, REMOVED, STRONG, Shown};
use crate::onnx_text;
use crate::protobuf::schema::ModelProto;

/// The unified difference of two models as text; empty if their texts are equal.
#[must_use]
pub fn model_diff(path: &str, before: &ModelProto, after: &ModelProto) -> Shown {
    let (before, after) = (onnx_text::print(before), onnx_text::print(after));
    let diff = TextDiff::from_lines(&before, &after);
    let mut shown = Shown::default();
    for (number, hunk) in diff
        .unified_diff()
        .context_radius(2)
        .iter_hunks()
        .enumerate()
    {
        if number == 0 {
            shown.push_styled_line(&[(STRONG, &format!("--- {path}"))]);
            shown.push_styled_line(&[(STRONG, &format!("+++ {path}"))]);
        }
        for line in hunk.to_string().lines() {
            let style = match line.as_bytes().first() {
                Some(b'+') => ADDED,
                Some(b'-') => REMOVED,
                Some(b'@') => INFO,
                _ => PLAIN,
            };
            shown.push_styled_line(&[(style, line)]);
        }
    }
    shown
}
