//! Writing a file so that there is the old one or the new one, and nothing between.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::data_folder::folder_of;
use super::direct::{self, Direct};
use super::layout::{Layout, Piece};
use super::memory;
use super::recipe::GRAIN;
use super::temporary::{Temporary, sync_folder};

/// Bytes that one thread computes or copies, and writes, at a time.
const CHUNK: usize = 2730 * GRAIN;

/// Where a file goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// To this path, in one step, over what may be there.
    File(PathBuf),
    /// To standard output.
    Stdout,
}

/// Writes a file. Until all of it is written and flushed, the bytes stand in a temporary file beside the target, which takes the
/// target's permissions and then its name.
///
/// # Errors
/// Those of the operating system; the target is then as it was, unless it is the folder that cannot be flushed. Refuses to write to a
/// terminal.
#[expect(clippy::disallowed_methods, reason = "a model is not text")]
pub fn save(layout: &Layout, target: &Target) -> io::Result<()> {
    match target {
        Target::Stdout if io::stdout().is_terminal() => {
            Err(io::Error::other("binary output to a terminal; redirect it or give -o FILE"))
        }
        Target::Stdout => write_in_order(layout, &mut io::stdout().lock()),
        Target::File(path) if is_stream(path) => write_in_order(layout, &mut File::options().write(true).open(path)?),
        Target::File(path) => {
            let written = Written::beside(layout, path)?;
            let folder = folder_of(written.path());
            written.name()?;
            sync_folder(&folder)
        }
    }
}

/// Whether there is something at a path that cannot be replaced by a file: a device, a pipe.
#[must_use]
pub fn is_stream(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// A file that is complete and flushed, but does not have its name yet. Without [`Written::name`] nothing is left of it.
#[derive(Debug)]
pub(super) struct Written {
    file: Temporary,
    path: PathBuf,
}

impl Written {
    /// Writes a file in the folder where it will stand.
    pub(super) fn beside(layout: &Layout, path: &Path) -> io::Result<Written> {
        // A link stays a link: what it points to is replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let permissions = match fs::metadata(&path) {
            Ok(old) if old.is_dir() => return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a folder, not a file")),
            Ok(old) => Some(old.permissions()),
            Err(_) => None,
        };
        let file = Temporary::beside(&path)?;
        write_anywhere(layout, file.file())?;
        if let Some(permissions) = permissions {
            file.file().set_permissions(permissions)?;
        }
        file.file().sync_all()?;
        Ok(Written { file, path })
    }

    /// The file with these permissions.
    #[cfg(unix)]
    pub(super) fn with_mode(self, mode: Option<u32>) -> io::Result<Written> {
        use std::os::unix::fs::PermissionsExt;

        mode.map_or(Ok(()), |mode| self.file.file().set_permissions(fs::Permissions::from_mode(mode)))?;
        Ok(self)
    }

    #[cfg(not(unix))]
    pub(super) fn with_mode(self, _mode: Option<u32>) -> io::Result<Written> {
        Ok(self)
    }

    /// Where it will stand: the path that was given, with links resolved.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name, in one step, over what may be there.
    pub(super) fn name(self) -> io::Result<()> {
        self.file.name(&self.path)
    }
}

/// Writes from the first byte to the last: for pipes.
fn write_in_order(layout: &Layout, out: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    for Chunk { piece, start, bytes, .. } in chunks(&layout.pieces()) {
        match piece {
            Piece::Bytes(all) => out.write_all(&all[start..start + bytes]).map_err(explained)?,
            Piece::Made(recipe) => {
                recipe.fill(start, &mut buffer[..bytes]);
                out.write_all(&buffer[..bytes])?;
            }
        }
        layout.count_written(bytes);
    }
    out.flush()
}

/// Writes each chunk at its place, on all cores.
#[cfg(unix)]
fn write_anywhere(layout: &Layout, file: &File) -> io::Result<()> {
    use std::os::unix::fs::FileExt;

    let direct = Direct::to(file);
    chunks(&layout.pieces()).into_par_iter().try_for_each_init(
        || vec![0; CHUNK],
        |buffer, Chunk { piece, start, bytes, place, straight }| {
            let end = start + bytes;
            let moved = match piece {
                Piece::Bytes(all) if straight => direct.write(&all[start..end], place).map_err(explained)?,
                _ => 0,
            };
            for part in (start + moved..end).step_by(CHUNK) {
                let buffer = &mut buffer[..CHUNK.min(end - part)];
                let place = place + (part - start) as u64;
                piece.fill(part, buffer);
                file.write_all_at(buffer, place)?;
                memory::start_flushing(file, place, buffer.len());
            }
            memory::release(piece.source(start..end));
            layout.count_written(bytes);
            Ok(())
        },
    )
}

#[cfg(not(unix))]
fn write_anywhere(layout: &Layout, mut file: &File) -> io::Result<()> {
    write_in_order(layout, &mut file)
}

/// What the system calls a bad address is here a map that lost its file.
fn explained(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        #[cfg(unix)]
        Some(libc::EFAULT) => io::Error::other("a file that it is made from became shorter while it was read"),
        _ => error,
    }
}

/// A part of a piece.
struct Chunk<'p> {
    piece: &'p Piece,
    /// Where it begins in the piece.
    start: usize,
    bytes: usize,
    /// Where it begins in the file.
    place: u64,
    /// Whether its bytes may go to the disk as they are.
    straight: bool,
}

fn chunks(pieces: &[Piece]) -> Vec<Chunk<'_>> {
    let mut chunks = Vec::new();
    let mut place = 0;
    for piece in pieces {
        let straight = matches!(piece, Piece::Bytes(bytes) if direct::suits(bytes, place));
        let step = if straight { direct::MOST } else { CHUNK };
        for start in (0..piece.bytes()).step_by(step) {
            let bytes = step.min(piece.bytes() - start);
            chunks.push(Chunk { piece, start, bytes, place, straight });
            place += bytes as u64;
        }
    }
    chunks
}

impl Layout {
    /// Whether these are the bytes that a file has already. Stops at the first difference.
    #[must_use]
    pub fn is_content_of(&self, found: &[u8]) -> bool {
        let pieces = self.pieces();
        self.bytes() == found.len() as u64
            && chunks(&pieces).into_par_iter().all(|Chunk { piece, start, bytes, place, .. }| {
                let found = &found[place as usize..];
                match piece {
                    Piece::Bytes(all) => found.starts_with(&all[start..start + bytes]),
                    Piece::Made(recipe) => {
                        let mut buffer = vec![0; bytes];
                        recipe.fill(start, &mut buffer);
                        found.starts_with(&buffer)
                    }
                }
            })
    }
}
