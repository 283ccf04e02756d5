//! Layouts in chunks: writing to a stream, and comparison with a file.

use std::io::{self, Write};

use super::explained::explained;
use crate::base::parallel;
use crate::base::stored::Stored;
use crate::base::threshold::Threshold;
use crate::protobuf::{Layout, Piece};

/// The number of bytes that are computed or copied at a time.
const CHUNK: Threshold = Threshold::new("chunk of a file", 1 << 20).small_from(7);

/// A part of a piece.
pub(super) struct Chunk<'p> {
    pub piece: &'p Piece,
    /// Its offset in the piece.
    pub start: u64,
    pub bytes: usize,
    /// Its offset in the file.
    pub place: u64,
}

/// All parts of the pieces; `length` gives the maximum length of the part of a piece that begins at
/// an offset in the piece and in the file.
pub(super) fn chunks(
    pieces: &[Piece],
    length: impl Fn(&Piece, u64, u64) -> usize,
) -> Vec<Chunk<'_>> {
    let mut chunks = Vec::new();
    let mut place = 0;
    for piece in pieces {
        let mut start = 0;
        while start < piece.bytes() {
            let bytes = (length(piece, start, place) as u64).min(piece.bytes() - start);
            chunks.push(Chunk {
                piece,
                start,
                bytes: bytes as usize,
                place,
            });
            start += bytes;
            place += bytes;
        }
    }
    chunks
}

impl Layout {
    /// Writes the file sequentially.
    ///
    /// # Errors
    /// Any error of the writer.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let chunk = CHUNK.get();
        let mut buffer = vec![0; chunk];
        for Chunk {
            piece,
            start,
            bytes,
            ..
        } in chunks(&self.pieces(), |_, _, _| chunk)
        {
            match piece {
                Piece::Bytes(all) => out
                    .write_all(&all.part(start..start + bytes as u64))
                    .map_err(explained)?,
                Piece::Made(_) => {
                    piece.fill(start, &mut buffer[..bytes]);
                    if let Some(failure) = piece.failure() {
                        return Err(failure);
                    }
                    out.write_all(&buffer[..bytes])?;
                }
            }
            self.count_written(bytes as u64)?;
        }
        out.flush()
    }

    /// Whether an existing file has the same bytes. Stops at the first difference.
    #[must_use]
    pub fn is_content_of(&self, found: &Stored) -> bool {
        let (pieces, chunk) = (self.pieces(), CHUNK.get());
        self.bytes() == found.len()
            && parallel::all(
                chunks(&pieces, |_, _, _| chunk),
                |Chunk {
                     piece,
                     start,
                     bytes,
                     place,
                 }| {
                    let found = found.part(place..place + bytes as u64);
                    match piece {
                        Piece::Bytes(all) => found == all.part(start..start + bytes as u64),
                        Piece::Made(_) => {
                            let mut buffer = vec![0; bytes];
                            piece.fill(start, &mut buffer);
                            found == buffer
                        }
                    }
                },
            )
    }
}
