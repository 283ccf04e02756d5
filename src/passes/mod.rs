//! Rewrites that leave a model's meaning as it is. A pass plans edits; [`Model::apply`] carries them out.
//!
//! A new pass is one file and one line in [`PASSES`].

mod fold_casts;

use crate::cast::Contested;
use crate::error::{Classified, ErrorKind, Invalid};
use crate::graph::{Edit, Model, Refused};

/// All passes, in the order in which they run.
pub const PASSES: &[Pass] = &[fold_casts::FOLD_CASTS];

/// A rewrite of a model.
#[derive(Clone, Copy)]
pub struct Pass {
    /// The name that selects it.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    plan: fn(&Model, &Options) -> Result<Plan, Invalid>,
}

/// What the user allows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Fold values that ONNX leaves undefined, to those that this project defines.
    pub fold_undefined: bool,
    /// Which value a contested element takes; none: it is not folded.
    pub contested: Option<Contested>,
    /// By how many bytes the folded tensors may exceed those they replace, in all; none: no limit.
    pub max_growth: Option<u64>,
}

/// What a pass wants to change, and what it has to say.
#[derive(Debug, Default)]
struct Plan {
    edits: Vec<Edit>,
    report: Report,
}

/// What passes did, by node path.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Report {
    /// Casts that became constants.
    pub folded: Vec<Folded>,
    /// Casts that stayed, each with the reason.
    pub skipped: Vec<Skipped>,
    /// Constants that nobody uses any more, by path.
    pub removed_initializers: Vec<String>,
}

/// A cast that became a constant.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Folded {
    /// The cast.
    pub node: String,
    /// The name of the value that was cast.
    pub input: String,
    /// Its type.
    pub from: &'static str,
    /// The type of the constant.
    pub to: &'static str,
    /// How many elements it has.
    pub elements: u64,
}

/// A cast that stayed.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Skipped {
    /// The cast.
    pub node: String,
    /// Why it was not folded.
    pub reason: String,
}

/// Why a pass could not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum PassError {
    /// The model is not what ONNX says it should be.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The pass planned what would break the model: an error of the pass.
    #[error("the pass '{pass}' was {reason}; please report this")]
    Refused {
        /// The pass.
        pass: &'static str,
        /// What it planned.
        reason: Refused,
    },
}

impl Classified for PassError {
    fn kind(&self) -> ErrorKind {
        match self {
            PassError::Invalid(invalid) => invalid.kind(),
            PassError::Refused { .. } => ErrorKind::Internal,
        }
    }

    fn place(&self) -> Option<String> {
        match self {
            PassError::Invalid(invalid) => invalid.place(),
            PassError::Refused { .. } => None,
        }
    }

    fn message(&self) -> String {
        match self {
            PassError::Invalid(invalid) => invalid.message(),
            PassError::Refused { .. } => self.to_string(),
        }
    }
}

/// Runs passes one after the other. The report says whether anything changed.
///
/// # Errors
/// Where a node contradicts itself.
pub fn run(mut model: Model, passes: &[Pass], options: &Options) -> Result<(Model, Report), PassError> {
    let mut report = Report::default();
    for pass in passes {
        let plan = (pass.plan)(&model, options)?;
        model = model.apply(plan.edits).map_err(|reason| PassError::Refused { pass: pass.name, reason })?;
        report.folded.extend(plan.report.folded);
        report.skipped.extend(plan.report.skipped);
        report.removed_initializers.extend(plan.report.removed_initializers);
    }
    Ok((model, report))
}
