//! Expands the paths of a command line to model files: files, folders, glob patterns, lists.

use std::collections::HashSet;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Component, Path, PathBuf};

use anyhow::Context;
use glob::MatchOptions;

use super::files;
use crate::api::explain_open;
use crate::error::{Error, ErrorKind};

/// Reads a list of paths, one per line; `-` reads the list from standard input.
pub fn read_list(list: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let name = || format!("--file-list {}", list.display());
    let reader: Box<dyn BufRead> = match list {
        list if files::is_stdin(list) => Box::new(io::stdin().lock()),
        list => Box::new(BufReader::new(fs::File::open(list).with_context(name)?)),
    };
    let lines = reader.lines().collect::<io::Result<Vec<String>>>().with_context(name)?;
    Ok(lines.into_iter().filter(|line| !line.is_empty()).map(PathBuf::from).collect())
}

/// A model file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Found {
    pub path: PathBuf,
    /// Whether the file was found by a folder or pattern, not named explicitly.
    pub in_folder: bool,
}

/// The files that the paths of a command name. A path that does not exist is a pattern if it contains `*`, `?` or `[`: quoted patterns
/// and those of some shells and scripts are not expanded by the shell.
///
/// # Errors
/// If a pattern matches no file.
pub fn expand_patterns(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for path in paths {
        match path.to_str().filter(|text| is_pattern(text) && fs::symlink_metadata(path).is_err()) {
            Some(pattern) => expand_pattern(pattern, &mut all),
            None => all.push(Ok(Found { path: path.clone(), in_folder: false })),
        }
    }
    all.into_iter().map(|found| Ok(found?.path)).collect()
}

fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// The model files that the paths name, in order and without duplicates; those of a folder or pattern are sorted by name. A path that
/// cannot be read yields an error in place of its files.
pub fn expand(paths: &[PathBuf]) -> Vec<Result<Found, Error>> {
    let mut all = Vec::new();
    for path in paths {
        expand_one(path, &mut all);
    }
    let mut seen = HashSet::new();
    all.retain(|path| path.as_ref().map_or(true, |found| seen.insert(found.path.clone())));
    all
}

fn expand_one(path: &Path, all: &mut Vec<Result<Found, Error>>) {
    match fs::metadata(path) {
        _ if files::is_stdin(path) => all.push(Ok(Found { path: path.to_owned(), in_folder: false })),
        Ok(metadata) if metadata.is_dir() => walk(path, all),
        Ok(_) => all.push(Ok(Found { path: plain(path), in_folder: false })),
        Err(error) => match path.to_str().filter(|text| is_pattern(text)) {
            Some(pattern) => expand_pattern(pattern, all),
            None => all.push(Err(failure(path, error))),
        },
    }
}

fn expand_pattern(pattern: &str, all: &mut Vec<Result<Found, Error>>) {
    let unfound = |code, message: String| Err(Error::new(code, message).in_file(pattern));
    let options = MatchOptions { require_literal_leading_dot: true, ..MatchOptions::new() };
    let matches = match glob::glob_with(pattern, options) {
        Ok(matches) => matches,
        Err(error) => {
            let message = format!("is not a valid pattern: {} at character {}", error.msg, error.pos + 1);
            return all.push(unfound(ErrorKind::Usage, message));
        }
    };
    let before = all.len();
    for path in matches {
        match path {
            Ok(path) if path.is_dir() => walk(&path, all),
            Ok(path) => push_file(&path, all),
            Err(error) => {
                let path = error.path().to_owned();
                all.push(Err(failure(&path, error.into())));
            }
        }
    }
    if all.len() == before {
        all.push(unfound(ErrorKind::NotFound, "no file matches this pattern".to_owned()));
    }
}

/// Adds the models of a folder and its subfolders, except hidden ones.
fn walk(folder: &Path, all: &mut Vec<Result<Found, Error>>) {
    let mut entries = match fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<fs::DirEntry>>>) {
        Ok(entries) => entries,
        Err(error) => return all.push(Err(failure(&plain(folder), error))),
    };
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // Symbolic links to folders are skipped: they may form a cycle.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if is_folder && !hidden {
            walk(&path, all);
        } else if !is_folder && path.extension().is_some_and(|extension| extension == "onnx") {
            push_file(&path, all);
        }
    }
}

/// Adds a file that was found, not named. Only regular files and links to them are added; reading a pipe would block.
fn push_file(path: &Path, all: &mut Vec<Result<Found, Error>>) {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => all.push(Ok(Found { path: plain(path), in_folder: true })),
        Ok(_) => {}
        Err(error) => all.push(Err(failure(&plain(path), error))),
    }
}

fn failure(path: &Path, error: io::Error) -> Error {
    Error::of(&explain_open(path, error)).in_file(path.display().to_string())
}

/// The path without `./`.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}
