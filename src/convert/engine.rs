//! Plans the conversion of a model, and applies the plan if nothing blocks it.

use super::legalize::{Legalized, Places};
use super::plan::copies::{Copied, copied};
use super::plan::target_opset::{self, PlanForOpset};
use super::plan::{ir, valid};
use super::simplify::CheckOfPasses;
use super::{NotConverted, Options, Report};
use crate::base::error::Invalid;
use crate::graph::{Edit, Model, ScopeId, ScopeKind};
use crate::ops::inference::Deferred;
use crate::ops::schemas::LATEST_OPSET;

/// A converted model.
#[derive(Debug)]
pub struct Conversion {
    /// The model.
    pub model: Model,
    /// The changes that were made.
    pub report: Report,
}

/// The edits of a conversion without blockers, and their report.
pub(crate) struct PlannedConversion {
    /// The model with values of wider types, if the conversion needs them.
    legalized: Option<Legalized>,
    /// This model or the given one with copies of functions, if the conversion needs them.
    copied: Option<Model>,
    edits: Vec<Edit>,
    report: Report,
}

impl PlannedConversion {
    /// The changes that will be made.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The model with values of wider types that is converted in place of the given one, if its
    /// types need that.
    pub fn legalized(&self) -> Option<&Model> {
        self.legalized.as_ref().map(|legalized| &legalized.model)
    }

    /// The path by which the report names a node of the model that is converted.
    pub fn reported_path(&self, path: String) -> String {
        let place = self
            .legalized
            .as_ref()
            .and_then(|each| each.places.of(&path));
        place.map_or(path, |place| place.path.clone())
    }

    /// Converts the model that the conversion was planned for.
    ///
    /// # Errors
    /// If the result violates an invariant of the model.
    pub fn apply(self, model: Model) -> Result<Conversion, Invalid> {
        let model = match (self.copied, self.legalized) {
            (Some(copied), _) => copied,
            (None, Some(legalized)) => legalized.model,
            (None, None) => model,
        };
        Ok(Conversion {
            model: model.with_edits(self.edits).map_err(|refused| refused.0)?,
            report: self.report,
        })
    }
}

/// Converts a model to an opset of ai.onnx, from the opset that the options state.
///
/// # Errors
/// See [`plan`].
pub fn convert(model: Model, options: &Options) -> Result<Conversion, NotConverted> {
    let stated_opset = Report::unchanged(&model, options).stated_opset;
    let model = read(model, options)?;
    let mut conversion = plan(&model, options)?.apply(model)?;
    conversion.report.stated_opset = stated_opset;
    Ok(conversion)
}

/// The model with the opset that the options state, if they state one: the model and the functions
/// that import the same opset then import the stated opset instead.
///
/// # Errors
/// If ONNX has no such opset.
pub(crate) fn read(model: Model, options: &Options) -> Result<Model, Invalid> {
    let Some(opset) = options.from_opset else {
        return Ok(model);
    };
    if !(1..=LATEST_OPSET).contains(&opset) {
        return Err(Invalid::at("stated opset", unknown_opset(opset)));
    }
    let stated = model.opset(ScopeId::MAIN, "");
    let is_function = |&scope: &ScopeId| matches!(model.scope_kind(scope), ScopeKind::Function(_));
    let functions = model
        .scopes()
        .filter(is_function)
        .filter(|&scope| stated.is_some() && model.opset(scope, "") == stated);
    let edits = std::iter::once(ScopeId::MAIN)
        .chain(functions)
        .map(|root| Edit::SetOpset {
            root,
            version: opset,
        })
        .collect();
    model.with_edits(edits).map_err(|refused| refused.0)
}

fn unknown_opset(opset: i64) -> String {
    format!("unknown opset {opset}: this version of recast supports 1 to {LATEST_OPSET}")
}

/// Checks what every valid model has: its nodes are in an opset that is known, with all required
/// inputs, which are defined.
///
/// # Errors
/// The first node that is not valid.
pub(crate) fn expect_valid(model: &Model, inferred: &Deferred) -> Result<(), NotConverted> {
    valid::check(model, inferred, 0)
}

/// Plans the conversion of a model from the opset that it imports.
///
/// # Errors
/// If nodes cannot be converted; the error lists all of them. If the options or the model are
/// invalid.
pub(crate) fn plan(model: &Model, options: &Options) -> Result<PlannedConversion, NotConverted> {
    if !(1..=LATEST_OPSET).contains(&options.opset) {
        return Err(Invalid::at("target opset", unknown_opset(options.opset)).into());
    }
    let inferred = Deferred::with(options.contested);
    valid::check(model, &inferred, options.opset)?;
    plan_valid(model, &inferred, options, None)
}

/// Like [`plan`], of a model that was checked, with its types and shapes, which are inferred if
/// they are needed and were not before. `check` verifies what passes make of the nodes of
/// expansions.
///
/// # Errors
/// If nodes cannot be converted; the error lists all of them.
pub(crate) fn plan_valid(
    model: &Model,
    inferred: &Deferred,
    options: &Options,
    check: Option<CheckOfPasses>,
) -> Result<PlannedConversion, NotConverted> {
    let mut planned = target_opset::plan(model, inferred, options, check)?;
    let Some(mut legalized) = planned.plan.legalized.take() else {
        return with_copies(model, None, planned, options, check);
    };
    let places = Some(&legalized.places);
    let mut conversion = with_copies(&legalized.model, places, planned, options, check)?;
    let report = &mut conversion.report;
    report.carried = std::mem::take(&mut legalized.carried);
    report.changes.splice(..0, legalized.changes.drain(..));
    conversion.legalized = Some(legalized);
    Ok(conversion)
}

/// The conversion that is planned, with copies of functions if it has none without them.
fn with_copies(
    model: &Model,
    places: Option<&Places>,
    planned: PlanForOpset,
    options: &Options,
    check: Option<CheckOfPasses>,
) -> Result<PlannedConversion, NotConverted> {
    if !planned.plan.blocked_by_types.is_empty()
        && let Some(Copied { model, changes }) =
            copied(model, options.contested, &planned.plan.blocked_by_types)
    {
        let inferred = Deferred::with(options.contested);
        // A value that only a copy shows to have a type keeps it.
        let with_own_types = options.clone().no_legalize(true);
        let mut with_copies = target_opset::plan(&model, &inferred, &with_own_types, check)?;
        if let Some(places) = places {
            with_copies.plan.place_at_original_nodes(places);
        }
        if with_copies.plan.blockers.is_empty() {
            let mut conversion = possible(&model, with_copies, options)?;
            conversion.copied = Some(model);
            conversion.report.changes.splice(..0, changes);
            return Ok(conversion);
        }
    }
    possible(model, planned, options)
}

/// The conversion that is planned, unless it has blockers.
fn possible(
    model: &Model,
    planned: PlanForOpset,
    options: &Options,
) -> Result<PlannedConversion, NotConverted> {
    let from = model.opset(ScopeId::MAIN, "");
    let PlanForOpset { opset, plan, notes } = planned;
    let options = &options.clone().opset(opset);
    if !plan.blockers.is_empty() {
        let nearest = from.and_then(|from| plan.nearest(from, options.opset));
        return Err(NotConverted::Blocked {
            from,
            blockers: plan.blockers,
            nearest,
        });
    }
    let adds_functions = plan
        .edits
        .iter()
        .any(|edit| matches!(edit, Edit::AddFunction(_)));
    let (ir_to, needed_by) =
        ir::choose(model, from, plan.adds_initializers, adds_functions, options)?;
    let mut report = Report::unchanged(model, options);
    (report.ir_version.to, report.ir_version.needed_by) = (ir_to, needed_by);
    (report.changes, report.expansions, report.warnings) =
        (plan.changes, plan.expansions, plan.warnings);
    report.notes = notes;
    let mut edits = plan.edits;
    if ir_to != model.ir_version() {
        edits.push(Edit::SetIrVersion(ir_to));
    }
    Ok(PlannedConversion {
        legalized: None,
        copied: None,
        edits,
        report,
    })
}
