//! Orders that have to keep to something: that certain blocks stand before certain others.
//!
//! A code generator may not be able to emit a block before those that compute what it uses. Whoever lays out code for it says which
//! block must stand behind which ([`Precedence`]), and chains are joined, ordered and rotated within that: no join puts
//! a block before one that it has to follow, directly or through others; a chain is placed when what it waits for
//! is; loops are rotated only where nothing inside objects.
//!
//! That is enough for most, but not for all: two chains may each hold a block that has to stand before one of the other. Then the
//! order that comes out violates something, which [`Precedence::is_kept`] finds and [`Precedence::repair`] corrects.
//!
//! Complexity: n² bits for n blocks, and O(n (n + d)/w) for d pairs and words of w bits.

use crate::BlockId;
use std::ops::Range;

const WORD: usize = u64::BITS as usize;

/// Which blocks must stand behind which.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Precedence {
    /// For each block those before it. Empty if there is nothing to keep to.
    before: Vec<Vec<BlockId>>,
    /// The same through others, a bit for each.
    all_before: Vec<Set>,
}

/// A set of blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Set(Vec<u64>);

impl Set {
    fn insert(&mut self, block: BlockId) {
        let word = block.index() / WORD;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (block.index() % WORD);
    }

    fn extend(&mut self, other: &Set) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(own, more)| *own |= more);
    }

    fn meets(&self, other: &Set) -> bool {
        self.0.iter().zip(&other.0).any(|(one, two)| one & two != 0)
    }
}

impl Precedence {
    /// Each block must stand behind those in its list. `topological` is an order of all blocks that keeps to it.
    #[must_use]
    pub fn new(before: Vec<Vec<BlockId>>, topological: &[BlockId]) -> Self {
        let mut all_before = vec![Set::default(); before.len()];
        for &block in topological {
            let mut all = Set::default();
            for &other in &before[block.index()] {
                all.insert(other);
                all.extend(&all_before[other.index()]);
            }
            all_before[block.index()] = all;
        }
        Self { before, all_before }
    }

    /// The blocks behind which a block must stand.
    fn before(&self, block: BlockId) -> &[BlockId] {
        self.before.get(block.index()).map_or(&[], Vec::as_slice)
    }

    /// Is this order within it. Blocks that it does not name do not matter.
    #[must_use]
    pub fn is_kept(&self, order: &[BlockId]) -> bool {
        let mut place = vec![usize::MAX; self.before.len()];
        for (at, block) in order.iter().enumerate() {
            if let Some(place) = place.get_mut(block.index()) {
                *place = at;
            }
        }
        let is_named = |block: &&BlockId| place[block.index()] != usize::MAX;
        let kept = |block: BlockId, at: usize| {
            self.before(block).iter().filter(is_named).all(|other| place[other.index()] < at)
        };
        order.iter().enumerate().all(|(at, &block)| kept(block, at))
    }

    /// The same blocks in an order within it: what a block has to follow moves forward until it stands before it. All blocks
    /// must be in the order. Blocks that have to follow each other in a circle cannot all be satisfied, and are placed in some order.
    #[must_use]
    pub fn repair(&self, order: &[BlockId]) -> Vec<BlockId> {
        let mut seen = vec![false; order.len()];
        let (mut repaired, mut waiting) = (Vec::with_capacity(order.len()), Vec::new());
        for &block in order {
            if !std::mem::replace(&mut seen[block.index()], true) {
                waiting.push(block);
            }
            while let Some(&next) = waiting.last() {
                match self.before(next).iter().find(|other| !seen[other.index()]) {
                    Some(&other) => {
                        seen[other.index()] = true;
                        waiting.push(other);
                    }
                    None => repaired.extend(waiting.pop()),
                }
            }
        }
        repaired
    }

    /// How much the blocks of a range, a part of an order that keeps to it, may be rotated to the left: for each number of places whether
    /// it may.
    pub(super) fn rotations(&self, order: &[BlockId], range: Range<usize>) -> Vec<bool> {
        let inside = &order[range];
        let mut place = vec![usize::MAX; self.before.len()];
        for (at, block) in inside.iter().enumerate() {
            if let Some(place) = place.get_mut(block.index()) {
                *place = at;
            }
        }
        // Rotated by p, what stood at p or behind comes before what stood before p.
        let mut objections = vec![0i64; inside.len() + 1];
        for (at, &block) in inside.iter().enumerate() {
            for other in
                self.before(block).iter().map(|other| place[other.index()]).filter(|&other| other < at)
            {
                objections[other + 1] += 1;
                objections[at + 1] -= 1;
            }
        }
        let mut sum = 0;
        let may = |change: &i64| {
            sum += change;
            sum == 0
        };
        objections[..inside.len()].iter().map(may).collect()
    }
}

/// Chains that are being joined within a precedence.
pub(super) struct Joins<'a> {
    precedence: &'a Precedence,
    members: Vec<Set>,
    before: Vec<Set>,
}

impl<'a> Joins<'a> {
    /// Each block is a chain.
    pub fn new(precedence: &'a Precedence) -> Self {
        let single = |number: usize| {
            let mut set = Set::default();
            set.insert(BlockId::new(number));
            set
        };
        let members = (0..precedence.before.len()).map(single).collect();
        Self { precedence, members, before: precedence.all_before.clone() }
    }

    /// May one chain stand just before another.
    pub fn may(&self, front: usize, back: usize) -> bool {
        self.precedence.before.is_empty() || !self.before[front].meets(&self.members[back])
    }

    /// The second becomes the end of the first.
    pub fn join(&mut self, front: usize, back: usize) {
        if !self.precedence.before.is_empty() {
            let (members, before) =
                (std::mem::take(&mut self.members[back]), std::mem::take(&mut self.before[back]));
            self.members[front].extend(&members);
            self.before[front].extend(&before);
        }
    }
}

/// What is still to be placed before the chains that wait.
pub(super) struct Waiting {
    /// For each chain how many pairs keep it from being placed.
    missing: Vec<usize>,
    /// For each chain, those that wait for it, once for each pair.
    waiting: Vec<Vec<usize>>,
}

impl Waiting {
    /// `chain_of` says in which of the chains each block is.
    pub fn new(precedence: &Precedence, chains: usize, chain_of: &[usize]) -> Self {
        let (mut missing, mut waiting) = (vec![0; chains], vec![Vec::new(); chains]);
        for (number, &chain) in chain_of.iter().enumerate().filter(|(_, chain)| **chain != usize::MAX) {
            let others = precedence.before(BlockId::new(number)).iter().map(|other| chain_of[other.index()]);
            for other in others.filter(|&other| other != chain && other != usize::MAX) {
                missing[chain] += 1;
                waiting[other].push(chain);
            }
        }
        Self { missing, waiting }
    }

    /// May the chain be placed now.
    pub fn is_ready(&self, chain: usize) -> bool {
        self.missing[chain] == 0
    }

    /// The chain is placed. Gives those that need not wait any more.
    pub fn placed(&mut self, chain: usize) -> Vec<usize> {
        let mut waiting = std::mem::take(&mut self.waiting[chain]);
        waiting.retain(|&waiting| {
            self.missing[waiting] -= 1;
            self.missing[waiting] == 0
        });
        waiting
    }
}
