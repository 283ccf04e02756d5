//! The report of `recast targets`.

use serde_json::json;

use crate::facts::targets;
use crate::shown::{Document, Shown};

/// One line per target.
#[must_use]
pub fn targets_text() -> Shown {
    let names: Vec<String> = targets().iter().map(ToString::to_string).collect();
    let longest = names.iter().map(String::len).max().unwrap_or(0);
    let mut text = Shown::default();
    for (target, name) in targets().iter().zip(names) {
        let ir = target.ir.map_or_else(String::new, |ir| format!(", IR {ir}"));
        text.push_line(format_args!("{name:longest$}  opset {}{ir}  ({})", target.opset, target.source));
    }
    text
}

/// The list `targets`.
#[must_use]
pub fn targets_json() -> Document<'static> {
    super::json(json!({ "targets": targets() }), &[])
}
