//! Random graphs, and what the analyses compute, by the definitions.

use super::Rng;
use holloway_bytecode::cfg::{BlockId, FlowGraph, Graph};
use rand::RngExt;
use std::collections::BTreeSet;

/// A graph as lists of successors; block 0 is the entry unless another is given.
#[derive(Debug, Clone)]
pub struct Lists {
    /// Where control begins.
    pub entry: u32,
    /// For each block its successors.
    pub successors: Vec<Vec<u32>>,
}

impl Graph for Lists {
    fn block_count(&self) -> usize {
        self.successors.len()
    }

    fn entry(&self) -> BlockId {
        BlockId(self.entry)
    }

    fn successors(&self, block: BlockId) -> impl Iterator<Item = BlockId> {
        self.successors[block.index()].iter().map(|&b| BlockId(b))
    }
}

/// A random graph: sparse or dense, with self loops, parallel edges, and unreachable blocks; sometimes mostly forward, as code is.
pub fn random(rng: &mut Rng) -> Lists {
    let count = rng.random_range(1..=11_u32);
    let mut successors = vec![Vec::new(); count as usize];
    if rng.random() {
        for _ in 0..rng.random_range(0..=count * 3) {
            successors[rng.random_range(0..count) as usize].push(rng.random_range(0..count));
        }
    } else {
        for block in 0..count {
            let ahead = |rng: &mut Rng| (block + 1 + rng.random_range(0..3)).min(count - 1);
            for _ in 0..rng.random_range(0..3) {
                let target = if rng.random_bool(0.25) { rng.random_range(0..=block) } else { ahead(rng) };
                successors[block as usize].push(target);
            }
        }
    }
    let entry = if rng.random_bool(0.2) { rng.random_range(0..count) } else { 0 };
    Lists { entry, successors }
}

/// The blocks that can be reached from `from`, not going through `without`.
pub fn reachable(
    from: impl IntoIterator<Item = u32>,
    without: Option<u32>,
    next: impl Fn(u32) -> Vec<u32>,
) -> BTreeSet<u32> {
    let mut work: Vec<u32> = from.into_iter().filter(|&b| Some(b) != without).collect();
    let mut found: BTreeSet<u32> = work.iter().copied().collect();
    while let Some(block) = work.pop() {
        for target in next(block) {
            if Some(target) != without && found.insert(target) {
                work.push(target);
            }
        }
    }
    found
}

impl Lists {
    /// The blocks that can be reached from the entry.
    pub fn reachable(&self) -> BTreeSet<u32> {
        reachable([self.entry], None, |b| self.successors[b as usize].clone())
    }

    /// Reachable predecessors.
    pub fn predecessors(&self, block: u32) -> Vec<u32> {
        let all = self.reachable();
        all.into_iter().filter(|&b| self.successors[b as usize].contains(&block)).collect()
    }

    /// a dominates b: without a, b cannot be reached.
    pub fn dominates(&self, a: u32, b: u32) -> bool {
        let without = reachable([self.entry], Some(a), |b| self.successors[b as usize].clone());
        let all = self.reachable();
        all.contains(&a) && all.contains(&b) && !without.contains(&b)
    }

    /// a postdominates b: without a, none of the exits can be reached from b.
    pub fn postdominates(&self, a: u32, b: u32, exits: &[BlockId]) -> bool {
        let all = self.reachable();
        let from_b = reachable([b], Some(a), |b| self.successors[b as usize].clone());
        all.contains(&a) && all.contains(&b) && !exits.iter().any(|e| from_b.contains(&e.0))
    }

    /// The natural loop of a header: it and all that reach a back edge without it. Empty if there is no back edge.
    pub fn natural_loop(&self, header: u32) -> BTreeSet<u32> {
        let tails: Vec<u32> =
            self.predecessors(header).into_iter().filter(|&tail| self.dominates(header, tail)).collect();
        if tails.is_empty() {
            return BTreeSet::new();
        }
        let mut blocks = reachable(tails, Some(header), |b| self.predecessors(b));
        blocks.insert(header);
        blocks
    }

    /// Can the reachable part be reduced to one block by removing self loops (T1) and by merging a block into its only
    /// predecessor (T2).
    pub fn is_reducible(&self) -> bool {
        let mut edges: BTreeSet<(u32, u32)> = BTreeSet::new();
        let mut blocks = self.reachable();
        for &b in &blocks {
            edges.extend(self.successors[b as usize].iter().map(|&t| (b, t)));
        }
        loop {
            edges.retain(|(a, b)| a != b);
            let merge = blocks.iter().copied().filter(|&b| b != self.entry).find_map(|b| {
                let mut sources = edges.iter().filter(|e| e.1 == b).map(|e| e.0);
                let only = sources.next()?;
                sources.next().is_none().then_some((only, b))
            });
            let Some((into, block)) = merge else { break };
            blocks.remove(&block);
            edges = edges
                .iter()
                .map(|&(a, b)| (if a == block { into } else { a }, b))
                .filter(|e| e.1 != block)
                .collect();
        }
        blocks.len() <= 1
    }

    /// As the library sees it.
    pub fn flow(&self) -> FlowGraph {
        FlowGraph::of(self)
    }
}
