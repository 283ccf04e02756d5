//! Writing a file so that there is the old one or the new one at any moment.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use super::layout::{Layout, Piece};
use super::recipe::GRAIN;
use super::replaceable::Place;
use super::system::{explained, write_anywhere};
use super::temporary::Temporary;
use super::together::{NewFile, at, save_together};
use crate::parallel;

/// Bytes that one thread computes or copies, and writes, at a time.
pub(super) const CHUNK: usize = 2730 * GRAIN;

/// Where a file goes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
            match file.file().system() {
                Some(file) => write_anywhere(&layout, file)?,
                None => write_in_order(&layout, &mut file.file())?,
            }
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
pub(super) fn write_in_order(layout: &Layout, out: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    for Chunk { piece, start, bytes, .. } in chunks(&layout.pieces(), |_, _| CHUNK) {
        match piece {
            Piece::Bytes(all) => out.write_all(&all[start..start + bytes]).map_err(explained)?,
            Piece::Made(recipe) => {
                recipe.fill(start, &mut buffer[..bytes]);
                out.write_all(&buffer[..bytes])?;
            }
        }
        layout.count_written(bytes)?;
    }
    out.flush()
}

/// A part of a piece.
pub(super) struct Chunk<'p> {
    pub piece: &'p Piece,
    /// Where it begins in the piece.
    pub start: usize,
    pub bytes: usize,
    /// Where it begins in the file.
    pub place: u64,
}

/// All parts of the pieces; `step` is the length of the parts of a piece at a place in the file.
pub(super) fn chunks(pieces: &[Piece], step: impl Fn(&Piece, u64) -> usize) -> Vec<Chunk<'_>> {
    let mut chunks = Vec::new();
    let mut place = 0;
    for piece in pieces {
        let step = step(piece, place);
        for start in (0..piece.bytes()).step_by(step) {
            let bytes = step.min(piece.bytes() - start);
            chunks.push(Chunk { piece, start, bytes, place });
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
            && parallel::all(chunks(&pieces, |_, _| CHUNK), |Chunk { piece, start, bytes, place }| {
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
