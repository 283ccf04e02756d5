//! Pieces of a file: existing bytes, and bytes that are computed while they are written.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use bytes::{BufMut, Bytes};

use super::recipe::Recipe;

/// Shorter runs are copied into the head: a separate piece would cost more than the copy.
const SMALLEST_PIECE: usize = 4096;

/// A run of the file's bytes.
#[derive(Clone, Debug)]
pub enum Piece {
    /// Bytes in memory or in a mapped file.
    Bytes(Bytes),
    /// Bytes that are computed while they are written.
    Made(Arc<dyn Recipe>),
}

impl Piece {
    /// The run's length.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Piece::Bytes(bytes) => bytes.len(),
            Piece::Made(recipe) => recipe.bytes(),
        }
    }

    /// The bytes that a part of the run consists of or, approximately, is computed from.
    #[must_use]
    pub fn source(&self, range: Range<usize>) -> &[u8] {
        match self {
            Piece::Bytes(bytes) => &bytes[range],
            Piece::Made(recipe) => {
                let (source, bytes) = (recipe.source(), recipe.bytes().max(1) as u128);
                let place = |byte: usize| (byte as u128 * source.len() as u128 / bytes) as usize;
                &source[place(range.start)..place(range.end)]
            }
        }
    }

    /// Copies or computes the bytes from `start`, a multiple of 384, into all of `out`.
    pub fn fill(&self, start: usize, out: &mut [u8]) {
        match self {
            Piece::Bytes(bytes) => out.copy_from_slice(&bytes[start..start + out.len()]),
            Piece::Made(recipe) => recipe.fill(start, out),
        }
    }
}

/// A piece after the first `after` bytes of the head.
#[derive(Debug)]
pub(super) struct Run {
    pub after: usize,
    pub piece: Piece,
}

struct Drawing {
    room: usize,
    runs: Vec<Run>,
}

thread_local! {
    /// prost's encoding functions have no parameter for context: while [`draw`] encodes on this thread, long runs are noted here with
    /// their offsets instead of being copied into the buffer.
    static DRAWING: RefCell<Option<Drawing>> = const { RefCell::new(None) };
}

/// Encodes a message into a buffer, and returns the buffer and the long runs to be inserted.
pub(super) fn draw(encode: impl FnOnce(&mut Vec<u8>)) -> (Vec<u8>, Vec<Run>) {
    let mut head = Vec::new();
    DRAWING.set(Some(Drawing { room: head.remaining_mut(), runs: Vec::new() }));
    encode(&mut head);
    (head, DRAWING.take().map_or_else(Vec::new, |drawing| drawing.runs))
}

/// Copies a run of bytes into `buf`, or notes its offset if a layout is being made and the run is long.
pub(super) fn put(piece: Piece, buf: &mut impl BufMut) {
    let bytes = piece.bytes();
    DRAWING.with_borrow_mut(|drawing| match (drawing, piece) {
        (Some(drawing), piece) if bytes >= SMALLEST_PIECE => {
            drawing.runs.push(Run { after: drawing.room - buf.remaining_mut(), piece });
        }
        (_, Piece::Bytes(bytes)) => buf.put(bytes),
        (_, Piece::Made(recipe)) => {
            let mut made = vec![0; bytes];
            recipe.fill(0, &mut made);
            buf.put_slice(&made);
        }
    });
}
