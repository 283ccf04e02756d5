//! Linting and fixing of one file.

use std::path::PathBuf;

use super::options::Lint;
use crate::base::parallel;
use crate::base::printable::Shown;
use crate::cli::files;
use crate::cli::output::SideFile;
use crate::files::SaveTarget;
use crate::lint::{self, Baseline, Diagnostic, Safety, Selection, Severity, UnusedNoqa};
use crate::report::{About, Sketch, model_diff};
use crate::verify::Verification;
use crate::{Error, LintOptions, SaveOptions, Saved};

/// A file to be linted, and its settings.
pub(super) struct Task {
    pub path: PathBuf,
    pub selection: Selection,
    /// The least severity for which the exit code is 1.
    pub fail_on: Severity,
    /// The file of its known findings.
    pub baseline: Option<PathBuf>,
}

/// The result for one file.
pub(super) struct Linted {
    pub path: String,
    pub findings: Vec<Diagnostic>,
    pub fixed: Vec<Diagnostic>,
    /// The findings for which `recast.noqa` entries were added.
    pub suppressed: Vec<Diagnostic>,
    /// The `recast.noqa` entries that suppressed nothing.
    pub unused_noqa: Vec<UnusedNoqa>,
    /// The initializers that were treated as constants; none if that was not requested.
    pub frozen: Option<Vec<String>>,
    pub diff: Shown,
    /// The parts of the page about the model, if there is a page.
    pub sketch: Option<Sketch>,
    /// The files that were written.
    pub saved: Saved,
    /// Whether they were verified; none if none was written.
    pub is_verified: Option<bool>,
}

/// Lints a file, one of this many models. The findings of `known` are not fixed; `side_files` are
/// those that the run writes besides.
///
/// # Errors
/// If the file cannot be read, fixed or written.
pub(super) fn lint_file(
    Task {
        path, selection, ..
    }: &Task,
    lint: &Lint,
    known: &Baseline,
    side_files: &[SideFile],
    models: usize,
) -> Result<Linted, Error> {
    let mut model = files::open_model(path, &lint.folders)?;
    let name = path.display().to_string();
    side_files
        .iter()
        .try_for_each(|file| file.check_data(path, &model))?;
    let original = lint.page.before(path, &model, models)?;
    let before = lint.diff.then(|| model.proto().clone());
    let frozen = lint.freeze.apply(&mut model)?;
    let options = LintOptions {
        selection: selection.clone(),
        ignore_noqa: lint.ignore_noqa,
        show_overlapping: lint.show_overlapping,
    };
    let is_fixing = lint.fix || lint.diff;
    let allowed = if lint.unsafe_fixes {
        Safety::Unsafe
    } else {
        Safety::Safe
    };
    let verification = (lint.writes() && lint.verify.is_on()).then(|| {
        if lint.add_noqa {
            Verification::of_noqa(&model, &options, known)
        } else {
            Verification::of_fixes(&model, &options, allowed, known)
        }
    });
    let fixed = if is_fixing {
        model.fix(&options, allowed, known)?
    } else {
        Vec::new()
    };
    let suppressed = if lint.add_noqa {
        model.add_noqa(&options, known)?
    } else {
        Vec::new()
    };
    let is_changed = !fixed.is_empty()
        || !suppressed.is_empty()
        || frozen.as_ref().is_some_and(|names| !names.is_empty());
    let before = before.filter(|_| is_changed);
    let diff = before.map_or_else(Shown::default, |before| {
        model_diff(&name, &before, model.proto())
    });
    let (mut saved, mut is_verified) = (Saved::default(), None);
    if lint.writes() && is_changed {
        let target = SaveTarget::File(path.clone());
        let plan = model.plan_for(&target, &SaveOptions::default())?;
        lint.page.check_written(plan.files())?;
        side_files
            .iter()
            .try_for_each(|file| file.check_others(plan.files()))?;
        is_verified = Some(verification.is_some());
        saved = match verification {
            Some(verification) => plan.execute_verified(&verification)?.0,
            None => plan.execute()?,
        };
        // The remaining findings are reported with their places in the new file.
        model = files::open_model(path, &lint.folders)?;
    }
    let (mut findings, mut unused_noqa) = (Vec::new(), Vec::new());
    if !lint.diff {
        lint::Linted {
            findings,
            unused_noqa,
        } = model.lint_all(&options)?;
    }
    let about = || [About::found(&findings), About::found(&fixed)].concat();
    let sketch = original.map(|original| original.sketch(&about(), is_fixing.then_some(&model)));
    parallel::drop_in_background(model);
    Ok(Linted {
        path: name,
        findings,
        fixed,
        suppressed,
        unused_noqa,
        frozen,
        diff,
        sketch,
        saved,
        is_verified,
    })
}
