//! Control-flow graphs and what can be asked about them.
//!
//! The analyses work on a [`FlowGraph`]: numbered blocks, numbered edges in the order of their source's successors,
//! parallel edges kept apart. It is made of anything that implements [`Graph`], so the compiler's graphs, random ones in
//! tests, and bytecode are all analysed by the same code. [`Cfg`] is the graph of a function in bytecode: it adds
//! what blocks and edges stand for.
//!
//! | question | answer |
//! |---|---|
//! | what comes in which order? | [`FlowGraph::reverse_postorder`] |
//! | what must have run before? | [`Dominators`] |
//! | what must run after? | [`Postdominators`] |
//! | where do definitions meet? | [`Dominators::frontiers`] |
//! | what repeats? | [`Loops`], with the edges that make a graph irreducible |
//! | what will still be read? | [`Liveness`] |
//! | what does it look like? | [`Cfg::dot`] |
//!
//! Blocks that cannot be reached from the entry have numbers and edges, but no place in the order and no part in any analysis:
//! they dominate nothing, are in no loop, and their edges do not count as predecessors' edges there.

mod bytecode;
mod dominators;
mod dot;
mod graph;
mod liveness;
mod loops;
mod postdominators;

pub use bytecode::{Block, Cfg, EdgeKind, can_raise};
pub use dominators::Dominators;
pub use dot::DotOptions;
pub use graph::FlowGraph;
pub use liveness::{Liveness, RegisterSet};
pub use loops::{Loop, LoopId, Loops};
pub use postdominators::Postdominators;

/// A basic block, by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BlockId(pub u32);

/// An edge, by its number. The edges out of a block have consecutive numbers, in the order of its successors.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EdgeId(pub u32);

impl BlockId {
    /// The position in a table of blocks.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl EdgeId {
    /// The position in a table of edges.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Anything with blocks, an entry and successors.
pub trait Graph {
    /// How many blocks there are; they are numbered from 0.
    fn block_count(&self) -> usize;

    /// Where control begins. Must be a block unless there are none.
    fn entry(&self) -> BlockId;

    /// The successors of a block in order; one that is reached in two ways comes twice.
    fn successors(&self, block: BlockId) -> impl Iterator<Item = BlockId>;
}
