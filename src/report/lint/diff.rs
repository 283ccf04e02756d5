//! What fixes change, as a difference of the model's text.

use similar::TextDiff;

use crate::error::shown;
use crate::report::paint::{Ink, Paint};
use crate::text;
use crate::wire::schema::ModelProto;

/// The unified difference of two models as text; empty if they read alike.
#[must_use]
pub fn model_diff(path: &str, before: &ModelProto, after: &ModelProto, paint: Paint) -> String {
    let (before, after) = (text::print(before), text::print(after));
    let diff = TextDiff::from_lines(&before, &after);
    let unified = diff.unified_diff().context_radius(2).header(path, path).to_string();
    let lines = unified.lines().map(|line| {
        let line = &*shown(line);
        let ink = match line.as_bytes().first() {
            _ if line.starts_with("+++") || line.starts_with("---") => Ink::Strong,
            Some(b'+') => Ink::Green,
            Some(b'-') => Ink::PlainRed,
            Some(b'@') => Ink::Cyan,
            _ => return line.to_owned() + "\n",
        };
        paint.ink(ink, line) + "\n"
    });
    lines.collect()
}
