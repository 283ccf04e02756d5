//! Writing a file so that there is the old one or the new one at any moment.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::direct::{self, Direct};
use super::layout::{Layout, Piece};
use super::memory;
use super::recipe::GRAIN;
use super::replaceable::Place;
use super::temporary::Temporary;
use super::together::{NewFile, at, save_together};

/// Bytes that one thread computes or copies, and writes, at a time.
const CHUNK: usize = 2730 * GRAIN;

/// Where a file goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// To this path, in one step. A file there is replaced.
    File(PathBuf),
    /// To standard output.
    Stdout,
}

/// Writes a file. Until all of it is written and flushed, the bytes are in a temporary file of the target's folder, which gets the
/// target's owner and permissions, as far as this user may set them, and then its name. A link stays a link: what it leads to is
/// replaced.
///
/// # Errors
/// Those of the operating system, with the path; the target is then as it was, unless it is the folder that cannot be flushed. Refuses
/// to write to a terminal, and to replace what [`super::check_replaceable`] refuses.
#[expect(clippy::disallowed_methods, reason = "a model is not text")]
pub fn save(layout: Layout, target: &Target) -> io::Result<()> {
    match target {
        Target::File(path) if !is_stream(path) => {
            save_together(vec![NewFile::replacing(path.clone(), layout)], None, || Ok(())).map(drop)
        }
        Target::File(path) => {
            let write = || write_in_order(&layout, &mut File::options().write(true).open(path)?);
            write().map_err(|error| at(path, error))
        }
        Target::Stdout => {
            let write = || match io::stdout().is_terminal() {
                true => Err(io::Error::other("binary output to a terminal; redirect it or give -o FILE")),
                false => write_in_order(&layout, &mut io::stdout().lock()),
            };
            write().map_err(|error| at(Path::new("-"), error))
        }
    }
}

impl Target {
    /// The path; `-` is standard output.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Target::Stdout => "-".to_owned(),
            Target::File(path) => path.display().to_string(),
        }
    }
}

/// Whether there is something at a path that cannot be replaced by a file: a device, a pipe.
#[must_use]
pub fn is_stream(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// A file that is complete and flushed, but does not have its name yet. Without a name nothing is left of it.
#[derive(Debug)]
pub(super) struct Written {
    file: Temporary,
    pub(super) place: Place,
    /// Whether it must not replace a file.
    pub(super) is_new: bool,
}

impl Written {
    /// Writes a file in the folder in which it gets its name.
    ///
    /// # Errors
    /// Those of the operating system, with the path.
    pub(super) fn new(file: NewFile) -> io::Result<Written> {
        let NewFile { path, layout, folder, mode, is_new, names } = file;
        let write = || {
            let place = Place::of(&path, folder, names)?;
            let file = Temporary::new(&place.folder)?;
            write_anywhere(&layout, file.file().system().ok_or(io::ErrorKind::Unsupported)?)?;
            if let Some(old) = &place.old {
                if let Ok(old) = place.folder.read(place.name.as_ref()) {
                    file.file().take_attributes_of(&old);
                }
                file.file().take_permissions_of(old)?;
            }
            if let Some(mode) = mode {
                file.file().set_mode(mode)?;
            }
            file.file().sync()?;
            Ok(Written { file, place, is_new })
        };
        write().map_err(|error| at(&path, error))
    }

    /// Gives the file its name, in one step. A file of this name is replaced.
    pub(super) fn name(self) -> io::Result<()> {
        self.file.name(&self.place.folder, &self.place.name)
    }

    /// Gives the file its name, in one step. Nothing is replaced.
    pub(super) fn name_new(self) -> io::Result<()> {
        self.file.name_new(&self.place.folder, &self.place.name)
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

/// Writes each chunk at its offset, on all cores.
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

/// A bad address in a write means a mapped file that became shorter.
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
    /// Whether its bytes can be written directly.
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
    /// Writes the file from the first byte to the last.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        write_in_order(self, out)
    }

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
