//! The report of `recast fold`.

use serde::Serialize;

use super::changed::ChangedModel;
use super::format::{counted, plural, write_reasons};
use super::prepared::{Prepared, write_prepared};
use crate::base::printable::Shown;
use crate::base::reason::Reason;
use crate::casts::folding::reason::is_not_worth_node;
use crate::passes::{ComputedNode, Folded, KeptNode, NodeChange, OfPass, RemovalOf, Report};

/// One folded model of a run.
pub type FoldedModel = ChangedModel<Folding>;

/// The changes of a fold.
#[derive(Debug, Serialize)]
pub struct Folding {
    /// Changes made before the passes.
    #[serde(flatten)]
    pub prepared: Prepared,
    /// The changes made by the passes.
    #[serde(flatten)]
    pub report: Report,
    /// The number of casts of the result that change nothing, if no pass that would remove them was
    /// selected.
    #[serde(skip_serializing_if = "is_zero")]
    pub redundant_casts: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Folding {
    /// The changes, with the options that remove obstacles.
    #[must_use]
    pub fn new(prepared: Prepared, mut report: Report, redundant_casts: usize) -> Folding {
        report.add_remedies(remedy);
        Folding {
            prepared,
            report,
            redundant_casts,
        }
    }
}

/// The text report: totals, or with `verbose` every node.
#[must_use]
pub fn fold_text(model: &FoldedModel, verbose: bool) -> Shown {
    model.text(|text| write_changes(text, &model.changes, verbose))
}

fn write_changes(text: &mut Shown, folding: &Folding, verbose: bool) {
    let Folding {
        prepared,
        report,
        redundant_casts,
    } = folding;
    write_prepared(text, prepared, verbose);
    let folded = report.folded();
    let pairs = folded
        .iter()
        .map(|folded| (folded.from.name(), folded.to.name()));
    text.push_line(format_args!(
        "  folded {}",
        counted(pairs, "cast", |(from, to)| format!("{from} to {to}"))
    ));
    for Folded {
        node,
        input,
        from,
        to,
        elements,
        ..
    } in folded.into_iter().filter(|_| verbose)
    {
        text.push_line(format_args!(
            "    {node}: {input} {from} to {to}, {}",
            plural(*elements as usize, "element")
        ));
    }
    write_others(text, report, verbose);
    write_kept(text, report, verbose);
    match redundant_casts {
        0 => {}
        1 => text.push_line(format_args!(
            "  1 cast changes nothing: --passes exact removes it"
        )),
        count => text.push_line(format_args!(
            "  {count} casts change nothing: --passes exact removes them"
        )),
    }
    for kind in ["constant", "node"] {
        let removed = || report.removals().filter(|removal| removal.kind == kind);
        match removed().count() {
            0 => continue,
            count => text.push_line(format_args!("  removed {}", plural(count, kind))),
        }
        for RemovalOf {
            path, pass, reason, ..
        } in removed().filter(|_| verbose)
        {
            text.push_line(format_args!("    {path}: {reason} ({pass})"));
        }
    }
}

/// The constants computed by other operators, and the changed nodes.
fn write_others(text: &mut Shown, report: &Report, verbose: bool) {
    if report.computed().next().is_some() {
        let operators = report.computed().map(|computed| &*computed.record.op);
        text.push_line(format_args!(
            "  computed {}",
            counted(operators, "constant", str::to_owned)
        ));
    }
    for ComputedNode {
        node,
        op,
        r#type,
        elements,
        ..
    } in report
        .computed()
        .map(|computed| computed.record)
        .filter(|_| verbose)
    {
        text.push_line(format_args!(
            "    {node}: {op} to {type}, {}",
            plural(*elements as usize, "element")
        ));
    }
    match report.changes().count() {
        0 => {}
        count => text.push_line(format_args!("  changed {}", plural(count, "node"))),
    }
    for OfPass {
        pass,
        record: NodeChange { node, op, what },
    } in report.changes().filter(|_| verbose)
    {
        text.push_line(format_args!("    {node}: {op} {what} ({pass})"));
    }
}

fn write_kept(text: &mut Shown, report: &Report, verbose: bool) {
    let kept = report.kept();
    if kept.is_empty() {
        return;
    }
    let of_others = [
        "undefined-result",
        "contested-result",
        "left-to-runtimes",
        "result-too-large",
    ];
    let is_other = |kept: &&KeptNode| {
        of_others.contains(&kept.reason.code()) || is_not_worth_node(&kept.reason)
    };
    let noun = if report.computed().next().is_none() && !kept.iter().any(is_other) {
        "cast"
    } else {
        "node"
    };
    text.push_line(format_args!("  kept {}", plural(kept.len(), noun)));
    if verbose {
        return kept
            .iter()
            .for_each(|kept| text.push_line(format_args!("    {}: {}", kept.node, kept.text())));
    }
    // Many nodes are kept for the same reason, often one after the other.
    let runs: Vec<(&str, String, usize)> = kept
        .chunk_by(|one, next| one.reason == next.reason)
        .map(|run| (&*run[0].node, run[0].text(), run.len()))
        .collect();
    write_reasons(
        text,
        runs.iter()
            .map(|(node, reason, nodes)| (*node, &**reason, *nodes)),
    );
}

/// The option of `recast fold` that removes an obstacle.
fn remedy(reason: &Reason) -> Option<&'static str> {
    // No option raises the limit of a node other than a cast.
    if is_not_worth_node(reason) {
        return None;
    }
    match reason.code() {
        "undefined-value" => Some("use --undefined fold to fold it anyway"),
        "contested-value" | "contested-result" => {
            Some("use --contested text|runtime to fold it anyway")
        }
        "overridable" => Some("use --freeze-initializers to treat it as a constant"),
        "result-too-large" | "growth-limit" => Some("use --max-growth to raise the limit"),
        _ => None,
    }
}
