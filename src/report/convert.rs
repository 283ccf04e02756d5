//! What `recast convert` did, or why it did not.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use super::fold::{write_data_file, write_old_files};
use super::words::{line, plural};
use crate::convert::{Blocker, Change};
use crate::external::{DataFile, UnusedFile};

/// One model of a run.
#[derive(Debug, Serialize)]
pub struct ConvertedModel {
    /// The model, as it was named.
    pub path: String,
    /// Where it was written; none in a dry run, or if it was not converted.
    pub output: Option<String>,
    /// The opsets before, by domain.
    pub from: BTreeMap<String, i64>,
    /// The opsets that were asked for, by domain.
    pub to: BTreeMap<String, i64>,
    /// The IR version.
    pub ir_version: IrVersions,
    /// Nodes that changed.
    pub changes: Vec<Change>,
    /// What a person should know of a converted node.
    pub warnings: Vec<Change>,
    /// Nodes that cannot be converted; the model is converted only if there are none.
    pub blockers: Vec<Blocker>,
    /// The opset closest to the wanted one that the model would reach, if it is blocked.
    pub nearest_opset: Option<i64>,
    /// The data file that was made for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_file: Option<DataFile>,
    /// What the user did not ask for, and should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Data files that were copied along.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copied_files: Vec<DataFile>,
    /// Data files that the model no longer uses, and that were removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed_files: Vec<PathBuf>,
    /// Data files that the model no longer uses, and that stay.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unused_files: Vec<UnusedFile>,
}

/// The IR version before and after.
#[derive(Debug, Serialize)]
pub struct IrVersions {
    /// Before.
    pub from: i64,
    /// After.
    pub to: i64,
}

/// The report for people: sums, or with `verbose` every node; blockers are listed in any case.
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
    line(&mut text, format_args!("  changed {}", sums(&model.changes)));
    if verbose {
        for Change { node, op, what } in &model.changes {
            line(&mut text, format_args!("    {node} ({op}): {what}"));
        }
    }
    for Change { node, op, what } in &model.warnings {
        line(&mut text, format_args!("  warning: {node} ({op}): {what}"));
    }
    for note in &model.notes {
        line(&mut text, format_args!("  {note}"));
    }
    write_data_file(&mut text, model.data_file.as_ref(), &model.copied_files);
    write_old_files(&mut text, model.output.is_none(), &model.removed_files, &model.unused_files);
    text
}

/// `3 nodes: 2 Softmax, 1 Squeeze`.
fn sums(changes: &[Change]) -> String {
    let mut ops: BTreeMap<&str, usize> = BTreeMap::new();
    for change in changes {
        *ops.entry(&change.op).or_default() += 1;
    }
    let ops: Vec<String> = ops.into_iter().map(|(op, count)| format!("{count} {op}")).collect();
    let separator = if ops.is_empty() { "" } else { ": " };
    format!("{}{separator}{}", plural(changes.len(), "node"), ops.join(", "))
}

fn write_refusal(text: &mut String, model: &ConvertedModel, from: &str, to: &str) {
    let nodes = plural(model.blockers.len(), "node");
    line(text, format_args!("{}: not converted from opset {from} to {to}: {nodes} cannot follow", model.path));
    for blocker in &model.blockers {
        line(text, format_args!("    {blocker}"));
    }
    match model.nearest_opset {
        Some(nearest) => line(text, format_args!("  opset {nearest} can be reached")),
        None => line(text, format_args!("  no opset on the way can be reached")),
    }
}
