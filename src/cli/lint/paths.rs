//! From what a command line names to model files: files, folders, patterns, lists.

use std::collections::HashSet;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail};
use glob::MatchOptions;

/// The paths that a list names, one a line; `-` reads the list from standard input.
pub fn read_list(list: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let name = || format!("--file-list {}", list.display());
    let reader: Box<dyn BufRead> = match list {
        list if list == Path::new("-") => Box::new(io::stdin().lock()),
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
/// names. Where a path names nothing, its error stands in its place.
pub fn expand(paths: &[PathBuf]) -> Vec<Result<Found, (PathBuf, anyhow::Error)>> {
    let mut all = Vec::new();
    for path in paths {
        let mut found = Vec::new();
        match expand_one(path, &mut found) {
            Ok(()) => {
                let in_folder = found.as_slice() != [plain(path)];
                all.extend(found.into_iter().map(|path| Ok(Found { path, in_folder })));
            }
            Err(error) => all.push(Err((path.clone(), error))),
        }
    }
    let mut seen = HashSet::new();
    all.retain(|path| path.as_ref().map_or(true, |found| seen.insert(found.path.clone())));
    all
}

fn expand_one(path: &Path, found: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    if path == Path::new("-") {
        found.push(path.to_owned());
        return Ok(());
    }
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => walk(path, found),
        Ok(_) => {
            found.push(plain(path));
            Ok(())
        }
        Err(error) => match path.to_str().filter(|text| text.contains(['*', '?', '['])) {
            Some(pattern) => expand_pattern(pattern, found),
            None => Err(error.into()),
        },
    }
}

fn expand_pattern(pattern: &str, found: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let before = found.len();
    let options = MatchOptions { require_literal_leading_dot: true, ..MatchOptions::new() };
    for path in glob::glob_with(pattern, options).context("the pattern cannot be read")? {
        let path = path?;
        if path.is_dir() { walk(&path, found)? } else { found.push(plain(&path)) }
    }
    if found.len() == before {
        bail!("no file matches");
    }
    Ok(())
}

/// The models of a folder and of those inside; hidden folders hold none.
fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let name = || folder.display().to_string();
    let mut entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<fs::DirEntry>>>).with_context(name)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let kind = entry.file_type().with_context(name)?;
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if kind.is_dir() && !hidden {
            walk(&path, found)?;
        } else if !kind.is_dir() && path.extension().is_some_and(|extension| extension == "onnx") {
            found.push(plain(&path));
        }
    }
    Ok(())
}

/// The path without `./`.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}
