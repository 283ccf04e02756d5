//! The known findings of a run: those of `--baseline`, or of the baseline that the configuration of
//! a model names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::settings::shown_path;
use super::task::Task;
use crate::Error;
use crate::base::printable::Shown;
use crate::cli::remedy::with_remedy;
use crate::files::{folders, read_all};
use crate::lint::{Baseline, Diagnostic};
use crate::report::plural;

/// The baselines of a run, by their files.
#[derive(Default)]
pub(super) struct Baselines {
    read: BTreeMap<PathBuf, Counted>,
    none: Baseline,
}

/// A baseline, and how many of its findings there still are, of those that it lists of the models
/// of the run.
struct Counted {
    baseline: Baseline,
    listed: usize,
    found: usize,
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
                    listed: 0,
                    found: 0,
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
        counted.listed += counted.baseline.listed(&task.path.display().to_string());
        let new = counted.baseline.filter(found);
        counted.found += all - new.len();
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

    /// Notes about baselines with obsolete findings: those that a model of the run no longer has,
    /// and those of deleted models.
    pub fn obsolete(&self) -> impl Iterator<Item = Shown> {
        self.read.iter().filter_map(
            |(
                path,
                Counted {
                    baseline,
                    listed,
                    found,
                },
            )| {
                let gone = listed - found + baseline.of_missing_files();
                let gone = (gone > 0).then(|| plural(gone, "obsolete finding"))?;
                Some(Shown::line(format_args!(
                    "{} contains {gone}; use --write-baseline to update it",
                    shown_path(path)
                )))
            },
        )
    }
}

fn read_one(path: &Path) -> Result<Baseline, Error> {
    let name = shown_path(path);
    let text = folders::read(path)
        .and_then(|mut file| read_all(&mut file))
        .map_err(|error| Error::of(&error).in_file(&name))?;
    let read = Baseline::read(&text, path.parent().unwrap_or(Path::new("")));
    read.map_err(|error| with_remedy(Error::caused_by(error)).in_file(&name))
}
