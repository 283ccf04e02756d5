//! The adapters that a [`Command`](super::Command) adds for its process.

use std::sync::OnceLock;

use crate::convert::OperatorAdapter;

static ADDED: OnceLock<Vec<OperatorAdapter>> = OnceLock::new();

/// Adds adapters for the rest of the process. Only the first call has an effect.
pub(super) fn add(adapters: Vec<OperatorAdapter>) {
    ADDED.get_or_init(|| adapters);
}

/// The adapters that were added.
pub(super) fn added() -> Vec<OperatorAdapter> {
    ADDED.get().cloned().unwrap_or_default()
}
