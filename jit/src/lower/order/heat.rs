//! How often each block of Cranelift's function runs, as lowering makes it from a region whose frequencies are known.
//!
//! A region's block becomes several: its own, those behind checks, and cold ones (exits, slow paths). Those in line run as often as
//! the region's block; cold ones never do. Where a region's block goes to others, the frequencies of the edges are kept.

use super::super::function::FixedMap;
use crate::frequency::Counts;
use crate::ir::BlockId;
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::{Block, Function};

/// Frequencies, for each time that the function is entered.
#[derive(Clone, Default)]
pub struct Heat {
    blocks: SecondaryMap<Block, f64>,
    /// Empty where they are not known.
    arms: SecondaryMap<Block, Counts>,
    /// The block of the region from which each comes.
    of_region: SecondaryMap<Block, Option<BlockId>>,
    /// The ends of edges that were split.
    edges: FixedMap<Block, [Block; 2]>,
}

impl Heat {
    /// A block runs so often.
    pub fn set(&mut self, block: Block, frequency: f64) {
        self.blocks[block] = frequency;
    }

    /// A block is, or is part of, one of the region.
    pub fn set_region(&mut self, block: Block, of: Option<BlockId>) {
        self.of_region[block] = of;
    }

    /// The block of the region from which a block comes.
    pub fn region(&self, block: Block) -> Option<BlockId> {
        self.of_region[block]
    }

    /// A block stands for an edge that is taken so often.
    pub fn set_edge(&mut self, block: Block, ends: [Block; 2], frequency: f64) {
        self.blocks[block] = frequency;
        self.edges.insert(block, ends);
    }

    /// The edge for which a block stands.
    pub fn edge(&self, block: Block) -> Option<[Block; 2]> {
        self.edges.get(&block).copied()
    }

    /// The end of a block goes each way so often, in the order of its targets.
    pub fn set_arms(&mut self, block: Block, arms: Counts) {
        self.arms[block] = arms;
    }

    /// How often a block runs.
    pub fn block(&self, block: Block) -> f64 {
        self.blocks[block]
    }

    /// How often the end of a block goes each way. Where that is not known, it is shared by how often the targets run.
    pub fn arms(&self, function: &Function, block: Block) -> Counts {
        let known = &self.arms[block];
        let targets = || function.block_successors(block);
        if known.len() == targets().count() {
            return known.clone();
        }
        let all: f64 = targets().map(|target| self.blocks[target]).sum();
        let share = if all > 0.0 { self.blocks[block] / all } else { 0.0 };
        targets().map(|target| self.blocks[target] * share).collect()
    }
}
