//! Writing a file so that there is the old one or the new one, and nothing between.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::layout::{Layout, Piece};
use super::recipe::GRAIN;

/// Bytes that one thread computes and writes at a time.
const CHUNK: usize = 2730 * GRAIN;

/// Where a file goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// To this path, in one step, over what may be there.
    File(PathBuf),
    /// To standard output.
    Stdout,
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The file's length.
    pub bytes: u64,
}

/// Writes a file. Until all of it is written and flushed, the bytes stand in a temporary file beside the target, which takes the
/// target's permissions and then its name.
///
/// # Errors
/// Those of the operating system; the target is then as it was. Refuses to write to a terminal.
pub fn save(layout: Layout, target: &Target) -> io::Result<Saved> {
    let bytes = layout.bytes();
    match target {
        Target::Stdout if io::stdout().is_terminal() => {
            return Err(io::Error::other("binary output to a terminal; redirect it or give -o FILE"));
        }
        Target::Stdout => write_in_order(layout.into_pieces(), &mut io::stdout().lock())?,
        Target::File(path) => replace(layout.into_pieces(), path)?,
    }
    Ok(Saved { bytes })
}

fn replace(pieces: Vec<Piece>, path: &Path) -> io::Result<()> {
    // A link stays a link: what it points to is replaced.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let old = fs::metadata(&path).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return write_in_order(pieces, &mut File::options().write(true).open(&path)?);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".recast-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let temporary = builder.tempfile_in(folder)?;
    write_anywhere(&pieces, temporary.as_file())?;
    if let Some(old) = old {
        temporary.as_file().set_permissions(old.permissions())?;
    }
    temporary.as_file().sync_all()?;
    temporary.persist(&path).map_err(|error| error.error)?;
    sync_folder(folder)
}

/// Makes the new name last through a power failure.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Writes from the first byte to the last: for pipes.
fn write_in_order(pieces: Vec<Piece>, out: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    for piece in pieces {
        if let Piece::Bytes(bytes) = &piece {
            out.write_all(bytes)?;
            continue;
        }
        for start in (0..piece.bytes()).step_by(CHUNK) {
            let part = &mut buffer[..CHUNK.min(piece.bytes() - start)];
            piece.fill(start, part);
            out.write_all(part)?;
        }
    }
    out.flush()
}

/// Writes each chunk at its place, on all cores.
#[cfg(unix)]
fn write_anywhere(pieces: &[Piece], file: &File) -> io::Result<()> {
    use std::os::unix::fs::FileExt;

    let mut chunks = Vec::new();
    let mut place = 0;
    for piece in pieces {
        for start in (0..piece.bytes()).step_by(CHUNK) {
            let bytes = CHUNK.min(piece.bytes() - start);
            chunks.push((piece, start, bytes, place));
            place += bytes as u64;
        }
    }
    chunks.into_par_iter().try_for_each_init(
        || vec![0; CHUNK],
        |buffer, (piece, start, bytes, place)| match piece {
            Piece::Bytes(all) => file.write_all_at(&all[start..start + bytes], place),
            Piece::Made(recipe) => {
                recipe.fill(start, &mut buffer[..bytes]);
                file.write_all_at(&buffer[..bytes], place)
            }
        },
    )
}

#[cfg(not(unix))]
fn write_anywhere(pieces: &[Piece], mut file: &File) -> io::Result<()> {
    write_in_order(pieces.to_vec(), &mut file)
}
