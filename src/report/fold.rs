//! What `recast fold` did.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use super::words::{bytes, plural};
use crate::external::DataFile;
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
    /// Data files that nothing refers to any more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed_files: Vec<PathBuf>,
}

/// The report for people: sums, or with `verbose` every node.
#[must_use]
pub fn fold_text(model: &FoldedModel, verbose: bool) -> String {
    let FoldedModel { path, output, report, bytes_in, bytes_out, data_file, notes, removed_files } = model;
    let mut text = String::new();
    let output = output.as_deref().unwrap_or("nothing written (dry run)");
    writeln!(text, "{path} -> {output}").ok();
    write!(text, "  folded {}", plural(report.folded.len(), "cast")).ok();
    let mut pairs: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for folded in &report.folded {
        *pairs.entry((folded.from, folded.to)).or_default() += 1;
    }
    let pairs: Vec<String> = pairs.into_iter().map(|((from, to), count)| format!("{count} {from} to {to}")).collect();
    writeln!(text, "{}{}", if pairs.is_empty() { "" } else { ": " }, pairs.join(", ")).ok();
    if verbose {
        for folded in &report.folded {
            let elements = plural(folded.elements as usize, "element");
            writeln!(text, "    {}: {} {} to {}, {elements}", folded.node, folded.input, folded.from, folded.to).ok();
        }
    }
    write_skipped(&mut text, report, verbose);
    if !report.removed_initializers.is_empty() {
        let removed = plural(report.removed_initializers.len(), "constant");
        writeln!(text, "  removed {removed} that nothing uses any more").ok();
        if verbose {
            for path in &report.removed_initializers {
                writeln!(text, "    {path}").ok();
            }
        }
    }
    for note in notes {
        writeln!(text, "  {note}").ok();
    }
    writeln!(text, "  {} -> {}", bytes(*bytes_in), bytes(*bytes_out)).ok();
    write_data_files(&mut text, data_file.as_ref(), removed_files);
    text
}

/// What a command did to files beside the model.
pub(super) fn write_data_files(text: &mut String, data_file: Option<&DataFile>, removed_files: &[PathBuf]) {
    if let Some(DataFile { path, bytes: length }) = data_file {
        writeln!(text, "  data file {}: {}", path.display(), bytes(*length)).ok();
    }
    for path in removed_files {
        writeln!(text, "  removed data file {}, which nothing refers to any more", path.display()).ok();
    }
}

fn write_skipped(text: &mut String, report: &Report, verbose: bool) {
    if report.skipped.is_empty() {
        return;
    }
    writeln!(text, "  kept {}", plural(report.skipped.len(), "cast")).ok();
    if verbose {
        for skipped in &report.skipped {
            writeln!(text, "    {}: {}", skipped.node, skipped.reason).ok();
        }
        return;
    }
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for skipped in &report.skipped {
        *counts.entry(&skipped.reason).or_default() += 1;
    }
    for Skipped { node, reason } in &report.skipped {
        match counts.remove(reason.as_str()) {
            Some(1) => writeln!(text, "    {node}: {reason}").ok(),
            Some(nodes) => writeln!(text, "    {node} and {} more: {reason}", nodes - 1).ok(),
            None => None, // Told with the first node.
        };
    }
}
