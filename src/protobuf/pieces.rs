//! A file that is kept as its pieces, which are read or computed whenever the file is read.

use std::io;

use super::layout::Layout;
use super::piece::Piece;
use crate::base::stored::{ReadAt, Stored};

/// The pieces of a file that was written in memory.
#[derive(Debug)]
pub struct Pieces {
    /// Each piece, and its end in the file.
    pieces: Vec<(Piece, u64)>,
}

impl Pieces {
    /// The file that a layout describes.
    #[must_use]
    pub fn stored(layout: &Layout) -> Stored {
        let mut end = 0;
        let with_end = |piece: Piece| {
            end += piece.bytes();
            (piece, end)
        };
        Stored::of_file(Pieces {
            pieces: layout.pieces().into_iter().map(with_end).collect(),
        })
    }

    /// The bytes at their origin, if they are a slice of a [`Piece::Bytes`] of such a file.
    #[must_use]
    pub fn resolved(bytes: &Stored) -> Stored {
        let resolved = bytes.in_file().and_then(|(source, range)| {
            let file = (source as &dyn std::any::Any).downcast_ref::<Pieces>()?;
            let first = file.pieces.partition_point(|(_, end)| *end <= range.start);
            let (piece, end) = file.pieces.get(first)?;
            let Piece::Bytes(piece) = piece else {
                return None;
            };
            let start = end - piece.len();
            (range.end <= *end).then(|| piece.slice(range.start - start..range.end - start))
        });
        resolved.unwrap_or_else(|| bytes.clone())
    }

    /// The pieces of a file, in its order.
    #[must_use]
    pub fn of(file: &Stored) -> Vec<Piece> {
        let pieces = file.in_file().and_then(|(source, range)| {
            let pieces = (source as &dyn std::any::Any).downcast_ref::<Pieces>()?;
            (range == (0..source.bytes())).then(|| {
                pieces
                    .pieces
                    .iter()
                    .map(|(piece, _)| piece.clone())
                    .collect()
            })
        });
        pieces.unwrap_or_else(|| vec![Piece::Bytes(file.clone())])
    }
}

impl ReadAt for Pieces {
    fn bytes(&self) -> u64 {
        self.pieces.last().map_or(0, |(_, end)| *end)
    }

    fn read_at(&self, mut offset: u64, mut out: &mut [u8]) -> io::Result<()> {
        let first = self.pieces.partition_point(|(_, end)| *end <= offset);
        for (piece, end) in &self.pieces[first..] {
            if out.is_empty() {
                break;
            }
            let length = (end - offset).min(out.len() as u64) as usize;
            let (part, rest) = std::mem::take(&mut out).split_at_mut(length);
            piece.fill(offset - (end - piece.bytes()), part);
            if let Some(failure) = piece.failure() {
                return Err(failure);
            }
            (offset, out) = (offset + length as u64, rest);
        }
        Ok(())
    }
}
