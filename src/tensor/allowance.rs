//! How much is computed of constants.

use std::collections::HashMap;
use std::hash::Hash;

/// Each constant goes through so many casts, whether in a row or side by side.
pub const CASTS_OF_EACH: usize = 16;
/// Beyond that, casts of all constants may make this many bytes.
const EXTRA_BYTES: u64 = 1 << 26;

/// What casts of constants may still cost. However they are chained, time and memory stay in proportion to the model.
#[derive(Debug)]
pub struct Allowance<K> {
    /// By constant: how many casts it went through.
    casts: HashMap<K, usize>,
    extra_bytes: u64,
}

impl<K> Default for Allowance<K> {
    fn default() -> Allowance<K> {
        Allowance { casts: HashMap::new(), extra_bytes: EXTRA_BYTES }
    }
}

impl<K: Eq + Hash> Allowance<K> {
    /// Whether a constant, which takes so many bytes by now, may go through one more cast; counts it if so.
    pub fn take(&mut self, constant: K, bytes: u64) -> bool {
        let casts = self.casts.entry(constant).or_default();
        if *casts < CASTS_OF_EACH {
            *casts += 1;
            return true;
        }
        match self.extra_bytes.checked_sub(bytes) {
            Some(left) => {
                self.extra_bytes = left;
                true
            }
            None => false,
        }
    }
}
