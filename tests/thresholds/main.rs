//! Every boundary between two ways to compute the same: all thresholds of the code
//! (`crates/onnx-cast/src/threshold.rs`) get values of a few bytes or elements, so that small tensors and
//! models reach what otherwise only large ones do.
//!
//! The thresholds are those of the process. The tests of this binary take turns, so that each runs
//! with the values that it sets.

mod counts;
mod models;
mod operations;
#[path = "../suite/support.rs"]
#[allow(dead_code, reason = "the suite uses the rest")]
mod support;
mod writers;

use std::io;
use std::sync::{Mutex, PoisonError};

use onnx_recast::ReadAt;
use onnx_recast::internals::base::threshold::small;

/// Does something with small thresholds, or with those of production.
fn with_thresholds<R>(seed: Option<u64>, run: impl FnOnce() -> R) -> R {
    struct Restored;

    impl Drop for Restored {
        fn drop(&mut self) {
            small::set(None);
        }
    }

    static TURN: Mutex<()> = Mutex::new(());
    // A failed test says itself that it failed.
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let _restored = Restored;
    small::set(seed);
    run()
}

/// A file that is read in ranges.
#[derive(Debug)]
struct InRanges(Vec<u8>);

impl ReadAt for InRanges {
    fn bytes(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        out.copy_from_slice(&self.0[offset as usize..][..out.len()]);
        Ok(())
    }
}
