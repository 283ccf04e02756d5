//! `GRU`, `LSTM` and `RNN` across opsets.

use super::super::adapter::Action::{Drop, DropIf, Run, Write};
use super::super::adapter::{Adapter, Value, adapter};
use super::super::context::Context;
use super::super::reason::Reason;

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter(&["GRU"], 3)
        .up(&[Run(spell_forward)])
        .down(&[Write("direction", Value::String("forward")), DropIf("linear_before_reset", Value::Int(0))]),
    adapter(&["GRU", "LSTM", "RNN"], 7).up(&[Drop("output_sequence")]).down(&[Run(write_output_sequence)]),
    adapter(&["GRU", "LSTM", "RNN"], 14).down(&[DropIf("layout", Value::Int(0))]),
];

/// The default of version 1 is misspelt; it means the same.
fn spell_forward(cx: &mut Context) -> Result<(), Reason> {
    if cx.string("direction")?.as_deref() == Some("foward") {
        cx.set_string("direction", "forward");
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
