//! The bytes of an open file.

use std::io;
use std::path::Path;

use bytes::Bytes;

use super::folders::OpenFile;
use crate::process::system::map;

/// The bytes of a regular file. `path` is its name in errors.
pub(super) fn mapped(file: &OpenFile, path: &Path) -> io::Result<Bytes> {
    match file.system() {
        None => Ok(file.in_memory().unwrap_or_default()),
        Some(_) if file.stat().bytes == 0 => Ok(Bytes::new()),
        Some(file) => map(file, path),
    }
}
