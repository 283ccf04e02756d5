//! `GRU`, `LSTM` and `RNN` across opsets.

use super::super::context::Context;
use super::super::reason::Reason;
use super::adapter::{Adapter, Drop, DropIf, RenameValue, Run, Value, Write, adapter};
use crate::ops::inference::Known;
use crate::protobuf::schema::AttributeProto;

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter("GRU", 3)
        // The default of version 1 is misspelt; it means the same.
        .up(&[RenameValue("direction", "foward", "forward")])
        .down(&[
            Write("direction", Value::String("forward")),
            DropIf("linear_before_reset", Value::Int(0)),
        ]),
    adapter("GRU LSTM RNN", 7)
        .up(&[Drop("output_sequence")])
        .down(&[Run(write_output_sequence)]),
    adapter("GRU LSTM RNN", 14).down(&[Run(time_becomes_first)]),
];

/// With `layout` = 1, the first axis of data, states and results is the batch.
fn time_becomes_first(cx: &mut Context) -> Result<(), Reason> {
    let layout = cx.int_or("layout", 0)?;
    cx.remove_attribute("layout");
    if layout == 0 {
        return Ok(());
    }
    let known = |rank: usize, value_type| Known {
        value_type,
        shape: Some(vec![None; rank]),
    };
    let perm = |axes: &[i64]| vec![AttributeProto::ints("perm", axes.to_vec())];
    for (index, suffix) in [(0, "time_first_data"), (5, "initial_h"), (6, "initial_c")] {
        if let Some(name) = cx.input(index).map(str::to_owned) {
            let known = known(3, cx.input_type(index));
            let turned = cx.add_before("Transpose", &[&name], perm(&[1, 0, 2]), suffix, known);
            cx.set_input(index, &turned);
        }
    }
    for (index, rank, axes) in [
        (2, 3, &[1, 0, 2][..]),
        (1, 3, &[1, 0, 2]),
        (0, 4, &[2, 0, 1, 3]),
    ] {
        if cx.has_output(index) {
            let known = known(rank, cx.output_type(index));
            cx.add_after_output(index, "Transpose", &[], perm(axes), "time_first", known);
        }
    }
    Ok(())
}

/// The attribute states whether the first output is computed.
fn write_output_sequence(cx: &mut Context) -> Result<(), Reason> {
    if cx.has_output(0) {
        cx.set_int("output_sequence", 1);
    }
    Ok(())
}
