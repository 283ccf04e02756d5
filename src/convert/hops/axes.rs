//! `axis` and `axes`: negative ones since opset 11, as an input since 13 or 18.

use super::super::hop::Action::{CountFromFront, Run, ToAttribute, ToInput};
use super::super::hop::{Hop, Kind, Reason, hop};
use super::super::site::{Site, counted_from_front};

const REDUCTIONS: &[&str] = &[
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
];
const REDUCTIONS_BUT_SUM: &[&str] = &[
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSumSquare",
];

pub(super) const HOPS: &[Hop] = &[
    hop(&["ArgMax", "ArgMin", "Compress", "Concat", "Flatten", "Hardmax", "LogSoftmax", "Softmax", "Split"], 11)
        .down(&[CountFromFront("axis")]),
    hop(REDUCTIONS, 11).down(&[CountFromFront("axes")]),
    hop(&["ReduceSum"], 13).up(&[Run(axes_must_not_be_empty), ToInput("axes", 1, Kind::Ints)]).down(&[Run(axes_become_attribute)]),
    hop(REDUCTIONS_BUT_SUM, 18)
        .up(&[Run(axes_must_not_be_empty), ToInput("axes", 1, Kind::Ints)])
        .down(&[Run(axes_become_attribute)]),
    hop(&["Squeeze"], 11).down(&[CountFromFront("axes")]),
    hop(&["Unsqueeze"], 11).down(&[Run(count_in_the_output)]),
    hop(&["Squeeze", "Unsqueeze"], 13).up(&[ToInput("axes", 1, Kind::Ints)]).down(&[ToAttribute(1, "axes", Kind::Ints)]),
];

/// An empty list could mean all axes or none.
fn axes_must_not_be_empty(site: &mut Site) -> Result<(), Reason> {
    match site.ints("axes")? {
        Some(axes) if axes.is_empty() => Err("it is not said whether empty `axes` mean all axes or none".to_owned()),
        _ => Ok(()),
    }
}

/// 1. Axes are given: `noop_with_empty_axes` has no effect. 2. None are given, and that means all: as it always did.
/// 3. None are given, and that means none: the values stay as they are where the reduction does nothing else to them.
fn axes_become_attribute(site: &mut Site) -> Result<(), Reason> {
    let axes = match site.input(1) {
        Some(_) => site.read_ints(1)?,
        None => Vec::new(),
    };
    let is_noop = axes.is_empty() && site.int_or("noop_with_empty_axes", 0)? != 0;
    site.take_input(1);
    site.remove_attribute("noop_with_empty_axes");
    if is_noop {
        if !matches!(site.node.op_type(), "ReduceMax" | "ReduceMean" | "ReduceMin" | "ReduceProd" | "ReduceSum") {
            return Err("without axes to reduce it still computes, which cannot be said before".to_owned());
        }
        site.remove_attribute("keepdims");
        site.rename_operator("Identity");
    } else if !axes.is_empty() {
        site.set_ints("axes", axes);
    }
    Ok(())
}

/// `Unsqueeze` counts its axes in the shape that results.
fn count_in_the_output(site: &mut Site) -> Result<(), Reason> {
    let axes = site.ints("axes")?.unwrap_or_default();
    if axes.iter().all(|&axis| axis >= 0) {
        return Ok(());
    }
    let rank = site.rank(0)? + axes.len();
    site.set_ints("axes", counted_from_front(axes, rank)?);
    Ok(())
}
