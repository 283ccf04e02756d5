//! `Gather`, `OneHot`, `Scatter` and its successors across opsets.

use super::super::hop::Action::{Becomes, DropIf, Run};
use super::super::hop::{Hop, Reason, Value, hop};
use super::super::site::{Site, counted_from_front};
use crate::dtype::Class;

pub(super) const HOPS: &[Hop] = &[
    hop(&["Gather"], 11).down(&[Run(second_input_must_not_be_negative)]),
    hop(&["OneHot"], 11)
        .up(&[Run(warn_of_negative_indices)])
        .down(&[Run(axis_counts_in_the_output), Run(first_input_must_not_be_negative)]),
    hop(&["Scatter"], 11).up(&[Becomes("ScatterElements")]),
    hop(&["ScatterElements"], 11).down(&[Run(second_input_must_not_be_negative), Becomes("Scatter")]),
    hop(&["ScatterElements", "ScatterND"], 16).down(&[DropIf("reduction", Value::String("none"))]),
    hop(&["ScatterElements", "ScatterND"], 18).down(&[Run(no_extremes)]),
];

fn second_input_must_not_be_negative(site: &mut Site) -> Result<(), Reason> {
    must_not_be_negative(site, 1)
}

fn first_input_must_not_be_negative(site: &mut Site) -> Result<(), Reason> {
    must_not_be_negative(site, 0)
}

/// Indices that count from the back are new in opset 11.
fn must_not_be_negative(site: &Site, index: usize) -> Result<(), Reason> {
    if site.known_input(index).dtype().is_some_and(|dtype| dtype.class() == Class::Unsigned) {
        return Ok(());
    }
    let indices = site.read_ints(index).map_err(|reason| format!("negative indices are new in opset 11, and {reason}"))?;
    match indices.iter().find(|&&index| index < 0) {
        Some(negative) => Err(format!("the negative index {negative} is new in opset 11")),
        None => Ok(()),
    }
}

/// -1 always meant the last axis of the output.
fn axis_counts_in_the_output(site: &mut Site) -> Result<(), Reason> {
    let axis = site.int_or("axis", -1)?;
    if axis < -1 {
        let axis = counted_from_front(vec![axis], site.rank(0)? + 1)?;
        site.set_int("axis", axis[0]);
    }
    Ok(())
}

/// The texts differ for indices below zero: the value of "off" in version 9, counted from the back since. Runtimes always counted
/// from the back.
fn warn_of_negative_indices(site: &mut Site) -> Result<(), Reason> {
    match first_input_must_not_be_negative(site) {
        Ok(()) => Ok(()),
        Err(_) => {
            site.warn("an index below zero gives no \"on\" value by the text of opset 9 and 10, and counts from the back since")
        }
    }
}

fn no_extremes(site: &mut Site) -> Result<(), Reason> {
    match site.string("reduction")?.as_deref() {
        Some(reduction @ ("max" | "min")) => Err(format!("`reduction` = '{reduction}' is new in opset 18")),
        _ => Ok(()),
    }
}
