//! The bytes of an open file.

use std::io;
use std::path::Path;

use bytes::Bytes;

use super::folders::OpenFile;
use crate::base::stored::Stored;
use crate::process::system::map;

/// The bytes of a regular file. `path` is its name in errors.
pub(super) fn mapped(file: &OpenFile, path: &Path) -> io::Result<Stored> {
    match file.system() {
        None => Ok(file.in_memory().unwrap_or_else(|| Bytes::new().into())),
        Some(_) if file.stat().bytes == 0 => Ok(Bytes::new().into()),
        Some(file) => map(file, path).map(Stored::from),
    }
}
