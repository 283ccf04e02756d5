//! The threads that do the work.

use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// The stack of a thread: that of the main thread of most programs.
const STACK: usize = 8 << 20;

/// Threads, their number as it was requested, and the process that they belong to.
struct Pool {
    process: u32,
    threads: usize,
    pool: &'static ThreadPool,
}

/// One pool for each number of threads that was requested.
static POOLS: Mutex<Vec<Pool>> = Mutex::new(Vec::new());

/// The number of threads of the next calls; 0 for as many as there are cores, or
/// `RAYON_NUM_THREADS`.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Sets the number of threads of the next calls; 0 for the default.
#[pyfunction]
pub fn set_threads(threads: usize) {
    THREADS.store(threads, Ordering::Relaxed);
}

/// The threads of this process. A process that was forked has none of the threads of its parent, so
/// it gets its own.
pub fn pool() -> Result<&'static ThreadPool, ThreadPoolBuildError> {
    let (process, threads) = (process::id(), THREADS.load(Ordering::Relaxed));
    let existing = |pools: &Vec<Pool>| {
        pools
            .iter()
            .find(|one| (one.process, one.threads) == (process, threads))
            .map(|one| one.pool)
    };
    if let Some(pool) = existing(&POOLS.lock().unwrap_or_else(PoisonError::into_inner)) {
        return Ok(pool);
    }
    // Built outside of the lock, so that a fork finds the lock free. Never ended: the threads of
    // another process cannot be joined.
    let pool: &'static ThreadPool = Box::leak(Box::new(
        ThreadPoolBuilder::new()
            .num_threads(threads)
            .stack_size(STACK)
            .build()?,
    ));
    POOLS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(Pool {
            process,
            threads,
            pool,
        });
    Ok(pool)
}
