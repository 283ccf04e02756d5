//! `GRU`, `LSTM` and `RNN` across opsets.

use super::super::hop::Action::{Drop, DropIf, Run, Write};
use super::super::hop::{Hop, Reason, Value, hop};
use super::super::site::Site;

pub(super) const HOPS: &[Hop] = &[
    hop(&["GRU"], 3)
        .up(&[Run(spell_forward)])
        .down(&[Write("direction", Value::String("forward")), DropIf("linear_before_reset", Value::Int(0))]),
    hop(&["GRU", "LSTM", "RNN"], 7).up(&[Drop("output_sequence")]).down(&[Run(write_output_sequence)]),
    hop(&["GRU", "LSTM", "RNN"], 14).down(&[DropIf("layout", Value::Int(0))]),
];

/// The default of version 1 is misspelt; it means the same.
fn spell_forward(site: &mut Site) -> Result<(), Reason> {
    if site.string("direction")?.as_deref() == Some("foward") {
        site.set_string("direction", "forward");
    }
    Ok(())
}

/// The attribute said whether the first output had to be there.
fn write_output_sequence(site: &mut Site) -> Result<(), Reason> {
    if site.has_output(0) {
        site.set_int("output_sequence", 1);
    }
    Ok(())
}
