//! Hash maps with a fixed hasher, so that no run differs from another. What is in them reaches no output in their order all the same.

use crate::layout::ObjectPointer;
use std::hash::{BuildHasherDefault, DefaultHasher, Hasher};

/// A hasher without a random seed.
pub(crate) type FixedHasher = BuildHasherDefault<DefaultHasher>;

/// A map with that hasher.
pub(crate) type FixedMap<K, V> = hashbrown::HashMap<K, V, FixedHasher>;

/// A map with addresses of objects as keys.
pub(crate) type AddressMap<V> = hashbrown::HashMap<ObjectPointer, V, BuildHasherDefault<AddressHasher>>;

/// Spreads the bits of an address (Knuth, *The Art of Computer Programming*, section 6.4: multiplication by the golden ratio). Nobody chooses
/// addresses to make it slow.
#[derive(Default)]
pub(crate) struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_usize(usize::from(byte)));
    }

    fn write_usize(&mut self, address: usize) {
        let product = (self.0 ^ address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // Tables take low bits and the highest ones.
        self.0 = product ^ product >> 32;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
