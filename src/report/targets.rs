//! The report of `recast targets`.

use serde_json::json;

use crate::base::printable::{Document, Shown};
use crate::ops::runtimes::Runtime;

/// One line per row of the table.
#[must_use]
pub fn targets_text() -> Shown {
    let names: Vec<String> = Runtime::all().iter().map(ToString::to_string).collect();
    let longest = names.iter().map(String::len).max().unwrap_or(0);
    let mut text = Shown::default();
    for (runtime, name) in Runtime::all().iter().zip(names) {
        let ir = runtime.ir_version.map_or_else(String::new, |ir| format!(", IR {ir}"));
        text.push_line(format_args!("{name:longest$}  opset {}{ir}  ({})", runtime.opset, runtime.source));
    }
    text
}

/// The list `targets`.
#[must_use]
pub fn targets_json() -> Document<'static> {
    super::json(json!({ "targets": Runtime::all() }), &[])
}
