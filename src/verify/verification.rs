//! The original of a verification, and the options of the run.

use std::sync::Arc;

use super::conversion::{self, SecondConversion};
use super::fault::{Fault, NotVerified};
use super::fixes::Fixes;
use super::function_copies::with_copies;
use super::noqa::AddedNoqa;
use super::roundings::with_rounding;
use super::terms::need_inference;
use super::verified::Verified;
use super::{data_files, erasure, fixes, noqa, rewrite};
use crate::base::ahead::Ahead;
use crate::base::error::Error;
use crate::base::parallel;
use crate::convert::Options as ConvertOptions;
use crate::graph::{Checkpoint, Model};
use crate::lint::{Baseline, Options as LintOptions, Safety};
use crate::ops::inference::Deferred;
use crate::passes::{LOSSY, Options, Pass};
use crate::precision::Report as PrecisionReport;
use crate::protobuf::schema::ModelProto;

/// The original of a verification, and the options of the run that wrote its result.
///
/// The original and the model that the run changes share the messages that stay as they are.
#[derive(Clone, Debug)]
pub struct Verification {
    original: Checkpoint,
    work: Work,
    /// What is expected of the output, as soon as a thread has computed it.
    ahead: Arc<Ahead<Result<Expected, Error>>>,
}

#[derive(Clone, Debug)]
enum Work {
    /// A conversion is compared with a second one.
    Conversion(Box<ConvertOptions>),
    Change(Change),
}

/// Work whose result is compared with the original.
#[derive(Clone, Debug)]
enum Change {
    Passes { options: Options, is_lossy: bool },
    Precision(Box<PrecisionReport>),
    Fixes(Box<Fixes>),
    Noqa(Box<AddedNoqa>),
}

impl Verification {
    fn new(original: Checkpoint, work: Work) -> Verification {
        Verification {
            original,
            work,
            ahead: Arc::default(),
        }
    }

    /// A verification of what passes make of a model, which is given as it is before.
    #[must_use]
    pub fn of_passes(original: &Model, passes: &[&dyn Pass], options: &Options) -> Verification {
        let is_lossy = passes
            .iter()
            .any(|pass| LOSSY.iter().any(|lossy| lossy.name() == pass.name()));
        Verification::new(
            original.shared_checkpoint(),
            Work::Change(Change::Passes {
                options: *options,
                is_lossy,
            }),
        )
    }

    /// A verification of what a conversion makes of a model, which is given as it is before.
    #[must_use]
    pub fn of_conversion(original: &Model, options: &ConvertOptions) -> Verification {
        Verification::new(
            original.shared_checkpoint(),
            Work::Conversion(Box::new(options.clone())),
        )
    }

    /// A verification of what a change of precision makes of a model, which is given as it is
    /// before, with the report of the change.
    #[must_use]
    pub fn of_precision(original: &Model, report: &PrecisionReport) -> Verification {
        Verification::of_precision_from(original.shared_checkpoint(), report)
    }

    /// Like [`Verification::of_precision`], of the state of a model before.
    pub(crate) fn of_precision_from(
        original: Checkpoint,
        report: &PrecisionReport,
    ) -> Verification {
        Verification::new(
            original,
            Work::Change(Change::Precision(Box::new(report.clone()))),
        )
    }

    /// A verification of a fixed model. `original` is the model before the fixes.
    #[must_use]
    pub fn of_fixes(
        original: &Model,
        options: &LintOptions,
        allowed: Safety,
        known: &Baseline,
    ) -> Verification {
        let fixes = Fixes {
            options: options.clone(),
            allowed,
            known: known.clone(),
        };
        Verification::new(
            original.shared_checkpoint(),
            Work::Change(Change::Fixes(Box::new(fixes))),
        )
    }

    /// A verification of added `recast.noqa` entries. `original` is the model before.
    #[must_use]
    pub fn of_noqa(original: &Model, options: &LintOptions, known: &Baseline) -> Verification {
        let added = AddedNoqa {
            options: options.clone(),
            known: known.clone(),
        };
        Verification::new(
            original.shared_checkpoint(),
            Work::Change(Change::Noqa(Box::new(added))),
        )
    }

    /// What is expected of the output, if it is computed before it is needed.
    pub(crate) fn ahead(&self) -> &Ahead<Result<Expected, Error>> {
        &self.ahead
    }

    /// Whether the original has not changed since it was read.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.original.bytes().is_some()
    }

    /// The messages of the model before.
    pub(crate) fn original_proto(&self) -> ModelProto {
        self.original.proto()
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
        if self.is_right_copy(written) {
            return verify_copy(written);
        }
        self.compare(|| Ok(self.unconverted(self.original())), written)
    }

    /// Whether the written file has the bytes of the original, neither has data files, and this is
    /// right: what passes leave as it was has the same results, but a conversion has to convert.
    pub(crate) fn is_right_copy(&self, written: &Model) -> bool {
        let bytes = written.proto().source();
        matches!(self.work, Work::Change(Change::Passes { .. }))
            && bytes.is_some()
            && bytes == self.original.bytes()
            && written.data_ranges().is_empty()
    }

    /// What is expected of a written model, as far as it is known without it.
    ///
    /// # Errors
    /// If the original cannot be converted again.
    pub(crate) fn expected(&self, original: Model) -> Result<Expected, NotVerified> {
        let expected = self.unconverted(original);
        match &self.work {
            Work::Conversion(options) => Ok(Expected::Again(expected.converted(options)?)),
            Work::Change(Change::Passes { .. }) => Ok(expected.with_types()),
            Work::Change(_) => Ok(expected),
        }
    }

    fn unconverted(&self, original: Model) -> Expected {
        let contested = match &self.work {
            Work::Change(Change::Passes { options, .. }) => options.contested,
            _ => None,
        };
        Expected::Original(Box::new(Original {
            model: original,
            inferred: Deferred::with(contested),
        }))
    }

    /// Compares a model that was written and opened again with what is expected of it.
    ///
    /// `expected` may wait for another thread.
    pub(crate) fn compare<E: From<NotVerified>>(
        &self,
        expected: impl FnOnce() -> Result<Expected, E>,
        written: &Model,
    ) -> Result<Verified, E> {
        let (moved, (verified, faults)) = match &self.work {
            Work::Conversion(options) => {
                let types = Arc::new(Deferred::with(options.contested));
                let meanwhile = Arc::clone(&types);
                let verify = || -> Result<_, E> {
                    let again = expected()?.converted(options)?;
                    let moved = data_files::compare(again.original(), written);
                    Ok((moved, conversion::verify(*again, types, written, options)))
                };
                // The types of the written model are inferred meanwhile.
                let infer = move || {
                    meanwhile.of(written);
                };
                parallel::join_here(verify, infer).0?
            }
            Work::Change(change) => {
                let original = expected()?.into_original();
                let moved = data_files::compare(&original.model, written);
                (moved, change.verify(*original, written))
            }
        };
        Ok(judged(verified, written, moved.into_iter().chain(faults))?)
    }
}

impl Change {
    fn verify(&self, original: Original, written: &Model) -> (Verified, Vec<Fault>) {
        let by = |original: Model, verify: &dyn Fn(&Model) -> (Verified, Vec<Fault>)| {
            let found = verify(&original);
            parallel::drop_in_background(original);
            found
        };
        let Original {
            model: original,
            inferred,
        } = original;
        match self {
            Change::Passes { options, is_lossy } => {
                let found = by(original, &|original| {
                    rewrite::verify([original, written], &inferred, options, *is_lossy)
                });
                parallel::drop_in_background(inferred);
                found
            }
            Change::Precision(report) => {
                match with_copies(original, &report.functions_added)
                    .and_then(|original| with_rounding(original, written, report))
                {
                    Ok(original) => by(original, &|original| {
                        erasure::verify(original, written, report)
                    }),
                    Err(faults) => (Verified::default(), faults),
                }
            }
            Change::Fixes(fixes) => by(original, &|original| {
                fixes::verify(original, written, fixes)
            }),
            Change::Noqa(added) => by(original, &|original| noqa::verify(original, written, added)),
        }
    }
}

/// What a written model is compared with.
pub(crate) enum Expected {
    Original(Box<Original>),
    Again(Box<SecondConversion>),
}

/// The model before, and its types and shapes, once they were asked for.
pub(crate) struct Original {
    model: Model,
    inferred: Deferred,
}

impl Expected {
    fn into_original(self) -> Box<Original> {
        match self {
            Expected::Original(original) => original,
            Expected::Again(again) => Box::new(Original {
                model: again.into_original(),
                inferred: Deferred::default(),
            }),
        }
    }

    fn converted(self, options: &ConvertOptions) -> Result<Box<SecondConversion>, NotVerified> {
        match self {
            Expected::Original(original) => {
                Ok(Box::new(SecondConversion::of(original.model, options)?))
            }
            Expected::Again(again) => Ok(again),
        }
    }

    /// Infers the types of an original, if its terms depend on them.
    fn with_types(self) -> Expected {
        if let Expected::Original(original) = &self
            && need_inference(&original.model)
        {
            original.inferred.of(&original.model);
        }
        self
    }
}

/// The extent of the verification of a model that has the bytes of its original.
///
/// # Errors
/// Tensors that cannot be read.
pub(crate) fn verify_copy(written: &Model) -> Result<Verified, NotVerified> {
    let verified = Verified {
        nodes: written.topological_order().len(),
        ..Verified::default()
    };
    judged(verified, written, [])
}

/// # Errors
/// The faults, and tensors of the written model that cannot be read.
fn judged(
    verified: Verified,
    written: &Model,
    faults: impl IntoIterator<Item = Fault>,
) -> Result<Verified, NotVerified> {
    let bad_tensors = written.bad_tensors().iter().map(Fault::from);
    let faults: Vec<Fault> = bad_tensors.chain(faults).collect();
    if faults.is_empty() {
        Ok(verified)
    } else {
        Err(NotVerified { faults })
    }
}
