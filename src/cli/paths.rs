//! Expands the paths of a command line to model files: files, folders, glob patterns, lists.

use std::io::{self, BufRead, BufReader};
use std::path::{Component, Path, PathBuf};

use anyhow::Context;
use ignore::{DirEntry, WalkBuilder};

use super::files;
use crate::api::explain_open;
use crate::base::patterns;
use crate::files::folders::{self, EntryKind};
use crate::{Error, ErrorKind};

/// Reads a list of paths, one per line; `-` reads the list from standard input.
pub fn read_list(list: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let name = || format!("--file-list {}", list.display());
    let reader: Box<dyn BufRead> = match list {
        list if files::is_stdin(list) => Box::new(io::stdin().lock()),
        list => {
            let file = folders::read(list).map_err(|error| explain_open(list, error));
            Box::new(BufReader::new(file.with_context(name)?))
        }
    };
    let lines = reader
        .lines()
        .collect::<io::Result<Vec<String>>>()
        .with_context(name)?;
    Ok(lines
        .into_iter()
        .filter(|line| !line.is_empty())
        .map(PathBuf::from)
        .collect())
}

/// A model file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FoundFile {
    pub path: PathBuf,
    /// Whether the file was found by a folder or pattern, not named explicitly.
    pub in_folder: bool,
}

/// A path of a command, if it is a pattern: it does not exist, and contains `*`, `?` or `[`.
/// Quoted patterns and those of some shells and scripts are not expanded by the shell.
pub fn as_pattern(path: &Path) -> Option<&str> {
    path.to_str()
        .filter(|text| is_pattern(text) && folders::stat(path).is_err())
}

/// The files that the paths of a command name, and the errors of patterns, for instance of those
/// that match no file.
pub fn expand_patterns(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<Error>) {
    let mut all = Vec::new();
    for path in paths {
        match as_pattern(path) {
            Some(pattern) => {
                let before = all.len();
                expand_pattern(pattern, Ignored::Nothing, &mut all);
                if all.len() == before {
                    all.push(Err(
                        Error::new(ErrorKind::NotFound, NO_MATCH).in_file(pattern)
                    ));
                }
            }
            None => all.push(Ok(FoundFile {
                path: path.clone(),
                in_folder: false,
            })),
        }
    }
    let (found, errors): (Vec<_>, Vec<_>) = all.into_iter().partition(Result::is_ok);
    (
        found
            .into_iter()
            .flatten()
            .map(|found| found.path)
            .collect(),
        errors.into_iter().filter_map(Result::err).collect(),
    )
}

/// The error of a pattern without matches.
pub const NO_MATCH: &str = "no file matches this pattern";

fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// Which files of a folder are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ignored {
    /// The files that git ignores or that `.ignore` files list.
    ByIgnoreFiles,
    /// None.
    Nothing,
}

/// The model files that a path names; those of a folder or pattern, which may have none, are sorted
/// by name. A path that cannot be read yields an error in place of its files.
pub fn expand(path: &Path, ignored: Ignored) -> Vec<Result<FoundFile, Error>> {
    let mut all = Vec::new();
    match folders::stat_target(path) {
        _ if files::is_stdin(path) => all.push(Ok(FoundFile {
            path: path.to_owned(),
            in_folder: false,
        })),
        Ok(found) if found.kind == EntryKind::Folder => walk(path, ignored, &mut all),
        Ok(_) => all.push(Ok(FoundFile {
            path: plain(path),
            in_folder: false,
        })),
        Err(error) => match path.to_str().filter(|text| is_pattern(text)) {
            Some(pattern) => expand_pattern(pattern, ignored, &mut all),
            None => all.push(Err(failure(path, error))),
        },
    }
    all
}

fn expand_pattern(pattern: &str, ignored: Ignored, all: &mut Vec<Result<FoundFile, Error>>) {
    // The folder to search, and the pattern of the paths beneath it.
    let (folder, below): (PathBuf, Vec<Component>) = split(pattern);
    let is_of_folders = below.last().is_some_and(|last| last.as_os_str() == "**");
    let names: Vec<_> = below[..below.len() - usize::from(is_of_folders)]
        .iter()
        .map(|name| name.as_os_str().to_string_lossy())
        .collect();
    let glob = match patterns::of_paths(&names.join("/")) {
        Ok(glob) => glob,
        Err(bad) => {
            let message = format!("is not a valid pattern: {}", bad.why);
            return all.push(Err(Error::new(ErrorKind::Usage, message).in_file(pattern)));
        }
    };
    let shows_hidden = names.iter().any(|name| name.starts_with('.'));
    let mut walker = entries(&folder, ignored, move |entry| {
        shows_hidden || !is_hidden(entry)
    });
    if !names.iter().any(|name| name.contains("**")) {
        walker.max_depth(Some(names.len()));
    }
    // A pattern in a folder that does not exist matches nothing.
    for entry in folder
        .is_dir()
        .then(|| walker.build())
        .into_iter()
        .flatten()
    {
        match entry {
            Ok(entry) => {
                let below = entry.path().strip_prefix(&folder).unwrap_or(entry.path());
                match (glob.is_match(below), entry.path().is_dir()) {
                    (false, _) => {}
                    (true, true) => walk(entry.path(), ignored, all),
                    (true, false) if is_of_folders => {}
                    (true, false) => push_file(entry.path(), all),
                }
            }
            Err(error) => all.push(Err(walk_failure(&folder, error))),
        }
    }
}

/// The components of a pattern before the first with a wildcard, as a path, and the others.
fn split(pattern: &str) -> (PathBuf, Vec<Component<'_>>) {
    let components: Vec<Component> = Path::new(pattern).components().collect();
    let is_plain = |component: &&Component| {
        component
            .as_os_str()
            .to_str()
            .is_some_and(|name| !is_pattern(name))
    };
    let plain = components.iter().take_while(is_plain).count();
    let (folder, below) = components.split_at(plain);
    let folder: PathBuf = folder.iter().collect();
    (
        if plain == 0 {
            PathBuf::from(".")
        } else {
            folder
        },
        below.to_vec(),
    )
}

/// The entries of a folder and its subfolders, in order, except entries that are not `shown`. Links
/// to folders are not followed: they may form a cycle.
fn entries(
    folder: &Path,
    ignored: Ignored,
    shown: impl Fn(&DirEntry) -> bool + Send + Sync + 'static,
) -> WalkBuilder {
    let mut walk = WalkBuilder::new(folder);
    walk.standard_filters(ignored == Ignored::ByIgnoreFiles)
        .hidden(false)
        .sort_by_file_name(Ord::cmp);
    walk.filter_entry(move |entry| entry.depth() == 0 || shown(entry));
    walk
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}

fn is_folder(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir())
}

/// Adds the models of a folder and its subfolders, except hidden folders.
fn walk(folder: &Path, ignored: Ignored, all: &mut Vec<Result<FoundFile, Error>>) {
    for entry in entries(folder, ignored, |entry| {
        !(is_folder(entry) && is_hidden(entry))
    })
    .build()
    {
        match entry {
            Ok(entry) => {
                if !is_folder(&entry)
                    && entry
                        .path()
                        .extension()
                        .is_some_and(|extension| extension == "onnx")
                {
                    push_file(entry.path(), all);
                }
            }
            Err(error) => all.push(Err(walk_failure(folder, error))),
        }
    }
}

/// The error of a folder that cannot be read.
fn walk_failure(folder: &Path, error: ignore::Error) -> Error {
    let mut path = folder.to_owned();
    let mut cause = &error;
    while let ignore::Error::WithPath { err, .. } | ignore::Error::WithDepth { err, .. } = cause {
        if let ignore::Error::WithPath { path: at, .. } = cause {
            path.clone_from(at);
        }
        cause = err;
    }
    let text = cause.to_string();
    failure(
        &plain(&path),
        error
            .into_io_error()
            .unwrap_or_else(|| io::Error::other(text)),
    )
}

/// Adds a file that was found, not named. Only regular files and links to them are added; reading a
/// pipe would block.
fn push_file(path: &Path, all: &mut Vec<Result<FoundFile, Error>>) {
    match folders::stat_target(path) {
        Ok(found) if found.kind == EntryKind::File => all.push(Ok(FoundFile {
            path: plain(path),
            in_folder: true,
        })),
        Ok(_) => {}
        Err(error) => all.push(Err(failure(&plain(path), error))),
    }
}

fn failure(path: &Path, error: io::Error) -> Error {
    Error::of(&explain_open(path, error)).in_file(path.display().to_string())
}

/// The path without `./`.
fn plain(path: &Path) -> PathBuf {
    path.components()
        .filter(|part| *part != Component::CurDir)
        .collect()
}
