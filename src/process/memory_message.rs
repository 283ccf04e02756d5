//! The message of a process that ends for lack of memory.
//!
//! [`map_owned`] and [`in_waves`] give the threads that work on parts of a model the message of the
//! thread that started them. Nodes of large graphs are decoded and converted in parts this way, and
//! `diff` compares items in parts; the outcome is the same as in one piece.

use std::cell::Cell;
use std::convert::Infallible;
use std::sync::OnceLock;

use crate::base::parallel;
use crate::base::threshold::Threshold;

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
pub(super) fn current() -> Option<[MemoryMessage; 2]> {
    MESSAGES
        .try_with(Cell::get)
        .ok()
        .flatten()
        .or_else(|| FIRST_MESSAGES.get().copied())
}

/// The results of all items, in order, computed on all cores. The messages of the threads are those
/// of this one meanwhile.
pub(crate) fn map_owned<T: Send, R: Send>(items: Vec<T>, result: impl Fn(T) -> R + Sync) -> Vec<R> {
    let messages = current();
    parallel::map_owned(items, |item| {
        let own = MESSAGES.replace(messages);
        let result = result(item);
        MESSAGES.set(own);
        result
    })
}

/// The parts of a wave of [`in_waves`].
const WAVE: Threshold = Threshold::new("parts of a wave", 32);

/// Joins the results of parts of `part` items into a state, in order. They are computed on all
/// cores with the state as it was before their wave, some parts at a time, so that not all results
/// exist at once.
pub(crate) fn in_waves<S: Sync, T: Send, R: Send>(
    state: &mut S,
    items: impl IntoIterator<Item = T>,
    part: usize,
    result: impl Fn(&S, Vec<T>) -> R + Sync,
    mut join: impl FnMut(&mut S, R),
) {
    let join = |state: &mut S, result| {
        join(state, result);
        Ok(())
    };
    let Ok::<_, Infallible>(()) = try_in_waves(state, items, part, result, join);
}

/// The same, until an error.
///
/// # Errors
/// The first error of `join`.
pub(crate) fn try_in_waves<S: Sync, T: Send, R: Send, E>(
    state: &mut S,
    items: impl IntoIterator<Item = T>,
    part: usize,
    result: impl Fn(&S, Vec<T>) -> R + Sync,
    mut join: impl FnMut(&mut S, R) -> Result<(), E>,
) -> Result<(), E> {
    let mut items = items.into_iter();
    let parts_of_wave = WAVE.get();
    loop {
        let parts = std::iter::repeat_with(|| items.by_ref().take(part).collect::<Vec<T>>());
        let wave: Vec<Vec<T>> = parts
            .take_while(|part| !part.is_empty())
            .take(parts_of_wave)
            .collect();
        if wave.is_empty() {
            return Ok(());
        }
        let known = &*state;
        let results = map_owned(wave, |part| result(known, part));
        results
            .into_iter()
            .try_for_each(|result| join(state, result))?;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn results_are_joined_in_order_a_wave_at_a_time() {
        let wave = 3 * WAVE.usual();
        for count in [0, 1, 3, 4, wave, wave + 1, 4 * wave] {
            let made = AtomicUsize::new(0);
            let part = |joined: &Vec<usize>, items: Vec<usize>| {
                made.fetch_add(items.len(), Ordering::Relaxed);
                assert!(
                    items[0] - joined.len() < wave,
                    "item {} of {count} is in a later wave",
                    items[0]
                );
                items
            };
            let (mut joined, mut most) = (Vec::new(), 0);
            in_waves(
                &mut joined,
                0..count,
                3,
                part,
                |joined: &mut Vec<usize>, items| {
                    most = most.max(made.load(Ordering::Relaxed) - joined.len());
                    joined.extend(items);
                },
            );
            assert_eq!(joined, (0..count).collect::<Vec<_>>());
            assert_eq!(
                most,
                count.min(wave),
                "results of {count} items exist at once"
            );
        }
    }

    #[test]
    fn the_first_error_ends_the_waves() {
        let mut joined = Vec::new();
        let found = try_in_waves(
            &mut joined,
            0..1000,
            10,
            |_, items| items[0],
            |joined: &mut Vec<usize>, first| match first {
                50 => Err(first),
                _ => {
                    joined.push(first);
                    Ok(())
                }
            },
        );
        assert_eq!((found, joined), (Err(50), vec![0, 10, 20, 30, 40]));
    }
}
