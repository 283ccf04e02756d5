//! Plans the way of every node of a model, and takes it if nothing is in the way.

use super::plan::Plan;
use super::{Conversion, NotConverted, Options, Report, ir};
use crate::error::Invalid;
use crate::facts::LATEST_OPSET;
use crate::graph::{Edit, Model, ScopeId};

/// Moves a model to an opset of ai.onnx.
///
/// # Errors
/// Where a node cannot move, with all such nodes; where the request cannot be met, or the model states no opset.
pub fn convert(model: Model, options: &Options) -> Result<Conversion, NotConverted> {
    if !(1..=LATEST_OPSET).contains(&options.opset) {
        let what = format!("there is no opset {}: this version of recast knows 1 to {LATEST_OPSET}", options.opset);
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
    let report =
        Report { from, to: options.opset, ir_from: model.ir_version(), ir_to, changes: plan.changes, warnings: plan.warnings };
    let mut edits = plan.edits;
    if ir_to != model.ir_version() {
        edits.push(Edit::SetIrVersion(ir_to));
    }
    let model = model.apply(edits).map_err(|refused| refused.0)?;
    Ok(Conversion { model, report })
}

/// The opset of ai.onnx that the model is in.
fn stated_opset(model: &Model) -> Result<i64, Invalid> {
    match model.opset(ScopeId::MAIN, "") {
        Some(version) if (1..=LATEST_OPSET).contains(&version) => Ok(version),
        Some(version) => {
            let what = format!("opset {version} of ai.onnx is none that this version of recast knows (1 to {LATEST_OPSET})");
            Err(Invalid::at("opset_import", what))
        }
        None => Err(Invalid::at("opset_import", "states no opset of ai.onnx, so that there is nothing to convert from")),
    }
}
