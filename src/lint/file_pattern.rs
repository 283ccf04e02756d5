//! Patterns of files, in `recast.toml` and on the command line.

use std::path::{Component, Path, PathBuf};

use globset::GlobSet;

use crate::base::patterns::{self, BadPattern};

/// A pattern of files: of paths under a folder, or of names of files and folders if it has no `/`.
/// A matching folder matches with all its contents.
#[derive(Clone, Debug)]
pub struct FilePattern {
    /// As it was written.
    text: String,
    folder: PathBuf,
    pattern: GlobSet,
    /// Whether the pattern matches paths instead of names.
    of_paths: bool,
}

impl FilePattern {
    /// A pattern of files under a folder.
    ///
    /// # Errors
    /// If the pattern is not valid.
    pub fn new(folder: &Path, pattern: &str) -> Result<FilePattern, BadPattern> {
        let of_paths = pattern.trim_end_matches('/').contains('/');
        let plain: PathBuf = Path::new(pattern)
            .components()
            .filter(|part| *part != Component::CurDir)
            .collect();
        let text = pattern.to_owned();
        Ok(FilePattern {
            text,
            folder: absolute(folder),
            pattern: patterns::of_paths(&plain.to_string_lossy())?,
            of_paths,
        })
    }

    /// The pattern, as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the pattern matches a file, or a folder that contains it.
    #[must_use]
    pub fn matches(&self, path: &Path) -> bool {
        let path = absolute(path);
        let inside = path.strip_prefix(&self.folder).unwrap_or(&path);
        let mut paths = inside
            .ancestors()
            .filter(|path| !path.as_os_str().is_empty());
        if self.of_paths {
            paths.any(|path| self.pattern.is_match(path))
        } else {
            paths.any(|path| {
                path.file_name()
                    .is_some_and(|name| self.pattern.is_match(name))
            })
        }
    }
}

/// The absolute path, without `.` and `..`; links are not resolved.
pub(super) fn absolute(path: &Path) -> PathBuf {
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    let mut plain = PathBuf::new();
    for part in std::path::absolute(path)
        .unwrap_or_else(|_| path.to_owned())
        .components()
    {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            _ => plain.push(part),
        }
    }
    plain
}
