//! The order of a method's blocks: chains from the hottest edge down, then an order of the chains.
//!
//! Pettis and Hansen, "Profile Guided Code Positioning", PLDI 1990, section 4: bottom-up positioning ("algo2"). Every block
//! begins as a chain. The edges, the most frequent first, join the chain that ends with their source and the chain that
//! begins with their target. Then the chain of the entry is placed, and again and again the chain that has the most
//! traffic with those already placed.
//!
//! Deviations: edges of equal frequency are taken by the numbers of their source and target, so that equal inputs have
//! equal orders; parallel edges count together, as a fall-through serves both; the entry stays first, so that no edge
//! into it joins; and edges that were never taken are joined too, last, which spares jumps in code that is cold.
//!
//! What is promised: the order is a permutation that begins with the entry; the two blocks of an edge that joined are
//! neighbours; and what falls through is at least a third of what falls through in the best order. (The joined edges are
//! a greedy solution over the intersection of three matroids: one successor, one predecessor, no cycle; Korte and
//! Hausmann 1978.) It is *not* promised that the order is better than that of the source.
//!
//! Complexity: O(E log E) for E edges.

use super::frequencies::{Frequencies, Targets, blocks};
use crate::{BlockId, ControlFlow};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The chains, by the number of their first block. Each block is in one.
#[must_use]
pub fn chains<F: ControlFlow + ?Sized>(frequencies: &Frequencies<'_, F>) -> Vec<Vec<BlockId>> {
    let flow = frequencies.flow();
    // By block: the chain that it is in, by the number of a block. Chains that were joined are empty.
    let mut chain_of: Vec<usize> = (0..flow.blocks()).collect();
    let mut chains: Vec<Vec<BlockId>> = blocks(flow).map(|block| vec![block]).collect();
    let mut edges: Vec<_> = Targets::new(frequencies).pairs().collect();
    edges.sort_by_key(|&(.., count)| Reverse(count));
    for (from, to, _) in edges {
        let (front, back) = (chain_of[from.index()], chain_of[to.index()]);
        let fits = front != back && chains[front].last() == Some(&from) && chains[back].first() == Some(&to);
        if fits && to != flow.entry() {
            let moved = std::mem::take(&mut chains[back]);
            moved.iter().for_each(|block| chain_of[block.index()] = front);
            chains[front].extend(moved);
        }
    }
    chains.retain(|chain| !chain.is_empty());
    chains.sort_by_key(|chain| chain[0]);
    chains
}

/// The chains in the order in which they are placed: that of the entry, then always the one with the most traffic, in
/// either direction, with those placed so far; among equals, that with the smallest first block.
#[must_use]
pub fn order_chains<F: ControlFlow + ?Sized>(
    frequencies: &Frequencies<'_, F>,
    mut chains: Vec<Vec<BlockId>>,
) -> Vec<Vec<BlockId>> {
    let flow = frequencies.flow();
    let mut chain_of = vec![usize::MAX; flow.blocks()];
    for (at, chain) in chains.iter().enumerate() {
        chain.iter().for_each(|block| chain_of[block.index()] = at);
    }
    let mut neighbours: Vec<Vec<(usize, u64)>> = vec![Vec::new(); chains.len()];
    for (from, to, count) in Targets::new(frequencies).pairs() {
        let (from, to) = (chain_of[from.index()], chain_of[to.index()]);
        if from != to && from != usize::MAX && to != usize::MAX {
            neighbours[from].push((to, count));
            neighbours[to].push((from, count));
        }
    }
    // Chains with the same traffic come in the order of their first blocks.
    let mut numbers: Vec<usize> = (0..chains.len()).collect();
    numbers.sort_by_key(|&chain| chains[chain].first().copied());
    let mut rank = vec![0; chains.len()];
    numbers.iter().enumerate().for_each(|(at, &chain)| rank[chain] = at);
    let mut with_placed = vec![0u64; chains.len()];
    let mut order = Vec::with_capacity(chains.len());
    let entry = chain_of[flow.entry().index()];
    let mut next = Some(entry).filter(|&entry| entry != usize::MAX).or(numbers.first().copied());
    // What may come next; entries that do not say any more how it is with a chain are stale.
    let state = |chain: usize, with_placed: &[u64]| (with_placed[chain], Reverse(rank[chain]));
    let mut heap: BinaryHeap<_> = numbers.iter().map(|&chain| state(chain, &with_placed)).collect();
    let mut is_placed = vec![false; chains.len()];
    while let Some(chain) = next {
        is_placed[chain] = true;
        for &(neighbour, count) in &neighbours[chain] {
            with_placed[neighbour] = with_placed[neighbour].saturating_add(count);
        }
        let changed = neighbours[chain].iter().map(|&(neighbour, _)| neighbour);
        heap.extend(changed.filter(|&other| !is_placed[other]).map(|other| state(other, &with_placed)));
        order.push(std::mem::take(&mut chains[chain]));
        next = loop {
            let Some(found) = heap.pop() else { break None };
            let chain = numbers[found.1.0];
            if !is_placed[chain] && found == state(chain, &with_placed) {
                break Some(chain);
            }
        };
    }
    order
}

/// The order of all blocks by chains. It begins with the entry.
#[must_use]
pub fn order_blocks<F: ControlFlow + ?Sized>(frequencies: &Frequencies<'_, F>) -> Vec<BlockId> {
    order_chains(frequencies, chains(frequencies)).concat()
}

/// An order of blocks in two parts, which may be placed far from each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// What is executed; begins with the entry.
    pub hot: Vec<BlockId>,
    /// What is hardly ever executed.
    pub cold: Vec<BlockId>,
}

/// Takes the blocks out of an order that were executed less than `least` times (Pettis and Hansen, section 5, "procedure
/// splitting", takes those that never were). The entry is hot, whatever its count; both parts keep the order.
#[must_use]
pub fn split<F: ControlFlow + ?Sized>(
    frequencies: &Frequencies<'_, F>,
    order: &[BlockId],
    least: u64,
) -> Split {
    let counts = frequencies.blocks();
    let entry = frequencies.flow().entry();
    let (hot, cold) = order.iter().partition(|&&block| block == entry || counts[block.index()] >= least);
    Split { hot, cold }
}
