//! The report of `recast fold`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::changed::ChangedModel;
use super::prepared::{Prepared, write_prepared};
use super::words::plural;
use crate::base::hash::HashMap;
use crate::base::printable::Shown;
use crate::passes::{Change, ComputedNode, Folded, Kept, OfPass, RemovalOf, Report};

/// One folded model of a run.
pub type FoldedModel = ChangedModel<Folding>;

/// What a fold changed.
#[derive(Debug, Serialize)]
pub struct Folding {
    /// Changes made before the passes.
    #[serde(flatten)]
    pub prepared: Prepared,
    /// The changes made by the passes.
    #[serde(flatten)]
    pub report: Report,
}

impl Folding {
    /// The changes, with the options that remove obstacles.
    #[must_use]
    pub fn new(prepared: Prepared, mut report: Report) -> Folding {
        report.add_remedies(remedy);
        Folding { prepared, report }
    }
}

/// The text report: totals, or with `verbose` every node.
#[must_use]
pub fn fold_text(model: &FoldedModel, verbose: bool) -> Shown {
    model.text(|text| write_changes(text, &model.changes, verbose))
}

fn write_changes(text: &mut Shown, Folding { prepared, report }: &Folding, verbose: bool) {
    write_prepared(text, prepared, verbose);
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
    write_others(text, report, verbose);
    write_kept(text, report, verbose);
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
