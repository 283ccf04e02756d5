//! The report of `recast convert`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use super::fold::write_data_files;
use super::words::{line, plural};
use crate::convert::{Blocker, Change, Exactness, Expanded};
use crate::external::DataFile;

/// One model of a run.
#[derive(Debug, Serialize)]
pub struct ConvertedModel {
    /// The model's path as given.
    pub path: String,
    /// The output; none in a dry run, or if the model cannot be converted.
    pub output: Option<String>,
    /// The opsets before, by domain.
    pub from: BTreeMap<String, i64>,
    /// The requested opsets, by domain.
    pub to: BTreeMap<String, i64>,
    /// The IR version.
    pub ir_version: IrVersions,
    /// Nodes that changed.
    pub changes: Vec<Change>,
    /// Operators that were expanded into several nodes.
    pub expansions: Vec<Expanded>,
    /// Warnings about converted nodes.
    pub warnings: Vec<Change>,
    /// Nodes that cannot be converted; the model is converted only if there are none.
    pub blockers: Vec<Blocker>,
    /// The opset closest to the requested one to which the model can be converted, if there are blockers.
    pub nearest_opset: Option<i64>,
    /// The data file that was written for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_file: Option<DataFile>,
    /// Side effects that were not requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Data files that are no longer referenced and were removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed_files: Vec<PathBuf>,
}

/// The IR version before and after.
#[derive(Debug, Serialize)]
pub struct IrVersions {
    /// Before.
    pub from: i64,
    /// After.
    pub to: i64,
}

/// The text report: totals, or with `verbose` every node; blockers are always listed.
#[must_use]
pub fn convert_text(model: &ConvertedModel, verbose: bool) -> String {
    let mut text = String::new();
    let opset = |opsets: &BTreeMap<String, i64>| opsets.get("ai.onnx").map_or_else(String::new, i64::to_string);
    let (from, to) = (opset(&model.from), opset(&model.to));
    if !model.blockers.is_empty() {
        write_refusal(&mut text, model, &from, &to);
        return text;
    }
    let output = model.output.as_deref().unwrap_or("nothing written (dry run)");
    line(&mut text, format_args!("{} -> {output}", model.path));
    let IrVersions { from: ir_from, to: ir_to } = model.ir_version;
    let ir_from = if ir_from == ir_to { String::new() } else { format!("{ir_from} -> ") };
    line(&mut text, format_args!("  opset {from} -> {to}, IR version {ir_from}{ir_to}"));
    line(&mut text, format_args!("  changed {}", sums(&model.changes.iter().map(|change| change.op.as_str()).collect::<Vec<_>>())));
    if verbose {
        for Change { node, op, what } in &model.changes {
            line(&mut text, format_args!("    {node} ({op}): {what}"));
        }
    }
    for (class, how) in [
        (Exactness::Exact, "bit-exact"),
        (Exactness::ByDefinition, "by ONNX's definition: a runtime's own kernel may differ in the last digits"),
    ] {
        let ops: Vec<&str> =
            model.expansions.iter().filter(|expanded| expanded.class == class).map(|expanded| expanded.op.as_str()).collect();
        if !ops.is_empty() {
            line(&mut text, format_args!("  expanded {} ({how})", sums(&ops)));
        }
    }
    for Change { node, op, what } in &model.warnings {
        line(&mut text, format_args!("  warning: {node} ({op}): {what}"));
    }
    for note in &model.notes {
        line(&mut text, format_args!("  {note}"));
    }
    write_data_files(&mut text, model.data_file.as_ref(), &model.removed_files);
    text
}

/// `3 nodes: 2 Softmax, 1 Squeeze`.
fn sums(nodes: &[&str]) -> String {
    let mut ops: BTreeMap<&str, usize> = BTreeMap::new();
    for op in nodes {
        *ops.entry(op).or_default() += 1;
    }
    let ops: Vec<String> = ops.into_iter().map(|(op, count)| format!("{count} {op}")).collect();
    let separator = if ops.is_empty() { "" } else { ": " };
    format!("{}{separator}{}", plural(nodes.len(), "node"), ops.join(", "))
}

fn write_refusal(text: &mut String, model: &ConvertedModel, from: &str, to: &str) {
    let nodes = plural(model.blockers.len(), "unsupported node");
    line(text, format_args!("{}: cannot convert from opset {from} to {to}: {nodes}", model.path));
    for blocker in &model.blockers {
        line(text, format_args!("    {blocker}"));
    }
    match model.nearest_opset {
        Some(nearest) => {
            let is_down = model.to.get("ai.onnx") < model.from.get("ai.onnx");
            line(text, format_args!("  the {} opset that works is {nearest}", if is_down { "lowest" } else { "highest" }));
        }
        None => line(text, format_args!("  no opset between {from} and {to} works")),
    }
}
