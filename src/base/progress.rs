//! Progress and cancellation of operations.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::base::error::{ErrorKind, Invalid};

/// Cancels operations, from any thread. Clones cancel the same operations.
///
/// ```
/// use onnx_recast::{Cancel, ErrorKind, FoldOptions, Model};
///
/// # fn main() -> Result<(), onnx_recast::Error> {
/// let cancel = Cancel::new();
/// let mut model = Model::open("models/fp8_qdq.onnx")?.with_cancel(&cancel);
/// cancel.cancel(); // From a signal handler or another thread.
/// let error = model.fold(&FoldOptions::default()).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Cancelled);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A token that has not been used.
    #[must_use]
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Ends the operations that have this token with an error, now and later. Models and files stay
    /// as they were.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether [`Cancel::cancel`] was called.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How far an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The phase.
    pub phase: Phase,
    /// The unit that is counted.
    pub unit: Unit,
    /// How many are done.
    pub done: u64,
    /// How many there are.
    pub total: u64,
}

/// A part of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// Nodes are looked at, or rules checked.
    Planning,
    /// Bytes are computed and written.
    Writing,
    /// The written bytes are flushed to the disk.
    Flushing,
    /// The written model is read again and compared with the original.
    Verifying,
}

/// The unit of a [`Progress`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// Nodes that were looked at.
    Nodes,
    /// Lint rules that were checked.
    Rules,
    /// Bytes that were written or computed.
    Bytes,
}

/// The token and the callback of a model.
#[derive(Clone, Default)]
pub(crate) struct Control {
    pub cancel: Cancel,
    pub progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
}

impl Control {
    /// # Errors
    /// If the operation was cancelled.
    pub fn check(&self) -> Result<(), Invalid> {
        if self.cancel.is_cancelled() {
            Err(cancelled())
        } else {
            Ok(())
        }
    }

    /// Counts items from 0 to `total`.
    pub fn counter(&self, unit: Unit, total: u64) -> Counter {
        let phase = if unit == Unit::Bytes {
            Phase::Writing
        } else {
            Phase::Planning
        };
        Counter {
            control: self.clone(),
            phase,
            unit,
            done: AtomicU64::new(0),
            total,
        }
    }
}

/// Writing was cancelled.
#[derive(Debug, thiserror::Error)]
#[error("the operation was cancelled")]
pub(crate) struct Cancelled;

/// The error of an operation that was cancelled.
pub(crate) fn cancelled() -> Invalid {
    Invalid {
        kind: ErrorKind::Cancelled,
        ..Invalid::at("model", "the operation was cancelled")
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control")
            .field("cancel", &self.cancel)
            .field("progress", &self.progress.is_some())
            .finish()
    }
}

/// Counts the items of an operation, from any thread.
#[derive(Debug)]
pub(crate) struct Counter {
    control: Control,
    phase: Phase,
    unit: Unit,
    done: AtomicU64,
    total: u64,
}

impl Counter {
    /// Counts items that are done, and reports them. Returns whether to go on. Work that is done
    /// again is not more than all.
    pub fn add(&self, items: u64) -> bool {
        self.report(
            self.phase,
            self.done.fetch_add(items, Ordering::Relaxed) + items,
        );
        !self.control.cancel.is_cancelled()
    }

    /// Reports that another phase of the same operation begins, after what is done so far.
    pub fn enter(&self, phase: Phase) {
        self.report(phase, self.done.load(Ordering::Relaxed));
    }

    /// Reports that everything is done: some items may not have been counted, since there was
    /// nothing to do.
    pub fn finish(&self) {
        if self.done.load(Ordering::Relaxed) < self.total {
            self.report(self.phase, self.total);
        }
    }

    fn report(&self, phase: Phase, done: u64) {
        if let Some(progress) = &self.control.progress {
            progress(Progress {
                phase,
                unit: self.unit,
                done: done.min(self.total),
                total: self.total,
            });
        }
    }
}
