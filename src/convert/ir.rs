//! The IR version of the result.

use super::Options;
use crate::error::Invalid;
use crate::facts;
use crate::graph::Model;
use crate::ir_version::{LATEST, OPSET_IMPORT, OWN_INITIALIZERS};

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

/// The IR version that the converted model states. Before IR 4 new initializers would have to be new inputs: that is done on
/// request only.
pub(super) fn choose(model: &Model, from: i64, adds_initializers: bool, options: &Options) -> Result<i64, Invalid> {
    let present = model.ir_version();
    let need = facts::ir_needed(model, options.opset);
    let least = need.ir.max(OPSET_IMPORT);
    let least = match options.ir_version {
        IrVersion::Auto if adds_initializers => least.max(OWN_INITIALIZERS),
        _ => least,
    };
    match options.ir_version {
        IrVersion::Auto if options.opset < from => Ok(least),
        IrVersion::Auto => Ok(present.max(least)),
        IrVersion::Keep if present < OPSET_IMPORT => {
            let what = format!("--ir-version keep: IR version {present} cannot state an opset, which {OPSET_IMPORT} can");
            Err(Invalid::at("model", what))
        }
        IrVersion::Keep => Ok(present),
        IrVersion::Number(number) if number < least => {
            let what = format!("--ir-version {number} is too low: {} needs {least}", need.what);
            Err(Invalid::at("model", what))
        }
        IrVersion::Number(number) if number > LATEST => {
            let what = format!("there is no IR version {number}: this version of recast knows those up to {LATEST}");
            Err(Invalid::at("--ir-version", what))
        }
        IrVersion::Number(number) => Ok(number),
    }
}
