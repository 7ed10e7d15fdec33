//! The truth: how often each subpath of a power-of-two length was executed, all of them counted.
//!
//! The paper needed an hour for 10^8 blocks (Table 1). Hashing each window anew costs its length, a rolling hash costs
//! O(1) but is only almost exact. We name windows instead, after Karp, Miller and Rosenberg (STOC 1972): a window of
//! 2^n blocks is the pair of its halves, whose names are known, and each distinct pair gets the next number as its name.
//! So one look-up of a word a block and length, no collisions at all, and the blocks of a window can be told from its
//! name. The name of the first half was found 2^(n-1) blocks ago and is kept in a ring.
//!
//! Invariant: `levels[n].pairs[name]` are the names, one level down, of the halves of a window of 2^(n+1) blocks; level
//! -1 are the blocks themselves. Space: 12 to 24 bytes a distinct subpath with `pairs`, `counts` and `index`.
//!
//! The number of all subpaths is Σ (B - 2^n + 1) for B blocks, which is what the paper's Table 1 says of its programs.

use super::config::Invalid;
use super::lengths::MAX_EXPONENT;
use super::random::mix;
use crate::BlockId;

/// Counts all subpaths of one thread.
#[derive(Debug, Clone)]
pub struct Exhaustive {
    blocks: u64,
    /// Blocks before the last interruption.
    before: u64,
    /// Blocks of each thread that was merged into it.
    merged: Vec<u64>,
    levels: Vec<Level>,
}

/// All windows of one length.
#[derive(Debug, Clone)]
struct Level {
    /// The halves of each window, by name.
    pairs: Vec<(u32, u32)>,
    counts: Vec<u64>,
    /// Names, open-addressed by their pairs; the number of places is a power of two.
    index: Vec<u32>,
    /// The names of the last windows of half the length, one level down.
    ring: Vec<u32>,
}

const FREE: u32 = u32::MAX;

/// How many subpaths of the lengths 2^1 to 2^max a thread of so many blocks executes.
#[must_use]
pub fn subpaths_of(blocks: u64, max: u32) -> u64 {
    (1..=max).map(|n| (blocks + 1).saturating_sub(1 << n)).sum()
}

impl Exhaustive {
    /// A counter of all subpaths of 2^1, 2^2, ... 2^max blocks.
    ///
    /// # Errors
    ///
    /// If `max` is not in `1..=13`.
    pub fn new(max: u32) -> Result<Self, Invalid> {
        if !(1..=MAX_EXPONENT).contains(&max) {
            return Err(Invalid::new("max", max.to_string(), format!("1..={MAX_EXPONENT}")));
        }
        let level = |n: u32| Level {
            pairs: Vec::new(),
            counts: Vec::new(),
            index: vec![FREE; 64],
            ring: vec![0; 1 << n],
        };
        Ok(Self { blocks: 0, before: 0, merged: Vec::new(), levels: (0..max).map(level).collect() })
    }

    /// A block is entered. O(max).
    #[inline]
    pub fn enter_block(&mut self, block: BlockId) {
        let mut name = block.0;
        let at = self.blocks - self.before;
        self.blocks += 1;
        for level in &mut self.levels {
            let half = level.ring.len();
            let before = std::mem::replace(&mut level.ring[at as usize & (half - 1)], name);
            if at + 1 < 2 * half as u64 {
                return;
            }
            name = level.intern((before, name));
            level.counts[name as usize] += 1;
        }
    }

    /// Nobody knows what happened between the last block and the next one: no subpath goes on over it.
    pub fn interrupt(&mut self) {
        self.before = self.blocks;
    }

    /// How many blocks there were in this thread, and in those that were merged into it.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// The same of each thread by itself: this one, and those that were merged into it. No subpath goes from one to another, so that
    /// the subpaths are the sum of [`subpaths_of`] over these.
    #[must_use]
    pub fn threads(&self) -> Vec<u64> {
        let own = self.blocks - self.merged.iter().sum::<u64>();
        std::iter::once(own).chain(self.merged.iter().copied()).collect()
    }

    /// How many subpaths were executed, repetitions included.
    #[must_use]
    pub fn subpaths(&self) -> u64 {
        self.levels.iter().flat_map(|level| &level.counts).sum()
    }

    /// The same by length, of those of which there are any. O(distinct), as no subpath is spelled.
    #[must_use]
    pub fn lengths(&self) -> Vec<(u32, u64)> {
        let of = |(at, level): (u32, &Level)| (2 << at, level.counts.iter().sum::<u64>());
        (0..).zip(&self.levels).map(of).filter(|of| of.1 > 0).collect()
    }

    /// How many distinct ones.
    #[must_use]
    pub fn distinct(&self) -> usize {
        self.levels.iter().map(|level| level.pairs.len()).sum()
    }

    /// How often a subpath was executed; 0 also if its length is none of those that are counted.
    #[must_use]
    pub fn count(&self, subpath: &[BlockId]) -> u64 {
        self.name(subpath).map_or(0, |(level, name)| self.levels[level].counts[name as usize])
    }

    /// Shows every distinct subpath with its count, by length and in the order of first occurrence.
    pub fn for_each(&self, mut show: impl FnMut(&[BlockId], u64)) {
        let mut blocks = Vec::new();
        for (at, level) in self.levels.iter().enumerate() {
            for (name, &count) in level.counts.iter().enumerate() {
                blocks.clear();
                self.spell(at, u32::try_from(name).expect("names are words"), &mut blocks);
                show(&blocks, count);
            }
        }
    }

    /// The `k` most executed subpaths with their counts; ties go to the shorter one, then to the one that occurred first.
    #[must_use]
    pub fn top(&self, k: usize) -> Vec<(Vec<BlockId>, u64)> {
        let mut all: Vec<(u64, usize, u32)> = Vec::with_capacity(self.distinct());
        for (at, level) in self.levels.iter().enumerate() {
            all.extend((0u32..).zip(&level.counts).map(|(name, &count)| (count, at, name)));
        }
        all.sort_unstable_by_key(|&(count, level, name)| (std::cmp::Reverse(count), level, name));
        all.truncate(k);
        let spelled = all.into_iter().map(|(count, level, name)| {
            let mut blocks = Vec::with_capacity(2 << level);
            self.spell(level, name, &mut blocks);
            (blocks, count)
        });
        spelled.collect()
    }

    /// Adds the counts of another thread; afterwards this is no longer the counter of a running thread. Only the lengths
    /// that both count are added.
    pub fn merge(&mut self, other: &Self) {
        self.blocks += other.blocks;
        self.merged.extend(other.threads());
        let mut below: Option<Vec<u32>> = None;
        for (mine, theirs) in self.levels.iter_mut().zip(&other.levels) {
            let name = |part: u32| below.as_ref().map_or(part, |names| names[part as usize]);
            let mut names = Vec::with_capacity(theirs.pairs.len());
            for (&(first, second), &count) in theirs.pairs.iter().zip(&theirs.counts) {
                let ours = mine.intern((name(first), name(second)));
                mine.counts[ours as usize] += count;
                names.push(ours);
            }
            below = Some(names);
        }
    }

    /// The level and name of a subpath that occurred.
    fn name(&self, subpath: &[BlockId]) -> Option<(usize, u32)> {
        if subpath.len() < 2 || !subpath.len().is_power_of_two() {
            return None;
        }
        let mut names: Vec<u32> = subpath.iter().map(|block| block.0).collect();
        for (at, level) in self.levels.iter().enumerate() {
            let halves = names.chunks_exact(2);
            names = halves.map(|pair| level.find((pair[0], pair[1])).ok()).collect::<Option<_>>()?;
            if let [name] = names[..] {
                return Some((at, name));
            }
        }
        None
    }

    fn spell(&self, level: usize, name: u32, blocks: &mut Vec<BlockId>) {
        let (first, second) = self.levels[level].pairs[name as usize];
        if level == 0 {
            blocks.extend([BlockId(first), BlockId(second)]);
        } else {
            self.spell(level - 1, first, blocks);
            self.spell(level - 1, second, blocks);
        }
    }
}

impl Level {
    /// The name of a pair, a new one if it has none yet.
    fn intern(&mut self, pair: (u32, u32)) -> u32 {
        let place = match self.find(pair) {
            Ok(name) => return name,
            Err(place) => place,
        };
        let name = u32::try_from(self.pairs.len()).expect("fewer than 2^32 distinct subpaths");
        self.index[place] = name;
        self.pairs.push(pair);
        self.counts.push(0);
        if self.pairs.len() * 2 > self.index.len() {
            self.grow();
        }
        name
    }

    /// The name of a pair, or the place where the index should have it.
    #[inline]
    fn find(&self, pair: (u32, u32)) -> Result<u32, usize> {
        let mask = self.index.len() - 1;
        let mut place = mix(u64::from(pair.0) << 32 | u64::from(pair.1)) as usize & mask;
        loop {
            match self.index[place] {
                FREE => return Err(place),
                name if self.pairs[name as usize] == pair => return Ok(name),
                _ => place = (place + 1) & mask,
            }
        }
    }

    fn grow(&mut self) {
        self.index = vec![FREE; self.index.len() * 2];
        for at in 0..self.pairs.len() {
            if let Err(place) = self.find(self.pairs[at]) {
                self.index[place] = u32::try_from(at).expect("names are words");
            }
        }
    }
}
