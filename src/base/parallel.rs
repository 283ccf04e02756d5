//! Work on all cores: the only module that uses rayon. Without the feature `parallel`, the same functions work on the current thread.
#![allow(dead_code, reason = "which of them are used depends on the features and the platform")]

#[cfg(feature = "parallel")]
pub use threads::*;

#[cfg(not(feature = "parallel"))]
pub use serial::*;

#[cfg(feature = "parallel")]
mod threads {
    use rayon::prelude::*;

    /// So many small items are worth the attention of another thread.
    const FEW: usize = 1 << 9;

    /// The results of all items, in order.
    pub fn map<T: Sync, R: Send>(items: &[T], result: impl Fn(&T) -> R + Sync) -> Vec<R> {
        items.par_iter().map(&result).collect()
    }

    /// The results of all items, in order, where many items take little time each.
    pub fn map_each<T: Send, R: Send>(items: Vec<T>, result: impl Fn(T) -> R + Sync) -> Vec<R> {
        items.into_par_iter().with_min_len(FEW).map(&result).collect()
    }

    /// Appends the results of all items, in order, where many items take little time each.
    pub fn extend_each<T: Send, R: Send>(list: &mut Vec<R>, items: Vec<T>, result: impl Fn(T) -> R + Sync) {
        list.par_extend(items.into_par_iter().with_min_len(FEW).map(&result));
    }

    /// The results of two functions.
    pub fn join<A: Send, B: Send>(left: impl FnOnce() -> A + Send, right: impl FnOnce() -> B + Send) -> (A, B) {
        rayon::join(left, right)
    }

    /// The results of two functions; `here` runs on the current thread.
    pub fn beside<A, B: Send>(here: impl FnOnce() -> A, elsewhere: impl FnOnce() -> B + Send) -> (A, B) {
        let mut result = None;
        let here = rayon::in_place_scope(|scope| {
            scope.spawn(|_| result = Some(elsewhere()));
            here()
        });
        (here, result.expect("a scope waits for what it spawns"))
    }

    /// The results of all items, in order, where one item takes long.
    pub fn map_owned<T: Send, R: Send>(items: Vec<T>, result: impl Fn(T) -> R + Sync) -> Vec<R> {
        items.into_par_iter().map(&result).collect()
    }

    /// The results of the numbers below `count`, joined in order; `join` is associative.
    pub fn map_and_join<R: Default + Send>(count: usize, result: impl Fn(usize) -> R + Sync, join: impl Fn(R, R) -> R + Sync) -> R {
        (0..count).into_par_iter().map(&result).reduce(R::default, &join)
    }

    /// Calls `work` with each part of `bytes` bytes and its number; the last part may be shorter.
    pub fn for_each_part(target: &mut [u8], bytes: usize, work: impl Fn(usize, &mut [u8]) + Sync) {
        target.par_chunks_mut(bytes).enumerate().for_each(|(index, part)| work(index, part));
    }

    /// Calls `work` with each item and with a value that `new` makes for each thread, until an error.
    pub fn try_for_each<T: Send, S, E: Send>(
        items: Vec<T>,
        new: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, T) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        items.into_par_iter().try_for_each_init(&new, &work)
    }

    /// Frees a value while the current thread goes on: to free a model of many nodes takes as long as to write it, and a process that has
    /// nothing else to do ends before it is done. Windows replaces no file that is still mapped, so there it is freed at once, and in unit
    /// tests, which have a folder that behaves like that.
    pub fn drop_later<T: Send + 'static>(value: T) {
        match cfg!(any(windows, test)) {
            true => drop(value),
            false => rayon::spawn(move || drop(value)),
        }
    }

    /// Whether a condition holds for all items. Stops at the first for which it does not.
    pub fn all<T: Send>(items: Vec<T>, holds: impl Fn(T) -> bool + Sync) -> bool {
        items.into_par_iter().all(&holds)
    }
}

/// The same functions on the current thread.
#[cfg(any(not(feature = "parallel"), test))]
mod serial {
    pub fn map<T, R>(items: &[T], result: impl Fn(&T) -> R) -> Vec<R> {
        items.iter().map(result).collect()
    }

    pub fn map_each<T, R>(items: Vec<T>, result: impl Fn(T) -> R) -> Vec<R> {
        items.into_iter().map(result).collect()
    }

    pub fn extend_each<T, R>(list: &mut Vec<R>, items: Vec<T>, result: impl Fn(T) -> R) {
        list.extend(items.into_iter().map(result));
    }

    pub fn join<A, B>(left: impl FnOnce() -> A, right: impl FnOnce() -> B) -> (A, B) {
        (left(), right())
    }

    pub fn beside<A, B>(here: impl FnOnce() -> A, elsewhere: impl FnOnce() -> B) -> (A, B) {
        (here(), elsewhere())
    }

    pub fn map_owned<T, R>(items: Vec<T>, result: impl Fn(T) -> R) -> Vec<R> {
        items.into_iter().map(result).collect()
    }

    pub fn map_and_join<R: Default>(count: usize, result: impl Fn(usize) -> R, join: impl Fn(R, R) -> R) -> R {
        (0..count).map(result).fold(R::default(), join)
    }

    pub fn for_each_part(target: &mut [u8], bytes: usize, work: impl Fn(usize, &mut [u8])) {
        target.chunks_mut(bytes).enumerate().for_each(|(index, part)| work(index, part));
    }

    pub fn try_for_each<T, S, E>(items: Vec<T>, new: impl Fn() -> S, work: impl Fn(&mut S, T) -> Result<(), E>) -> Result<(), E> {
        let mut state = new();
        items.into_iter().try_for_each(|item| work(&mut state, item))
    }

    pub fn drop_later<T>(value: T) {
        drop(value);
    }

    pub fn all<T>(items: Vec<T>, holds: impl Fn(T) -> bool) -> bool {
        items.into_iter().all(holds)
    }
}

#[cfg(all(test, feature = "parallel"))]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::{serial, threads};

    #[test]
    fn results_are_the_same_on_one_thread_and_on_all() {
        let items: Vec<usize> = (0..10_000).collect();
        let double = |item: &usize| item * 2;
        assert_eq!(threads::map(&items, double), serial::map(&items, double));
        let triple = |item: usize| item * 3;
        assert_eq!(threads::map_each(items.clone(), triple), serial::map_each(items.clone(), triple));
        let (mut parallel, mut serial) = (vec![7], vec![7]);
        threads::extend_each(&mut parallel, items.clone(), triple);
        serial::extend_each(&mut serial, items.clone(), triple);
        assert_eq!(parallel, serial);
        assert_eq!(threads::map_owned(items.clone(), triple), serial::map_owned(items.clone(), triple));
        assert_eq!(threads::join(|| 1, || 2), serial::join(|| 1, || 2));
        assert_eq!(threads::beside(|| 1, || 2), serial::beside(|| 1, || 2));
        let join = |left: String, right: String| left + &right;
        let text = |number: usize| number.to_string();
        assert_eq!(threads::map_and_join(1000, text, join), serial::map_and_join(1000, text, join));
        assert_eq!(threads::map_and_join(0, text, join), "");

        let (mut parallel, mut serial) = (vec![0; 1001], vec![0; 1001]);
        let fill = |index: usize, part: &mut [u8]| part.fill(index as u8 + part.len() as u8);
        threads::for_each_part(&mut parallel, 10, fill);
        serial::for_each_part(&mut serial, 10, fill);
        assert_eq!(parallel, serial);
    }

    #[test]
    fn an_error_or_a_counterexample_is_found() {
        let items = || (0..1000).collect::<Vec<usize>>();
        let calls = AtomicUsize::new(0);
        let fails_at = |bad: usize| {
            let calls = &calls;
            move |state: &mut usize, item| {
                *state += 1;
                calls.fetch_add(1, Ordering::Relaxed);
                if item == bad { Err(item) } else { Ok(()) }
            }
        };
        for (bad, expected) in [(7, Err(7)), (5000, Ok(()))] {
            assert_eq!(threads::try_for_each(items(), || 0, fails_at(bad)), expected);
            assert_eq!(serial::try_for_each(items(), || 0, fails_at(bad)), expected);
        }
        assert!(calls.into_inner() >= 2000, "every item is visited if none fails");
        for (bad, expected) in [(7, false), (5000, true)] {
            assert_eq!(threads::all(items(), |item| item != bad), expected);
            assert_eq!(serial::all(items(), |item| item != bad), expected);
        }
    }
}
