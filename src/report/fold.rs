//! What `recast fold` did.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use serde::Serialize;

use super::prepared::{Prepared, write_prepared};
use super::words::{bytes, line, plural};
use crate::external::DataFile;
use crate::passes::{Report, Skipped};

/// One model of a run.
#[derive(Debug, Serialize)]
pub struct FoldedModel {
    /// The model, as it was named.
    pub path: String,
    /// Where it was written; none in a dry run.
    pub output: Option<String>,
    /// What was done to the model beforehand.
    #[serde(flatten)]
    pub prepared: Prepared,
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
    /// Data files that nothing refers to any more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed_files: Vec<PathBuf>,
}

/// The report for people: sums, or with `verbose` every node.
#[must_use]
pub fn fold_text(model: &FoldedModel, verbose: bool) -> String {
    let FoldedModel { path, output, prepared, report, bytes_in, bytes_out, data_file, notes, removed_files } = model;
    let mut text = String::new();
    let output = output.as_deref().unwrap_or("nothing written (dry run)");
    line(&mut text, format_args!("{path} -> {output}"));
    write_prepared(&mut text, prepared, verbose);
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
    write_data_files(&mut text, data_file.as_ref(), removed_files);
    text
}

/// What a command did to files beside the model.
pub(super) fn write_data_files(text: &mut String, data_file: Option<&DataFile>, removed_files: &[PathBuf]) {
    if let Some(DataFile { path, bytes: length }) = data_file {
        line(text, format_args!("  data file {}: {}", path.display(), bytes(*length)));
    }
    for path in removed_files {
        line(text, format_args!("  removed data file {}, which nothing refers to any more", path.display()));
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
