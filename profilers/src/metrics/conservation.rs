//! Does an edge profile obey Kirchhoff's law: does control leave each block as often as it arrives?
//!
//! An exact profile that does not is wrong: a counter is missing, an edge is mapped to the wrong branch. A sampled
//! profile of whole paths obeys it inside of paths only, so its imbalance says how much it is off.
//!
//! Only branches have counters. An edge that is the only one out of its block carries whatever arrives there, which
//! this module works out; on a cycle of such blocks it cannot be known, nor can whatever depends on it, and those
//! blocks are not checked. A block may be left in its middle by an exception, so with exceptions only more leaving
//! than arriving is certainly wrong.
//!
//! O(blocks + edges).

use crate::graph::ControlFlow;
use crate::ids::{Arm, BlockId, Edge};

/// What the profile knows of one graph.
pub trait Known {
    /// How often this edge was taken, for edges out of blocks with several successors. Nothing if it is not known.
    fn taken(&self, edge: Edge) -> Option<u64>;

    /// How often control arrived at this block without an edge: the invocations at the entry, and what exceptions and
    /// on-stack replacement brought to the other entries.
    fn arrived(&self, block: BlockId) -> u64;
}

/// A block that control did not leave as often as it arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Imbalance {
    /// The block.
    pub block: BlockId,
    /// How often control arrived.
    pub inflow: u64,
    /// How often control left.
    pub outflow: u64,
}

/// All blocks with several successors that are out of balance, in order, among those whose flow is known.
pub fn imbalances(graph: &impl ControlFlow, known: &impl Known) -> Vec<Imbalance> {
    let blocks = graph.blocks();
    let mut inflow: Vec<u64> = (0..blocks).map(|block| known.arrived(BlockId::new(block))).collect();
    // Edges into the block whose flow is not known (yet).
    let mut missing = vec![0u32; blocks];
    let mut outflow: Vec<Option<u64>> = vec![None; blocks];
    for block in (0..blocks).map(BlockId::new) {
        let successors = graph.successors(block);
        if successors.len() < 2 {
            successors.iter().for_each(|target| missing[target.index()] += 1);
            continue;
        }
        let mut sum = Some(0);
        for (arm, target) in successors.iter().enumerate() {
            let taken = known.taken(Edge { from: block, arm: Arm::new(arm) });
            match taken {
                Some(count) => inflow[target.index()] += count,
                None => missing[target.index()] += 1,
            }
            sum = sum.zip(taken).map(|(sum, count): (u64, u64)| sum + count);
        }
        outflow[block.index()] = sum;
    }
    let mut ready: Vec<BlockId> =
        (0..blocks).filter(|&block| missing[block] == 0).map(BlockId::new).collect();
    while let Some(block) = ready.pop() {
        if let &[target] = graph.successors(block) {
            inflow[target.index()] += inflow[block.index()];
            missing[target.index()] -= 1;
            if missing[target.index()] == 0 {
                ready.push(target);
            }
        }
    }
    let imbalance = |block: usize| {
        let (inflow, outflow) = (inflow[block], outflow[block]?);
        (missing[block] == 0 && inflow != outflow).then(|| Imbalance {
            block: BlockId::new(block),
            inflow,
            outflow,
        })
    };
    (0..blocks).filter_map(imbalance).collect()
}
