//! The progress of writing a file.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The progress of a file, readable from any thread.
#[derive(Clone, Debug)]
pub struct Progress {
    pub(super) bytes: u64,
    pub(super) written: Tally,
}

/// The number of written bytes of a layout. Copies share one count.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally(Arc<AtomicU64>);

impl Tally {
    pub(super) fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

impl Progress {
    /// The length of the complete file.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The number of written bytes.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written.0.load(Ordering::Relaxed)
    }
}
