//! Reading a file by mapping it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use bytes::Bytes;

use super::map::map;

/// A file's bytes and its name for messages.
#[derive(Clone, Debug)]
pub struct Input {
    /// The path as given; `-` is standard input.
    pub name: String,
    /// All of the file: a map, unless it is no regular file.
    pub bytes: Bytes,
}

/// Opens a file for reading; a regular file is mapped and not read.
///
/// # Errors
/// Those of the operating system.
pub fn open(path: &Path) -> io::Result<Input> {
    let name = path.display().to_string();
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a folder, not a file"));
    }
    let bytes = if metadata.is_file() && metadata.len() > 0 { map(&file, path)? } else { read_all(&mut file)? };
    Ok(Input { name, bytes })
}

/// Reads standard input to its end.
///
/// # Errors
/// Those of the operating system.
pub fn read_stdin() -> io::Result<Input> {
    Ok(Input { name: "-".to_owned(), bytes: read_all(&mut io::stdin().lock())? })
}

fn read_all(from: &mut impl Read) -> io::Result<Bytes> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes)?;
    Ok(bytes.into())
}
