//! Opening files by mapping them.

use std::io::{self, Read};
use std::path::Path;

use bytes::Bytes;

use super::data_folder::DataFolder;
use super::folders::{self, EntryKind, Reading};
use super::mapped::mapped;
use crate::process::system::map;

/// The maximum number of bytes that are read from a pipe or device, whose length is unknown.
const LARGEST_STREAM: u64 = 8 << 30;

/// A file's bytes and its name in messages.
#[derive(Clone, Debug)]
pub struct Input {
    /// The path as given; `-` is standard input.
    pub name: String,
    /// The bytes of the file: a map, if it is a regular file.
    pub bytes: Bytes,
}

/// Opens a file. A regular file is mapped, other files are read.
///
/// # Errors
/// Any I/O error.
pub fn open(path: &Path) -> io::Result<Input> {
    let name = path.display().to_string();
    let mut file = match folders::read(path)? {
        Reading::System(file) => file,
        Reading::Memory(bytes, _) => {
            return Ok(Input {
                name,
                bytes: bytes.try_to_bytes()?,
            });
        }
    };
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::IsADirectory,
            "is a folder, not a file",
        ));
    }
    let bytes = if metadata.is_file() && metadata.len() > 0 {
        map(&file, path)?
    } else {
        read_all(&mut file)?
    };
    Ok(Input { name, bytes })
}

/// Opens a model, or another file that may name data files, and the folder of its data files. Both
/// are looked up in the same open folder, so that data is never read from another folder that has
/// replaced the model's folder.
///
/// # Errors
/// Any I/O error.
pub fn open_with_data(path: &Path) -> io::Result<(Input, DataFolder)> {
    if folders::stat_target(path)?.kind != EntryKind::File {
        return Ok((open(path)?, DataFolder::of_model(path)));
    }
    let (data, file) = DataFolder::and_model(path)?;
    Ok((
        Input {
            name: path.display().to_string(),
            bytes: mapped(&file, path)?.try_to_bytes()?,
        },
        data,
    ))
}

/// Reads a stream to its end.
///
/// # Errors
/// Any I/O error; also if there are more than 8 GiB.
pub fn read_all(from: &mut impl Read) -> io::Result<Bytes> {
    read_up_to(LARGEST_STREAM, from)
}

fn read_up_to(limit: u64, from: &mut impl Read) -> io::Result<Bytes> {
    let mut bytes = Vec::new();
    from.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("has more than {limit} bytes, the limit for pipes and devices; give a file"),
        ));
    }
    Ok(bytes.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_stream_is_read_up_to_a_limit() {
        assert_eq!(
            read_up_to(100, &mut [1_u8; 100].as_slice()).unwrap().len(),
            100
        );
        let error = read_up_to(100, &mut io::repeat(1)).unwrap_err();
        assert!(
            error.to_string().starts_with("has more than 100 bytes"),
            "{error}"
        );
    }
}
