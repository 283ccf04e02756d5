//! Atomic writing of files.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use super::paths::{at, is_stream};
use super::pending_file::{PendingFile, Written};
use super::together::save_together;
use crate::protobuf::Layout;

/// The target of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SaveTarget {
    /// This path, atomically. An existing file is replaced.
    File(PathBuf),
    /// Standard output.
    Stdout,
}

/// Writes a file. The bytes are written to a temporary file in the target's folder and flushed;
/// then this file gets the target's owner and permissions, as far as the user is permitted to set
/// them, and its name. If the target is a link, the file to which it refers is replaced.
///
/// # Errors
/// Any I/O error, with the path; the target is then unchanged, unless only flushing
/// its folder failed. A terminal is an error, as are targets that
/// [`crate::files::check_replaceable`] refuses.
#[expect(clippy::disallowed_methods, reason = "a model is not text")]
pub fn save(layout: Layout, target: &SaveTarget) -> io::Result<()> {
    match target {
        SaveTarget::File(path) if !is_stream(path) => save_together(
            vec![PendingFile::replacing(path.clone(), layout)],
            None,
            None,
            || Ok(()),
        )
        .map(drop),
        SaveTarget::File(path) => {
            let write = || layout.write_to(&mut File::options().write(true).open(path)?);
            write().map_err(|error| at(path, error))
        }
        SaveTarget::Stdout => {
            let write = || {
                if io::stdout().is_terminal() {
                    Err(io::Error::other(
                        "binary output is not written to a terminal; write it to a file",
                    ))
                } else {
                    layout.write_to(&mut io::stdout().lock())
                }
            };
            write().map_err(|error| at(Path::new("-"), error))
        }
    }
}

/// The space of a file that is written later. It is free again when this is dropped.
#[derive(Debug)]
pub struct Reserved {
    _file: Option<Written>,
}

/// Writes a file, but does not give it its name, to find out whether that is possible. Nothing is
/// written to a device or pipe.
///
/// # Errors
/// Any I/O error, with the path.
pub fn reserve(layout: Layout, path: &Path) -> io::Result<Reserved> {
    if is_stream(path) {
        return Ok(Reserved { _file: None });
    }
    let file = Written::new(PendingFile::replacing(path.to_owned(), layout), false)?;
    file.flush()?;
    Ok(Reserved { _file: Some(file) })
}

impl SaveTarget {
    /// The path; `-` is standard output.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            SaveTarget::Stdout => "-".to_owned(),
            SaveTarget::File(path) => path.display().to_string(),
        }
    }
}
