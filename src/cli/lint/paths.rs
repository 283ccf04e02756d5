//! From what a command line names to model files: files, folders, patterns, lists.

use std::collections::HashSet;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Component, Path, PathBuf};

use anyhow::Context;
use glob::MatchOptions;

use crate::cli::files;
use crate::error::ErrorKind;
use crate::report::Failure;

/// The paths that a list names, one a line; `-` reads the list from standard input.
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
    /// Whether a folder or pattern was named, and not the file itself.
    pub in_folder: bool,
}

/// The model files that the paths name, in their order and each once; those of a folder or pattern come in the order of their
/// names. What cannot be read stands as an error where its files would be.
pub fn expand(paths: &[PathBuf]) -> Vec<Result<Found, Failure>> {
    let mut all = Vec::new();
    for path in paths {
        expand_one(path, &mut all);
    }
    let mut seen = HashSet::new();
    all.retain(|path| path.as_ref().map_or(true, |found| seen.insert(found.path.clone())));
    all
}

fn expand_one(path: &Path, all: &mut Vec<Result<Found, Failure>>) {
    match fs::metadata(path) {
        _ if files::is_stdin(path) => all.push(Ok(Found { path: path.to_owned(), in_folder: false })),
        Ok(metadata) if metadata.is_dir() => walk(path, all),
        Ok(_) => all.push(Ok(Found { path: plain(path), in_folder: false })),
        Err(error) => match path.to_str().filter(|text| text.contains(['*', '?', '['])) {
            Some(pattern) => expand_pattern(pattern, all),
            None => all.push(Err(failure(path, &error))),
        },
    }
}

fn expand_pattern(pattern: &str, all: &mut Vec<Result<Found, Failure>>) {
    let unfound = |code, message: String| Err(Failure::of_file(pattern, code, message));
    let options = MatchOptions { require_literal_leading_dot: true, ..MatchOptions::new() };
    let matches = match glob::glob_with(pattern, options) {
        Ok(matches) => matches,
        Err(error) => return all.push(unfound(ErrorKind::Usage, error.to_string())),
    };
    let before = all.len();
    for path in matches {
        match path {
            Ok(path) if path.is_dir() => walk(&path, all),
            Ok(path) => push_file(&path, all),
            Err(error) => all.push(Err(failure(error.path(), error.error()))),
        }
    }
    if all.len() == before {
        all.push(unfound(ErrorKind::NotFound, "no file matches".to_owned()));
    }
}

/// The models of a folder and of those inside; hidden folders hold none.
fn walk(folder: &Path, all: &mut Vec<Result<Found, Failure>>) {
    let mut entries = match fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<fs::DirEntry>>>) {
        Ok(entries) => entries,
        Err(error) => return all.push(Err(failure(&plain(folder), &error))),
    };
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // Of a link it is asked what it is itself: a link to a folder is not followed, for it may lead around in a circle.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if is_folder && !hidden {
            walk(&path, all);
        } else if !is_folder && path.extension().is_some_and(|extension| extension == "onnx") {
            push_file(&path, all);
        }
    }
}

/// A file that was found, not named: what is no regular file, at the end of all links, is no model, and a pipe would be waited for.
fn push_file(path: &Path, all: &mut Vec<Result<Found, Failure>>) {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => all.push(Ok(Found { path: plain(path), in_folder: true })),
        Ok(_) => {}
        Err(error) => all.push(Err(failure(&plain(path), &error))),
    }
}

fn failure(path: &Path, error: &io::Error) -> Failure {
    Failure::new(path.display().to_string(), error)
}

/// The path without `./`.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}
