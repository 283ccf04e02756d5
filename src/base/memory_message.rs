//! The message of a process that ends for lack of memory.
//!
//! Threads that work on parts of a model have the message of the thread that started them, see
//! [`map_owned`](super::parallel::map_owned).

use std::cell::Cell;
use std::sync::OnceLock;

/// The message of a process that ends for lack of memory; made in advance, since it cannot be
/// allocated then.
#[derive(Clone, Copy, Debug)]
pub struct MemoryMessage {
    /// A line for people, to standard error.
    pub text: &'static str,
    /// A document for programs, to standard output, unless a part of another document was printed
    /// already.
    pub document: &'static str,
}

/// The messages of threads that have none of their own: the first messages of any thread, which are
/// those of the whole run.
static FIRST_MESSAGES: OnceLock<[MemoryMessage; 2]> = OnceLock::new();

thread_local! {
    /// The messages of this thread: for the limit, and for a system without free memory.
    static MESSAGES: Cell<Option<[MemoryMessage; 2]>> = const { Cell::new(None) };
}

/// Sets the messages of this thread: for the limit, and for a system without free memory.
pub fn set_memory_messages(at_limit: MemoryMessage, without_memory: MemoryMessage) {
    let messages = [at_limit, without_memory];
    FIRST_MESSAGES.get_or_init(|| messages);
    MESSAGES.set(Some(messages));
}

/// The messages of this thread, or of the whole run; none if the thread is ending or nothing was
/// set.
pub fn current() -> Option<[MemoryMessage; 2]> {
    MESSAGES
        .try_with(Cell::get)
        .ok()
        .flatten()
        .or_else(|| FIRST_MESSAGES.get().copied())
}

/// Runs work with these messages on this thread.
pub(super) fn with_messages<R>(
    messages: Option<[MemoryMessage; 2]>,
    work: impl FnOnce() -> R,
) -> R {
    let own = MESSAGES.replace(messages);
    let result = work();
    MESSAGES.set(own);
    result
}
