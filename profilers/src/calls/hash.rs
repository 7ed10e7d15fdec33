//! Hash maps whose hasher is fixed, so that no run differs from another. Their order still reaches no output.

use std::hash::{BuildHasherDefault, Hasher};

/// A hash map with the fixed hasher.
pub(super) type FixedMap<K, V> = hashbrown::HashMap<K, V, BuildHasherDefault<Fixed>>;

/// Multiplies and rotates, one word after the other: for keys that are a few small numbers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fixed(u64);

impl Hasher for Fixed {
    fn finish(&self) -> u64 {
        (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}
