//! The lowest opset to which a model can be converted.

use super::ConversionPlan;
use super::kernels::Wanted;
use super::valid;
use crate::convert::Options;
use crate::graph::{Model, ScopeId};
use crate::ops::inference::Deferred;

/// The lowest opset to which a model can be converted, and in which the runtime of the options has
/// kernels, if they name one: its own if none below that works. `None` if it does not import
/// ai.onnx.
#[must_use]
pub fn lowest(model: &Model, options: &Options) -> Option<i64> {
    let from = model.opset(ScopeId::MAIN, "")?;
    let highest = options
        .runtime
        .map_or(from, |runtime| from.min(runtime.newest_opset()));
    let wanted = options.runtime.and_then(Wanted::of);
    Some(search(model, options, (from, highest), |_| wanted).unwrap_or(highest))
}

/// The lowest opset to which a model can be converted, and in which a listed version of onnxruntime
/// runs it. If there is none, as [`lowest`].
#[must_use]
pub fn lowest_that_runs(model: &Model, options: &Options) -> Option<i64> {
    let from = model.opset(ScopeId::MAIN, "")?;
    search(model, options, (from, from), Wanted::any_that_loads).or_else(|| lowest(model, options))
}

/// The lowest opset, up to the highest, that one of the wanted versions runs; none if there is
/// none.
fn search(
    model: &Model,
    options: &Options,
    (from, highest): (i64, i64),
    wanted: impl Fn(i64) -> Option<Wanted>,
) -> Option<i64> {
    let inferred = Deferred::with(options.contested);
    let mut opset = if valid::check(model, &inferred, 0).is_ok() {
        1
    } else {
        from
    };
    while opset <= highest {
        let wanted = wanted(opset);
        if opset == from && wanted.is_none() {
            return Some(from);
        }
        // A cancelled plan is none: the operation that follows reports it.
        let Ok(plan) = ConversionPlan::with_legal_types(
            model,
            &inferred,
            &options.clone().opset(opset),
            wanted,
            None,
        ) else {
            return Some(from);
        };
        if plan.blockers.is_empty() && (wanted.is_none() || !plan.kernels.runs.is_empty()) {
            return Some(opset);
        }
        opset = if plan.is_converted() {
            plan.next_above(opset)
        } else {
            // A conversion that is blocked is blocked in all opsets up to the nearest one.
            plan.nearest(from, opset).unwrap_or(from).max(opset + 1)
        };
    }
    None
}
