//! The report of `recast targets`.

use serde_json::json;

use super::format::plural;
use crate::base::printable::{Document, Shown};
use crate::ops::runtimes::Runtime;

/// One line per row of the table.
#[must_use]
pub fn targets_text() -> Shown {
    let names: Vec<String> = Runtime::all().iter().map(ToString::to_string).collect();
    let longest = names.iter().map(String::len).max().unwrap_or(0);
    let mut text = Shown::default();
    for (runtime, name) in Runtime::all().iter().zip(names) {
        let ir = runtime
            .ir_version
            .map_or_else(String::new, |ir| format!(", IR {ir}"));
        text.push_line(format_args!(
            "{name:longest$}  opset {}{ir}  ({})",
            runtime.opset, runtime.source
        ));
    }
    text
}

/// The list `targets`.
#[must_use]
pub fn targets_json() -> Document<'static> {
    super::json(json!({ "targets": Runtime::all() }), &[])
}

/// The operators of the newest opset of a runtime for which it has no kernel.
#[must_use]
pub fn missing_operators_text(runtime: &Runtime) -> Shown {
    let mut text = Shown::default();
    let opset = runtime.newest_opset();
    let ir = runtime
        .ir_version
        .map_or_else(String::new, |ir| format!(", IR {ir}"));
    text.push_line(format_args!(
        "{}  opset {}{ir}",
        runtime.named(),
        runtime.opset
    ));
    if let Some(note) = runtime.note() {
        text.push_line(format_args!("  {note}"));
    }
    let Some(missing) = runtime.missing_operators() else {
        text.push_line(format_args!("  its kernels are not known"));
        return text;
    };
    text.push_line(format_args!(
        "  {} of opset {opset} have no kernel in any type",
        plural(missing.len(), "operator")
    ));
    for operator in &missing {
        let hint = operator
            .opset
            .map_or_else(String::new, |opset| format!("  (opset {opset} has one)"));
        text.push_line(format_args!("    {}{hint}", operator.operation));
    }
    text
}

/// The runtime, and the list `operators`; null if its kernels are not known.
#[must_use]
pub fn missing_operators_json(runtime: &Runtime) -> Document<'static> {
    let document = json!({
        "target": runtime,
        "runtime_version": runtime.version.to_string(),
        "note": runtime.note(),
        "operators": runtime.missing_operators(),
    });
    super::json(document, &[])
}
