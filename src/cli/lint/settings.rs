//! The rules enabled for each file: the command line overrides the closest `recast.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::options::Lint;
use super::task::Task;
use crate::Error;
use crate::cli::paths::FoundFile;
use crate::lint::{Config, FilePattern, Layer, Selector, Severity};

/// The settings of a run.
pub(super) struct Settings<'l> {
    lint: &'l Lint,
    command_line: Layer,
    /// The configuration of all models: a file, or the defaults. Without it, a model has the
    /// closest `recast.toml` in its folder or its parents.
    fixed: Option<Rc<Config>>,
    /// The configuration of each folder.
    configs: BTreeMap<PathBuf, Result<Rc<Config>, Error>>,
    /// The patterns of the command line that match a file.
    matched: BTreeSet<String>,
    /// Whether files were found in folders: patterns need not match files that are named.
    has_searched: bool,
}

/// The use of a file.
pub(super) enum Decision {
    Lint(Task),
    /// The file was found in a folder, and is excluded by this option or setting.
    Exclude(String),
}

impl Settings<'_> {
    /// The settings of the command line.
    ///
    /// # Errors
    /// If `--config` names an invalid file.
    pub fn of(lint: &Lint) -> Result<Settings<'_>, Error> {
        let fixed = match &lint.config {
            Some(path) => Some(Rc::new(Config::read(path)?)),
            None => lint.isolated.then(Rc::default),
        };
        let command_line = Layer {
            select: lint.select.clone(),
            extend_select: lint.extend_select.clone(),
            ignore: lint.ignore.clone(),
            severity: lint.severity.clone(),
            targets: lint.target.clone(),
        };
        Ok(Settings {
            lint,
            command_line,
            fixed,
            configs: BTreeMap::new(),
            matched: BTreeSet::new(),
            has_searched: false,
        })
    }

    /// Whether a file is linted, and by which rules.
    ///
    /// # Errors
    /// If its configuration is invalid.
    pub fn decide(&mut self, FoundFile { path, in_folder }: FoundFile) -> Result<Decision, Error> {
        let config = self.config_of(folder_of(&path))?;
        self.has_searched |= in_folder;
        let matches = |pattern: &FilePattern| pattern.matches(&path);
        let excluding: Vec<&FilePattern> = self
            .lint
            .excluded()
            .filter(|pattern| matches(pattern))
            .collect();
        let ignoring: Vec<_> = self
            .lint
            .ignored_by_file()
            .filter(|(pattern, _)| matches(pattern))
            .collect();
        let matching = excluding
            .iter()
            .copied()
            .chain(ignoring.iter().map(|(pattern, _)| pattern));
        self.matched
            .extend(matching.map(|pattern| pattern.text().to_owned()));
        if in_folder && !excluding.is_empty() {
            return Ok(Decision::Exclude("--exclude".to_owned()));
        }
        if in_folder && config.exclude.iter().any(matches) {
            return Ok(Decision::Exclude(format!(
                "`exclude` in {}",
                shown_path(&config.path)
            )));
        }
        let ignored: Vec<Selector> = ignoring
            .into_iter()
            .flat_map(|(_, selectors)| selectors.clone())
            .collect();
        Ok(Decision::Lint(Task {
            selection: config
                .selection(Some(&path), &self.command_line)
                .without(&ignored),
            fail_on: self
                .lint
                .fail_on
                .or(config.fail_on)
                .unwrap_or(Severity::Warning),
            baseline: self
                .lint
                .baseline
                .clone()
                .or_else(|| config.baseline.clone()),
            path,
        }))
    }

    /// The patterns of the command line that match no file of the folders that were searched, each
    /// with its option.
    pub fn unmatched(&self) -> Vec<(&'static str, String)> {
        let excluded = self
            .lint
            .excluded()
            .map(|pattern| ("--exclude", pattern.text()));
        let ignored = self
            .lint
            .ignored_by_file()
            .map(|(pattern, _)| ("--per-file-ignores", pattern.text()));
        let unmatched = excluded
            .chain(ignored)
            .filter(|(_, text)| self.has_searched && !self.matched.contains(*text));
        unmatched
            .map(|(option, text)| (option, text.to_owned()))
            .collect()
    }

    /// Whether there is an `--exclude` that no file is compared with.
    pub fn excludes_nothing(&self) -> bool {
        !self.has_searched && self.lint.excluded().next().is_some()
    }

    /// The paths of the configurations that were found.
    pub fn found(&self) -> Vec<PathBuf> {
        let configs = self
            .configs
            .values()
            .flatten()
            .map(|config| config.path.clone());
        configs
            .filter(|path| !path.as_os_str().is_empty())
            .collect()
    }

    fn config_of(&mut self, folder: &Path) -> Result<Rc<Config>, Error> {
        if let Some(config) = &self.fixed {
            return Ok(Rc::clone(config));
        }
        if let Some(config) = self.configs.get(folder) {
            return config.clone();
        }
        let config = match Config::find(folder) {
            Some(path) => {
                let around = path.parent().unwrap_or(Path::new("")).to_owned();
                self.configs
                    .entry(around)
                    .or_insert_with(|| Config::read(&path).map(Rc::new))
                    .clone()
            }
            None => Ok(Rc::default()),
        };
        self.configs.insert(folder.to_owned(), config.clone());
        config
    }
}

/// The path of a configuration, relative to the current folder if it is beneath it.
pub(super) fn shown_path(config: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    config
        .strip_prefix(here)
        .unwrap_or(config)
        .display()
        .to_string()
}

/// The folder of a file; for standard input, the current folder.
fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}
