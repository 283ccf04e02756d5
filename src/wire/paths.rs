//! What paths mean, and errors that name them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::files;

/// The folder that a file is in.
#[must_use]
pub fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// A path by which a file is known however it was spelled: the part of it that exists, with links resolved, and the rest.
#[must_use]
pub fn identity(path: &Path) -> PathBuf {
    let resolved = path.ancestors().find_map(|ancestor| {
        let here = if ancestor.as_os_str().is_empty() { Path::new(".") } else { ancestor };
        Some(files::resolve(here).ok()?.join(path.strip_prefix(ancestor).ok()?))
    });
    resolved.unwrap_or_else(|| path.to_owned())
}

/// Whether there is something at a path that cannot be replaced by a file: a device, a pipe.
#[must_use]
pub fn is_stream(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// An error that says where it happened.
pub fn at(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
