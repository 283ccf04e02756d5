//! Linting.

use crate::base::error::{Error, catch};
use crate::graph::Model;
use crate::lint::add_noqa::{WithNoqa, add_noqa};
use crate::lint::fix::{Fixed, fix};
use crate::lint::{self, Baseline, Diagnostic, Linted, Options, Safety};

/// # Linting
impl Model {
    /// The findings, in document order; those about the model as a whole and its values come first.
    ///
    /// ```
    /// use onnx_recast::{LintOptions, Model};
    ///
    /// # fn main() -> Result<(), onnx_recast::Error> {
    /// let model = Model::open("models/fp8_qdq.onnx")?;
    /// for finding in model.lint(&LintOptions::default())? {
    ///     println!("{} {}: {}", finding.code(), finding.place(), finding.message);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If a tensor is inconsistent, or a rule panics.
    pub fn lint(&self, options: &Options) -> Result<Vec<Diagnostic>, Error> {
        Ok(self.lint_all(options)?.findings)
    }

    /// The findings, and the `recast.noqa` entries that suppressed none.
    ///
    /// # Errors
    /// Those of [`Model::lint`].
    pub(crate) fn lint_all(&self, options: &Options) -> Result<Linted, Error> {
        self.check_tensors()?;
        let name = lint::name_of(self);
        let found =
            catch(|| lint::lint_all(self, &name, options)).map_err(|panic| self.error(panic))?;
        self.control()
            .check()
            .map_err(|cancelled| self.error(Error::of(&cancelled)))?;
        Ok(found)
    }

    /// Applies the safe fixes of findings that are not in the baseline, and the unsafe ones if they
    /// are allowed. Returns the findings that were fixed.
    ///
    /// # Errors
    /// If a tensor is inconsistent, or a rule has a bug.
    pub fn fix(
        &mut self,
        options: &Options,
        allowed: Safety,
        known: &Baseline,
    ) -> Result<Vec<Diagnostic>, Error> {
        let name = lint::name_of(self);
        self.change(|model| {
            let Fixed { model, fixed } =
                fix(model, &name, options, allowed, known).map_err(Error::caused_by)?;
            Ok((model, fixed))
        })
    }

    /// Adds `recast.noqa` entries that suppress the findings that are not in the baseline. Returns
    /// these findings.
    ///
    /// # Errors
    /// If a tensor is inconsistent, or the IR version of the model has no metadata of nodes.
    pub fn add_noqa(
        &mut self,
        options: &Options,
        known: &Baseline,
    ) -> Result<Vec<Diagnostic>, Error> {
        self.check_tensors()?;
        let name = lint::name_of(self);
        self.change(|model| {
            let WithNoqa { model, suppressed } =
                add_noqa(model, &name, options, known).map_err(Error::caused_by)?;
            Ok((model, suppressed))
        })
    }
}
