//! One file: opened, judged, and if that is asked for, set right.

use std::path::{Path, PathBuf};

use crate::cli::files::{self, DataFolders};
use crate::external::{self, Plan};
use crate::graph::Model;
use crate::lint::{self, Baseline, Diagnostic, Fixed, Job, Noqa, Safety, Selection, Severity};
use crate::report::{Failure, model_diff};
use crate::shown::Shown;
use crate::wire::Target;

/// A file and what is to be done with it.
pub(super) struct Task {
    pub path: PathBuf,
    pub selection: Selection,
    /// The least severity for which the exit code is 1.
    pub fail_on: Severity,
}

/// What is done with findings.
#[derive(Clone, Copy)]
pub(super) struct Mode<'m> {
    pub noqa: Noqa,
    pub action: Action,
    /// The fixes that may be applied.
    pub allowed: Safety,
    /// The findings that are left as they are.
    pub known: &'m Baseline,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Report,
    /// Applies fixes and writes the file.
    Fix,
    /// Shows what fixes would change.
    Diff,
}

/// What became of one file.
#[derive(Default)]
pub(super) struct Judged {
    pub path: String,
    pub findings: Vec<Diagnostic>,
    pub fixed: Vec<Diagnostic>,
    pub diff: Shown,
}

/// Judges a file.
///
/// # Errors
/// If it cannot be read, fixed or written.
pub(super) fn judge(Task { path, selection, .. }: &Task, mode: Mode, folders: &DataFolders) -> Result<Judged, Failure> {
    let (input, model) = files::open_model(path, folders)?;
    let job = Job { path: &input.name, selection, noqa: mode.noqa };
    match mode.action {
        Action::Report => Ok(Judged { findings: lint::lint(&model, &job), path: input.name, ..Judged::default() }),
        Action::Diff => {
            let before = model.proto().clone();
            let Fixed { model, fixed } =
                lint::fix(model, &job, mode.allowed, mode.known).map_err(|error| Failure::new(&input.name, &error))?;
            let diff = if fixed.is_empty() { Shown::default() } else { model_diff(&input.name, &before, model.proto()) };
            Ok(Judged { path: input.name, fixed, diff, ..Judged::default() })
        }
        Action::Fix => {
            let Fixed { model, fixed } =
                lint::fix(model, &job, mode.allowed, mode.known).map_err(|error| Failure::new(&input.name, &error))?;
            let model = if fixed.is_empty() { model } else { write_and_reopen(path, model, folders)? };
            Ok(Judged { findings: lint::lint(&model, &job), path: input.name, fixed, ..Judged::default() })
        }
    }
}

/// The file as it is now: what is left is reported with its places there.
fn write_and_reopen(path: &Path, model: Model, folders: &DataFolders) -> Result<Model, Failure> {
    let name = path.display().to_string();
    let plan = Plan::new(model, path, &Target::File(path.to_owned()), &external::Options::default());
    plan.map_err(|error| Failure::new(&name, &error))?.write().map_err(|error| Failure::new(&name, &error))?;
    Ok(files::open_model(path, folders)?.1)
}
