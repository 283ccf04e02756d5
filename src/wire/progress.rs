//! How much of a file is written.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A look at a file while it is written, from any thread.
#[derive(Clone, Debug)]
pub struct Progress {
    pub(super) bytes: u64,
    pub(super) written: Tally,
}

/// The bytes of a layout that were written; copies count together.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally(Arc<AtomicU64>);

impl Tally {
    pub(super) fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

impl Progress {
    /// The bytes that the file will have.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The bytes that are written.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written.0.load(Ordering::Relaxed)
    }
}
