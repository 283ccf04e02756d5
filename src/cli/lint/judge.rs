//! One file: opened, judged, and if that is asked for, set right.

use std::path::{Path, PathBuf};

use crate::cli::files::{self, DataFolders};
use crate::external::{self, OldFiles, Plan};
use crate::graph::Model;
use crate::lint::{self, Baseline, Diagnostic, Fixed, Job, Noqa, Safety, Selection, Severity};
use crate::report::{Paint, Unjudged, model_diff};
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
    Fix {
        /// Whether data files that only the old model used are removed.
        prune_data: bool,
    },
    /// Shows what fixes would change.
    Diff(Paint),
}

/// What became of one file.
#[derive(Default)]
pub(super) struct Judged {
    pub path: String,
    pub findings: Vec<Diagnostic>,
    pub fixed: Vec<Diagnostic>,
    pub diff: String,
    pub old_files: OldFiles,
}

/// Judges a file.
pub(super) fn judge(task: &Task, mode: Mode, folders: &DataFolders) -> Result<Judged, Unjudged> {
    try_judge(task, mode, folders).map_err(|error| unjudged(&task.path, &error))
}

/// Why a file was not judged; the path is not said twice.
pub(super) fn unjudged(path: &Path, error: &anyhow::Error) -> Unjudged {
    let (path, message) = (path.display().to_string(), format!("{error:#}"));
    let message = message.strip_prefix(&format!("{path}: ")).unwrap_or(&message).to_owned();
    Unjudged { path, message }
}

fn try_judge(Task { path, selection, .. }: &Task, mode: Mode, folders: &DataFolders) -> anyhow::Result<Judged> {
    let (input, model) = files::open_model(path, folders)?;
    let job = Job { path: &input.name, selection, noqa: mode.noqa };
    match mode.action {
        Action::Report => Ok(Judged { findings: lint::lint(&model, &job), path: input.name, ..Judged::default() }),
        Action::Diff(paint) => {
            let before = model.proto().clone();
            let Fixed { model, fixed } = lint::fix(model, &job, mode.allowed, mode.known)?;
            let diff = if fixed.is_empty() { String::new() } else { model_diff(&input.name, &before, model.proto(), paint) };
            Ok(Judged { path: input.name, fixed, diff, ..Judged::default() })
        }
        Action::Fix { prune_data } => {
            let Fixed { model, fixed } = lint::fix(model, &job, mode.allowed, mode.known)?;
            let (model, old_files) = match fixed.is_empty() {
                true => (model, OldFiles::default()),
                false => write_and_reopen(path, model, prune_data, folders)?,
            };
            Ok(Judged { findings: lint::lint(&model, &job), path: input.name, fixed, old_files, ..Judged::default() })
        }
    }
}

/// The file as it is now: what is left is reported with its places there.
fn write_and_reopen(path: &Path, model: Model, prune_data: bool, folders: &DataFolders) -> anyhow::Result<(Model, OldFiles)> {
    let options = external::Options { prune_data, ..external::Options::default() };
    let old_files = Plan::new(model, path, &Target::File(path.to_owned()), &options)?.write()?;
    Ok((files::open_model(path, folders)?.1, old_files))
}
