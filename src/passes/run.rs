//! Runs passes.

use super::{Event, Options, Pass, PassEvents, Report};
use crate::base::error::{Classified, ErrorKind, Invalid, Place};
use crate::graph::{Model, Refused};

/// Why a pass failed.
#[derive(Debug, thiserror::Error)]
pub enum PassError {
    /// The model is not valid.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The pass planned edits that would break the model: a bug in the pass.
    #[error("the pass '{pass}' failed: {reason}; this is a bug, please report it")]
    Refused {
        /// The pass.
        pass: &'static str,
        /// Why the edits were refused.
        reason: Refused,
    },
    /// A precondition or postcondition does not hold: a bug in this pass or an earlier one.
    #[error(
        "the pass '{pass}' {when} a condition that does not hold: {what}; this is a bug, please report it"
    )]
    Contract {
        /// The pass.
        pass: &'static str,
        /// `requires` or `ensures`.
        when: &'static str,
        /// The condition that does not hold.
        what: String,
    },
}

impl Classified for PassError {
    fn kind(&self) -> ErrorKind {
        match self {
            PassError::Invalid(invalid) => invalid.kind(),
            PassError::Refused { .. } | PassError::Contract { .. } => ErrorKind::Internal,
        }
    }

    fn place(&self) -> Option<Place> {
        match self {
            PassError::Invalid(invalid) => invalid.place(),
            PassError::Refused { reason, .. } => reason.place(),
            PassError::Contract { .. } => None,
        }
    }

    fn message(&self) -> String {
        match self {
            PassError::Invalid(invalid) => invalid.message(),
            // The place is reported beside the message.
            PassError::Refused { pass, reason } => {
                format!(
                    "the pass '{pass}' failed: {}; this is a bug, please report it",
                    reason.message()
                )
            }
            PassError::Contract { .. } => self.to_string(),
        }
    }
}

/// The maximum number of times that a list of passes is run.
const MOST_ROUNDS: usize = 8;

/// Runs passes in order; several passes are run again, in the same order, until none of them
/// changes anything, up to eight times. The report lists the changes, and the nodes that were kept
/// with the reason.
///
/// # Errors
/// If a node is invalid, or a pass violates its contract.
pub fn run(
    mut model: Model,
    passes: &[&dyn Pass],
    options: &Options,
) -> Result<(Model, Report), PassError> {
    let mut report = Report::default();
    let rounds = if passes.len() > 1 { MOST_ROUNDS } else { 1 };
    for _ in 0..rounds {
        let mut changes = false;
        for pass in passes {
            let broken = |when| {
                move |what| PassError::Contract {
                    pass: pass.name(),
                    when,
                    what,
                }
            };
            if cfg!(debug_assertions) {
                pass.requires(&model).map_err(broken("requires"))?;
            }
            let plan = pass.plan(&model, options)?;
            changes |= !plan.edits.is_empty();
            model = model
                .with_edits(plan.edits)
                .map_err(|reason| PassError::Refused {
                    pass: pass.name(),
                    reason,
                })?;
            if cfg!(debug_assertions) {
                pass.ensures(&model, &plan.events)
                    .map_err(broken("ensures"))?;
            }
            // A node may be kept in one round and change in the next.
            for earlier in report.passes.iter_mut().filter(|of| of.pass == pass.name()) {
                earlier
                    .events
                    .retain(|event| !matches!(event, Event::Kept(_)));
            }
            report.passes.push(PassEvents {
                pass: pass.name(),
                events: plan.events,
            });
            report.passes.retain(|of_pass| !of_pass.events.is_empty());
        }
        if !changes {
            break;
        }
    }
    Ok((model, report))
}
