//! A region as the algorithms see it.

use super::edge;
use crate::frequency::Frequencies;
use crate::ir::region::Shape;
use crate::ir::{BlockId, Region, Source, Terminator};
use holloway_profilers::{Arm, BranchArm, ControlFlow, Edge};
use smallvec::{SmallVec, smallvec};

/// Frequencies are counted in parts of one run of the entry.
const RUN: f64 = 1_000_000.0;

/// The outcome of a source branch that an edge is, if it is one.
type SourceArm = Option<BranchArm>;

/// One for each arm of a block, which mostly has no more than two.
type Arms<T> = SmallVec<[T; 2]>;

/// Blocks, arms in the order of the targets of a block's end, frequencies, and the outcomes of source branches that the arms
/// are.
pub struct Flow {
    /// The blocks that can be reached, in reverse postorder.
    order: Vec<BlockId>,
    successors: Vec<Arms<holloway_profilers::BlockId>>,
    blocks: Vec<u64>,
    frequencies: Vec<Arms<u64>>,
    arms: Vec<Arms<SourceArm>>,
}

impl Flow {
    /// The control flow of a region without unreachable blocks (cleared ones do not count).
    pub fn of(region: &Region, shape: &Shape, found: &Frequencies) -> Flow {
        let order = shape.graph.reverse_postorder().to_vec();
        let blocks = region.blocks.len();
        let mut flow = Flow {
            order,
            successors: Vec::with_capacity(blocks),
            blocks: Vec::with_capacity(blocks),
            frequencies: Vec::with_capacity(blocks),
            arms: Vec::with_capacity(blocks),
        };
        for block in region.block_ids() {
            let target = |target: &crate::ir::Target| holloway_profilers::BlockId(target.block.0);
            flow.successors.push(region.block(block).end.targets().map(target).collect());
            let edges = shape.graph.out_edges(block);
            let frequency = |edge| (found.edge(shape, edge) * RUN) as u64;
            flow.blocks.push((found.block(block) * RUN) as u64);
            flow.frequencies.push(edges.map(frequency).collect());
            flow.arms.push(source_arms(region, block));
        }
        flow
    }

    /// The blocks that can be reached, in reverse postorder.
    pub fn order(&self) -> &[BlockId] {
        &self.order
    }

    /// How often an edge is taken.
    pub fn frequency(&self, edge: Edge) -> u64 {
        self.frequencies[edge.from.index()].get(edge.arm.index()).copied().unwrap_or(0)
    }

    /// How often a block is entered.
    pub fn block(&self, block: BlockId) -> u64 {
        self.blocks[block.index()]
    }

    /// All edges that are outcomes of source branches.
    pub fn branch_arms(&self) -> impl Iterator<Item = (Edge, BranchArm)> + '_ {
        self.arms.iter().enumerate().flat_map(|(from, arms)| {
            arms.iter().enumerate().filter_map(move |(arm, branch)| Some((edge(from, arm), (*branch)?)))
        })
    }
}

impl ControlFlow for Flow {
    fn blocks(&self) -> usize {
        self.successors.len()
    }

    fn entry(&self) -> holloway_profilers::BlockId {
        holloway_profilers::BlockId(Region::ENTRY.0)
    }

    fn entries(&self) -> &[holloway_profilers::BlockId] {
        // Handlers run in the interpreter, and what is entered at a loop is a region of its own.
        &[]
    }

    fn successors(&self, block: holloway_profilers::BlockId) -> &[holloway_profilers::BlockId] {
        &self.successors[block.index()]
    }
}

/// What the arms of a block are for the source: a branch's arm 0 is the way of the bytecode's branch that is taken, a switch's
/// arms are its cases in order, then the default.
pub(super) fn source_arms(region: &Region, block: BlockId) -> Arms<SourceArm> {
    let arm = |source: &Source, arm: usize| {
        Some(BranchArm { branch: region.branch_of(source), arm: Arm::new(arm) })
    };
    match &region.block(block).end {
        Terminator::Branch { source: Some(source), .. } => {
            let [then, otherwise] = if source.negated { [1, 0] } else { [0, 1] };
            smallvec![arm(source, then), arm(source, otherwise)]
        }
        Terminator::Switch { source, cases, .. } => (0..=cases.len()).map(|at| arm(source, at)).collect(),
        end => end.targets().map(|_| None).collect(),
    }
}
