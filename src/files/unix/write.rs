//! Writing a file in chunks, on all cores.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use bytes::Bytes;

use super::direct::{self, Direct};
use super::memory;
use crate::base::parallel;
use crate::files::chunks::{Chunk, chunks};
use crate::files::explained::explained;
use crate::process::system::release;
use crate::protobuf::{Layout, Piece};

/// Pages are released again for so many bytes before a chunk: when the next pages are read, Linux 6.18 maps all pages of the block of the
/// page cache that they are in, of up to 4 MiB.
const BEHIND: u64 = 8 << 20;

/// Writes each chunk at its offset. A file that is read again is written through the page cache, from which it is then read while the disk is
/// written.
pub(crate) fn write_anywhere(layout: &Layout, file: &File, is_read_again: bool) -> io::Result<()> {
    let direct = if is_read_again { Direct::none() } else { Direct::to(file, layout.bytes())? };
    let pieces = layout.pieces();
    let write = |buffer: &mut Buffer, Chunk { piece, start, bytes, place }: Chunk| {
        let end = start + bytes as u64;
        let moved = match moved(piece) {
            Some(all) => direct.write(&all[start as usize..end as usize], place).map_err(explained)?,
            None => 0,
        };
        for part in (start + moved as u64..end).step_by(direct::LEAST) {
            let bytes = buffer.filled(piece, part, direct::LEAST.min((end - part) as usize));
            let place = place + (part - start);
            let written = direct.write(bytes, place)?;
            let (rest, place) = (&bytes[written..], place + written as u64);
            if !rest.is_empty() {
                file.write_all_at(rest, place)?;
                // A length of 0 would mean all of the file from here.
                memory::start_flushing(file, place, rest.len());
            }
        }
        release(source_of(piece, start.saturating_sub(BEHIND)..end));
        layout.count_written(bytes as u64)
    };
    parallel::try_for_each(chunks(&pieces, length), Buffer::new, write)
}

/// The maximum length of a chunk: one that is too small for a direct write ends where a direct write of the next one can begin.
fn length(piece: &Piece, start: u64, place: u64) -> usize {
    let before = direct::before_page(place);
    match piece {
        _ if before > 0 && piece.bytes() - start >= (before + direct::LEAST) as u64 => before,
        _ if moved(piece).is_some_and(|all| direct::suits(&all[start as usize..], place)) => direct::MOST,
        _ => direct::LEAST,
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
    let Some(source) = piece.source().in_memory() else { return &[] };
    let (length, bytes) = (source.len() as u128, u128::from(piece.bytes().max(1)));
    let place = |byte: u64| (u128::from(byte) * length / bytes) as usize;
    &source[place(part.start)..place(part.end)]
}

/// Memory for a part of a piece, aligned as direct writes need it.
struct Buffer(Vec<u8>);

impl Buffer {
    fn new() -> Buffer {
        Buffer(vec![0; direct::BLOCK + direct::LEAST])
    }

    /// Copies or computes a part of a piece.
    fn filled(&mut self, piece: &Piece, start: u64, bytes: usize) -> &[u8] {
        let address = self.0.as_ptr().addr();
        let padding = address.next_multiple_of(direct::BLOCK) - address;
        let filled = &mut self.0[padding..padding + bytes];
        piece.fill(start, filled);
        filled
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::sync::Arc;

    use super::*;
    use crate::base::stored::Stored;
    use crate::protobuf::{GRAIN, Recipe};

    /// Bytes that are computed from their offsets.
    #[derive(Debug)]
    struct Counted(Stored, usize);

    impl Recipe for Counted {
        fn bytes(&self) -> usize {
            self.1
        }

        fn source(&self) -> &Stored {
            &self.0
        }

        fn fill_grains(&self, start: usize, out: &mut [u8]) {
            let end = start + out.len();
            assert!(start.is_multiple_of(GRAIN) && (end.is_multiple_of(GRAIN) || end == self.1), "{start}..{end} is in a grain");
            out.iter_mut().zip(start..).for_each(|(out, index)| *out = (index % 251) as u8);
        }
    }

    fn moved(bytes: usize) -> Piece {
        Piece::Bytes((0..bytes).map(|index| (index % 241) as u8).collect::<Vec<_>>().into())
    }

    fn made(bytes: usize) -> Piece {
        Piece::Made(Arc::new(Counted(Bytes::new().into(), bytes)))
    }

    /// Bytes that begin at a block of memory.
    fn aligned(bytes: usize) -> Piece {
        let all = Bytes::from(vec![7; direct::BLOCK + bytes]);
        let first = all.as_ptr().addr().next_multiple_of(direct::BLOCK) - all.as_ptr().addr();
        Piece::Bytes(all.slice(first..first + bytes).into())
    }

    /// Pieces that begin at pages of the file and between them, and end there, below and beyond the length of a direct write.
    fn files() -> Vec<Vec<Piece>> {
        let (page, least) = (1 << 16, direct::LEAST);
        vec![
            vec![],
            vec![moved(1)],
            vec![made(3 * least + 17), moved(5), made(2 * least)],
            vec![moved(page - 1), made(least), moved(1), made(least + 2)],
            vec![moved(page + 1), moved(least - 1), made(3 * least), made(2 * least)],
            vec![moved(page), aligned(2 * direct::MOST + 3), aligned(least), made(384)],
            vec![made(page - 7), moved(7), aligned(direct::MOST), made(least - 1)],
        ]
    }

    #[test]
    fn a_file_is_what_its_pieces_are() {
        for (number, pieces) in files().into_iter().enumerate() {
            let layout = Layout::of_pieces(pieces);
            let mut expected = Vec::new();
            layout.write_to(&mut expected).unwrap();
            let mut file = tempfile::tempfile().unwrap();
            write_anywhere(&layout, &file, false).unwrap();
            let mut found = Vec::new();
            file.read_to_end(&mut found).unwrap();
            assert!(found == expected, "file {number}");
        }
    }

    #[test]
    fn all_but_the_ends_of_a_piece_can_be_written_directly() {
        let mut direct = 0;
        for chunk in files().iter().flat_map(|pieces| chunks(pieces, length)) {
            let is_end = chunk.start == 0 || chunk.start + chunk.bytes as u64 == chunk.piece.bytes();
            let is_whole = chunk.bytes >= direct::LEAST && direct::before_page(chunk.place) == 0;
            assert!(is_whole || is_end, "{} bytes at {}", chunk.bytes, chunk.place);
            direct += usize::from(is_whole);
        }
        assert_eq!(direct, 13);
    }
}
