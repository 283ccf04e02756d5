//! The report of `recast convert`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::counts::write_counts;
use super::fold::{unwritten, write_saved, write_verified};
use super::prepared::{Prepared, write_prepared};
use super::words::plural;
use crate::base::hash::HashMap;
use crate::base::printable::Shown;
use crate::convert::{Blocker, Change, Code, Exactness, IrVersions, Opsets, Report};
use crate::diff::inspect::Counts;
use crate::storage::Saved;
use crate::verify::Verified;

/// One model of a run.
#[derive(Debug, Serialize)]
pub struct ConvertedModel {
    /// The model's path as given.
    pub path: String,
    /// Whether the run is a dry run.
    #[serde(skip)]
    pub dry_run: bool,
    /// The output; none in a dry run, if the model cannot be converted, or if the run has errors or blockers.
    pub output: Option<String>,
    /// The versions before and after, and the changes.
    #[serde(flatten)]
    pub report: Report,
    /// Notes about the conversion.
    #[serde(skip)]
    pub notes: Vec<String>,
    /// Changes made before the conversion.
    #[serde(flatten)]
    pub prepared: Prepared,
    /// Nodes that cannot be converted; the model is converted only if there are none.
    pub blockers: Vec<Blocker>,
    /// The opset closest to the requested one to which the model can be converted, if there are blockers.
    pub nearest_opset: Option<i64>,
    /// The counts of the model before.
    pub before: Counts,
    /// The counts of the converted model; none if there are blockers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Counts>,
    /// The files of the output; its notes begin with those about the conversion.
    #[serde(flatten)]
    pub saved: Saved,
    /// The extent of the verification of the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<Verified>,
}

impl ConvertedModel {
    /// Sets the files of the output, behind the notes about the conversion.
    pub fn set_saved(&mut self, saved: Saved) {
        let notes = self.notes.iter().cloned().chain(saved.notes).collect();
        self.saved = Saved { notes, ..saved };
    }
}

/// The text report: totals, or with `verbose` every node. Blockers are always listed, equal ones on one line unless `verbose`.
#[must_use]
pub fn convert_text(model: &ConvertedModel, verbose: bool) -> Shown {
    let mut text = Shown::default();
    let opset = |opsets: &Opsets| opsets.get("ai.onnx").map_or_else(String::new, i64::to_string);
    let (from, to) = (opset(&model.report.from), opset(&model.report.to));
    if !model.blockers.is_empty() {
        write_refusal(&mut text, model, &from, &to, verbose);
        return text;
    }
    let output = model.output.as_deref().unwrap_or(unwritten(model.dry_run));
    text.push_line(format_args!("{} -> {output}", model.path));
    let IrVersions { from: ir_from, to: ir_to } = model.report.ir_version;
    let ir_from = if ir_from == ir_to { String::new() } else { format!("{ir_from} -> ") };
    let opsets = match from.is_empty() {
        true => "ai.onnx is neither imported nor used".to_owned(),
        false => format!("opset {from}{} -> {to}", stated(model)),
    };
    text.push_line(format_args!("  {opsets}, IR version {ir_from}{ir_to}"));
    write_prepared(&mut text, &model.prepared, verbose);
    text.push_line(format_args!("  changed {}", sums(&model.report.changes.iter().map(|change| &*change.op).collect::<Vec<_>>())));
    if verbose {
        for Change { node, op, what } in &model.report.changes {
            text.push_line(format_args!("    {node} ({op}): {what}"));
        }
    }
    for (class, how) in [
        (Exactness::Exact, "bit-exact"),
        (Exactness::ByDefinition, "by ONNX's definition: a runtime's own kernel may differ in the last digits"),
    ] {
        let ops: Vec<&str> =
            model.report.expansions.iter().filter(|expanded| expanded.class == class).map(|expanded| expanded.op).collect();
        if !ops.is_empty() {
            text.push_line(format_args!("  expanded {} ({how})", sums(&ops)));
        }
    }
    for Change { node, op, what } in &model.report.warnings {
        text.push_line(format_args!("  warning: {node} ({op}): {what}"));
    }
    write_saved(&mut text, model.dry_run, &model.saved);
    write_verified(&mut text, model.verified);
    if let Some(after) = &model.after {
        write_counts(&mut text, &model.before, after);
    }
    text
}

/// ` (stated: 14)`, if the opset import of the model is overridden.
fn stated(model: &ConvertedModel) -> String {
    model.report.stated_opset.map_or_else(String::new, |stated| format!(" (stated: {stated})"))
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

fn write_refusal(text: &mut Shown, model: &ConvertedModel, from: &str, to: &str, verbose: bool) {
    let is_invalid = model.blockers.iter().all(|blocker| blocker.code == Code::NodeInvalid);
    let nodes = plural(model.blockers.len(), if is_invalid { "invalid node" } else { "unsupported node" });
    text.push_line(format_args!("{}: cannot convert from opset {from} to {to}: {nodes}", model.path));
    for group in groups(&model.blockers, verbose) {
        match group.as_slice() {
            [Blocker { node, op, opset_step: (from, to), code, reason }, _, ..] => {
                let nodes = plural(group.len(), "node");
                let step = match code {
                    Code::NodeInvalid | Code::NoKernel => String::new(),
                    _ => format!(", opset {from} to {to}"),
                };
                text.push_line(format_args!("    {op} ({nodes}, the first is {node}){step}: {reason}"));
            }
            one => one.iter().for_each(|blocker| text.push_line(format_args!("    {blocker}"))),
        }
    }
    for note in &model.saved.notes {
        text.push_line(format_args!("  {note}"));
    }
    match model.nearest_opset {
        Some(nearest) => {
            let is_down = model.report.to.get("ai.onnx") < model.report.from.get("ai.onnx");
            text.push_line(format_args!("  the {} opset that works is {nearest}", if is_down { "lowest" } else { "highest" }));
        }
        // Another opset does not make a node valid.
        None if is_invalid => {}
        None if model.blockers.iter().any(|blocker| blocker.code == Code::NoKernel) => {
            text.push_line(format_args!("  no opset works in which the runtime has kernels for all nodes"));
        }
        None => text.push_line(format_args!("  no opset between {from} and {to} works")),
    }
}

/// Blockers grouped by everything except the node, in the order of first occurrence; with `verbose`, one group each.
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
