//! The IR version of the result.

use super::Options;
use crate::error::Invalid;
use crate::facts;
use crate::graph::Model;
use crate::ir_version::{LATEST, OPSET_IMPORT, OWN_INITIALIZERS};

/// The IR version of the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IrVersion {
    /// The lowest that the opset and the model's contents need when downgrading; when upgrading, never lowered.
    #[default]
    Auto,
    /// That of the model.
    Keep,
    /// This version.
    Number(i64),
}

/// The IR version of the converted model. Before IR 4 new initializers must be inputs too: such a version is used on request only.
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
            let what = format!("--ir-version keep: opset imports need IR version {OPSET_IMPORT}, and the model has {present}");
            Err(Invalid::at("model", what))
        }
        IrVersion::Keep => Ok(present),
        IrVersion::Number(number) if number < least => {
            let what = format!("--ir-version {number} is too low: {} needs {least}", need.what);
            Err(Invalid::at("model", what))
        }
        IrVersion::Number(number) if number > LATEST => {
            let what = format!("unknown IR version {number}: this version of recast supports up to {LATEST}");
            Err(Invalid::at("--ir-version", what))
        }
        IrVersion::Number(number) => Ok(number),
    }
}
