//! The opset in which a runtime has kernels for all nodes of a model.

use super::ConversionPlan;
use super::kernels::{Gap, Wanted};
use crate::base::error::Invalid;
use crate::convert::Options;
use crate::convert::simplify::CheckOfPasses;
use crate::graph::Model;
use crate::ops::inference::Deferred;
use crate::ops::kernels::unknown_kernels;
use crate::ops::schemas;

/// A plan, and the opset that it is for.
pub(in crate::convert) struct PlanForOpset {
    pub opset: i64,
    pub plan: ConversionPlan,
    /// Why it is not the opset of the options, and what is not certain.
    pub notes: Vec<String>,
}

/// The plan for the opset of the options. If the runtime lacks kernels in this opset, the plan for
/// the closest lower opset with kernels for all nodes, or else for the closest higher one. If no
/// opset has kernels for all nodes, the plan has blockers.
///
/// # Errors
/// If the operation is cancelled.
pub(in crate::convert) fn plan(
    model: &Model,
    inferred: &Deferred,
    options: &Options,
    check: Option<CheckOfPasses>,
) -> Result<PlanForOpset, Invalid> {
    let mut notes: Vec<String> = options
        .runtime
        .and_then(|runtime| runtime.note())
        .into_iter()
        .collect();
    let (Some(runtime), Some(wanted)) = (options.runtime, options.runtime.and_then(Wanted::of))
    else {
        notes.extend(
            options
                .runtime
                .and_then(|runtime| unknown_kernels(&runtime)),
        );
        return Ok(PlanForOpset {
            opset: options.opset,
            plan: ConversionPlan::with_legal_types(model, inferred, options, None, check)?,
            notes,
        });
    };
    let plan_for = |opset: i64| {
        ConversionPlan::with_legal_types(
            model,
            inferred,
            &options.clone().opset(opset),
            Some(wanted),
            check,
        )
    };
    let first = plan_for(options.opset)?;
    let why = first
        .blockers
        .iter()
        .find(|blocker| blocker.reason.is_about_runtime())
        .map(ToString::to_string);
    let (opset, plan) = search(options.opset, first, runtime.newest_opset(), plan_for)?;
    if let Some(why) = why.filter(|_| opset != options.opset) {
        notes.push(format!(
            "opset {opset} is used instead of {}: {why}",
            options.opset
        ));
    }
    if plan.kernels.undecided > 0 {
        notes.push(wanted.uncertainty(plan.kernels.undecided));
    }
    Ok(PlanForOpset { opset, plan, notes })
}

/// The first plan, or the one for the closest opset in which all nodes have kernels.
fn search(
    limit: i64,
    first: ConversionPlan,
    newest: i64,
    plan_for: impl Fn(i64) -> Result<ConversionPlan, Invalid>,
) -> Result<(i64, ConversionPlan), Invalid> {
    if first.kernels.gaps.is_empty() {
        return Ok((limit, first));
    }
    for next in [ConversionPlan::next_lower, ConversionPlan::next_higher] {
        let mut candidate = next(&first, limit);
        // Lower opsets may exceed the newest one of the runtime, higher ones may not.
        while let Some(opset) = candidate.filter(|&opset| opset <= newest.max(limit)) {
            let plan = plan_for(opset)?;
            if plan.blockers.is_empty() {
                return Ok((opset, plan));
            }
            candidate = next(&plan, opset);
        }
    }
    Ok((limit, first))
}

impl ConversionPlan {
    /// Whether the runtime is the only obstacle.
    pub fn is_converted(&self) -> bool {
        self.blockers
            .iter()
            .all(|blocker| blocker.reason.is_about_runtime())
    }

    /// The highest lower opset than this one in which the nodes without a kernel may be others: a
    /// conversion to a lower opset passes through the nodes of this plan.
    pub fn next_lower(&self, opset: i64) -> Option<i64> {
        let before = |gap: &Gap| {
            let schema = gap.schema?;
            Some(if gap.depends_on_opset {
                opset - 1
            } else {
                schema.since_version - 1
            })
        };
        let lower = self
            .kernels
            .gaps
            .iter()
            .map(before)
            .collect::<Option<Vec<i64>>>()?
            .into_iter()
            .min();
        lower.filter(|&opset| opset >= 1 && self.is_converted())
    }

    /// The lowest opset above this one in which the nodes without a kernel are others.
    pub fn next_higher(&self, opset: i64) -> Option<i64> {
        let after = |gap: &Gap| {
            let schema = gap.schema?;
            let next = schemas::versions("", schema.name)
                .iter()
                .map(|next| next.since_version);
            if gap.depends_on_opset {
                Some(opset + 1)
            } else {
                next.into_iter().find(|&next| next > schema.since_version)
            }
        };
        let higher = self
            .kernels
            .gaps
            .iter()
            .map(after)
            .collect::<Option<Vec<i64>>>()?
            .into_iter()
            .max();
        higher.filter(|&higher| higher > opset && self.is_converted())
    }

    /// The next opset above this one, of a downgrade, in which the nodes without a kernel may be
    /// others.
    pub fn next_above(&self, opset: i64) -> i64 {
        let is_kept = |gap: &&Gap| !gap.is_added && !gap.depends_on_opset && gap.schema.is_some();
        let kept = self.kernels.gaps.iter().filter(is_kept).filter_map(|gap| {
            let schema = gap.schema?;
            schemas::versions("", schema.name)
                .iter()
                .map(|next| next.since_version)
                .find(|&next| next > opset)
        });
        kept.max().unwrap_or(opset + 1)
    }
}
