//! Linting and fixing of one file.

use std::path::PathBuf;

use crate::base::parallel;
use crate::base::printable::Shown;
use crate::cli::files::{self, DataFolders};
use crate::cli::output::SideFile;
use crate::cli::page::PageFile;
use crate::cli::prepare::Freeze;
use crate::lint::{Baseline, Diagnostic, Noqa, Overlapping, Safety, Selection, Severity};
use crate::report::{About, Sketch, model_diff};
use crate::{Error, LintOptions, SaveOptions, Saved, Target};

/// A file to be linted, and its settings.
pub(super) struct Task {
    pub path: PathBuf,
    pub selection: Selection,
    /// The least severity for which the exit code is 1.
    pub fail_on: Severity,
}

/// How files are linted.
#[derive(Clone, Copy)]
pub(super) struct Mode<'m> {
    pub noqa: Noqa,
    pub overlapping: Overlapping,
    pub action: Action,
    /// The fixes that may be applied.
    pub allowed: Safety,
    /// The findings that are not fixed.
    pub known: &'m Baseline,
    /// The file into which the findings are written.
    pub baseline: Option<SideFile<'m>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Report,
    /// Applies fixes and writes the file.
    Fix {
        /// Whether data files that only the old model used are removed.
        prune_data: bool,
    },
    /// Shows what fixes would change.
    Diff,
}

/// The result for one file.
#[derive(Default)]
pub(super) struct Linted {
    pub path: String,
    pub findings: Vec<Diagnostic>,
    pub fixed: Vec<Diagnostic>,
    /// The initializers that were treated as constants; none if that was not requested.
    pub frozen: Option<Vec<String>>,
    pub diff: Shown,
    /// The parts of the page about the model, if there is a page.
    pub sketch: Option<Sketch>,
    /// The files that were written.
    pub saved: Saved,
}

/// Lints a file.
///
/// # Errors
/// If it cannot be read, fixed or written.
pub(super) fn lint_file(
    Task { path, selection, .. }: &Task,
    mode: Mode,
    folders: &DataFolders,
    freeze: Freeze,
    (page, models): (&PageFile, usize),
) -> Result<Linted, Error> {
    let mut model = files::open_model(path, folders)?;
    let name = path.display().to_string();
    mode.baseline.map_or(Ok(()), |baseline| baseline.check_data(path, &model))?;
    let old = page.before(path, &model, models)?;
    let before = matches!(mode.action, Action::Diff).then(|| model.proto().clone());
    let frozen = freeze.apply(&mut model)?;
    let is_frozen = frozen.as_ref().is_some_and(|names| !names.is_empty());
    let options = LintOptions { selection: selection.clone(), noqa: mode.noqa, overlapping: mode.overlapping };
    match mode.action {
        Action::Report => {
            let findings = model.lint(&options)?;
            let sketch = old.map(|old| old.sketch(&About::found(&findings), None));
            parallel::drop_later(model);
            Ok(Linted { findings, path: name, frozen, sketch, ..Linted::default() })
        }
        Action::Diff => {
            let fixed = model.fix(&options, mode.allowed, mode.known)?;
            let changed = before.filter(|_| is_frozen || !fixed.is_empty());
            let diff = changed.map_or_else(Shown::default, |before| model_diff(&name, &before, model.proto()));
            let sketch = old.map(|old| old.sketch(&About::found(&fixed), Some(&model)));
            Ok(Linted { path: name, fixed, frozen, diff, sketch, ..Linted::default() })
        }
        Action::Fix { prune_data } => {
            let fixed = model.fix(&options, mode.allowed, mode.known)?;
            let mut saved = Saved::default();
            if is_frozen || !fixed.is_empty() {
                let options = SaveOptions { prune_data, ..SaveOptions::default() };
                let plan = model.into_plan(&Target::File(path.clone()), &options)?;
                page.check_written(plan.files())?;
                mode.baseline.map_or(Ok(()), |baseline| baseline.check_others(plan.files()))?;
                saved = plan.execute()?;
                // The remaining findings are reported with their places in the new file.
                model = files::open_model(path, folders)?;
            }
            let findings = model.lint(&options)?;
            let about = || [About::found(&findings), About::found(&fixed)].concat();
            let sketch = old.map(|old| old.sketch(&about(), Some(&model)));
            Ok(Linted { findings, path: name, fixed, frozen, saved, sketch, ..Linted::default() })
        }
    }
}
