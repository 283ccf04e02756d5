//! The progress of writing a file.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use crate::base::progress::Phase;

/// The progress of a file, readable from any thread.
#[derive(Clone, Debug)]
pub struct WriteProgress {
    pub(super) bytes: u64,
    pub(super) written: WriteState,
}

/// The number of written bytes of a layout, and what is done with the file. Copies share them.
#[derive(Clone, Debug, Default)]
pub(super) struct WriteState(Arc<State>);

#[derive(Debug, Default)]
struct State {
    written: AtomicU64,
    /// The position in [`PHASES`].
    phase: AtomicU8,
}

/// The phases of a file, in order. A file that is not begun is in the first.
const PHASES: [Phase; 4] = [
    Phase::Planning,
    Phase::Writing,
    Phase::Flushing,
    Phase::Verifying,
];

impl WriteState {
    pub(super) fn add(&self, bytes: u64) {
        self.0.written.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn enter(&self, phase: Phase) {
        let position = PHASES.iter().position(|&one| one == phase).unwrap_or(0);
        self.0.phase.store(position as u8, Ordering::Relaxed);
    }
}

impl WriteProgress {
    /// The length of the complete file.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The number of written bytes.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written.0.written.load(Ordering::Relaxed)
    }

    /// The phase of the file: planning until it is begun.
    #[must_use]
    pub fn phase(&self) -> Phase {
        PHASES
            .get(usize::from(self.written.0.phase.load(Ordering::Relaxed)))
            .copied()
            .unwrap_or(Phase::Planning)
    }

    /// Notes what is done with the file from now on.
    pub(crate) fn enter(&self, phase: Phase) {
        self.written.enter(phase);
    }
}
