//! Plans the conversion of a model, and applies the plan if nothing blocks it.

use super::plan::Plan;
use super::{Conversion, NotConverted, Options, Report, ir};
use crate::error::Invalid;
use crate::facts::LATEST_OPSET;
use crate::graph::{Edit, Model, ScopeId, is_onnx_domain};

/// Converts a model to an opset of ai.onnx.
///
/// # Errors
/// If nodes cannot be converted, with all of them; if the options are invalid, or the model imports no known opset.
pub fn convert(model: Model, options: &Options) -> Result<Conversion, NotConverted> {
    if !(1..=LATEST_OPSET).contains(&options.opset) {
        let what = format!("unknown opset {}: this version of recast supports 1 to {LATEST_OPSET}", options.opset);
        return Err(Invalid::at("--opset", what).into());
    }
    let from = stated_opset(&model)?;
    let plan = Plan::new(&model, options)?;
    if !plan.blockers.is_empty() {
        let nearest = plan.nearest(from, options.opset);
        return Err(NotConverted::Blocked { from, blockers: plan.blockers, nearest });
    }
    let adds_initializers = plan.edits.iter().any(|edit| matches!(edit, Edit::AddInitializer { .. }));
    let ir_to = ir::choose(&model, from, adds_initializers, options)?;
    let report = Report {
        from,
        to: options.opset,
        ir_from: model.ir_version(),
        ir_to,
        changes: plan.changes,
        expansions: plan.expansions,
        warnings: plan.warnings,
    };
    let mut edits = plan.edits;
    if ir_to != model.ir_version() {
        edits.push(Edit::SetIrVersion(ir_to));
    }
    let model = model.apply(edits).map_err(|refused| refused.0)?;
    Ok(Conversion { model, report })
}

/// The opset that the model imports, if it is exactly one and known.
fn stated_opset(model: &Model) -> Result<i64, Invalid> {
    let imports = &model.proto().opset_import;
    let mut stated = imports.iter().filter(|import| is_onnx_domain(import.domain()));
    match (stated.next().map(|import| import.version()), stated.next()) {
        (Some(_), Some(_)) => Err(Invalid::at("opset_import", "more than one opset of ai.onnx")),
        (Some(version), None) if (1..=LATEST_OPSET).contains(&version) => Ok(version),
        (Some(version), None) => {
            let what = format!("unknown opset {version} of ai.onnx: this version of recast supports 1 to {LATEST_OPSET}");
            Err(Invalid::at("opset_import", what))
        }
        (None, _) => {
            model.opset(ScopeId::MAIN, "").ok_or_else(|| Invalid::at("opset_import", "no opset of ai.onnx to convert from"))
        }
    }
}
