//! What a file will consist of, before any of it is written.

use std::cell::RefCell;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use bytes::{BufMut, Bytes};
use prost::Message;

use super::kept::{Kept, Known};
use super::progress::{Progress, Tally};
use super::recipe::Recipe;
use crate::control::{Cancelled, Counter};

/// Runs shorter than this are copied into the head: a piece of its own would cost more than the copy.
const SMALLEST_PIECE: usize = 4096;

/// A file as a list of pieces: the encoded messages, and between them the long runs of bytes that stand in another file's map or
/// are yet to be computed. A model of any size has a layout of the size of its graph.
#[derive(Debug, Default)]
pub struct Layout {
    head: Bytes,
    runs: Vec<Run>,
    written: Tally,
    counter: Option<Arc<Counter>>,
}

/// A piece that follows the first `after` bytes of the head.
#[derive(Debug)]
struct Run {
    after: usize,
    piece: Piece,
}

/// One run of the file's bytes.
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

    /// The bytes, approximately, that a part of the run consists of or is computed from.
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

    /// Copies or computes the bytes from `start`, a multiple of [`super::GRAIN`], into all of `out`.
    pub fn fill(&self, start: usize, out: &mut [u8]) {
        match self {
            Piece::Bytes(bytes) => out.copy_from_slice(&bytes[start..start + out.len()]),
            Piece::Made(recipe) => recipe.fill(start, out),
        }
    }
}

impl Layout {
    /// The layout of a file that holds this message.
    #[must_use]
    pub fn of<M: Known>(message: &Kept<M>) -> Layout {
        let mut head = Vec::new();
        DRAWING.set(Some(Drawing { room: head.remaining_mut(), runs: Vec::new() }));
        message.encode_raw(&mut head);
        let runs = DRAWING.take().map_or_else(Vec::new, |drawing| drawing.runs);
        Layout { head: head.into(), runs, ..Layout::default() }
    }

    /// The layout of a file that is made of these pieces.
    #[must_use]
    pub fn of_pieces(pieces: Vec<Piece>) -> Layout {
        let runs = pieces.into_iter().map(|piece| Run { after: 0, piece }).collect();
        Layout { runs, ..Layout::default() }
    }

    /// The file's length.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.head.len() as u64 + self.runs.iter().map(|run| run.piece.bytes() as u64).sum::<u64>()
    }

    /// How much of the file is written, from now on.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress { bytes: self.bytes(), written: self.written.clone() }
    }

    /// Counts the bytes that are written in a counter that may also cancel that.
    pub(crate) fn count_in(&mut self, counter: &Arc<Counter>) {
        self.counter = Some(Arc::clone(counter));
    }

    /// Counts bytes that were written.
    ///
    /// # Errors
    /// If the operation is cancelled.
    pub(super) fn count_written(&self, bytes: usize) -> io::Result<()> {
        self.written.add(bytes);
        match self.counter.as_ref().is_none_or(|counter| counter.add(bytes as u64)) {
            true => Ok(()),
            false => Err(io::Error::other(Cancelled)),
        }
    }

    /// The pieces in the order of the file.
    #[must_use]
    pub fn pieces(&self) -> Vec<Piece> {
        let mut head = self.head.clone();
        let mut cut = 0;
        let mut pieces = Vec::with_capacity(2 * self.runs.len() + 1);
        for run in &self.runs {
            if run.after > cut {
                pieces.push(Piece::Bytes(head.split_to(run.after - cut)));
                cut = run.after;
            }
            pieces.push(run.piece.clone());
        }
        if !head.is_empty() {
            pieces.push(Piece::Bytes(head));
        }
        pieces
    }
}

struct Drawing {
    room: usize,
    runs: Vec<Run>,
}

thread_local! {
    /// prost's encoding takes no context: while [`Layout::of`] encodes on this thread, long runs are noted here with their
    /// place instead of being copied into the buffer.
    static DRAWING: RefCell<Option<Drawing>> = const { RefCell::new(None) };
}

/// Puts a run of bytes into `buf`, or notes its place if a layout is being drawn and the run is long.
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
