//! Removal of what interrupted runs left.
//!
//! Temporary files stay if a running process has locked them or a model uses them.

use std::io;
use std::path::{Path, PathBuf};

use super::neighbours::Neighbours;
use crate::files;

/// Removes the temporary files that interrupted runs left in a folder, and returns their paths.
/// Files that a model uses are kept: a user may give a data file such a name.
///
/// # Errors
/// Any I/O error.
pub fn tidy(folder: &Path) -> io::Result<Vec<PathBuf>> {
    files::tidy(folder, |paths| {
        let neighbours = Neighbours::of(folder, paths.iter().map(PathBuf::as_path));
        paths
            .iter()
            .map(|path| neighbours.user_of(path).is_some())
            .collect()
    })
}
