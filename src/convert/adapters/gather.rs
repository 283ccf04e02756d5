//! `Gather`, `OneHot`, `Scatter` and its successors across opsets.

use super::super::adapter::Action::{Becomes, DropIf, Run};
use super::super::adapter::{Adapter, Value, adapter};
use super::super::context::{Context, counted_from_front};
use super::super::reason::Code::{AttributeUnsupported, InputUnsupported};
use super::super::reason::Reason;
use crate::dtype::Class;

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter(&["Gather"], 11).down(&[Run(second_input_must_not_be_negative)]),
    adapter(&["OneHot"], 11)
        .up(&[Run(warn_of_negative_indices)])
        .down(&[Run(axis_counts_in_the_output), Run(first_input_must_not_be_negative)]),
    adapter(&["Scatter"], 11).up(&[Becomes("ScatterElements")]),
    adapter(&["ScatterElements"], 11).down(&[Run(second_input_must_not_be_negative), Becomes("Scatter")]),
    adapter(&["ScatterElements", "ScatterND"], 16).down(&[DropIf("reduction", Value::String("none"))]),
    adapter(&["ScatterElements", "ScatterND"], 18).down(&[Run(no_extremes)]),
];

fn second_input_must_not_be_negative(cx: &mut Context) -> Result<(), Reason> {
    must_not_be_negative(cx, 1)
}

fn first_input_must_not_be_negative(cx: &mut Context) -> Result<(), Reason> {
    must_not_be_negative(cx, 0)
}

/// Negative indices are new in opset 11.
fn must_not_be_negative(cx: &Context, index: usize) -> Result<(), Reason> {
    if cx.known_input(index).dtype().is_some_and(|dtype| dtype.class() == Class::Unsigned) {
        return Ok(());
    }
    let indices = cx
        .read_ints(index)
        .map_err(|reason| reason.code.because(format!("negative indices are not supported before opset 11, and {reason}")))?;
    match indices.iter().find(|&&index| index < 0) {
        Some(negative) => Err(InputUnsupported.because(format!("the negative index {negative} is not supported before opset 11"))),
        None => Ok(()),
    }
}

/// -1 always meant the last axis of the output.
fn axis_counts_in_the_output(cx: &mut Context) -> Result<(), Reason> {
    let axis = cx.int_or("axis", -1)?;
    if axis < -1 {
        let axis = counted_from_front(vec![axis], cx.rank(0)? + 1)?;
        cx.set_int("axis", axis[0]);
    }
    Ok(())
}

/// Negative indices select the "off" value by the text of version 9, and count from the back since version 11. Runtimes always
/// counted from the back.
fn warn_of_negative_indices(cx: &mut Context) -> Result<(), Reason> {
    match first_input_must_not_be_negative(cx) {
        Ok(()) => Ok(()),
        Err(_) => cx.warn(
            "negative indices select the \"off\" value by the text of opsets 9 and 10, and count from the back since opset 11",
        ),
    }
}

fn no_extremes(cx: &mut Context) -> Result<(), Reason> {
    match cx.string("reduction")?.as_deref() {
        Some(reduction @ ("max" | "min")) => {
            Err(AttributeUnsupported.because(format!("`reduction` = '{reduction}' is not supported before opset 18")))
        }
        _ => Ok(()),
    }
}
