//! Saving models that are verified before they replace files.

use std::io;
use std::path::Path;

use crate::base::error::{Error, ErrorKind};
use crate::base::parallel;
use crate::convert;

use crate::graph::Model;
use crate::storage::{Options, SavePlan, Saved, WrittenCheck};
use crate::verify::{Expected, Fault, NotVerified, Verification, Verified, verify_copy};

/// # Verified saving
impl Model {
    /// Like [`Model::save_with`]; the files are opened again and verified before they get their
    /// names.
    ///
    /// ```
    /// use onnx_recast::verify::Verification;
    /// use onnx_recast::{FoldOptions, Model, SaveOptions, passes};
    ///
    /// # fn main() -> Result<(), onnx_recast::Error> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let output = folder.path().join("folded.onnx");
    /// let (mut model, options) = (Model::open("models/fp8_qdq.onnx")?, FoldOptions::default());
    /// let verification = Verification::of_passes(&model, passes::EXACT, &options);
    /// model.run_passes(passes::EXACT, &options)?;
    /// let (_, verified) = model.save_verified(&output, &SaveOptions::default(), &verification)?;
    /// assert_eq!(verified.constants, 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`SavePlan::execute_verified`].
    pub fn save_verified(
        &self,
        path: impl AsRef<Path>,
        options: &Options,
        verification: &Verification,
    ) -> Result<(Saved, Verified), Error> {
        self.clone()
            .into_plan(path, options)?
            .execute_verified(verification)
    }
}

impl Model {
    /// Checks that the model defines every name that it uses: nothing can be verified about the
    /// values of others.
    ///
    /// # Errors
    /// The first name that is used and not defined.
    pub(crate) fn expect_defined(&self) -> Result<(), Error> {
        convert::expect_defined(self).map_err(|invalid| self.error(Error::of(&invalid)))
    }
}

impl SavePlan {
    /// Like [`SavePlan::execute`]; before the files get their names, they are opened again and
    /// verified.
    ///
    /// # Errors
    /// Also if the original uses a name that nothing defines, and if the model could not be
    /// verified: the kind is then [`ErrorKind::NotVerified`](crate::ErrorKind::NotVerified), and
    /// [`Error::faults`] lists what was found.
    pub fn execute_verified(self, verification: &Verification) -> Result<(Saved, Verified), Error> {
        let (target, mut outcome) = (self.target().name(), None);
        let accept = |model: &Model| {
            let verdict = verification
                .verdict(model)
                .map_err(|error| match error.kind() {
                    ErrorKind::NotVerified => error.in_file(target.clone()),
                    // The original is named already.
                    _ => error,
                });
            let refused = verdict
                .as_ref()
                .err()
                .map(|error| io::Error::other(error.to_string()));
            outcome = Some(verdict);
            match refused {
                Some(error) => Err(error),
                None => Ok(()),
            }
        };
        let check = WrittenCheck {
            original: verification.original_proto(),
            accept: Box::new(accept),
        };
        // Another thread indexes the original, or converts it again, during the write.
        let is_copy = self.is_copy();
        let (written, ()) = parallel::join_here(
            || self.execute_if(Some(check)),
            || {
                if !is_copy {
                    verification.compute_ahead();
                }
            },
        );
        match (outcome, written) {
            (Some(Err(error)), _) => Err(error),
            (_, Err(error)) => Err(error),
            (verified, Ok(saved)) => Ok((saved, verified.and_then(Result::ok).unwrap_or_default())),
        }
    }
}

impl Verification {
    /// The extent of the verification of a model that was written and opened again, or is in
    /// memory.
    ///
    /// # Errors
    /// If the original uses a name that nothing defines, and if the model could not be verified:
    /// see [`SavePlan::execute_verified`].
    pub fn verdict(&self, written: &Model) -> Result<Verified, Error> {
        if self.is_right_copy(written) && written.expect_defined().is_ok() {
            return Ok(verify_copy(written)?);
        }
        let expected = || self.ahead().take(|| self.expected_of_defined());
        self.compare(expected, written)
    }

    /// Begins to index the original, or to convert it again, on another thread, while the model is
    /// changed and written. This needs memory for what differs between both models, and for a second
    /// index; a run on many models verifies them in turn without it. Only for a model that has not
    /// changed since it was read; without effect for others.
    pub fn begin(&self) {
        if self.is_unchanged() {
            let verification = self.clone();
            parallel::in_background(move || verification.compute_ahead());
        }
    }

    fn compute_ahead(&self) {
        self.ahead().compute(|| self.expected_of_defined());
    }

    fn expected_of_defined(&self) -> Result<Expected, Error> {
        let original = self.original();
        original.expect_defined()?;
        Ok(self.expected(original)?)
    }
}

impl From<NotVerified> for Error {
    fn from(not_verified: NotVerified) -> Error {
        Error::caused_by(not_verified)
    }
}

impl Error {
    /// The faults, if [`Model::save_verified`] failed because of that.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        self.cause().map_or(&[], |NotVerified { faults }| faults)
    }
}
