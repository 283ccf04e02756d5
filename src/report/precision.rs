//! The report of `recast precision`.

use serde::Serialize;

use super::changed::ChangedModel;
use super::format::{plural, write_reasons};
use super::prepared::{Prepared, write_prepared};
use crate::base::error::shortened;
use crate::base::printable::Shown;
use crate::precision::{AddedCast, AddedFunction, KeptNode, LaterOpset, NarrowedTensor, Report};

/// One model of a run whose precision changed.
pub type PrecisionModel = ChangedModel<Narrowing>;

/// The changes of a change of precision.
#[derive(Debug, Serialize)]
pub struct Narrowing {
    /// The opsets of ai.onnx before and after, if `--opset` changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opset: Option<Opsets>,
    /// Changes made before the change of precision.
    #[serde(flatten)]
    pub prepared: Prepared,
    /// The changed values, and the kept nodes with reasons.
    #[serde(flatten)]
    pub report: Report,
}

/// An opset before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Opsets {
    /// Before.
    pub from: i64,
    /// After.
    pub to: i64,
}

/// The text report: totals, or with `verbose` every cast, tensor and node.
#[must_use]
pub fn precision_text(model: &PrecisionModel, verbose: bool) -> Shown {
    model.text(|text| write_changes(text, &model.changes, verbose))
}

fn write_changes(
    text: &mut Shown,
    Narrowing {
        opset,
        prepared,
        report,
    }: &Narrowing,
    verbose: bool,
) {
    if let Some(Opsets { from, to }) = opset {
        text.push_line(format_args!("  opset {from} -> {to}"));
    }
    write_prepared(text, prepared, verbose);
    if report.is_unchanged() {
        text.push_line(format_args!("  nothing to change"));
    } else {
        let values = plural(report.changed_values, "value");
        match report.emulation {
            None => text.push_line(format_args!("  changed {values} to {}", report.to)),
            Some(_) => text.push_line(format_args!("  emulated {} for {values}", report.to)),
        }
        write_tensors(
            text,
            &report.tensors,
            if report.emulation.is_some() {
                "rounded"
            } else {
                "cast"
            },
            verbose,
        );
        write_functions(text, &report.functions_added, verbose);
        write_casts(text, report, verbose);
    }
    write_kept(text, &report.kept, verbose);
    if let Some(LaterOpset { opset, nodes }) = report.later_opset {
        let nodes = plural(nodes, "more node");
        text.push_line(format_args!(
            "  opset {opset} would admit {nodes} to {}; use --opset {opset}",
            report.to
        ));
    }
}

fn write_tensors(text: &mut Shown, tensors: &[NarrowedTensor], done: &str, verbose: bool) {
    if tensors.is_empty() {
        return;
    }
    let elements = tensors.iter().map(|tensor| tensor.elements).sum::<u64>();
    let (constants, elements) = (
        plural(tensors.len(), "constant"),
        plural(elements as usize, "element"),
    );
    text.push_line(format_args!(
        "  {done} {constants} of {elements}{}",
        losses(tensors)
    ));
    for tensor in tensors.iter().filter(|_| verbose) {
        let NarrowedTensor {
            tensor: path,
            elements,
            from,
            to,
            ..
        } = tensor;
        let (elements, losses) = (
            plural(*elements as usize, "element"),
            losses(std::slice::from_ref(tensor)),
        );
        text.push_line(format_args!(
            "    {path}: {from} to {to}, {elements}{losses}"
        ));
    }
    // A number that is not the rounded one is always listed.
    for tensor in tensors
        .iter()
        .filter(|tensor| !verbose && tensor.overflowed > 0)
    {
        text.push_line(format_args!(
            "    {}{}",
            tensor.tensor,
            losses(std::slice::from_ref(tensor))
        ));
    }
}

/// The losses of the numbers of tensors, as a clause behind a colon; empty if nothing is known of
/// it.
fn losses(tensors: &[NarrowedTensor]) -> String {
    let count = |of: fn(&NarrowedTensor) -> u64| tensors.iter().map(of).sum::<u64>();
    let bounds: Vec<f32> = tensors.iter().filter_map(|tensor| tensor.bound).collect();
    let became = match bounds.as_slice() {
        [] => "infinite".to_owned(),
        [first, others @ ..] if others.iter().all(|other| other == first) => {
            format!("±{}", magnitude(*first))
        }
        _ => "bounded".to_owned(),
    };
    let beyond = tensors.iter().filter(|tensor| tensor.overflowed > 0);
    let largest = beyond
        .map(|tensor| tensor.largest)
        .collect::<Option<Vec<f64>>>();
    let largest = largest.and_then(|all| all.into_iter().reduce(f64::max));
    let up_to = largest.map_or_else(String::new, |largest| {
        format!(" (up to {})", magnitude(largest as f32))
    });
    let losses = [
        (
            count(|tensor| tensor.overflowed),
            format!("beyond the range{up_to}, now {became}"),
        ),
        (count(|tensor| tensor.became_zero), "became zero".to_owned()),
        (
            count(|tensor| tensor.became_subnormal),
            "became subnormal".to_owned(),
        ),
    ];
    let counted = losses
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"));
    let error = tensors
        .iter()
        .map(|tensor| tensor.largest_relative_error)
        .fold(0.0, f64::max);
    let error = (error > 0.0).then(|| format!("largest relative error {error:.1e}"));
    let all: Vec<String> = counted.chain(error).collect();
    if all.is_empty() {
        String::new()
    } else {
        format!(": {}", all.join(", "))
    }
}

/// A magnitude with all its digits; a large one in scientific notation.
fn magnitude(number: f32) -> String {
    if number < 1e6 {
        number.to_string()
    } else {
        format!("{number:e}")
    }
}

fn write_functions(text: &mut Shown, functions: &[AddedFunction], verbose: bool) {
    if functions.is_empty() {
        return;
    }
    text.push_line(format_args!(
        "  copied {} for the calls that change their types",
        plural(functions.len(), "function")
    ));
    for AddedFunction {
        domain,
        name,
        copy_of,
        calls,
        ..
    } in functions.iter().filter(|_| verbose)
    {
        let [domain, name, copy_of] = [domain, name, copy_of].map(|name| shortened(name));
        text.push_line(format_args!(
            "    {domain}:{copy_of} to {domain}:{name}, called by {}",
            calls.join(", ")
        ));
    }
}

fn write_casts(text: &mut Shown, report: &Report, verbose: bool) {
    let (added, what) = match &report.emulation {
        None => (&report.casts_added, "cast"),
        Some(emulation) => (&emulation.roundings, "rounding"),
    };
    text.push_line(format_args!("  added {}", plural(added.len(), what)));
    for AddedCast {
        node,
        value,
        from,
        to,
        ..
    } in added.iter().filter(|_| verbose)
    {
        text.push_line(format_args!("    {node}: {value} {from} to {to}"));
    }
    if !report.casts_removed.is_empty() {
        text.push_line(format_args!(
            "  removed {}",
            plural(report.casts_removed.len(), "cast")
        ));
        for node in report.casts_removed.iter().filter(|_| verbose) {
            text.push_line(format_args!("    {node}"));
        }
    }
}

fn write_kept(text: &mut Shown, kept: &[KeptNode], verbose: bool) {
    if kept.is_empty() {
        return;
    }
    text.push_line(format_args!(
        "  kept the types of {}",
        plural(kept.len(), "node")
    ));
    if verbose {
        for KeptNode {
            node, op, reason, ..
        } in kept
        {
            text.push_line(format_args!("    {node} ({op}): {reason}"));
        }
        return;
    }
    write_reasons(
        text,
        kept.iter().map(|kept| (&*kept.node, kept.reason.text(), 1)),
    );
}
