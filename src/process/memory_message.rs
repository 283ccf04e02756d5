//! The message of a process that ends for lack of memory.
//!
//! [`map`] gives the threads that work on parts of a model the message of the thread that started them. Nodes of large graphs are decoded
//! and converted in parts this way, and `diff` compares items in parts; the outcome is the same as in one piece.

use std::cell::Cell;
use std::sync::OnceLock;

use crate::base::parallel;

/// The message of a process that ends for lack of memory; made in advance, since it cannot be allocated then.
#[derive(Clone, Copy, Debug)]
pub struct MemoryMessage {
    /// A line for people, to standard error.
    pub text: &'static str,
    /// A document for programs, to standard output, unless a part of another document was printed already.
    pub document: &'static str,
}

/// The messages of threads that have none of their own: the first messages of any thread, which are those of the whole run.
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

/// The messages of this thread, or of the whole run; none if the thread is ending or nothing was set.
pub(super) fn current() -> Option<[MemoryMessage; 2]> {
    MESSAGES.try_with(Cell::get).ok().flatten().or_else(|| FIRST_MESSAGES.get().copied())
}

/// The results of all items, in order, computed on all cores. The messages of the threads are those of this one meanwhile.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], result: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let messages = current();
    parallel::map(items, |item| {
        let own = MESSAGES.replace(messages);
        let result = result(item);
        MESSAGES.set(own);
        result
    })
}
