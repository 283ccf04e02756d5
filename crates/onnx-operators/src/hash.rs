//! Hash tables with a fast, randomly seeded hash.

use foldhash::fast::RandomState;

/// A hash map; create it with `default`.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;
