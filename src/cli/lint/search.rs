//! Which files are linted.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use anyhow::bail;

use super::options::Lint;
use super::settings::{Decision, Settings, shown_path};
use super::task::Task;
use crate::api::is_text_model;
use crate::cli::files;
use crate::cli::paths::{self, Ignored, NO_MATCH};
use crate::files::{folders, identity};
use crate::{Error, ErrorKind, Runtime};

/// The models of the paths of a run.
struct Search<'e> {
    tasks: Vec<Task>,
    /// Paths that cannot be read or have no models.
    errors: &'e mut Vec<Error>,
    /// Paths whose models are all ignored or excluded: an error if the run checks no other model.
    left_out: Vec<Error>,
    /// The configurations whose error is among the errors.
    bad_configurations: HashSet<String>,
}

/// The models to lint, and the configurations that apply to them.
pub(super) struct Searched {
    pub tasks: Vec<Task>,
    /// The configurations that were found.
    pub configs: Vec<PathBuf>,
    /// The patterns of options that match nothing, each with its option.
    pub unmatched: Vec<(&'static str, String)>,
    /// What the user should know about the options.
    pub notes: Vec<String>,
}

/// The models to lint; paths that cannot be read or have no models are added to the errors.
///
/// # Errors
/// If an option is not valid, or a model cannot be fixed.
pub(super) fn tasks(lint: &Lint, errors: &mut Vec<Error>) -> anyhow::Result<Searched> {
    let mut settings = Settings::of(lint)?;
    let mut search = Search {
        tasks: Vec::new(),
        errors,
        left_out: Vec::new(),
        bad_configurations: HashSet::new(),
    };
    let named = named_paths(lint)?;
    for path in &named {
        search.add(path, lint, &mut settings)?;
    }
    let Search {
        mut tasks,
        errors,
        left_out,
        ..
    } = search;
    if tasks.is_empty() && !lint.allow_empty {
        errors.extend(left_out);
        if named.is_empty() {
            errors.extend(lint.file_list.iter().map(|list| no_model(list, NO_MODEL)));
        }
    }
    // Two names of one file would be fixed at the same time.
    let mut seen = HashSet::new();
    tasks.retain(|task| {
        seen.insert(if lint.writes() {
            identity(&task.path)
        } else {
            task.path.clone()
        })
    });
    let mut notes = notes_of_targets(&tasks);
    if !tasks.is_empty() && settings.excludes_nothing() {
        notes.push("--exclude has no effect on files that are named".to_owned());
    }
    Ok(Searched {
        tasks,
        configs: settings.found(),
        unmatched: settings.unmatched(),
        notes,
    })
}

/// What the versions of runtimes are read as, if others were named.
fn notes_of_targets(tasks: &[Task]) -> Vec<String> {
    let targets = tasks.iter().flat_map(|task| task.selection.targets());
    let notes: BTreeSet<String> = targets.filter_map(Runtime::note).collect();
    notes.into_iter().collect()
}

impl Search<'_> {
    /// Adds the models of a path.
    fn add(&mut self, path: &Path, lint: &Lint, settings: &mut Settings) -> anyhow::Result<()> {
        let found = paths::expand(path, ignored(lint));
        if found.is_empty() && !lint.allow_empty {
            let is_folder = folders::is_folder(path);
            if ignored(lint) != Ignored::Nothing
                && !paths::expand(path, Ignored::Nothing).is_empty()
            {
                let files = if is_folder {
                    "all .onnx files"
                } else {
                    "all files that match this pattern"
                };
                let remedy = "use --no-ignore, or --allow-empty if this is intended";
                self.left_out.push(no_model(
                    path,
                    &format!("{files} are ignored by git or a .ignore file; {remedy}"),
                ));
            } else {
                self.errors
                    .push(no_model(path, if is_folder { NO_MODEL } else { NO_MATCH }))
            }
        }
        let (mut excluded_by, mut excluded, all) = (BTreeSet::new(), 0, found.len());
        for found in found {
            let found = match found {
                Ok(found) if files::is_stdin(&found.path) && lint.writes() => {
                    bail!(
                        "a model from standard input cannot be {}",
                        if lint.fix {
                            "fixed in place; use --diff or pass a file"
                        } else {
                            "changed in place; pass a file"
                        }
                    );
                }
                Ok(found) if is_text_model(&found.path) && lint.writes() => {
                    bail!(
                        "{}: ONNX text cannot be {}",
                        found.path.display(),
                        if lint.fix {
                            "fixed in place; use --diff or fix the binary model"
                        } else {
                            "changed in place; pass the binary model"
                        }
                    );
                }
                Ok(found) => found,
                Err(failure) => {
                    self.errors.push(failure);
                    continue;
                }
            };
            match settings.decide(found) {
                Ok(Decision::Lint(task)) => self.tasks.push(task),
                Ok(Decision::Exclude(by)) => {
                    excluded_by.insert(by);
                    excluded += 1;
                }
                // One error, for all models that the configuration is for.
                Err(error) => {
                    let config = error.path().unwrap_or_default().to_owned();
                    let shown = shown_path(Path::new(&config));
                    if self.bad_configurations.insert(config) {
                        self.errors.push(error.in_file(shown));
                    }
                }
            }
        }
        if excluded > 0 && excluded == all {
            let by = excluded_by
                .into_iter()
                .collect::<Vec<String>>()
                .join(" and ");
            let message = format!(
                "all .onnx files are excluded by {by}; use --allow-empty if this is intended"
            );
            self.left_out.push(no_model(path, &message));
        }
        Ok(())
    }
}

const NO_MODEL: &str = "no .onnx files found; use --allow-empty if this is intended";

fn no_model(path: &Path, message: &str) -> Error {
    Error::new(ErrorKind::NotFound, message).in_file(path.display().to_string())
}

fn ignored(lint: &Lint) -> Ignored {
    if lint.no_ignore {
        Ignored::Nothing
    } else {
        Ignored::ByIgnoreFiles
    }
}

/// The paths as given; by default the current folder.
fn named_paths(lint: &Lint) -> anyhow::Result<Vec<PathBuf>> {
    let mut paths = lint.paths.clone();
    match &lint.file_list {
        Some(list) => paths.extend(paths::read_list(list)?),
        None if paths.is_empty() => paths.push(PathBuf::from(".")),
        None => {}
    }
    Ok(paths)
}
