//! Orders that go forward, for code generators that read blocks in the order in which they stand.
//!
//! A register allocator that reads linearly takes every edge that goes backwards in the order for that of a loop. If a block stands behind what it
//! goes on with, though it is in no loop, all in between seems to run more often than it does, and keeps registers that a real
//! loop would need: on linked lists, orders that paid no heed to this cost 12 % more instructions, all of them loads and stores.
//!
//! So here blocks are numbered in an order of their own (a reverse postorder), and *forward* edges, those to higher
//! numbers, go forward in the result as well. Chains are those of Pettis and Hansen ([`super::chains()`]) with one more condition: an edge joins
//! two chains only if no block has to stand between them. Blocks that would have to, but run seldom in
//! comparison with the edge, go *aside*: the register allocator still finds them where they were, and they are emitted behind everything
//! else. That is the splitting of the paper's section 5, by a relative measure.
//!
//! What is promised: each block is hot or aside, once; the entry comes first; forward edges between hot blocks go
//! forward; a block is aside only if it runs less than one of [`ASIDE`] times that an edge past it is taken. Rotations
//! ([`rotations_forward`]) keep the number of blocks that are entered backwards.
//!
//! Complexity: n² bits; each join looks at the blocks between the ends of two chains.

use super::chains::Split;
use super::frequencies::{Frequencies, Targets, blocks};
use crate::{BlockId, ControlFlow};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// An edge passes blocks that run less than one of so many times that it is taken.
pub const ASIDE: u64 = 3;

const WORD: usize = u64::BITS as usize;

/// For each row a set of columns.
struct Sets {
    width: usize,
    words: Vec<u64>,
}

impl Sets {
    fn new(rows: usize) -> Self {
        let width = rows.div_ceil(WORD);
        Self { width, words: vec![0; rows * width] }
    }

    fn row(&self, row: usize) -> &[u64] {
        &self.words[row * self.width..][..self.width]
    }

    fn insert(&mut self, row: usize, column: usize) {
        self.words[row * self.width + column / WORD] |= 1 << (column % WORD);
    }

    /// Adds one row to another.
    fn extend(&mut self, row: usize, more: usize) {
        for word in 0..self.width {
            self.words[row * self.width + word] |= self.words[more * self.width + word];
        }
    }
}

/// Chains in the making, each named by the number of the block that was its first one.
struct Joining<'a> {
    runs: &'a [u64],
    /// Of each block, those from which forward edges lead to it, through others as well.
    before: Sets,
    /// Of each chain, its members, and what is before one of them.
    members: Sets,
    before_chain: Sets,
    is_aside: Vec<bool>,
    chain_of: Vec<usize>,
    chains: Vec<Vec<BlockId>>,
}

impl Joining<'_> {
    /// Joins the chains of an edge that is taken so often, if that is allowed.
    fn join(&mut self, from: BlockId, to: BlockId, count: u64, passed: &mut Vec<usize>) {
        let (front, back) = (self.chain_of[from.index()], self.chain_of[to.index()]);
        let fits = front != back
            && self.chains[front].last() == Some(&from)
            && self.chains[back].first() == Some(&to)
            && !self.is_aside[from.index()]
            && !self.is_aside[to.index()];
        if !fits || !self.may_pass(front, back, count, passed) {
            return;
        }
        for &block in &*passed {
            self.is_aside[block] = true;
        }
        let moved = std::mem::take(&mut self.chains[back]);
        moved.iter().for_each(|block| self.chain_of[block.index()] = front);
        self.chains[front].extend(moved);
        self.members.extend(front, back);
        self.before_chain.extend(front, back);
    }

    /// May the second chain follow the first; `passed` are the blocks that go aside then. The numbers in a chain ascend.
    fn may_pass(&self, front: usize, back: usize, count: u64, passed: &mut Vec<usize>) -> bool {
        passed.clear();
        let words = |chain: usize| {
            let ends = [self.chains[chain].first(), self.chains[chain].last()];
            let [first, last] = ends.map(|end| end.map_or(0, |block| block.index() / WORD));
            first..last + 1
        };
        let (of_front, of_back) = (words(front), words(back));
        let meet = |sets: &Sets, row: usize, chain: usize, words: Range<usize>| {
            let (one, two) = (&sets.row(row)[words.clone()], &self.members.row(chain)[words]);
            one.iter().zip(two).any(|(one, two)| one & two != 0)
        };
        if meet(&self.before_chain, front, back, of_back.clone()) {
            return false;
        }
        for word in of_front.start..of_back.end {
            let members = self.members.row(front)[word] | self.members.row(back)[word];
            let mut bits = self.before_chain.row(back)[word] & !members;
            while bits != 0 {
                let block = word * WORD + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if self.is_aside[block] || !meet(&self.before, block, front, of_front.clone()) {
                    continue;
                }
                if block == 0 || self.runs[block].saturating_mul(ASIDE) >= count {
                    return false;
                }
                passed.push(block);
            }
        }
        true
    }
}

/// The order of all blocks, which are numbered by an order that begins with the entry. What goes aside keeps its order.
#[must_use]
pub fn order_blocks_forward<F: ControlFlow + ?Sized>(frequencies: &Frequencies<'_, F>) -> Split {
    let flow = frequencies.flow();
    let count = flow.blocks();
    let runs = frequencies.blocks();
    let mut before = Sets::new(count);
    let mut members = Sets::new(count);
    for block in blocks(flow) {
        members.insert(block.index(), block.index());
        // Those before it are complete: they have smaller numbers.
        for &target in flow.successors(block).iter().filter(|&&target| target > block) {
            before.extend(target.index(), block.index());
            before.insert(target.index(), block.index());
        }
    }
    let before_chain = Sets { width: before.width, words: before.words.clone() };
    let mut joining = Joining {
        runs: &runs,
        before,
        members,
        before_chain,
        is_aside: vec![false; count],
        chain_of: (0..count).collect(),
        chains: blocks(flow).map(|block| vec![block]).collect(),
    };
    let mut edges: Vec<_> = Targets::new(frequencies).pairs().filter(|&(from, to, _)| from < to).collect();
    edges.sort_by_key(|&(.., count)| Reverse(count));
    let mut passed = Vec::new();
    for (from, to, count) in edges {
        joining.join(from, to, count, &mut passed);
    }
    let Joining { is_aside, chain_of, chains, .. } = joining;
    let cold = blocks(flow).filter(|block| is_aside[block.index()]).collect();
    Split { hot: place(flow, &chains, &chain_of, &is_aside), cold }
}

/// Chains one behind the other: of those that may be placed, always the one whose first block has the smallest number. If chains wait
/// for each other, the blocks of one are placed where they may.
fn place<F: ControlFlow + ?Sized>(
    flow: &F,
    chains: &[Vec<BlockId>],
    chain_of: &[usize],
    is_aside: &[bool],
) -> Vec<BlockId> {
    let edges = || {
        let hot = blocks(flow).filter(|block| !is_aside[block.index()]);
        hot.flat_map(|from| {
            let targets = flow.successors(from).iter().copied();
            let targets = targets.filter(move |&to| to > from && !is_aside[to.index()]);
            targets.map(move |to| (from, to))
        })
    };
    let mut missing = vec![0usize; chains.len()];
    let mut before: Vec<Vec<BlockId>> = vec![Vec::new(); chains.len()];
    for (from, to) in edges() {
        before[to.index()].push(from);
        missing[chain_of[to.index()]] += usize::from(chain_of[from.index()] != chain_of[to.index()]);
    }
    let is_whole = |chain: &usize| !chains[*chain].is_empty();
    let mut ready: BinaryHeap<Reverse<usize>> =
        (0..chains.len()).filter(is_whole).filter(|&chain| missing[chain] == 0).map(Reverse).collect();
    let mut is_taken = vec![false; chains.len()];
    let mut next = (0..chains.len()).filter(is_whole);
    let mut order = Vec::with_capacity(chains.len());
    // The entry stands first, even if something that cannot be reached has to stand before what follows it.
    let mut entry = Some(0);
    loop {
        let mut free = || {
            let mut ready = std::iter::from_fn(|| ready.pop()).map(|Reverse(chain)| chain);
            ready.find(|&chain| !is_taken[chain])
        };
        let found = entry.take().or_else(&mut free).or_else(|| next.find(|&chain| !is_taken[chain]));
        let Some(chain) = found else { break };
        is_taken[chain] = true;
        for &block in &chains[chain] {
            order.push(block);
            for &to in flow.successors(block).iter().filter(|&&to| to > block && !is_aside[to.index()]) {
                let waiting = chain_of[to.index()];
                if waiting != chain && !is_aside[block.index()] {
                    missing[waiting] -= 1;
                    if missing[waiting] == 0 {
                        ready.push(Reverse(waiting));
                    }
                }
            }
        }
    }
    repaired(&order, &before, is_aside)
}

/// The same order, where what must be before a block moves forward until it is.
fn repaired(order: &[BlockId], before: &[Vec<BlockId>], is_aside: &[bool]) -> Vec<BlockId> {
    let mut seen = is_aside.to_vec();
    let (mut result, mut waiting) = (Vec::with_capacity(order.len()), Vec::new());
    for &block in order {
        if !std::mem::replace(&mut seen[block.index()], true) {
            waiting.push(block);
        }
        while let Some(&next) = waiting.last() {
            match before[next.index()].iter().find(|other| !seen[other.index()]) {
                Some(&other) => {
                    seen[other.index()] = true;
                    waiting.push(other);
                }
                None => result.extend(waiting.pop()),
            }
        }
    }
    result
}

/// By how many places the blocks of a loop, a part of an order, may be rotated to the left so that edges go backwards to no more blocks than
/// before. Those that do are taken for loops, and a loop that becomes several keeps registers from others that need them more.
#[must_use]
pub fn rotations_forward<F: ControlFlow + ?Sized>(flow: &F, part: &[BlockId]) -> Vec<bool> {
    let mut place = vec![usize::MAX; flow.blocks()];
    for (at, block) in part.iter().enumerate() {
        place[block.index()] = at;
    }
    // For each block the first from which an edge goes forward to it, and the first from which one goes backward.
    let mut entered = vec![[usize::MAX; 2]; part.len()];
    for (at, &block) in part.iter().enumerate() {
        for to in flow.successors(block).iter().map(|to| place[to.index()]).filter(|&to| to != usize::MAX) {
            let first = &mut entered[to][usize::from(to <= at)];
            *first = at.min(*first);
        }
    }
    // Rotated by p, a forward edge goes backward if p is behind its beginning and not behind its end; the others do unless
    // p is behind their end and not behind their beginning.
    let mut changes = vec![0isize; part.len() + 2];
    let mut add = |range: Range<usize>| {
        if range.start < range.end {
            changes[range.start] += 1;
            changes[range.end] -= 1;
        }
    };
    for (at, &[forward, backward]) in entered.iter().enumerate() {
        if backward != usize::MAX {
            add(0..at + 1);
            add(backward + 1..part.len());
        } else if forward != usize::MAX {
            add(forward + 1..at + 1);
        }
    }
    let own = changes[0];
    let mut sum = 0;
    let may = |change: &isize| {
        sum += change;
        sum <= own
    };
    changes[..part.len()].iter().map(may).collect()
}
