//! The original of a verification, and the options of the run.

use super::fault::{Fault, NotVerified};
use super::fixes::Fixes;
use super::function_copies::with_copies;
use super::noqa::AddedNoqa;
use super::roundings::with_rounding;
use super::verified::Verified;
use super::{conversion, data_files, erasure, fixes, noqa, rewrite};
use crate::base::parallel;
use crate::convert::Options as ConvertOptions;
use crate::graph::{Checkpoint, Model};
use crate::lint::{Baseline, Noqa, Safety, Selection};
use crate::passes::{LOSSY, Options, Pass};
use crate::precision::Report as PrecisionReport;

/// The original of a verification, and the options of the run that wrote its result.
///
/// A model that has not changed since it was read is decoded again when the result is checked, so
/// that until then only its bytes are kept.
#[derive(Clone, Debug)]
pub struct Verification {
    original: Checkpoint,
    work: Work,
}

#[derive(Clone, Debug)]
enum Work {
    Passes { options: Options, is_lossy: bool },
    Conversion(Box<ConvertOptions>),
    Precision(Box<PrecisionReport>),
    Fixes(Box<Fixes>),
    Noqa(Box<AddedNoqa>),
}

impl Verification {
    /// A verification of what passes make of a model, which is given as it is before.
    #[must_use]
    pub fn of_passes(original: &Model, passes: &[&dyn Pass], options: &Options) -> Verification {
        let is_lossy = passes
            .iter()
            .any(|pass| LOSSY.iter().any(|lossy| lossy.name() == pass.name()));
        Verification {
            original: original.checkpoint(),
            work: Work::Passes {
                options: *options,
                is_lossy,
            },
        }
    }

    /// A verification of what a conversion makes of a model, which is given as it is before.
    #[must_use]
    pub fn of_conversion(original: &Model, options: &ConvertOptions) -> Verification {
        Verification {
            original: original.checkpoint(),
            work: Work::Conversion(Box::new(options.clone())),
        }
    }

    /// A verification of what a change of precision makes of a model, which is given as it is
    /// before, with the report of the change.
    #[must_use]
    pub fn of_precision(original: &Model, report: &PrecisionReport) -> Verification {
        Verification::of_precision_from(original.checkpoint(), report)
    }

    /// Like [`Verification::of_precision`], of the state of a model before.
    pub(crate) fn of_precision_from(
        original: Checkpoint,
        report: &PrecisionReport,
    ) -> Verification {
        Verification {
            original,
            work: Work::Precision(Box::new(report.clone())),
        }
    }

    /// A verification of a fixed model. `original` is the model before the fixes.
    #[must_use]
    pub fn of_fixes(
        original: &Model,
        selection: &Selection,
        noqa: Noqa,
        allowed: Safety,
        known: &Baseline,
    ) -> Verification {
        let fixes = Fixes {
            selection: selection.clone(),
            noqa,
            allowed,
            known: known.clone(),
        };
        Verification {
            original: original.checkpoint(),
            work: Work::Fixes(Box::new(fixes)),
        }
    }

    /// A verification of added `recast.noqa` entries. `original` is the model before.
    #[must_use]
    pub fn of_noqa(
        original: &Model,
        selection: &Selection,
        noqa: Noqa,
        known: &Baseline,
    ) -> Verification {
        let added = AddedNoqa {
            selection: selection.clone(),
            noqa,
            known: known.clone(),
        };
        Verification {
            original: original.checkpoint(),
            work: Work::Noqa(Box::new(added)),
        }
    }

    /// The model before.
    pub(crate) fn original(&self) -> Model {
        self.original.clone().restore()
    }

    /// The model before, in place of the verification.
    pub(crate) fn into_original(self) -> Model {
        self.original.restore()
    }

    /// Checks a model that was written and opened again.
    ///
    /// # Errors
    /// Everything that could not be verified.
    pub fn check(&self, written: &Model) -> Result<Verified, NotVerified> {
        self.compare(self.original(), written)
    }

    /// Like [`Verification::check`], against the original that was decoded before.
    pub(crate) fn compare(
        &self,
        original: Model,
        written: &Model,
    ) -> Result<Verified, NotVerified> {
        let by = |original: Model, verify: &dyn Fn(&Model) -> (Verified, Vec<Fault>)| {
            let found = verify(&original);
            parallel::drop_in_background(original);
            found
        };
        let moved = data_files::compare(&original, written);
        let (verified, faults) = match &self.work {
            _ if is_unchanged(&original, written) => {
                let nodes = written.topological_order().len();
                by(original, &|_| {
                    (
                        Verified {
                            nodes,
                            ..Verified::default()
                        },
                        Vec::new(),
                    )
                })
            }
            Work::Passes { options, is_lossy } => by(original, &|original| {
                rewrite::verify(original, written, options, *is_lossy)
            }),
            Work::Conversion(options) => conversion::verify(original, written, options),
            Work::Precision(report) => {
                match with_copies(original, &report.functions_added)
                    .and_then(|original| with_rounding(original, written, report))
                {
                    Ok(original) => by(original, &|original| {
                        erasure::verify(original, written, report)
                    }),
                    Err(faults) => (Verified::default(), faults),
                }
            }
            Work::Fixes(fixes) => by(original, &|original| {
                fixes::verify(original, written, fixes)
            }),
            Work::Noqa(added) => by(original, &|original| noqa::verify(original, written, added)),
        };
        let bad_tensors = written.bad_tensors().iter().map(Fault::from);
        let faults: Vec<Fault> = bad_tensors.chain(moved).chain(faults).collect();
        if faults.is_empty() {
            Ok(verified)
        } else {
            Err(NotVerified { faults })
        }
    }
}

/// Whether the written file has the bytes of the original, and neither has data files.
fn is_unchanged(original: &Model, written: &Model) -> bool {
    let sources = (original.proto().source(), written.proto().source());
    matches!(&sources, (Some(before), Some(after)) if before == after)
        && written.data_ranges().is_empty()
}
