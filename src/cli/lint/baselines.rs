//! The known findings of a run: those of `--baseline`, or of the baseline that the configuration of
//! a model names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::settings::shown_path;
use super::task::Task;
use crate::Error;
use crate::api::explain_open;
use crate::cli::remedy::with_remedy;
use crate::files::{folders, read_all};
use crate::lint::{Baseline, Diagnostic, Selection};

/// The baselines of a run, by their files.
#[derive(Default)]
pub(super) struct Baselines {
    read: BTreeMap<PathBuf, Counted>,
    none: Baseline,
}

/// A baseline, and which of its findings there still are, of those that it lists of the models of
/// the run.
struct Counted {
    baseline: Baseline,
    found: usize,
    gone: Vec<String>,
    /// The rules that checked the models.
    selections: Vec<Selection>,
}

impl Baselines {
    /// Reads a file, if it is not read yet.
    ///
    /// # Errors
    /// If the file cannot be read, or is not a baseline.
    pub fn read(&mut self, path: &Path) -> Result<(), Error> {
        if !self.read.contains_key(path) {
            self.read.insert(
                path.to_owned(),
                Counted {
                    baseline: read_one(path)?,
                    found: 0,
                    gone: Vec::new(),
                    selections: Vec::new(),
                },
            );
        }
        Ok(())
    }

    /// The known findings of a model.
    pub fn of(&self, task: &Task) -> &Baseline {
        let read = task.baseline.as_ref().and_then(|path| self.read.get(path));
        read.map_or(&self.none, |counted| &counted.baseline)
    }

    /// The findings of a model that are new.
    pub fn new_ones(&mut self, task: &Task, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let Some(counted) = task
            .baseline
            .as_ref()
            .and_then(|path| self.read.get_mut(path))
        else {
            return found;
        };
        let all = found.len();
        let path = task.path.display().to_string();
        let is_checked = |code: &str| task.selection.checks(code);
        let (new, gone) = counted.baseline.compare(&path, found, is_checked);
        counted.found += all - new.len();
        counted.gone.extend(gone);
        counted.selections.push(task.selection.clone());
        new
    }

    /// How many findings are not reported; none without a baseline.
    pub fn known(&self) -> Option<usize> {
        let mut found = 0;
        self.read
            .values()
            .for_each(|counted| found += counted.found);
        (!self.read.is_empty()).then_some(found)
    }

    /// The baselines with obsolete findings: those that a model of the run no longer has, and those
    /// of deleted models.
    pub fn obsolete(&self) -> impl Iterator<Item = Obsolete> {
        self.read.iter().filter_map(|(path, counted)| {
            let is_checked = |code: &str| {
                let mut selections = counted.selections.iter();
                selections.any(|selection| selection.checks(code))
            };
            let mut findings = counted.gone.clone();
            findings.extend(counted.baseline.of_missing_files(is_checked));
            (!findings.is_empty()).then(|| Obsolete {
                baseline: shown_path(path),
                findings,
            })
        })
    }
}

/// The findings of a baseline that are no longer found.
pub(super) struct Obsolete {
    /// The file.
    pub baseline: String,
    /// `model.onnx: graph/cast: RC101`.
    pub findings: Vec<String>,
}

fn read_one(path: &Path) -> Result<Baseline, Error> {
    let name = shown_path(path);
    let text = folders::read(path)
        .and_then(|mut file| read_all(&mut file))
        .map_err(|error| Error::of(&explain_open(path, error)).in_file(&name))?;
    let read = Baseline::read(&text, path.parent().unwrap_or(Path::new("")));
    read.map_err(|error| with_remedy(error).in_file(&name))
}
