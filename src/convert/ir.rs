//! The IR version of the result.

use super::Options;
use crate::error::Invalid;
use crate::facts;
use crate::graph::Model;

/// What the IR version of the result is to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IrVersion {
    /// At least what the opset and the model's contents need; lowered with the opset as far as these allow.
    #[default]
    Auto,
    /// The one that the model has.
    Keep,
    /// This one.
    Number(i64),
}

/// The oldest IR version that can state an opset.
const FIRST_WITH_OPSETS: i64 = 3;

/// The oldest IR version whose initializers need not be inputs.
const FIRST_WITH_OWN_INITIALIZERS: i64 = 4;

/// The IR version that the converted model states. Before IR 4 new initializers would have to be new inputs: that is done on
/// request only.
pub(super) fn choose(model: &Model, from: i64, adds_initializers: bool, options: &Options) -> Result<i64, Invalid> {
    let present = model.ir_version();
    let need = facts::ir_needed(model, options.opset);
    let least = need.ir.max(FIRST_WITH_OPSETS);
    let least = match options.ir_version {
        IrVersion::Auto if adds_initializers => least.max(FIRST_WITH_OWN_INITIALIZERS),
        _ => least,
    };
    match options.ir_version {
        IrVersion::Auto if options.opset < from => Ok(least),
        IrVersion::Auto => Ok(present.max(least)),
        IrVersion::Keep if present < FIRST_WITH_OPSETS => {
            let what = format!("--ir-version keep: IR version {present} cannot state an opset, which {FIRST_WITH_OPSETS} can");
            Err(Invalid::at("model", what))
        }
        IrVersion::Keep => Ok(present),
        IrVersion::Number(number) if number < least => {
            let what = format!("--ir-version {number} is too low: {} needs {least}", need.what);
            Err(Invalid::at("model", what))
        }
        IrVersion::Number(number) => Ok(number),
    }
}
