//! `recast.toml`: the configuration of the lint.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use super::file_pattern::{FilePattern, absolute};
use super::{Layer, Selection, Selector, Severity, UnknownRule};
use crate::base::choice::nearest;
use crate::base::error::{Error, ErrorKind};
use crate::files::folders;
use crate::ops::runtimes::{Runtime, UnknownRuntime};

/// The file's name.
const NAME: &str = "recast.toml";

/// A configuration file.
#[derive(Debug, Default)]
pub struct Config {
    /// The file; empty for the defaults.
    pub(crate) path: PathBuf,
    layer: Layer,
    /// Rules that are disabled for the files of a pattern.
    per_file_ignores: Vec<(FilePattern, Vec<Selector>)>,
    /// Files to skip when a folder is searched.
    pub(crate) exclude: Vec<FilePattern>,
    /// The lowest severity for which the exit code is 1.
    pub(crate) fail_on: Option<Severity>,
    /// The baseline, whose findings are not reported.
    pub(crate) baseline: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    lint: Table,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Table {
    select: Option<Vec<Spanned<String>>>,
    extend_select: Vec<Spanned<String>>,
    ignore: Vec<Spanned<String>>,
    severity: Map<Severity>,
    per_file_ignores: Map<Vec<Spanned<String>>>,
    exclude: Vec<Spanned<String>>,
    fail_on: Option<Severity>,
    target: Option<Spanned<Targets>>,
    baseline: Option<PathBuf>,
}

/// A runtime, or a list of runtimes.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected RUNTIME@VERSION or a list of these, for instance \"onnxruntime@1.17\""
)]
enum Targets {
    One(String),
    Several(Vec<String>),
}

impl Targets {
    fn read(self) -> Result<Vec<Runtime>, String> {
        let names = match self {
            Targets::One(name) => vec![name],
            Targets::Several(names) => names,
        };
        names
            .iter()
            .map(|name| {
                name.parse()
                    .map_err(|unknown: UnknownRuntime| unknown.to_string())
            })
            .collect()
    }
}

type Map<T> = std::collections::BTreeMap<Spanned<String>, T>;

impl Config {
    /// The rules for a model: those of the configuration, as the layer changes them, without those
    /// that are ignored for its file, if it is in one.
    #[must_use]
    pub fn selection(&self, path: Option<&Path>, layer: &Layer) -> Selection {
        let ignored: Vec<Selector> = self
            .per_file_ignores
            .iter()
            .filter(|(pattern, _)| path.is_some_and(|path| pattern.matches(path)))
            .flat_map(|(_, selectors)| selectors.clone())
            .collect();
        Selection::of([&self.layer, layer]).without(&ignored)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If the file cannot be read, or has unknown or invalid settings.
    pub fn read(path: &Path) -> Result<Config, Error> {
        let bad = |what: String| {
            let error = Error::new(ErrorKind::BadConfiguration, what.trim_end());
            error.in_file(path.display().to_string())
        };
        let text = folders::read_text(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => bad("does not exist".to_owned()),
            _ => bad(error.to_string()),
        })?;
        let File { lint } =
            toml::from_str(&text).map_err(|error| bad(in_one_line(&text, &error)))?;
        let bad_at =
            |span: Range<usize>, what: String| bad(format!("{}: {what}", place(&text, span.start)));
        let folder = path.parent().unwrap_or(Path::new(""));
        let pattern = |text: &Spanned<String>| {
            FilePattern::new(folder, text.get_ref())
                .map_err(|error| bad_at(text.span(), error.to_string()))
        };
        let selector = |name: &Spanned<String>| -> Result<Selector, Error> {
            name.get_ref()
                .parse()
                .map_err(|error: UnknownRule| bad_at(name.span(), error.to_string()))
        };
        let selectors = |names: Vec<Spanned<String>>| {
            names
                .iter()
                .map(selector)
                .collect::<Result<Vec<Selector>, Error>>()
        };
        let severity =
            |(name, severity): (Spanned<String>, Severity)| Ok((selector(&name)?, severity));
        let targets = |target: Spanned<Targets>| {
            let span = target.span();
            target
                .into_inner()
                .read()
                .map_err(|what| bad_at(span, format!("target: {what}")))
        };
        let Table {
            select,
            extend_select,
            ignore,
            severity: severities,
            per_file_ignores,
            exclude,
            fail_on,
            target,
            baseline,
        } = lint;
        Ok(Config {
            path: path.to_owned(),
            layer: Layer {
                select: select.map(selectors).transpose()?,
                extend_select: selectors(extend_select)?,
                ignore: selectors(ignore)?,
                severity: severities
                    .into_iter()
                    .map(severity)
                    .collect::<Result<_, Error>>()?,
                targets: target.map(targets).transpose()?.unwrap_or_default(),
            },
            per_file_ignores: per_file_ignores
                .into_iter()
                .map(|(text, names)| Ok((pattern(&text)?, selectors(names)?)))
                .collect::<Result<_, Error>>()?,
            exclude: exclude.iter().map(pattern).collect::<Result<_, Error>>()?,
            fail_on,
            baseline: baseline.map(|path| folder.join(path)),
        })
    }

    /// The configuration file of a folder: its own, or that of the nearest parent folder that has
    /// one.
    #[must_use]
    pub fn find(folder: &Path) -> Option<PathBuf> {
        let folder = absolute(folder);
        folder
            .ancestors()
            .map(|folder| folder.join(NAME))
            .find(|path| folders::is_file(path))
    }
}

/// A TOML error with its line and column, and the name that is like the unknown one.
fn in_one_line(text: &str, error: &toml::de::Error) -> String {
    let mut message = error.message().replace('\n', "; ");
    // "unknown field `selct`, expected one of `select`, `ignore`": serde has the names in this text
    // only.
    let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    if let [unknown, known @ ..] = names.as_slice()
        && message.starts_with("unknown ")
        && let Some(meant) = nearest(unknown, known.iter().copied())
    {
        message = format!("unknown name `{unknown}`; did you mean `{meant}`?");
    }
    match error.span() {
        Some(span) => format!("{}: {message}", place(text, span.start)),
        None => message,
    }
}

/// The line and column of a byte of a text.
fn place(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
    format!("line {line}, column {column}")
}
