//! The report of `recast fold`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::counts::write_counts;
use super::prepared::{Prepared, write_prepared};
use super::words::{bytes, plural};
use crate::base::hash::HashMap;
use crate::base::printable::Shown;
use crate::diff::inspect::Counts;
use crate::passes::{Change, ComputedNode, Folded, Kept, OfPass, RemovalOf, Report};
use crate::storage::{DataFile, Saved, UnusedFile};
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
    pub report: Report,
    /// The length of the model file before.
    pub bytes_in: u64,
    /// The length of the model file after.
    pub bytes_out: u64,
    /// The counts of the model before.
    pub before: Counts,
    /// The counts of the output.
    pub after: Counts,
    /// The files of the output.
    #[serde(flatten)]
    pub saved: Saved,
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
        mut report: Report,
        (bytes_in, bytes_out): (u64, u64),
        [before, after]: [Counts; 2],
    ) -> FoldedModel {
        report.add_remedies(remedy);
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
            saved: Saved::default(),
            verified: None,
        }
    }
}

/// The text report: totals, or with `verbose` every node.
#[must_use]
pub fn fold_text(model: &FoldedModel, verbose: bool) -> Shown {
    let FoldedModel { path, output, dry_run, prepared, report, saved, .. } = model;
    let mut text = Shown::default();
    let output = output.as_deref().unwrap_or(unwritten(*dry_run));
    text.push_line(format_args!("{path} -> {output}"));
    write_prepared(&mut text, prepared, verbose);
    let folded = report.folded();
    let mut pairs: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for folded in &folded {
        *pairs.entry((folded.from.name(), folded.to.name())).or_default() += 1;
    }
    let pairs: Vec<String> = pairs.into_iter().map(|((from, to), count)| format!("{count} {from} to {to}")).collect();
    let separator = if pairs.is_empty() { "" } else { ": " };
    text.push_line(format_args!("  folded {}{separator}{}", plural(folded.len(), "cast"), pairs.join(", ")));
    for Folded { node, input, from, to, elements, .. } in folded.into_iter().filter(|_| verbose) {
        text.push_line(format_args!("    {node}: {input} {from} to {to}, {}", plural(*elements as usize, "element")));
    }
    write_others(&mut text, report, verbose);
    write_kept(&mut text, report, verbose);
    for kind in ["constant", "node"] {
        let removed = || report.removals().filter(|removal| removal.kind == kind);
        match removed().count() {
            0 => continue,
            count => text.push_line(format_args!("  removed {}", plural(count, kind))),
        }
        for RemovalOf { path, pass, reason, .. } in removed().filter(|_| verbose) {
            text.push_line(format_args!("    {path}: {reason} ({pass})"));
        }
    }
    write_saved(&mut text, *dry_run, saved);
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

/// The files of the output, and the data files that the model no longer uses.
pub(super) fn write_saved(text: &mut Shown, is_dry: bool, saved: &Saved) {
    for note in &saved.notes {
        text.push_line(format_args!("  {note}"));
    }
    if let Some(DataFile { path, bytes: length }) = &saved.data_file {
        text.push_line(format_args!("  data file {}: {}", path.display(), bytes(*length)));
    }
    for DataFile { path, bytes: length } in &saved.copied_files {
        text.push_line(format_args!("  copied data file {}: {}", path.display(), bytes(*length)));
    }
    old_files_lines(is_dry, saved).for_each(|line| text.push_line(format_args!("  {line}")));
}

/// One line per data file that a model no longer uses: removed (in a dry run: to be removed) or kept.
pub fn old_files_lines(is_dry: bool, saved: &Saved) -> impl Iterator<Item = String> {
    let verb = if is_dry { "would remove" } else { "removed" };
    let removed = saved.removed_files.iter().map(move |path| format!("{verb} unused data file {}", path.display()));
    let unused = saved.unused_files.iter().map(|UnusedFile { path, bytes: length, reason }| {
        let remedy = reason.as_deref().map_or("; use --prune-data to remove it".to_owned(), |reason| format!(": {reason}"));
        format!("kept unused data file {} ({}){remedy}", path.display(), bytes(*length))
    });
    removed.chain(unused)
}

/// The nodes that are no casts, or were changed.
fn write_others(text: &mut Shown, report: &Report, verbose: bool) {
    let mut operators: BTreeMap<&str, usize> = BTreeMap::new();
    for computed in report.computed() {
        *operators.entry(&computed.record.op).or_default() += 1;
    }
    if !operators.is_empty() {
        let operators: Vec<String> = operators.into_iter().map(|(operator, count)| format!("{count} {operator}")).collect();
        text.push_line(format_args!("  computed {}: {}", plural(report.computed().count(), "constant"), operators.join(", ")));
    }
    for ComputedNode { node, op, r#type, elements, .. } in report.computed().map(|computed| computed.record).filter(|_| verbose) {
        text.push_line(format_args!("    {node}: {op} to {type}, {}", plural(*elements as usize, "element")));
    }
    match report.changes().count() {
        0 => {}
        count => text.push_line(format_args!("  changed {}", plural(count, "node"))),
    }
    for OfPass { pass, record: Change { node, op, what } } in report.changes().filter(|_| verbose) {
        text.push_line(format_args!("    {node}: {op} {what} ({pass})"));
    }
}

fn write_kept(text: &mut Shown, report: &Report, verbose: bool) {
    let kept = report.kept();
    if kept.is_empty() {
        return;
    }
    let of_others = ["undefined-result", "contested-result", "left-to-runtimes", "result-too-large"];
    let is_other = |kept: &&Kept| of_others.contains(&kept.reason.code());
    let noun = if report.computed().next().is_none() && !kept.iter().any(is_other) { "cast" } else { "node" };
    text.push_line(format_args!("  kept {}", plural(kept.len(), noun)));
    if verbose {
        return kept.iter().for_each(|kept| text.push_line(format_args!("    {}: {}", kept.node, kept.text())));
    }
    // Many nodes are kept for the same reason, often one after the other.
    let runs: Vec<(&Kept, String, usize)> =
        kept.chunk_by(|one, next| one.reason == next.reason).map(|run| (run[0], run[0].text(), run.len())).collect();
    let mut counts: HashMap<&str, usize> = HashMap::default();
    for (_, reason, nodes) in &runs {
        *counts.entry(reason).or_default() += nodes;
    }
    for (Kept { node, .. }, reason, _) in &runs {
        match counts.remove(&**reason) {
            Some(1) => text.push_line(format_args!("    {node}: {reason}")),
            Some(nodes) => text.push_line(format_args!("    {node} and {} more: {reason}", nodes - 1)),
            None => {} // Reported with the first node.
        }
    }
}

/// The option of `recast fold` that removes an obstacle.
fn remedy(code: &str) -> Option<&'static str> {
    match code {
        "undefined-value" => Some("use --undefined fold to fold it anyway"),
        "contested-value" | "contested-result" => Some("use --contested text|runtime to fold it anyway"),
        "overridable" => Some("use --freeze-initializers to treat it as a constant"),
        "result-too-large" | "growth-limit" => Some("use --max-growth to raise the limit"),
        _ => None,
    }
}
