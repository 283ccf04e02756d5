//! Pieces of a file: existing bytes, and bytes that are computed while they are written.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;

use bytes::{BufMut, Bytes};

use super::recipe::Recipe;
use crate::base::stored::Stored;
use crate::base::threshold::Threshold;

/// The minimum number of bytes of a separate piece. Shorter runs are copied into the head, since a
/// separate piece would cost more than the copy.
const SMALLEST_PIECE: Threshold = Threshold::new("smallest piece", 4096);

/// A run of the file's bytes.
#[derive(Clone, Debug)]
pub enum Piece {
    /// Bytes in memory or in a file.
    Bytes(Stored),
    /// Bytes that are computed while they are written.
    Made(Arc<dyn Recipe>),
}

impl Piece {
    /// The run's length.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            Piece::Bytes(bytes) => bytes.len(),
            Piece::Made(recipe) => recipe.bytes() as u64,
        }
    }

    /// The bytes of which the run consists or is computed.
    #[must_use]
    pub fn source(&self) -> &Stored {
        match self {
            Piece::Bytes(bytes) => bytes,
            Piece::Made(recipe) => recipe.source(),
        }
    }

    /// Why bytes that were read or computed are not to be used, if there is a reason.
    #[must_use]
    pub fn failure(&self) -> Option<io::Error> {
        match self {
            Piece::Bytes(bytes) => bytes.failure(),
            Piece::Made(recipe) => recipe.failure(),
        }
    }

    /// Copies, reads or computes any part: the bytes from `start` into all of `out`.
    ///
    /// # Panics
    /// If the part ends beyond the run.
    pub fn fill(&self, start: u64, out: &mut [u8]) {
        match self {
            Piece::Bytes(bytes) => bytes.read(start, out),
            Piece::Made(recipe) => recipe.fill(start as usize, out),
        }
    }
}

/// A piece after the first `after` bytes of the head.
#[derive(Debug)]
pub(super) struct InsertedPiece {
    pub after: usize,
    pub piece: Piece,
}

struct Drawing {
    room: usize,
    runs: Vec<InsertedPiece>,
}

thread_local! {
    /// prost's encoding functions have no parameter for context: while [`draw`] encodes on this
    /// thread, long runs are noted here with their offsets instead of being copied into the buffer.
    static DRAWING: RefCell<Option<Drawing>> = const { RefCell::new(None) };
}

/// Encodes a message into a buffer, and returns the buffer and the long runs to be inserted.
pub(super) fn draw(encode: impl FnOnce(&mut Vec<u8>)) -> (Vec<u8>, Vec<InsertedPiece>) {
    let mut head = Vec::new();
    DRAWING.set(Some(Drawing {
        room: head.remaining_mut(),
        runs: Vec::new(),
    }));
    encode(&mut head);
    (
        head,
        DRAWING.take().map_or_else(Vec::new, |drawing| drawing.runs),
    )
}

/// Like [`put`], for bytes in memory. Only a long run is shared: short ones are copied without
/// counting references to them.
pub(super) fn put_bytes(bytes: &[u8], shared: impl FnOnce() -> Bytes, buf: &mut impl BufMut) {
    if bytes.len() < SMALLEST_PIECE.get() {
        buf.put_slice(bytes);
    } else {
        put(Piece::Bytes(shared().into()), buf);
    }
}

/// Copies a run of bytes into `buf`, or notes its offset if a layout is being made and the run is
/// long.
pub(super) fn put(piece: Piece, buf: &mut impl BufMut) {
    let bytes = piece.bytes();
    DRAWING.with_borrow_mut(|drawing| match (drawing, piece) {
        (Some(drawing), piece) if bytes >= SMALLEST_PIECE.get() as u64 => {
            drawing.runs.push(InsertedPiece {
                after: drawing.room - buf.remaining_mut(),
                piece,
            });
        }
        (_, Piece::Bytes(bytes)) => buf.put(bytes.to_bytes()),
        (_, Piece::Made(recipe)) => buf.put_slice(&recipe.compute()),
    });
}
