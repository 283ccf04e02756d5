//! Writing a file in chunks, on all cores.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::direct::{self, Direct};
use super::memory;
use crate::base::parallel;
use crate::files::chunks::{CHUNK, Chunk, chunks};
use crate::files::explained::explained;
use crate::protobuf::{Layout, Piece};

/// Writes each chunk at its offset.
pub(crate) fn write_anywhere(layout: &Layout, file: &File) -> io::Result<()> {
    let direct = Direct::to(file);
    let suits = |piece: &Piece, part: std::ops::Range<usize>, place| matches!(piece, Piece::Bytes(bytes) if direct::suits(&bytes[part], place));
    let step = |piece: &Piece, place| if suits(piece, 0..piece.bytes(), place) { direct::MOST } else { CHUNK };
    let pieces = layout.pieces();
    let write = |buffer: &mut Vec<u8>, Chunk { piece, start, bytes, place }: Chunk| {
        let end = start + bytes;
        let moved = match piece {
            Piece::Bytes(all) if suits(piece, start..end, place) => direct.write(&all[start..end], place).map_err(explained)?,
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
        layout.count_written(bytes)
    };
    parallel::try_for_each(chunks(&pieces, step), || vec![0; CHUNK], write)
}
