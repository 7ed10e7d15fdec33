//! Control flow as the algorithms see it.

use crate::ids::{BlockId, Edge};

/// A control-flow graph: numbered blocks, one entry, ordered successors.
///
/// A block without successors leaves the method (a return, a throw, a trap); the virtual exit of the papers is added by
/// the algorithms. Parallel edges, self-loops, irreducible and infinite loops and unreachable blocks are all legal. An
/// instruction that may throw does not end a block: control that leaves this way abandons its path, and the handler is
/// one of the [`entries`](ControlFlow::entries).
pub trait ControlFlow {
    /// How many blocks there are; their numbers are `0..blocks()`.
    fn blocks(&self) -> usize;

    /// Where the method is entered.
    fn entry(&self) -> BlockId;

    /// Where else control arrives without an edge: exception handlers, loop headers entered by on-stack replacement.
    fn entries(&self) -> &[BlockId];

    /// Where control may go from the end of a block, in the order of the arms.
    fn successors(&self, block: BlockId) -> &[BlockId];

    /// Where an edge leads.
    fn target(&self, edge: Edge) -> BlockId {
        self.successors(edge.from)[edge.arm.index()]
    }
}

/// A control-flow graph that is just a value: for tests, for simulation, for graphs read from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    entry: BlockId,
    entries: Vec<BlockId>,
    successors: Vec<Vec<BlockId>>,
}

impl Graph {
    /// A graph entered at block 0, from the list of each block's successors.
    ///
    /// # Panics
    ///
    /// If there is no block or a successor does not exist.
    #[must_use]
    pub fn new(successors: &[&[u32]]) -> Self {
        let blocks = successors.len();
        let to_ids = |list: &&[u32]| list.iter().map(|&id| BlockId(id)).collect::<Vec<_>>();
        let successors: Vec<Vec<BlockId>> = successors.iter().map(to_ids).collect();
        assert!(blocks > 0, "a graph has an entry");
        assert!(successors.iter().flatten().all(|block| block.index() < blocks), "an edge leads nowhere");
        Self { entry: BlockId(0), entries: Vec::new(), successors }
    }

    /// The same graph with further entries.
    #[must_use]
    pub fn with_entries(mut self, entries: Vec<BlockId>) -> Self {
        self.entries = entries;
        self
    }
}

impl ControlFlow for Graph {
    fn blocks(&self) -> usize {
        self.successors.len()
    }

    fn entry(&self) -> BlockId {
        self.entry
    }

    fn entries(&self) -> &[BlockId] {
        &self.entries
    }

    fn successors(&self, block: BlockId) -> &[BlockId] {
        &self.successors[block.index()]
    }
}
