//! The report of `recast convert`.

use serde::Serialize;

use super::changed::ChangedModel;
use super::format::{bytes as byte_count, counted, plural};
use super::prepared::{Prepared, write_prepared};
use crate::base::hash::HashMap;
use crate::base::printable::Shown;
use crate::convert::reason::Code;
use crate::convert::{
    Blocker, CarriedRole, CarriedValue, Exactness, IrVersions, NodeChange, Opsets, Report,
};

/// One converted model of a run.
pub type ConvertedModel = ChangedModel<Conversion>;

/// The changes of a conversion, or the reasons why there is none.
#[derive(Debug, Serialize)]
pub struct Conversion {
    /// The versions before and after, and the changes.
    #[serde(flatten)]
    pub report: Report,
    /// Changes made before the conversion.
    #[serde(flatten)]
    pub prepared: Prepared,
    /// Nodes that cannot be converted; the model is converted only if there are none.
    pub blockers: Vec<Blocker>,
    /// The opset closest to the requested one to which the model can be converted, if there are
    /// blockers.
    pub nearest_opset: Option<i64>,
}

/// The text report: totals, or with `verbose` every node. Blockers are always listed, equal ones on
/// one line unless `verbose`.
#[must_use]
pub fn convert_text(model: &ConvertedModel, verbose: bool) -> Shown {
    let Conversion {
        report, blockers, ..
    } = &model.changes;
    let opset = |opsets: &Opsets| {
        opsets
            .get("ai.onnx")
            .map_or_else(String::new, i64::to_string)
    };
    let (from, to) = (opset(&report.from), opset(&report.to));
    if blockers.is_empty() {
        model.text(|text| write_changes(text, &model.changes, &from, &to, verbose))
    } else {
        refusal(model, &from, &to, verbose)
    }
}

/// The operators that were expanded, and those that were guarded, by how the results compare.
fn write_expansions(text: &mut Shown, report: &Report) {
    let runtime = report.expansions.iter().find_map(|each| each.guarded_for);
    for (class, how) in [
        (Exactness::Exact, "bit-exact"),
        (
            Exactness::ByDefinition,
            "by ONNX's definition: a runtime's own kernel may differ in the last digits",
        ),
    ] {
        for guarded_for in [None].into_iter().chain(runtime.map(Some)) {
            let expansions = report
                .expansions
                .iter()
                .filter(|each| each.class == class && each.guarded_for == guarded_for);
            let mut ops = expansions.map(|each| each.op).peekable();
            if ops.peek().is_none() {
                continue;
            }
            let nodes = counted(ops, "node", str::to_owned);
            match guarded_for {
                Some(runtime) => {
                    text.push_line(format_args!("  guarded {nodes} for {runtime} ({how})"));
                }
                None => text.push_line(format_args!("  expanded {nodes} ({how})")),
            }
        }
    }
}

fn write_changes(
    text: &mut Shown,
    Conversion {
        report, prepared, ..
    }: &Conversion,
    from: &str,
    to: &str,
    verbose: bool,
) {
    let IrVersions {
        from: ir_from,
        to: ir_to,
        ..
    } = report.ir_version;
    let ir_from = if ir_from == ir_to {
        String::new()
    } else {
        format!("{ir_from} -> ")
    };
    // The opset import of the model may be overridden.
    let stated = report
        .stated_opset
        .map_or_else(String::new, |stated| format!(" (stated: {stated})"));
    let opsets = if from.is_empty() {
        "ai.onnx is neither imported nor used".to_owned()
    } else {
        format!("opset {from}{stated} -> {to}")
    };
    text.push_line(format_args!("  {opsets}, IR version {ir_from}{ir_to}"));
    write_prepared(text, prepared, verbose);
    let changed = report.changes.iter().map(|change| &*change.op);
    text.push_line(format_args!(
        "  changed {}",
        counted(changed, "node", str::to_owned)
    ));
    if verbose {
        for NodeChange { node, op, what } in &report.changes {
            text.push_line(format_args!("    {node} ({op}): {what}"));
        }
    }
    write_expansions(text, report);
    if !report.carried.is_empty() {
        let types = report.carried.iter().map(|each| (each.from, each.to));
        let bytes = report.carried.iter().map(|each| each.bytes).sum();
        text.push_line(format_args!(
            "  carried {} (bit-exact, {} more)",
            counted(types, "value", |(from, to)| format!("{from} as {to}")),
            byte_count(bytes)
        ));
    }
    for CarriedValue {
        value,
        from,
        to,
        role,
        ..
    } in &report.carried
    {
        let role = match role {
            CarriedRole::Input => "input",
            CarriedRole::Output => "output",
            _ => continue,
        };
        text.push_line(format_args!("  {role} {value} is {to}, no longer {from}"));
    }
    if verbose {
        for CarriedValue {
            value,
            from,
            to,
            bytes,
            ..
        } in &report.carried
        {
            text.push_line(format_args!(
                "    {value}: {from} as {to}, {} more",
                byte_count(*bytes)
            ));
        }
    }
    for NodeChange { node, op, what } in &report.warnings {
        text.push_line(format_args!("  warning: {node} ({op}): {what}"));
    }
}

fn refusal(model: &ConvertedModel, from: &str, to: &str, verbose: bool) -> Shown {
    let Conversion {
        report,
        blockers,
        nearest_opset,
        ..
    } = &model.changes;
    let is_invalid = blockers
        .iter()
        .all(|blocker| blocker.reason.is(Code::NodeInvalid));
    let nodes = plural(
        blockers.len(),
        if is_invalid {
            "invalid node"
        } else {
            "unsupported node"
        },
    );
    let mut text = Shown::line(format_args!(
        "{}: cannot convert from opset {from} to {to}: {nodes}",
        model.path
    ));
    for group in groups(blockers, verbose) {
        match group.as_slice() {
            [
                Blocker {
                    node,
                    op,
                    opset_step: (from, to),
                    reason,
                },
                _,
                ..,
            ] => {
                let nodes = plural(group.len(), "node");
                let step = if reason.is_about_step() {
                    format!(", opset {from} to {to}")
                } else {
                    String::new()
                };
                text.push_line(format_args!(
                    "    {op} ({nodes}, the first is {node}){step}: {reason}"
                ));
            }
            one => one
                .iter()
                .for_each(|blocker| text.push_line(format_args!("    {blocker}"))),
        }
    }
    for note in &model.saved.notes {
        text.push_line(format_args!("  {note}"));
    }
    match nearest_opset {
        Some(nearest) => {
            let is_down = report.to.get("ai.onnx") < report.from.get("ai.onnx");
            text.push_line(format_args!(
                "  the {} opset that works is {nearest}",
                if is_down { "lowest" } else { "highest" }
            ));
        }
        // Another opset does not make a node valid.
        None if is_invalid => {}
        None if blockers
            .iter()
            .any(|blocker| blocker.reason.is(Code::NoKernel)) =>
        {
            text.push_line(format_args!(
                "  no opset works in which the runtime has kernels for all nodes"
            ));
        }
        None if blockers
            .iter()
            .any(|blocker| blocker.reason.is(Code::WrongInTarget)) =>
        {
            text.push_line(format_args!(
                "  no opset works in which the runtime computes all nodes right"
            ));
        }
        None if is_next(from, to) => {}
        None => text.push_line(format_args!("  no opset between {from} and {to} works")),
    }
    text
}

/// Whether no opset is between two.
fn is_next(from: &str, to: &str) -> bool {
    let opsets = [from, to].map(str::parse::<u32>);
    matches!(opsets, [Ok(from), Ok(to)] if from.abs_diff(to) <= 1)
}

/// Blockers grouped by everything except the node, in the order of first occurrence; with
/// `verbose`, one group each.
fn groups(blockers: &[Blocker], verbose: bool) -> Vec<Vec<&Blocker>> {
    let mut groups: Vec<Vec<&Blocker>> = Vec::new();
    let mut places: HashMap<(&str, (i64, i64), &str), usize> = HashMap::default();
    for blocker in blockers {
        let place = if verbose {
            groups.len()
        } else {
            *places
                .entry((&blocker.op, blocker.opset_step, blocker.reason.text()))
                .or_insert(groups.len())
        };
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(blocker);
    }
    groups
}
