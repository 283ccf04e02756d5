//! Writing a file in chunks, on all cores.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use bytes::Bytes;

use super::direct::{self, Direct};
use super::memory;
use crate::base::parallel;
use crate::base::threshold::Threshold;
use crate::files::chunks::{Chunk, chunks};
use crate::files::explained::explained;
use crate::process::system::release;
use crate::protobuf::{Layout, Piece};

/// Pages are released again for so many bytes before a chunk: when the next pages are read, Linux
/// 6.18 maps all pages of the block of the page cache that they are in, of up to 4 MiB.
const BEHIND: Threshold = Threshold::new("bytes behind a chunk", 8 << 20).or_zero();

/// Writes each chunk at its offset. A file that is read again is written through the page cache,
/// from which it is then read while the disk is written.
pub(crate) fn write_anywhere(layout: &Layout, file: &File, is_read_again: bool) -> io::Result<()> {
    let direct = if is_read_again {
        Direct::none()
    } else {
        Direct::to(file, layout.bytes())?
    };
    let pieces = layout.pieces();
    let (least, behind) = (direct::LEAST.get(), BEHIND.get() as u64);
    let write = |buffer: &mut Buffer,
                 Chunk {
                     piece,
                     start,
                     bytes,
                     place,
                 }: Chunk| {
        let end = start + bytes as u64;
        let moved = match moved(piece) {
            Some(all) => direct
                .write(&all[start as usize..end as usize], place)
                .map_err(explained)?,
            None => 0,
        };
        for part in (start + moved as u64..end).step_by(least) {
            let bytes = buffer.filled(piece, part, least.min((end - part) as usize));
            let place = place + (part - start);
            let written = direct.write(bytes, place)?;
            let (rest, place) = (&bytes[written..], place + written as u64);
            if !rest.is_empty() {
                file.write_all_at(rest, place)?;
                // A length of 0 would mean all of the file from here.
                memory::start_flushing(file, place, rest.len());
            }
        }
        release(source_of(piece, start.saturating_sub(behind)..end));
        layout.count_written(bytes as u64)
    };
    parallel::try_for_each(chunks(&pieces, length), Buffer::new, write)
}

/// The maximum length of a chunk: one that is too small for a direct write ends where a direct
/// write of the next one can begin.
fn length(piece: &Piece, start: u64, place: u64) -> usize {
    let (before, least) = (direct::before_page(place), direct::LEAST.get());
    match piece {
        _ if before > 0 && piece.bytes() - start >= (before + least) as u64 => before,
        _ if moved(piece).is_some_and(|all| direct::suits(&all[start as usize..], place)) => {
            direct::MOST.get()
        }
        _ => least,
    }
}

/// The bytes of a piece that are in memory and stay as they are.
fn moved(piece: &Piece) -> Option<&Bytes> {
    match piece {
        Piece::Bytes(all) => all.in_memory(),
        Piece::Made(_) => None,
    }
}

/// The bytes in memory of which a part of a piece consists or, approximately, is computed.
fn source_of(piece: &Piece, part: Range<u64>) -> &[u8] {
    let Some(source) = piece.source().in_memory() else {
        return &[];
    };
    let (length, bytes) = (source.len() as u128, u128::from(piece.bytes().max(1)));
    let place = |byte: u64| (u128::from(byte) * length / bytes) as usize;
    &source[place(part.start)..place(part.end)]
}

/// Memory for a part of a piece, aligned as direct writes need it.
struct Buffer(Vec<u8>);

impl Buffer {
    fn new() -> Buffer {
        Buffer(vec![0; direct::BLOCK.usual() + direct::LEAST.usual()])
    }

    /// Copies or computes a part of a piece.
    fn filled(&mut self, piece: &Piece, start: u64, bytes: usize) -> &[u8] {
        let address = self.0.as_ptr().addr();
        let padding = address.next_multiple_of(direct::BLOCK.get()) - address;
        let filled = &mut self.0[padding..padding + bytes];
        piece.fill(start, filled);
        filled
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::base::stored::Stored;

    fn moved(bytes: usize) -> Piece {
        Piece::Bytes(vec![1; bytes].into())
    }

    /// A piece that is computed from as many bytes.
    fn made(bytes: usize) -> Piece {
        Piece::Made(Arc::new(Stored::from(vec![1; bytes])))
    }

    /// Bytes that begin at a block of memory.
    fn aligned(bytes: usize) -> Piece {
        let block = direct::BLOCK.usual();
        let all = Bytes::from(vec![1; block + bytes]);
        let first = all.as_ptr().addr().next_multiple_of(block) - all.as_ptr().addr();
        Piece::Bytes(all.slice(first..first + bytes).into())
    }

    /// Pieces that begin at pages of the file and between them, and end there, below and beyond the
    /// length of a direct write.
    #[test]
    fn all_but_the_ends_of_a_piece_can_be_written_directly() {
        let (page, least, most) = (1 << 16, direct::LEAST.usual(), direct::MOST.usual());
        let files = [
            vec![],
            vec![moved(1)],
            vec![made(3 * least + 17), moved(5), made(2 * least)],
            vec![moved(page - 1), made(least), moved(1), made(least + 2)],
            vec![
                moved(page + 1),
                moved(least - 1),
                made(3 * least),
                made(2 * least),
            ],
            vec![
                moved(page),
                aligned(2 * most + 3),
                aligned(least),
                made(384),
            ],
            vec![made(page - 7), moved(7), aligned(most), made(least - 1)],
        ];
        let mut direct = 0;
        for chunk in files.iter().flat_map(|pieces| chunks(pieces, length)) {
            let is_end =
                chunk.start == 0 || chunk.start + chunk.bytes as u64 == chunk.piece.bytes();
            let is_whole = chunk.bytes >= least && direct::before_page(chunk.place) == 0;
            assert!(
                is_whole || is_end,
                "{} bytes at {}",
                chunk.bytes,
                chunk.place
            );
            direct += usize::from(is_whole);
        }
        assert_eq!(direct, 13);
    }
}
