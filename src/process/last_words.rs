//! The message of a process that ends for lack of memory.
//!
//! [`map`] gives the threads that work on parts of a model the message of the thread that started them. Nodes of large graphs are decoded
//! and converted in parts this way, and `diff` compares items in parts; the outcome is the same as in one piece.

use std::cell::Cell;
use std::sync::OnceLock;

use crate::base::parallel;

/// The message of a process that ends for lack of memory; made in advance, since it cannot be allocated then.
#[derive(Clone, Copy, Debug)]
pub struct LastWords {
    /// A line for people, to standard error.
    pub text: &'static str,
    /// A document for programs, to standard output, unless a part of another document was printed already.
    pub document: &'static str,
}

/// The messages of threads that have none of their own: the first messages of any thread, which are those of the whole run.
static FIRST_WORDS: OnceLock<[LastWords; 2]> = OnceLock::new();

thread_local! {
    /// The messages of this thread: for the limit, and for a system without free memory.
    static LAST_WORDS: Cell<Option<[LastWords; 2]>> = const { Cell::new(None) };
}

/// Sets the messages of this thread: for the limit, and for a system without free memory.
pub fn set_last_words(at_limit: LastWords, without_memory: LastWords) {
    let words = [at_limit, without_memory];
    FIRST_WORDS.get_or_init(|| words);
    LAST_WORDS.set(Some(words));
}

/// The messages of this thread, or of the whole run; none if the thread is ending or nothing was set.
pub(super) fn current() -> Option<[LastWords; 2]> {
    LAST_WORDS.try_with(Cell::get).ok().flatten().or_else(|| FIRST_WORDS.get().copied())
}

/// The results of all items, in order, computed on all cores. The messages of the threads are those of this one meanwhile.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], result: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let words = current();
    parallel::map(items, |item| {
        let own = LAST_WORDS.replace(words);
        let result = result(item);
        LAST_WORDS.set(own);
        result
    })
}
