//! The IR version of the result.

use super::functions;
use crate::base::error::Invalid;
use crate::convert::{IrVersion, NotConverted, Options, Remedy};
use crate::graph::Model;
use crate::ops::needs::{self, Need};
use crate::protobuf::ir_version::{LATEST, OPSET_IMPORT, OWN_INITIALIZERS};

/// Whether functions may be added.
pub(super) fn allows_functions(model: &Model, options: &Options) -> bool {
    let newest = match options.ir_version {
        IrVersion::Auto => LATEST,
        IrVersion::Keep => model.ir_version(),
        IrVersion::Number(number) | IrVersion::AtMost(number) => number,
    };
    newest >= functions::SINCE_IR
}

/// The IR version of the converted model, and what needs it, if the opset does not. Before IR 4 new
/// initializers must be inputs too: such a version is used on request only.
///
/// A model that does not import ai.onnx has no opset that needs a version: it is lowered to the
/// version of the target's release, as far as its contents allow, and raised to what its contents
/// need.
pub(in crate::convert) fn choose(
    model: &Model,
    from: Option<i64>,
    adds_initializers: bool,
    adds_functions: bool,
    options: &Options,
) -> Result<(i64, Option<String>), NotConverted> {
    let present = model.ir_version();
    let mut needs = needs::contents(model);
    let contents = needs
        .iter()
        .map(|need| need.ir)
        .fold(OPSET_IMPORT, i64::max);
    let of_target = Need::of_opset(options.opset);
    let of_target_ir = of_target.ir;
    let release = of_target.ir.max(contents);
    if from.is_some() {
        needs.push(of_target);
    }
    let need = needs.iter().max_by_key(|need| need.ir);
    let least = need.map_or(OPSET_IMPORT, |need| need.ir.max(OPSET_IMPORT));
    let least = match options.ir_version {
        IrVersion::Auto | IrVersion::AtMost(_) if adds_initializers => least.max(OWN_INITIALIZERS),
        _ => least,
    };
    let least = if adds_functions {
        least.max(functions::SINCE_IR)
    } else {
        least
    };
    let auto = match from {
        Some(from) if options.opset < from => least,
        Some(_) => present.max(least),
        None => present.min(release).max(least),
    };
    let chosen = match options.ir_version {
        IrVersion::Auto => Ok(auto),
        IrVersion::Keep if present < OPSET_IMPORT => {
            let what =
                format!("IR version {present} cannot be kept: opset imports need {OPSET_IMPORT}");
            Err(Invalid::at("model", what).into())
        }
        IrVersion::Keep => Ok(present),
        IrVersion::Number(number) | IrVersion::AtMost(number) if number < least => {
            let what = need.map_or("opset_import", |need| &need.what);
            let error = Invalid::at(
                "model",
                format!("IR version {number} is too low: {what} needs {least}"),
            );
            let others = needs
                .iter()
                .filter(|need| !need.is_metadata)
                .map(|need| need.ir)
                .max();
            if others.is_none_or(|others| others <= number) {
                Err(NotConverted::Avoidable {
                    error,
                    remedy: Remedy::DropMetadata,
                })
            } else {
                Err(error.into())
            }
        }
        IrVersion::AtMost(newest) => Ok(auto.min(newest)),
        IrVersion::Number(number) if number > LATEST => {
            let what = format!(
                "unknown IR version {number}: this version of recast supports up to {LATEST}"
            );
            Err(Invalid::at("IR version", what).into())
        }
        IrVersion::Number(number) => Ok(number),
    };
    chosen.map(|chosen| {
        let needs_more = need.filter(|need| need.ir == chosen && need.ir > of_target_ir);
        (chosen, needs_more.map(|need| need.what.clone()))
    })
}
