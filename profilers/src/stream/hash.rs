//! Hashing without surprises: the same on every run and every machine, and its work is counted.
//!
//! [`OpenTable`] is open addressing with linear probing and Fibonacci hashing (Knuth, vol. 3, sec. 6.4): path numbers
//! are small and dense, the golden ratio spreads such keys well. A slot is the key and a value; the value's default
//! marks the empty slot, so that there are no control bytes and one access finds both. At most 2/3 of the slots are
//! used. [`Map`] is `hashbrown` with a fixed hasher, for places that are not hot.

use std::hash::{BuildHasherDefault, Hasher};

/// 2^64 divided by the golden ratio, odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A hash map whose order of iteration is fixed, but must not reach an output all the same.
pub(crate) type Map<K, V> = hashbrown::HashMap<K, V, BuildHasherDefault<Fixed>>;

/// A hasher for keys made of a few integers.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Fixed(u64);

impl Hasher for Fixed {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(GOLDEN);
    }
}

#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
struct Slot<V> {
    key: u64,
    value: V,
}

/// Where a hash table is in memory, for who takes the frequent step of a look-up by itself: the slot of a key is
/// `key * GOLDEN >> shift`, 16 bytes each, and it is the right one if the first word is the key and the second is not 0.
#[derive(Debug, Clone, Copy)]
pub struct TableAddress {
    /// The slots, until a key is added.
    pub slots: *mut u8,
    /// 64 minus the logarithm of how many there are.
    pub shift: u32,
}

impl TableAddress {
    /// The multiplier.
    pub const GOLDEN: u64 = GOLDEN;

    /// A table without keys: no step is taken there, so that it is never written to.
    #[must_use]
    pub fn empty() -> Self {
        static SLOTS: [Slot<u64>; 2] = [Slot { key: 0, value: 0 }; 2];
        Self { slots: SLOTS.as_ptr().cast_mut().cast(), shift: 63 }
    }
}

/// A hash table from 64-bit keys to values; a value equal to its type's default is not there.
#[derive(Debug, Clone)]
pub(crate) struct OpenTable<V> {
    /// As many as a power of two.
    slots: Box<[Slot<V>]>,
    /// 64 minus the logarithm of how many.
    shift: u32,
    used: usize,
    /// Slots that look-ups beyond the first of each have visited, without those of growing.
    further: u64,
    /// Look-ups of keys that were there, but not in their home, since the table has grown last.
    away: u32,
}

impl<V: Copy + Default + PartialEq> OpenTable<V> {
    const SMALLEST_LOG: u32 = 3;
    /// A table in which keys were found away from home so often grows, because the frequent ones are in each other's way.
    const PATIENCE: u32 = 1000;
    /// But not beyond so many slots for each key.
    const ROOMIEST: usize = 32;

    pub fn new() -> Self {
        let slots = vec![Slot::default(); 1 << Self::SMALLEST_LOG].into_boxed_slice();
        Self { slots, shift: 64 - Self::SMALLEST_LOG, used: 0, further: 0, away: 0 }
    }

    /// The value of a key, which is new if it is the default; the caller must then change it.
    #[inline]
    pub fn slot(&mut self, key: u64) -> &mut V {
        let mask = self.slots.len() - 1;
        let mut at = self.home(key) & mask;
        let mut further = 0;
        loop {
            let Slot { key: there, value } = self.slots[at];
            if value == V::default() {
                break;
            }
            if there == key {
                self.further += further;
                return &mut self.slots[at].value;
            }
            further += 1;
            at = (at + 1) & mask;
        }
        self.further += further;
        self.claim(at, key)
    }

    /// The value of a key that is there.
    #[inline]
    pub fn existing(&mut self, key: u64) -> Option<&mut V> {
        let mask = self.slots.len() - 1;
        let home = self.home(key) & mask;
        let mut at = self.position(key)?;
        if at != home {
            self.further += (at.wrapping_sub(home) & mask) as u64;
            at = self.found_away(at, key);
        }
        Some(&mut self.slots[at].value)
    }

    /// The value of a key, or the default: like [`Self::slot`] for a key that may not be added.
    #[inline]
    pub fn find(&mut self, key: u64) -> V {
        let (value, further) = self.probe(key);
        self.further += further;
        value
    }

    /// The value of a key, or the default. Is not counted as work.
    pub fn get(&self, key: u64) -> V {
        self.probe(key).0
    }

    /// The value of a key, or the default, and how many slots further than its home it was found.
    #[inline]
    fn probe(&self, key: u64) -> (V, u64) {
        let mask = self.slots.len() - 1;
        let mut at = self.home(key) & mask;
        let mut further = 0;
        loop {
            let Slot { key: there, value } = self.slots[at];
            if there == key || value == V::default() {
                return (value, further);
            }
            further += 1;
            at = (at + 1) & mask;
        }
    }

    /// All keys and values, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = (u64, V)> + '_ {
        self.slots.iter().filter(|slot| slot.value != V::default()).map(|slot| (slot.key, slot.value))
    }

    /// All keys and values by key.
    pub fn sorted(&self) -> Vec<(u64, V)> {
        let mut all: Vec<_> = self.iter().collect();
        all.sort_unstable_by_key(|&(key, _)| key);
        all
    }

    pub fn len(&self) -> usize {
        self.used
    }

    /// Slots visited beyond the first of each look-up.
    pub fn further(&self) -> u64 {
        self.further
    }

    /// Says how many that were: after work of another kind, or with another table's.
    pub fn set_further(&mut self, further: u64) {
        self.further = further;
    }

    pub fn bytes(&self) -> usize {
        std::mem::size_of_val(&*self.slots)
    }

    /// Where it is in memory.
    pub fn address(&mut self) -> TableAddress {
        TableAddress { slots: self.slots.as_mut_ptr().cast(), shift: self.shift }
    }

    fn home(&self, key: u64) -> usize {
        (key.wrapping_mul(GOLDEN) >> self.shift) as usize
    }

    /// Gives an empty slot to the key.
    #[cold]
    #[inline(never)]
    fn claim(&mut self, at: usize, key: u64) -> &mut V {
        self.used += 1;
        let mut at = at;
        if self.used * 3 > self.slots.len() * 2 {
            self.grow();
            at = self.empty_for(key);
        }
        self.slots[at].key = key;
        &mut self.slots[at].value
    }

    /// A key was found here, away from home. Gives where it is now.
    #[cold]
    #[inline(never)]
    fn found_away(&mut self, at: usize, key: u64) -> usize {
        self.away += 1;
        if self.away < Self::PATIENCE || self.slots.len() >= self.used * Self::ROOMIEST {
            return at;
        }
        self.grow();
        self.position(key).unwrap_or(at)
    }

    /// Where a key is, if it is there.
    #[inline(always)]
    fn position(&self, key: u64) -> Option<usize> {
        let mask = self.slots.len() - 1;
        let mut at = self.home(key) & mask;
        loop {
            let Slot { key: there, value } = self.slots[at];
            if value == V::default() {
                return None;
            }
            if there == key {
                return Some(at);
            }
            at = (at + 1) & mask;
        }
    }

    fn empty_for(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = self.home(key) & mask;
        while self.slots[at].value != V::default() {
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self) {
        let doubled = vec![Slot::default(); self.slots.len() * 2].into_boxed_slice();
        let old = std::mem::replace(&mut self.slots, doubled);
        self.shift -= 1;
        self.away = 0;
        for &slot in old.iter().filter(|slot| slot.value != V::default()) {
            let at = self.empty_for(slot.key);
            self.slots[at] = slot;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng, rngs::SmallRng};
    use std::collections::BTreeMap;

    /// Keys that are in each other's way in a small table.
    #[test]
    fn frequent_keys_get_room() {
        let mut table = OpenTable::<u64>::new();
        let home = |table: &OpenTable<u64>, key| table.home(key) & (table.slots.len() - 1);
        let other = (1..).find(|&key| home(&table, key) == home(&table, 0)).unwrap();
        for round in 0..3000 {
            for key in [0, other] {
                match table.existing(key) {
                    Some(count) => *count += 1,
                    None => *table.slot(key) += 1,
                }
                assert_eq!(table.get(key), round + 1);
            }
        }
        assert_ne!(home(&table, 0), home(&table, other));
        assert!(table.slots.len() <= 2 * OpenTable::<u64>::ROOMIEST);
        // Once when it was added, and until there was room.
        let further = u64::from(1 + OpenTable::<u64>::PATIENCE + table.away);
        assert_eq!((table.len(), table.further()), (2, further));
    }

    /// Against a tree map, with keys that are dense, spread, and alike in their low bits.
    #[test]
    fn counts_like_a_tree_map() {
        let mut rng = SmallRng::seed_from_u64(1);
        for case in 0..200 {
            let mut table = OpenTable::<u64>::new();
            let mut twin = BTreeMap::<u64, u64>::new();
            for _ in 0..rng.random_range(0..400) {
                let key = match case % 3 {
                    0 => rng.random_range(0..100),
                    1 => rng.random(),
                    _ => rng.random_range(0..50u64) << 40,
                };
                *table.slot(key) += 1;
                *twin.entry(key).or_default() += 1;
                assert_eq!(table.get(key), twin[&key]);
            }
            assert_eq!(table.get(u64::MAX - 1), 0);
            assert_eq!(table.len(), twin.len());
            assert_eq!(table.sorted(), twin.into_iter().collect::<Vec<_>>());
        }
    }
}
