//! Relative paths without `..`, and errors about names.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path};

/// The components of a relative path without `..`.
pub(super) fn names(path: &Path) -> io::Result<impl DoubleEndedIterator<Item = &OsStr>> {
    let name = |component| match component {
        Component::Normal(name) => Ok(name),
        _ => Err(not_beneath()),
    };
    Ok(path
        .components()
        .map(name)
        .collect::<io::Result<Vec<_>>>()?
        .into_iter())
}

/// A name of a single component.
pub(super) fn only(name: &OsStr) -> io::Result<&OsStr> {
    let mut names = names(Path::new(name))?;
    match (names.next(), names.next()) {
        (Some(only), None) if only == name => Ok(name),
        _ => Err(not_beneath()),
    }
}

pub(super) fn not_beneath() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        "is not a path beneath the folder",
    )
}

pub(super) fn not_regular() -> io::Error {
    io::Error::other("is not a regular file")
}
