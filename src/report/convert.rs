//! What `recast convert` did, or why it did not.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use super::fold::write_data_files;
use super::words::{line, plural};
use crate::convert::{Blocker, Change};
use crate::external::DataFile;
use crate::hash::HashMap;

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
    /// Data files that nothing refers to any more.
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

/// The report for people: sums, or with `verbose` every node. Equal blockers are one line, unless `verbose`.
#[must_use]
pub fn convert_text(model: &ConvertedModel, verbose: bool) -> String {
    let mut text = String::new();
    let opset = |opsets: &BTreeMap<String, i64>| opsets.get("ai.onnx").map_or_else(String::new, i64::to_string);
    let (from, to) = (opset(&model.from), opset(&model.to));
    if !model.blockers.is_empty() {
        write_refusal(&mut text, model, &from, &to, verbose);
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
    write_data_files(&mut text, model.data_file.as_ref(), &model.removed_files);
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

fn write_refusal(text: &mut String, model: &ConvertedModel, from: &str, to: &str, verbose: bool) {
    let nodes = plural(model.blockers.len(), "unsupported node");
    line(text, format_args!("{}: cannot convert from opset {from} to {to}: {nodes}", model.path));
    for group in groups(&model.blockers, verbose) {
        match group.as_slice() {
            [Blocker { node, op, opset_step: (from, to), reason }, _, ..] => {
                let nodes = plural(group.len(), "node");
                line(text, format_args!("    {op} ({nodes}, the first is {node}), opset {from} to {to}: {reason}"));
            }
            one => one.iter().for_each(|blocker| line(text, format_args!("    {blocker}"))),
        }
    }
    match model.nearest_opset {
        Some(nearest) => {
            let is_down = model.to.get("ai.onnx") < model.from.get("ai.onnx");
            line(text, format_args!("  the {} opset that works is {nearest}", if is_down { "lowest" } else { "highest" }));
        }
        None => line(text, format_args!("  no opset between {from} and {to} works")),
    }
}

/// Blockers that differ in nothing but the node, in the order of the first of each; with `verbose` each by itself.
fn groups(blockers: &[Blocker], verbose: bool) -> Vec<Vec<&Blocker>> {
    let mut groups: Vec<Vec<&Blocker>> = Vec::new();
    let mut places: HashMap<(&str, (i64, i64), &str), usize> = HashMap::default();
    for blocker in blockers {
        let place = match verbose {
            true => groups.len(),
            false => *places.entry((&blocker.op, blocker.opset_step, &blocker.reason)).or_insert(groups.len()),
        };
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(blocker);
    }
    groups
}
