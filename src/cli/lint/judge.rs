//! One file: opened, judged, and if that is asked for, set right.

use std::path::{Path, PathBuf};

use crate::cli::files::{self, DataFolders};
use crate::cli::prepare::Freeze;
use crate::external::{self, OldFiles, Plan};
use crate::graph::Model;
use crate::lint::{self, Baseline, Diagnostic, Fixed, Job, Noqa, Overlapping, Safety, Selection, Severity};
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
    pub overlapping: Overlapping,
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
    Fix {
        /// Whether data files that only the old model used are removed.
        prune_data: bool,
    },
    /// Shows what fixes would change.
    Diff,
}

/// What became of one file.
#[derive(Default)]
pub(super) struct Judged {
    pub path: String,
    pub findings: Vec<Diagnostic>,
    pub fixed: Vec<Diagnostic>,
    /// The initializers that were taken as constants; none if that was not asked for.
    pub frozen: Option<Vec<String>>,
    pub diff: Shown,
    pub old_files: OldFiles,
    /// Side effects of writing the file that were not requested.
    pub notes: Vec<String>,
}

/// Judges a file.
///
/// # Errors
/// If it cannot be read, fixed or written.
pub(super) fn judge(
    Task { path, selection, .. }: &Task,
    mode: Mode,
    folders: &DataFolders,
    freeze: Freeze,
) -> Result<Judged, Failure> {
    let (input, model) = files::open_model(path, folders)?;
    let before = matches!(mode.action, Action::Diff).then(|| model.proto().clone());
    let (model, frozen) = freeze.apply(model).map_err(|error| Failure::new(&input.name, &error))?;
    let is_frozen = frozen.as_ref().is_some_and(|names| !names.is_empty());
    let job = Job { path: &input.name, selection, noqa: mode.noqa, overlapping: mode.overlapping };
    match mode.action {
        Action::Report => Ok(Judged { findings: lint::lint(&model, &job), path: input.name, frozen, ..Judged::default() }),
        Action::Diff => {
            let Fixed { model, fixed } =
                lint::fix(model, &job, mode.allowed, mode.known).map_err(|error| Failure::new(&input.name, &error))?;
            let changed = before.filter(|_| is_frozen || !fixed.is_empty());
            let diff = changed.map_or_else(Shown::default, |before| model_diff(&input.name, &before, model.proto()));
            Ok(Judged { path: input.name, fixed, frozen, diff, ..Judged::default() })
        }
        Action::Fix { prune_data } => {
            let Fixed { model, fixed } =
                lint::fix(model, &job, mode.allowed, mode.known).map_err(|error| Failure::new(&input.name, &error))?;
            let (model, old_files, notes) = match fixed.is_empty() && !is_frozen {
                true => (model, OldFiles::default(), Vec::new()),
                false => write_and_reopen(path, model, prune_data, folders)?,
            };
            Ok(Judged {
                findings: lint::lint(&model, &job),
                path: input.name,
                fixed,
                frozen,
                old_files,
                notes,
                ..Judged::default()
            })
        }
    }
}

/// The file as it is now: what is left is reported with its places there.
fn write_and_reopen(
    path: &Path,
    model: Model,
    prune_data: bool,
    folders: &DataFolders,
) -> Result<(Model, OldFiles, Vec<String>), Failure> {
    let name = path.display().to_string();
    let options = external::Options { prune_data, ..external::Options::default() };
    let plan = Plan::new(model, path, &Target::File(path.to_owned()), &options);
    let mut plan = plan.map_err(|error| files::not_placed(&name, &error))?;
    let notes = std::mem::take(&mut plan.notes);
    let old_files = plan.write().map_err(|error| files::not_written(&name, &error))?;
    Ok((files::open_model(path, folders)?.1, old_files, notes))
}
