//! Folders and identities of paths, and errors that name paths.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::folders;

/// The folder of a file.
#[must_use]
pub fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Whether a path ends in `/` or `/.`, after which it can only be that of a folder, or in `..`. Its
/// file name does not show that.
#[must_use]
pub fn names_a_folder(path: &Path) -> bool {
    let ends_in = |name: &OsStr| {
        path.as_os_str()
            .as_encoded_bytes()
            .ends_with(name.as_encoded_bytes())
    };
    !path.as_os_str().is_empty() && !path.file_name().is_some_and(ends_in)
}

/// A path that identifies a file independent of spelling: the existing part of the path, with links
/// resolved, and the rest.
#[must_use]
pub fn identity(path: &Path) -> PathBuf {
    identity_by(folders::resolve, path)
}

/// Like [`identity`], in the file system that `resolve` looks into.
pub(super) fn identity_by(resolve: impl Fn(&Path) -> io::Result<PathBuf>, path: &Path) -> PathBuf {
    let resolved = path.ancestors().find_map(|ancestor| {
        let here = if ancestor.as_os_str().is_empty() {
            Path::new(".")
        } else {
            ancestor
        };
        Some(resolve(here).ok()?.join(path.strip_prefix(ancestor).ok()?))
    });
    resolved.unwrap_or_else(|| path.to_owned())
}

/// Whether a path is that of a device or pipe, which cannot be replaced by a file.
#[must_use]
pub fn is_stream(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// An error with the path of the file. Its source keeps the number of the operating system, which
/// says that a disk is full.
pub fn at(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        At {
            path: path.to_owned(),
            error,
        },
    )
}

#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", path.display())]
struct At {
    path: PathBuf,
    #[source]
    error: io::Error,
}
