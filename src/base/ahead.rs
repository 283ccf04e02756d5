//! Results that another thread may compute before they are needed.

use std::fmt::{self, Debug, Formatter};
use std::sync::{Mutex, PoisonError, TryLockError};

/// A result that is needed once, and may be computed before.
pub struct Ahead<T>(Mutex<State<T>>);

enum State<T> {
    Unknown,
    Known(T),
    Taken,
}

impl<T> Ahead<T> {
    /// Computes the result, unless it is known, was taken, or is being computed by another thread.
    pub fn compute(&self, work: impl FnOnce() -> T) {
        let mut state = match self.0.try_lock() {
            Ok(state) => state,
            // The work of another thread ended in a panic.
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        if matches!(*state, State::Unknown) {
            *state = State::Known(work());
        }
    }

    /// The result, after waiting for a thread that is computing it; or that of `work`, if no
    /// thread began, if its work ended in a panic, or if the result was taken.
    pub fn take(&self, work: impl FnOnce() -> T) -> T {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = std::mem::replace(&mut *state, State::Taken);
        drop(state);
        match known {
            State::Known(result) => result,
            State::Unknown | State::Taken => work(),
        }
    }
}

impl<T> Default for Ahead<T> {
    fn default() -> Ahead<T> {
        Ahead(Mutex::new(State::Unknown))
    }
}

impl<T> Debug for Ahead<T> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str("Ahead")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::catch;

    #[test]
    fn a_result_is_computed_once_and_taken_once() {
        let ahead = Ahead::default();
        ahead.compute(|| 1);
        ahead.compute(|| 2);
        assert_eq!((ahead.take(|| 3), ahead.take(|| 4)), (1, 4));
        ahead.compute(|| 5);
        assert_eq!(ahead.take(|| 6), 6);
        assert_eq!(Ahead::default().take(|| 7), 7);
    }

    #[test]
    fn a_thread_waits_for_the_one_that_computes_the_result() {
        let (ahead, has_begun) = (Ahead::default(), std::sync::Barrier::new(2));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                ahead.compute(|| {
                    has_begun.wait();
                    // Another thread does not begin the same work.
                    ahead.compute(|| unreachable!());
                    "first"
                });
            });
            has_begun.wait();
            assert_eq!(ahead.take(|| "second"), "first");
        });
    }

    #[test]
    fn work_that_panics_is_repeated_when_its_result_is_needed() {
        let ahead = Ahead::default();
        assert!(catch(|| ahead.compute(|| panic!("first"))).is_err());
        assert_eq!(ahead.take(|| "second"), "second");
    }
}
