//! The original of a verification, and the options of the run.

use super::copies::with_copies;
use super::fault::{Fault, NotVerified};
use super::verified::Verified;
use super::{conversion, erasure, rewrite};
use crate::convert::Options as ConvertOptions;
use crate::graph::Model;
use crate::passes::{LOSSY, Options, Pass};
use crate::precision::Report as PrecisionReport;

/// The original of a verification, and the options of the run that wrote its result.
#[derive(Clone, Debug)]
pub struct Verification {
    original: Model,
    work: Work,
}

#[derive(Clone, Debug)]
enum Work {
    Passes { options: Options, is_lossy: bool },
    Conversion(ConvertOptions),
    Precision(PrecisionReport),
}

impl Verification {
    /// A verification of what passes make of a model, which is given as it is before.
    #[must_use]
    pub fn of_passes(original: &Model, passes: &[Pass], options: &Options) -> Verification {
        let is_lossy = passes.iter().any(|pass| LOSSY.iter().any(|lossy| lossy.name == pass.name));
        Verification { original: original.clone(), work: Work::Passes { options: *options, is_lossy } }
    }

    /// A verification of what a conversion makes of a model, which is given as it is before.
    #[must_use]
    pub fn of_conversion(original: &Model, options: &ConvertOptions) -> Verification {
        Verification { original: original.clone(), work: Work::Conversion(options.clone()) }
    }

    /// A verification of what a change of precision makes of a model, which is given as it is before, with the report of the change.
    #[must_use]
    pub fn of_precision(original: &Model, report: &PrecisionReport) -> Verification {
        Verification { original: original.clone(), work: Work::Precision(report.clone()) }
    }

    /// The model before.
    pub(crate) fn original(&self) -> &Model {
        &self.original
    }

    /// Checks a model that was written and opened again.
    ///
    /// # Errors
    /// With everything that could not be verified.
    pub fn check(&self, written: &Model) -> Result<Verified, NotVerified> {
        let (verified, faults) = match &self.work {
            Work::Passes { options, is_lossy } => rewrite::verify(&self.original, written, options, *is_lossy),
            Work::Conversion(options) => conversion::verify(&self.original, written, options),
            Work::Precision(report) if report.functions_added.is_empty() => erasure::verify(&self.original, written, report),
            Work::Precision(report) => match with_copies(&self.original, &report.functions_added) {
                Ok(original) => erasure::verify(&original, written, report),
                Err(faults) => (Verified::default(), faults),
            },
        };
        let bad_tensors = written.bad_tensors().iter().map(Fault::from);
        let faults: Vec<Fault> = bad_tensors.chain(faults).collect();
        if faults.is_empty() { Ok(verified) } else { Err(NotVerified { faults }) }
    }
}
