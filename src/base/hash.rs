//! Hash tables with a fast, randomly seeded hash, so that a crafted model cannot cause collisions.
//!
//! The order of a table differs between processes and is never shown: clippy reports loops over
//! tables (`clippy.toml`), and an `expect` states why an order has no effect.

use std::sync::Arc;

use foldhash::fast::RandomState;

use super::threshold::Threshold;

/// A hash map; create it with `default`.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;

/// A hash set; create it with `default`.
pub(crate) type HashSet<K> = std::collections::HashSet<K, RandomState>;

/// Texts. Equal texts share one allocation.
#[derive(Debug, Default)]
pub(crate) struct SharedTexts(HashSet<Arc<str>>);

/// The maximum number of different texts that are stored to be shared. Further texts are unlikely
/// to recur.
const MOST_SHARED: Threshold = Threshold::new("shared texts", 1024).or_zero();

impl SharedTexts {
    /// A text, in the allocation of an equal one if there is one.
    pub fn shared<T: AsRef<str> + Into<Arc<str>>>(&mut self, text: T) -> Arc<str> {
        if let Some(known) = self.0.get(text.as_ref()) {
            return Arc::clone(known);
        }
        let text = text.into();
        if self.0.len() < MOST_SHARED.get() {
            self.0.insert(Arc::clone(&text));
        }
        text
    }
}
