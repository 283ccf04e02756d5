//! The content of a file before it is written.
//!
//! Its length is known before the first byte is written, and it counts what has been written, which
//! a progress bar reads from its own thread. It is dropped as soon as it is written, because
//! Windows does not replace a mapped file.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use prost::Message;

use super::lossless::{Known, Lossless};
use super::piece::{InsertedPiece, Piece, draw};
use super::write_progress::{WriteProgress, WriteState};
use crate::base::progress::{Cancelled, Counter, Phase};

/// A file as a list of pieces: encoded messages, and between them long runs of bytes that are in
/// the map of another file or will be computed. The size of a model's layout depends on its graph,
/// not on its weights.
#[derive(Debug, Default)]
pub struct Layout {
    head: Bytes,
    runs: Vec<InsertedPiece>,
    written: WriteState,
    counter: Option<Arc<Counter>>,
}

impl Layout {
    /// The layout of a file with this message.
    #[must_use]
    pub fn of<M: Known>(message: &Lossless<M>) -> Layout {
        let (head, runs) = draw(|head| message.encode_raw(head));
        Layout {
            head: head.into(),
            runs,
            ..Layout::default()
        }
    }

    /// The layout of a file with these pieces.
    #[must_use]
    pub fn of_pieces(pieces: Vec<Piece>) -> Layout {
        let runs = pieces
            .into_iter()
            .map(|piece| InsertedPiece { after: 0, piece })
            .collect();
        Layout {
            runs,
            ..Layout::default()
        }
    }

    /// The file's length.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.head.len() as u64 + self.runs.iter().map(|run| run.piece.bytes()).sum::<u64>()
    }

    /// The progress of writing this file.
    #[must_use]
    pub fn progress(&self) -> WriteProgress {
        WriteProgress {
            bytes: self.bytes(),
            written: self.written.clone(),
        }
    }

    /// Counts written bytes in a counter that can also cancel the operation.
    pub(crate) fn count_in(&mut self, counter: &Arc<Counter>) {
        self.counter = Some(Arc::clone(counter));
    }

    /// Notes what is done with the file from now on.
    pub(crate) fn enter(&self, phase: Phase) {
        self.written.enter(phase);
        if let Some(counter) = &self.counter {
            counter.enter(phase);
        }
    }

    /// Counts written bytes.
    ///
    /// # Errors
    /// If the operation is cancelled.
    pub(crate) fn count_written(&self, bytes: u64) -> io::Result<()> {
        self.written.add(bytes);
        if self
            .counter
            .as_ref()
            .is_none_or(|counter| counter.add(bytes))
        {
            Ok(())
        } else {
            Err(io::Error::other(Cancelled))
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
                pieces.push(Piece::Bytes(head.split_to(run.after - cut).into()));
                cut = run.after;
            }
            pieces.push(run.piece.clone());
        }
        if !head.is_empty() {
            pieces.push(Piece::Bytes(head.into()));
        }
        pieces
    }
}
