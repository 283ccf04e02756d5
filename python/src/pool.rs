//! The threads that do the work.

use std::process;
use std::sync::{Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// The stack of a thread: that of the main thread of most programs.
const STACK: usize = 8 << 20;

/// The threads, and the process that they belong to.
static POOL: Mutex<Option<(u32, &'static ThreadPool)>> = Mutex::new(None);

/// The threads of this process. A process that was forked has none of the threads of its parent, so it gets its own.
pub fn pool() -> Result<&'static ThreadPool, ThreadPoolBuildError> {
    let process = process::id();
    let current = *POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, pool)) = current.filter(|(owner, _)| *owner == process) {
        return Ok(pool);
    }
    // Built outside of the lock, so that a fork finds the lock free. Never ended: the threads of another process cannot be joined.
    let pool: &'static ThreadPool = Box::leak(Box::new(ThreadPoolBuilder::new().stack_size(STACK).build()?));
    *POOL.lock().unwrap_or_else(PoisonError::into_inner) = Some((process, pool));
    Ok(pool)
}
