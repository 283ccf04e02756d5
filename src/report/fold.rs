//! What `recast fold` did.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use serde::Serialize;

use super::prepared::{Prepared, write_prepared};
use super::words::{bytes, plural};
use crate::external::{DataFile, UnusedFile};
use crate::passes::{Event, Report};
use crate::shown::Shown;

/// One model of a run.
#[derive(Debug, Serialize)]
pub struct FoldedModel {
    /// The model, as it was named.
    pub path: String,
    /// Whether nothing was to be written.
    #[serde(skip)]
    pub dry_run: bool,
    /// Where it was written; none in a dry run, or if the run has errors.
    pub output: Option<String>,
    /// What was done to the model beforehand.
    #[serde(flatten)]
    pub prepared: Prepared,
    /// What the passes did.
    #[serde(flatten)]
    pub report: FoldReport,
    /// The model file's length before.
    pub bytes_in: u64,
    /// The model file's length after.
    pub bytes_out: u64,
    /// The data file that was made for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_file: Option<DataFile>,
    /// What was done beyond the request.
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

/// What the passes did, as it is reported.
#[derive(Debug, Serialize)]
pub struct FoldReport {
    folded: Vec<FoldedNode>,
    skipped: Vec<SkippedNode>,
    removed_initializers: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    removed_nodes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct FoldedNode {
    node: String,
    input: String,
    from: &'static str,
    to: &'static str,
    elements: u64,
}

#[derive(Debug, Serialize)]
struct SkippedNode {
    node: String,
    code: &'static str,
    reason: String,
}

impl From<Report> for FoldReport {
    fn from(report: Report) -> FoldReport {
        let mut lists =
            FoldReport { folded: Vec::new(), skipped: Vec::new(), removed_initializers: Vec::new(), removed_nodes: Vec::new() };
        for entry in report.entries {
            match entry.event {
                Event::Folded(folded) => lists.folded.push(FoldedNode {
                    node: folded.node,
                    input: folded.input,
                    from: folded.from.name(),
                    to: folded.to.name(),
                    elements: folded.elements,
                }),
                Event::Kept(kept) => {
                    let code = kept.reason.code();
                    let reason = match remedy(code) {
                        Some(remedy) => format!("{}; {remedy}", kept.reason),
                        None => kept.reason.to_string(),
                    };
                    lists.skipped.push(SkippedNode { node: kept.node, code, reason });
                }
                Event::RemovedConstant(removed) => lists.removed_initializers.push(removed.path()),
                Event::RemovedNode { node } => lists.removed_nodes.push(node),
            }
        }
        lists
    }
}

/// The option of `recast fold` that a reason can be met with.
fn remedy(code: &str) -> Option<&'static str> {
    match code {
        "undefined-value" => Some("--undefined fold folds anyway"),
        "contested-value" => Some("--contested text|runtime folds anyway"),
        "overridable" => Some("use --freeze-initializers to take it as a constant"),
        "growth-limit" => Some("--max-growth sets the limit"),
        _ => None,
    }
}

/// The report for people: sums, or with `verbose` every node.
#[must_use]
pub fn fold_text(model: &FoldedModel, verbose: bool) -> Shown {
    let FoldedModel { path, output, dry_run, prepared, report, bytes_in, bytes_out, data_file, notes, .. } = model;
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
    write_skipped(&mut text, report, verbose);
    if !report.removed_initializers.is_empty() {
        let removed = plural(report.removed_initializers.len(), "constant");
        text.push_line(format_args!("  removed {removed} that nothing uses any more"));
        if verbose {
            for path in &report.removed_initializers {
                text.push_line(format_args!("    {path}"));
            }
        }
    }
    if !report.removed_nodes.is_empty() {
        text.push_line(format_args!("  removed {}", plural(report.removed_nodes.len(), "node")));
        if verbose {
            for path in &report.removed_nodes {
                text.push_line(format_args!("    {path}"));
            }
        }
    }
    for note in notes {
        text.push_line(format_args!("  {note}"));
    }
    text.push_line(format_args!("  {} -> {}", bytes(*bytes_in), bytes(*bytes_out)));
    write_data_file(&mut text, data_file.as_ref(), &model.copied_files);
    write_old_files(&mut text, *dry_run, &model.removed_files, &model.unused_files);
    text
}

/// What is reported in the place of the output of a model that was not written.
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

/// What became, or in a dry run would become, of the data files that the model no longer uses.
pub(super) fn write_old_files(text: &mut Shown, is_dry: bool, removed_files: &[PathBuf], unused_files: &[UnusedFile]) {
    old_files_lines(is_dry, removed_files, unused_files).for_each(|line| text.push_line(format_args!("  {line}")));
}

/// What became, or in a dry run would become, of the data files that a model no longer uses: a line for each.
pub fn old_files_lines<'r>(
    is_dry: bool,
    removed_files: &'r [PathBuf],
    unused_files: &'r [UnusedFile],
) -> impl Iterator<Item = String> + 'r {
    let verb = if is_dry { "would remove" } else { "removed" };
    let removed =
        removed_files.iter().map(move |path| format!("{verb} data file {}, which no model uses any more", path.display()));
    let unused = unused_files.iter().map(|UnusedFile { path, bytes: length, reason }| {
        let remedy = reason.as_deref().map_or("; --prune-data removes such files".to_owned(), |reason| format!(": {reason}"));
        format!("unused data file {} ({}) stays{remedy}", path.display(), bytes(*length))
    });
    removed.chain(unused)
}

fn write_skipped(text: &mut Shown, report: &FoldReport, verbose: bool) {
    if report.skipped.is_empty() {
        return;
    }
    text.push_line(format_args!("  kept {}", plural(report.skipped.len(), "cast")));
    if verbose {
        for skipped in &report.skipped {
            text.push_line(format_args!("    {}: {}", skipped.node, skipped.reason));
        }
        return;
    }
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for skipped in &report.skipped {
        *counts.entry(&skipped.reason).or_default() += 1;
    }
    for SkippedNode { node, reason, .. } in &report.skipped {
        match counts.remove(reason.as_str()) {
            Some(1) => text.push_line(format_args!("    {node}: {reason}")),
            Some(nodes) => text.push_line(format_args!("    {node} and {} more: {reason}", nodes - 1)),
            None => {} // Told with the first node.
        }
    }
}
