//! Limits on the folding of constants.
//!
//! A constant can pass through 16 casts, or more while it is small, so that time and memory are
//! proportional to the file.

use std::hash::Hash;

use crate::base::hash::HashMap;

/// The maximum number of casts per constant, in sequence or in parallel.
pub const CASTS_OF_EACH: usize = 16;
/// The total size in bytes of the results of further casts, over all constants.
const EXTRA_BYTES: u64 = 1 << 26;

/// The remaining budget for casts of constants; keeps time and memory proportional to the model,
/// however the casts are chained.
#[derive(Debug)]
pub struct CastBudget<K> {
    /// The number of casts applied to each constant.
    casts: HashMap<K, usize>,
    extra_bytes: u64,
}

impl<K> Default for CastBudget<K> {
    fn default() -> CastBudget<K> {
        CastBudget {
            casts: HashMap::default(),
            extra_bytes: EXTRA_BYTES,
        }
    }
}

impl<K: Eq + Hash> CastBudget<K> {
    /// Whether one more cast may be applied to a constant of this current size; if so, the cast is
    /// counted.
    pub fn try_spend(&mut self, constant: K, bytes: u64) -> bool {
        let casts = self.casts.entry(constant).or_default();
        if *casts < CASTS_OF_EACH {
            *casts += 1;
            return true;
        }
        self.try_spend_extra(bytes)
    }

    /// Whether this many bytes may be computed beyond the casts of each constant; if so, they are
    /// counted.
    pub fn try_spend_extra(&mut self, bytes: u64) -> bool {
        let left = self.extra_bytes.checked_sub(bytes);
        self.extra_bytes = left.unwrap_or(self.extra_bytes);
        left.is_some()
    }
}
