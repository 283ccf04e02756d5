//! Hash tables with a fast, randomly seeded hash, so that a crafted model cannot cause collisions.

use foldhash::fast::RandomState;

/// A hash map; create it with `default`.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;

/// A hash set; create it with `default`.
pub(crate) type HashSet<K> = std::collections::HashSet<K, RandomState>;
