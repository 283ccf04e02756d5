//! Linting.

use crate::base::error::{Error, catch};
use crate::base::options::options;
use crate::graph::Model;
use crate::lint::add_noqa::{WithNoqa, add_noqa};
use crate::lint::fix::{Fixed, fix};
use crate::lint::{self, Baseline, Diagnostic, Job, Linted, Noqa, Overlapping, Safety, Selection};

options! {
    /// How to lint a model.
    #[derive(Clone, Debug, Default)]
    pub struct LintOptions {
        /// The rules and their severities.
        pub selection: Selection,
        /// Whether `recast.noqa` entries of the model suppress findings.
        pub noqa: Noqa,
        /// Which findings are reported of a node that several rules report for the same reason.
        pub overlapping: Overlapping,
    }
}

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
    pub fn lint(&self, options: &LintOptions) -> Result<Vec<Diagnostic>, Error> {
        Ok(self.lint_all(options)?.findings)
    }

    /// The findings, and the `recast.noqa` entries that suppressed none.
    ///
    /// # Errors
    /// Those of [`Model::lint`].
    pub(crate) fn lint_all(&self, options: &LintOptions) -> Result<Linted, Error> {
        self.check_tensors()?;
        let name = self.lint_name();
        let found = catch(|| lint::lint_all(self, &job(options, &name)))
            .map_err(|panic| self.error(panic))?;
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
        options: &LintOptions,
        allowed: Safety,
        known: &Baseline,
    ) -> Result<Vec<Diagnostic>, Error> {
        let name = self.lint_name();
        self.change(|model| {
            let Fixed { model, fixed } =
                fix(model, &job(options, &name), allowed, known).map_err(Error::caused_by)?;
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
        options: &LintOptions,
        known: &Baseline,
    ) -> Result<Vec<Diagnostic>, Error> {
        self.check_tensors()?;
        let name = self.lint_name();
        self.change(|model| {
            let WithNoqa { model, suppressed } =
                add_noqa(model, &job(options, &name), known).map_err(Error::caused_by)?;
            Ok((model, suppressed))
        })
    }

    fn lint_name(&self) -> String {
        self.path()
            .map_or_else(|| "model".to_owned(), |path| path.display().to_string())
    }
}

fn job<'j>(options: &'j LintOptions, path: &'j str) -> Job<'j> {
    Job {
        path,
        selection: &options.selection,
        noqa: options.noqa,
        overlapping: options.overlapping,
    }
}
