//! What `recast fold` did.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use serde::Serialize;

use super::words::{bytes, line, plural};
use crate::external::{DataFile, UnusedFile};
use crate::passes::{Report, Skipped};

/// One model of a run.
#[derive(Debug, Serialize)]
pub struct FoldedModel {
    /// The model, as it was named.
    pub path: String,
    /// Where it was written; none in a dry run.
    pub output: Option<String>,
    /// What the passes did.
    #[serde(flatten)]
    pub report: Report,
    /// The model file's length before.
    pub bytes_in: u64,
    /// The model file's length after.
    pub bytes_out: u64,
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

/// The report for people: sums, or with `verbose` every node.
#[must_use]
pub fn fold_text(model: &FoldedModel, verbose: bool) -> String {
    let FoldedModel { path, output, report, bytes_in, bytes_out, data_file, notes, .. } = model;
    let is_dry = output.is_none();
    let mut text = String::new();
    let output = output.as_deref().unwrap_or("nothing written (dry run)");
    line(&mut text, format_args!("{path} -> {output}"));
    let mut pairs: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for folded in &report.folded {
        *pairs.entry((folded.from, folded.to)).or_default() += 1;
    }
    let pairs: Vec<String> = pairs.into_iter().map(|((from, to), count)| format!("{count} {from} to {to}")).collect();
    let separator = if pairs.is_empty() { "" } else { ": " };
    line(&mut text, format_args!("  folded {}{separator}{}", plural(report.folded.len(), "cast"), pairs.join(", ")));
    if verbose {
        for folded in &report.folded {
            let elements = plural(folded.elements as usize, "element");
            line(&mut text, format_args!("    {}: {} {} to {}, {elements}", folded.node, folded.input, folded.from, folded.to));
        }
    }
    write_skipped(&mut text, report, verbose);
    if !report.removed_initializers.is_empty() {
        let removed = plural(report.removed_initializers.len(), "constant");
        line(&mut text, format_args!("  removed {removed} that nothing uses any more"));
        if verbose {
            for path in &report.removed_initializers {
                line(&mut text, format_args!("    {path}"));
            }
        }
    }
    for note in notes {
        line(&mut text, format_args!("  {note}"));
    }
    line(&mut text, format_args!("  {} -> {}", bytes(*bytes_in), bytes(*bytes_out)));
    write_data_file(&mut text, data_file.as_ref(), &model.copied_files);
    write_old_files(&mut text, is_dry, &model.removed_files, &model.unused_files);
    text
}

/// The data files of the output.
pub(super) fn write_data_file(text: &mut String, data_file: Option<&DataFile>, copied_files: &[DataFile]) {
    if let Some(DataFile { path, bytes: length }) = data_file {
        line(text, format_args!("  data file {}: {}", path.display(), bytes(*length)));
    }
    for DataFile { path, bytes: length } in copied_files {
        line(text, format_args!("  copied data file {}: {}", path.display(), bytes(*length)));
    }
}

/// What became of the data files that a model no longer uses, a line for each.
#[must_use]
pub fn old_files_text(removed_files: &[PathBuf], unused_files: &[UnusedFile]) -> String {
    let mut text = String::new();
    write_old_files(&mut text, false, removed_files, unused_files);
    text
}

/// What became of the data files that the model no longer uses.
pub(super) fn write_old_files(text: &mut String, is_dry: bool, removed_files: &[PathBuf], unused_files: &[UnusedFile]) {
    let removed = if is_dry { "would remove" } else { "removed" };
    for path in removed_files {
        line(text, format_args!("  {removed} data file {}, which no model uses any more", path.display()));
    }
    for UnusedFile { path, bytes: length, reason } in unused_files {
        let (path, length) = (path.display(), bytes(*length));
        match reason {
            Some(reason) => line(text, format_args!("  unused data file {path} ({length}) stays: {reason}")),
            None => line(text, format_args!("  unused data file {path} ({length}) stays; --prune-data removes such files")),
        }
    }
}

fn write_skipped(text: &mut String, report: &Report, verbose: bool) {
    if report.skipped.is_empty() {
        return;
    }
    line(text, format_args!("  kept {}", plural(report.skipped.len(), "cast")));
    if verbose {
        for skipped in &report.skipped {
            line(text, format_args!("    {}: {}", skipped.node, skipped.reason));
        }
        return;
    }
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for skipped in &report.skipped {
        *counts.entry(&skipped.reason).or_default() += 1;
    }
    for Skipped { node, reason } in &report.skipped {
        match counts.remove(reason.as_str()) {
            Some(1) => line(text, format_args!("    {node}: {reason}")),
            Some(nodes) => line(text, format_args!("    {node} and {} more: {reason}", nodes - 1)),
            None => {} // Told with the first node.
        }
    }
}
