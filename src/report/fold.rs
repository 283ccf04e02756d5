//! The report of `recast fold`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

use super::counts::write_counts;
use super::fold_report::{Change, ComputedNode, FoldReport, Removed, SkippedNode};
use super::prepared::{Prepared, write_prepared};
use super::words::{bytes, plural};
use crate::base::hash::HashMap;
use crate::base::printable::Shown;
use crate::diff::inspect::Counts;
use crate::storage::{DataFile, UnusedFile};
use crate::verify::Verified;

/// One model of a run.
#[derive(Debug, Serialize)]
pub struct FoldedModel {
    /// The path of the model as given.
    pub path: String,
    /// Whether the run is a dry run.
    #[serde(skip)]
    pub dry_run: bool,
    /// The output; `None` in a dry run, or if the run has errors.
    pub output: Option<String>,
    /// Changes made before the passes.
    #[serde(flatten)]
    pub prepared: Prepared,
    /// The changes made by the passes.
    #[serde(flatten)]
    pub report: FoldReport,
    /// The length of the model file before.
    pub bytes_in: u64,
    /// The length of the model file after.
    pub bytes_out: u64,
    /// The counts of the model before.
    pub before: Counts,
    /// The counts of the output.
    pub after: Counts,
    /// The data file of the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_file: Option<DataFile>,
    /// Side effects that were not requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Data files that were copied with the model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copied_files: Vec<DataFile>,
    /// Unused data files that were removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed_files: Vec<PathBuf>,
    /// Unused data files that were kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unused_files: Vec<UnusedFile>,
    /// The extent of the verification of the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<Verified>,
}

impl FoldedModel {
    /// The result for a model that is not written, with the lengths of its file before and after, and the counts before and after.
    #[must_use]
    pub fn dry_run(
        path: String,
        prepared: Prepared,
        report: FoldReport,
        (bytes_in, bytes_out): (u64, u64),
        [before, after]: [Counts; 2],
    ) -> FoldedModel {
        FoldedModel {
            path,
            dry_run: true,
            output: None,
            prepared,
            report,
            bytes_in,
            bytes_out,
            before,
            after,
            data_file: None,
            notes: Vec::new(),
            copied_files: Vec::new(),
            removed_files: Vec::new(),
            unused_files: Vec::new(),
            verified: None,
        }
    }
}

/// The text report: totals, or with `verbose` every node.
#[must_use]
pub fn fold_text(model: &FoldedModel, verbose: bool) -> Shown {
    let FoldedModel { path, output, dry_run, prepared, report, data_file, notes, .. } = model;
    let mut text = Shown::default();
    let output = output.as_deref().unwrap_or(unwritten(*dry_run));
    text.push_line(format_args!("{path} -> {output}"));
    write_prepared(&mut text, prepared, verbose);
    let mut pairs: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for folded in &report.folded {
        *pairs.entry((folded.from, folded.to)).or_default() += 1;
    }
    let pairs: Vec<String> = pairs.into_iter().map(|((from, to), count)| format!("{count} {from} to {to}")).collect();
    let separator = if pairs.is_empty() { "" } else { ": " };
    text.push_line(format_args!("  folded {}{separator}{}", plural(report.folded.len(), "cast"), pairs.join(", ")));
    if verbose {
        for folded in &report.folded {
            let elements = plural(folded.elements as usize, "element");
            text.push_line(format_args!("    {}: {} {} to {}, {elements}", folded.node, folded.input, folded.from, folded.to));
        }
    }
    write_others(&mut text, report, verbose);
    write_skipped(&mut text, report, verbose);
    for (kind, removed) in [("constant", &report.removed_initializers), ("node", &report.removed_nodes)] {
        if removed.is_empty() {
            continue;
        }
        text.push_line(format_args!("  removed {}", plural(removed.len(), kind)));
        for Removed { path, pass, reason, .. } in report.removals.iter().filter(|removed| verbose && removed.kind == kind) {
            text.push_line(format_args!("    {path}: {reason} ({pass})"));
        }
    }
    for note in notes {
        text.push_line(format_args!("  {note}"));
    }
    write_data_file(&mut text, data_file.as_ref(), &model.copied_files);
    write_old_files(&mut text, *dry_run, &model.removed_files, &model.unused_files);
    write_verified(&mut text, model.verified);
    write_counts(&mut text, &model.before, &model.after);
    text
}

/// The extent of the verification of the output.
pub(super) fn write_verified(text: &mut Shown, verified: Option<Verified>) {
    let Some(Verified { nodes, constants, elements }) = verified else { return };
    let nodes = plural(nodes, "node");
    match constants {
        0 => text.push_line(format_args!("  verified {nodes}")),
        _ => {
            let (constants, elements) = (plural(constants, "new constant"), plural(elements as usize, "element"));
            text.push_line(format_args!("  verified {nodes} and {constants} of {elements}"));
        }
    }
}

/// The text in place of the output of a model that was not written.
pub(super) fn unwritten(dry_run: bool) -> &'static str {
    if dry_run { "nothing written (dry run)" } else { "nothing written" }
}

/// The data files of the output.
pub(super) fn write_data_file(text: &mut Shown, data_file: Option<&DataFile>, copied_files: &[DataFile]) {
    if let Some(DataFile { path, bytes: length }) = data_file {
        text.push_line(format_args!("  data file {}: {}", path.display(), bytes(*length)));
    }
    for DataFile { path, bytes: length } in copied_files {
        text.push_line(format_args!("  copied data file {}: {}", path.display(), bytes(*length)));
    }
}

/// Lists the data files that the model no longer uses: removed (in a dry run: to be removed) or kept.
pub(super) fn write_old_files(text: &mut Shown, is_dry: bool, removed_files: &[PathBuf], unused_files: &[UnusedFile]) {
    old_files_lines(is_dry, removed_files, unused_files).for_each(|line| text.push_line(format_args!("  {line}")));
}

/// One line per data file that a model no longer uses: removed (in a dry run: to be removed) or kept.
pub fn old_files_lines<'r>(
    is_dry: bool,
    removed_files: &'r [PathBuf],
    unused_files: &'r [UnusedFile],
) -> impl Iterator<Item = String> + 'r {
    let verb = if is_dry { "would remove" } else { "removed" };
    let removed = removed_files.iter().map(move |path| format!("{verb} unused data file {}", path.display()));
    let unused = unused_files.iter().map(|UnusedFile { path, bytes: length, reason }| {
        let remedy = reason.as_deref().map_or("; use --prune-data to remove it".to_owned(), |reason| format!(": {reason}"));
        format!("kept unused data file {} ({}){remedy}", path.display(), bytes(*length))
    });
    removed.chain(unused)
}

/// The nodes that are no casts, or were changed.
fn write_others(text: &mut Shown, report: &FoldReport, verbose: bool) {
    if !report.computed.is_empty() {
        let mut operators: BTreeMap<&str, usize> = BTreeMap::new();
        for computed in &report.computed {
            *operators.entry(&computed.op).or_default() += 1;
        }
        let operators: Vec<String> = operators.into_iter().map(|(operator, count)| format!("{count} {operator}")).collect();
        text.push_line(format_args!("  computed {}: {}", plural(report.computed.len(), "constant"), operators.join(", ")));
        for ComputedNode { node, op, to, elements, .. } in report.computed.iter().filter(|_| verbose) {
            text.push_line(format_args!("    {node}: {op} to {to}, {}", plural(*elements as usize, "element")));
        }
    }
    if !report.changes.is_empty() {
        text.push_line(format_args!("  changed {}", plural(report.changes.len(), "node")));
        for Change { pass, node, op, what } in report.changes.iter().filter(|_| verbose) {
            text.push_line(format_args!("    {node}: {op} {what} ({pass})"));
        }
    }
}

fn write_skipped(text: &mut Shown, report: &FoldReport, verbose: bool) {
    if report.skipped.is_empty() {
        return;
    }
    let of_others = ["undefined-result", "contested-result", "left-to-runtimes", "result-too-large"];
    let is_other = |skipped: &SkippedNode| of_others.contains(&skipped.code);
    let noun = if report.computed.is_empty() && !report.skipped.iter().any(is_other) { "cast" } else { "node" };
    text.push_line(format_args!("  kept {}", plural(report.skipped.len(), noun)));
    if verbose {
        for skipped in &report.skipped {
            text.push_line(format_args!("    {}: {}", skipped.node, skipped.reason));
        }
        return;
    }
    let mut counts: HashMap<&str, usize> = HashMap::default();
    let runs = || report.skipped.chunk_by(|one, next| Arc::ptr_eq(&one.reason, &next.reason));
    for run in runs() {
        *counts.entry(&run[0].reason).or_default() += run.len();
    }
    for SkippedNode { node, reason, .. } in runs().map(|run| &run[0]) {
        match counts.remove(&**reason) {
            Some(1) => text.push_line(format_args!("    {node}: {reason}")),
            Some(nodes) => text.push_line(format_args!("    {node} and {} more: {reason}", nodes - 1)),
            None => {} // Reported with the first node.
        }
    }
}
