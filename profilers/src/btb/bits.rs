//! Sets of full paths as bits: P(e) for each edge, M(p) as their intersection (section 3.4, definition 3.2).
//!
//! A set has a fixed universe `0..len`; bits beyond it are never set, so that counting and comparing look at whole
//! words. All operations are O(len / 64).

/// A set of numbers below a fixed bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BitSet {
    words: Vec<u64>,
    len: usize,
}

impl BitSet {
    /// The empty set over the universe `0..len`.
    #[must_use]
    pub fn empty(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)], len }
    }

    /// The whole universe `0..len`.
    #[must_use]
    pub fn full(len: usize) -> Self {
        let mut words = vec![u64::MAX; len.div_ceil(64)];
        if !len.is_multiple_of(64)
            && let Some(last) = words.last_mut()
        {
            *last = (1 << (len % 64)) - 1;
        }
        Self { words, len }
    }

    /// The bound of the universe.
    #[must_use]
    pub fn universe(&self) -> usize {
        self.len
    }

    /// Adds a number; one outside of the universe is not added.
    pub fn insert(&mut self, number: usize) {
        if number < self.len {
            self.words[number / 64] |= 1 << (number % 64);
        }
    }

    /// Whether the number is in the set.
    #[must_use]
    pub fn contains(&self, number: usize) -> bool {
        number < self.len && self.words[number / 64] >> (number % 64) & 1 == 1
    }

    /// How many numbers are in the set.
    #[must_use]
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether nothing is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Keeps what is in `other` as well. Both have the same universe; of a smaller one the missing part counts as
    /// empty.
    pub fn intersect(&mut self, other: &BitSet) {
        for (index, word) in self.words.iter_mut().enumerate() {
            *word &= other.words.get(index).copied().unwrap_or(0);
        }
    }

    /// Adds what is in `other`, as far as this universe has it.
    pub fn unite(&mut self, other: &BitSet) {
        let len = self.len;
        for number in other.iter().take_while(|&number| number < len) {
            self.insert(number);
        }
    }

    /// Removes what is in `other`.
    pub fn subtract(&mut self, other: &BitSet) {
        for (word, theirs) in self.words.iter_mut().zip(&other.words) {
            *word &= !theirs;
        }
    }

    /// The numbers in increasing order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            // Clears the lowest bit at each step.
            std::iter::successors((word != 0).then_some(word), |rest| {
                let next = rest & (rest - 1);
                (next != 0).then_some(next)
            })
            .map(move |rest| index * 64 + rest.trailing_zeros() as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::Xoshiro256PlusPlus;
    use rand::{RngExt, SeedableRng};
    use std::collections::BTreeSet;

    #[test]
    fn agrees_with_a_tree_of_numbers() {
        for seed in 0..200 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let len = random.random_range(0..200usize);
            let mut sets = Vec::new();
            for _ in 0..2 {
                let mut bits = BitSet::empty(len);
                let mut tree = BTreeSet::new();
                for _ in 0..random.random_range(0..100) {
                    let number = random.random_range(0..220usize);
                    bits.insert(number);
                    if number < len {
                        tree.insert(number);
                    }
                }
                assert!((0..250).all(|number| bits.contains(number) == tree.contains(&number)));
                sets.push((bits, tree));
            }
            let [(a, naive_a), (b, naive_b)] = &sets[..] else { unreachable!() };
            assert_eq!(a.iter().collect::<Vec<_>>(), naive_a.iter().copied().collect::<Vec<_>>());
            assert_eq!(a.count(), naive_a.len());
            assert_eq!(a.is_empty(), naive_a.is_empty());
            let after = |change: fn(&mut BitSet, &BitSet)| {
                let mut set = a.clone();
                change(&mut set, b);
                set.iter().collect::<Vec<_>>()
            };
            assert_eq!(after(BitSet::intersect), naive_a.intersection(naive_b).copied().collect::<Vec<_>>());
            assert_eq!(after(BitSet::unite), naive_a.union(naive_b).copied().collect::<Vec<_>>());
            assert_eq!(after(BitSet::subtract), naive_a.difference(naive_b).copied().collect::<Vec<_>>());
            assert_eq!(BitSet::full(len).iter().collect::<Vec<_>>(), (0..len).collect::<Vec<_>>());
            assert_eq!(BitSet::full(len).count(), len);
        }
    }
}
