//! Work on all cores: the only module that uses rayon. Without the feature `parallel`, the same
//! functions work on the current thread.
#![allow(
    dead_code,
    reason = "which of them are used depends on the features and the platform"
)]

use std::convert::Infallible;

#[cfg(feature = "parallel")]
use rayon::prelude::*;

use super::error::catch;
use super::memory_message::{current, with_messages};
use super::threshold::Threshold;

/// The first expression on all cores, or the second on the current thread.
#[cfg(feature = "parallel")]
macro_rules! either {
    ($all_cores:expr, $this_thread:expr) => {
        $all_cores
    };
}
#[cfg(not(feature = "parallel"))]
macro_rules! either {
    ($all_cores:expr, $this_thread:expr) => {
        $this_thread
    };
}

/// The minimum number of items per rayon job, where one item takes little time.
const FEW: Threshold = Threshold::new("few items", 1 << 9);

/// The results of all items, in order.
pub fn map<T: Sync, R: Send>(items: &[T], result: impl Fn(&T) -> R + Sync) -> Vec<R> {
    either!(items.par_iter(), items.iter())
        .map(&result)
        .collect()
}

/// The results of all items, in order, where one item takes long. Meanwhile, the threads have the
/// memory messages of the current thread.
pub fn map_owned<T: Send, R: Send>(items: Vec<T>, result: impl Fn(T) -> R + Sync) -> Vec<R> {
    let messages = current();
    either!(items.into_par_iter(), items.into_iter())
        .map(|item| with_messages(messages, || result(item)))
        .collect()
}

/// The number of parts whose results [`map_in_batches`] computes before it joins them.
const BATCH: Threshold = Threshold::new("parts of a batch", 32);

/// Joins the results of parts of `part` items into a state, in order. The results of a batch of
/// parts are computed on all cores, with the state as it was before the batch: the results of all
/// parts do not exist at once.
pub fn map_in_batches<S: Sync, T: Send, R: Send>(
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
    let Ok::<_, Infallible>(()) = try_map_in_batches(state, items, part, result, join);
}

/// Like [`map_in_batches`], but stops at the first error of `join`.
///
/// # Errors
/// The first error of `join`.
pub fn try_map_in_batches<S: Sync, T: Send, R: Send, E>(
    state: &mut S,
    items: impl IntoIterator<Item = T>,
    part: usize,
    result: impl Fn(&S, Vec<T>) -> R + Sync,
    mut join: impl FnMut(&mut S, R) -> Result<(), E>,
) -> Result<(), E> {
    let mut items = items.into_iter();
    let parts_of_batch = BATCH.get();
    loop {
        let parts = std::iter::repeat_with(|| items.by_ref().take(part).collect::<Vec<T>>());
        let batch: Vec<Vec<T>> = parts
            .take_while(|part| !part.is_empty())
            .take(parts_of_batch)
            .collect();
        if batch.is_empty() {
            return Ok(());
        }
        let before = &*state;
        let results = map_owned(batch, |part| result(before, part));
        results
            .into_iter()
            .try_for_each(|result| join(state, result))?;
    }
}

/// Appends the results of all items, in order, where many items take little time each.
pub fn extend_each<T: Send, R: Send>(
    list: &mut Vec<R>,
    items: Vec<T>,
    result: impl Fn(T) -> R + Sync,
) {
    either!(
        list.par_extend(items.into_par_iter().with_min_len(FEW.get()).map(&result)),
        list.extend(items.into_iter().map(&result))
    );
}

/// The results of two functions.
pub fn join<A: Send, B: Send>(
    left: impl FnOnce() -> A + Send,
    right: impl FnOnce() -> B + Send,
) -> (A, B) {
    either!(rayon::join(left, right), (left(), right()))
}

/// The results of two functions; `here` runs on the current thread.
pub fn join_here<A, B: Send>(
    here: impl FnOnce() -> A,
    elsewhere: impl FnOnce() -> B + Send,
) -> (A, B) {
    either!(
        {
            let mut result = None;
            let here = rayon::in_place_scope(|scope| {
                scope.spawn(|_| result = Some(elsewhere()));
                here()
            });
            (here, result.expect("a scope waits for what it spawns"))
        },
        (here(), elsewhere())
    )
}

/// The results of the numbers below `count`, joined in order; `join` is associative.
pub fn map_and_join<R: Default + Send>(
    count: usize,
    result: impl Fn(usize) -> R + Sync,
    join: impl Fn(R, R) -> R + Sync,
) -> R {
    match count {
        // Not worth the attention of another thread.
        0 => R::default(),
        1 => result(0),
        _ => either!(
            (0..count)
                .into_par_iter()
                .map(&result)
                .reduce(R::default, &join),
            (0..count).map(&result).fold(R::default(), &join)
        ),
    }
}

/// Calls `work` with each part of `bytes` bytes and its number; the last part may be shorter.
pub fn for_each_part(target: &mut [u8], bytes: usize, work: impl Fn(usize, &mut [u8]) + Sync) {
    let parts = either!(target.par_chunks_mut(bytes), target.chunks_mut(bytes));
    parts
        .enumerate()
        .for_each(|(index, part)| work(index, part));
}

/// Calls `work` with each item and with a value that `new` makes for each thread, until an error.
pub fn try_for_each<T: Send, S, E: Send>(
    items: Vec<T>,
    new: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    either!(items.into_par_iter().try_for_each_init(&new, &work), {
        let mut state = new();
        items
            .into_iter()
            .try_for_each(|item| work(&mut state, item))
    })
}

/// Frees a value on another thread: freeing a model of many nodes takes as long as writing it, and
/// a process with no other work ends before the value is freed. On Windows, where a file that is
/// still mapped cannot be replaced, the current thread frees the value, as in unit tests, which
/// have a folder with this property.
pub fn drop_in_background<T: Send + 'static>(value: T) {
    if cfg!(any(windows, test)) {
        drop(value)
    } else {
        in_background(move || drop(value));
    }
}

/// Runs work on another thread, and does not wait for it; without other threads, the work is
/// dropped. A panic ends only this work.
pub fn in_background(work: impl FnOnce() + Send + 'static) {
    let messages = current();
    let work = move || drop(catch(|| with_messages(messages, work)));
    either!(rayon::spawn(work), drop(work))
}

/// Whether a condition holds for all items. Stops at the first for which it does not.
pub fn all<T: Send>(items: Vec<T>, holds: impl Fn(T) -> bool + Sync) -> bool {
    either!(items.into_par_iter(), items.into_iter()).all(&holds)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn results_are_in_order() {
        let items: Vec<usize> = (0..10_000).collect();
        let double = |item: usize| item * 2;
        let doubled: Vec<usize> = items.iter().copied().map(double).collect();
        assert_eq!(map(&items, |&item| double(item)), doubled);
        assert_eq!(map_owned(items.clone(), double), doubled);
        let mut list = vec![7];
        extend_each(&mut list, items, double);
        assert_eq!(list, [vec![7], doubled].concat());
        assert_eq!((join(|| 1, || 2), join_here(|| 1, || 2)), ((1, 2), (1, 2)));
        let text = |count| {
            map_and_join(
                count,
                |number| number.to_string(),
                |left: String, right| left + &right,
            )
        };
        assert_eq!(
            (text(0), text(12)),
            (String::new(), "01234567891011".to_owned())
        );
        let mut bytes = vec![0; 25];
        for_each_part(&mut bytes, 10, |index, part| {
            part.fill((10 * index + part.len()) as u8)
        });
        assert_eq!(bytes, [[10; 10].as_slice(), &[20; 10], &[25; 5]].concat());
    }

    #[test]
    fn an_error_or_a_counterexample_is_found() {
        let items = || (0..1000).collect::<Vec<usize>>();
        for (bad, expected, all_hold) in [(7, Err(7), false), (5000, Ok(()), true)] {
            let calls = AtomicUsize::new(0);
            let work = |state: &mut usize, item| {
                *state += 1;
                calls.fetch_add(1, Ordering::Relaxed);
                if item == bad { Err(item) } else { Ok(()) }
            };
            assert_eq!(try_for_each(items(), || 0, work), expected);
            assert!(
                expected.is_err() || calls.into_inner() == 1000,
                "every item is visited if none fails"
            );
            assert_eq!(all(items(), |item| item != bad), all_hold);
        }
    }

    #[test]
    fn results_are_joined_in_order_a_batch_at_a_time() {
        let batch = 3 * BATCH.usual();
        for count in [0, 1, 3, 4, batch, batch + 1, 4 * batch] {
            let made = AtomicUsize::new(0);
            let part = |joined: &Vec<usize>, items: Vec<usize>| {
                made.fetch_add(items.len(), Ordering::Relaxed);
                assert!(
                    items[0] - joined.len() < batch,
                    "item {} of {count} is in a later batch",
                    items[0]
                );
                items
            };
            let (mut joined, mut most) = (Vec::new(), 0);
            map_in_batches(
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
                count.min(batch),
                "results of {count} items exist at once"
            );
        }
    }

    #[test]
    fn the_first_error_ends_the_batches() {
        let mut joined = Vec::new();
        let found = try_map_in_batches(
            &mut joined,
            0..1000,
            10,
            |_, items| items[0],
            |joined: &mut Vec<usize>, first| {
                if first == 50 {
                    Err(first)
                } else {
                    joined.push(first);
                    Ok(())
                }
            },
        );
        assert_eq!((found, joined), (Err(50), vec![0, 10, 20, 30, 40]));
    }
}
