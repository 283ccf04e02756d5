//! Which rules judge which file: the command line over the nearest `recast.toml`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::Lint;
use crate::lint::{BadConfig, Config, FilePattern, Layer, Selection, Selector, Severity};

/// The settings of a run.
pub(super) struct Settings {
    command_line: Layer,
    per_file_ignores: Vec<(FilePattern, Vec<Selector>)>,
    exclude: Vec<FilePattern>,
    source: Source,
    /// By folder: the configuration of its files.
    configs: HashMap<PathBuf, Rc<Config>>,
}

/// Where configurations come from.
enum Source {
    /// From the folder of a model, or the nearest around it that has one.
    Nearest,
    /// From one file, or nowhere, for all models.
    Fixed(Rc<Config>),
}

/// A pattern of files and rules: `legacy/*.onnx:RC1`.
#[derive(Clone)]
pub(super) struct PerFileIgnore(pub FilePattern, pub Selector);

impl Settings {
    /// Reads what the command line says.
    ///
    /// # Errors
    /// Where the configuration file that it names cannot be used.
    pub fn of(lint: &Lint) -> Result<Settings, BadConfig> {
        let source = match &lint.config {
            Some(path) => Source::Fixed(Rc::new(Config::read(path)?)),
            None if lint.isolated => Source::Fixed(Rc::default()),
            None => Source::Nearest,
        };
        Ok(Settings {
            command_line: Layer {
                select: lint.select.clone(),
                extend_select: lint.extend_select.clone(),
                ignore: lint.ignore.clone(),
                severity: lint.severity.clone(),
            },
            per_file_ignores: lint
                .per_file_ignores
                .iter()
                .map(|PerFileIgnore(pattern, selector)| (pattern.clone(), vec![selector.clone()]))
                .collect(),
            exclude: lint.exclude.clone(),
            source,
            configs: HashMap::new(),
        })
    }

    /// The rules that judge a file.
    ///
    /// # Errors
    /// Where its configuration cannot be used.
    pub fn selection(&mut self, path: &Path) -> Result<Selection, BadConfig> {
        let config = self.config_of(folder_of(path))?;
        let selection = Selection::of([&config.layer, &self.command_line]);
        let ignores = config.per_file_ignores.iter().chain(&self.per_file_ignores);
        let ignored: Vec<Selector> =
            ignores.filter(|(pattern, _)| pattern.matches(path)).flat_map(|(_, selectors)| selectors.clone()).collect();
        Ok(selection.without(&ignored))
    }

    /// Whether a file that was found in a folder is left out.
    ///
    /// # Errors
    /// Where its configuration cannot be used.
    pub fn is_excluded(&mut self, path: &Path) -> Result<bool, BadConfig> {
        let config = self.config_of(folder_of(path))?;
        Ok(config.exclude.iter().chain(&self.exclude).any(|pattern| pattern.matches(path)))
    }

    /// The least severity for which the exit code is 1, by the configuration of the current folder.
    ///
    /// # Errors
    /// Where that configuration cannot be used.
    pub fn fail_on(&mut self) -> Result<Option<Severity>, BadConfig> {
        Ok(self.config_of(Path::new(""))?.fail_on)
    }

    fn config_of(&mut self, folder: &Path) -> Result<Rc<Config>, BadConfig> {
        if let Source::Fixed(config) = &self.source {
            return Ok(Rc::clone(config));
        }
        if let Some(config) = self.configs.get(folder) {
            return Ok(Rc::clone(config));
        }
        let config = match Config::find(folder) {
            Some(path) => {
                let around = path.parent().unwrap_or(Path::new("")).to_owned();
                match self.configs.get(&around) {
                    Some(config) => Rc::clone(config),
                    None => {
                        let config = Rc::new(Config::read(&path)?);
                        self.configs.insert(around, Rc::clone(&config));
                        config
                    }
                }
            }
            None => Rc::default(),
        };
        self.configs.insert(folder.to_owned(), Rc::clone(&config));
        Ok(config)
    }
}

/// The folder of a file; that of standard input is the current one.
fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// `PATTERN:CODE`.
pub(super) fn parse_per_file_ignore(text: &str) -> Result<PerFileIgnore, String> {
    let (pattern, code) = text.rsplit_once(':').ok_or("give a pattern of files and a rule: 'legacy/*.onnx:RC1'")?;
    Ok(PerFileIgnore(parse_pattern(pattern)?, code.parse().map_err(|error| format!("{error}"))?))
}

pub(super) fn parse_pattern(text: &str) -> Result<FilePattern, String> {
    FilePattern::new(Path::new(""), text).map_err(|error| error.to_string())
}

/// `CODE=SEVERITY`.
pub(super) fn parse_severity(text: &str) -> Result<(Selector, Severity), String> {
    let (code, severity) = text.split_once('=').ok_or("give a rule and a severity: 'RC103=info'")?;
    Ok((code.parse().map_err(|error| format!("{error}"))?, severity.parse()?))
}
