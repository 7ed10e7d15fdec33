//! Hash maps with a fixed hasher, so that no run differs from another. What is in them reaches no output in their order all the same.

use std::hash::{BuildHasherDefault, DefaultHasher};

/// A hasher without a random seed.
pub(crate) type FixedHasher = BuildHasherDefault<DefaultHasher>;

/// A map with that hasher.
pub(crate) type FixedMap<K, V> = hashbrown::HashMap<K, V, FixedHasher>;
