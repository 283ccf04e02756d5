//! Hash tables whose hash is quick, and seeded at random, so that no model can be made to slow them down.

use foldhash::fast::RandomState;

/// A map; made by `default`.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;

/// A set; made by `default`.
pub(crate) type HashSet<K> = std::collections::HashSet<K, RandomState>;
