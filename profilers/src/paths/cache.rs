//! Paths that were decoded before (PEP section 4.3: the edges of a path are found once, when it is sampled first).

use super::dag::PathDag;
use super::path::Path;
use crate::ids::PathNumber;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

/// The decoded paths of one version, each decoded when it is asked for first.
#[derive(Debug, Clone, Default)]
pub struct DecodeCache {
    paths: HashMap<PathNumber, Path, BuildHasherDefault<NumberHasher>>,
}

impl DecodeCache {
    /// An empty cache.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The path with a number, `None` if there is none. A cache must always be asked with the same record. O(1) if it
    /// was asked for before.
    pub fn path(&mut self, dag: &PathDag, number: PathNumber) -> Option<&Path> {
        match self.paths.entry(number) {
            Entry::Occupied(known) => Some(known.into_mut()),
            Entry::Vacant(new) => Some(new.insert(dag.decode(number)?)),
        }
    }

    /// How many different paths were asked for, which is how many were decoded.
    #[must_use]
    pub fn decoded(&self) -> usize {
        self.paths.len()
    }
}

/// Spreads the bits of a number, the same in every run: the finalizer of splitmix64.
#[derive(Debug, Clone, Copy, Default)]
struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_u64(&mut self, number: u64) {
        let mut mixed = self.0 ^ number;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.0 = mixed ^ (mixed >> 31);
    }
}
