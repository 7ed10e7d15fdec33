//! The graph that the analyses work on: edges in both directions in flat arrays, and a reverse postorder.

use super::{BlockId, EdgeId, Graph};

/// A control-flow graph. See the header of [`crate::cfg`].
#[derive(Clone, Debug)]
pub struct FlowGraph {
    entry: BlockId,
    /// For each edge, where it begins and ends.
    sources: Vec<BlockId>,
    targets: Vec<BlockId>,
    /// For each block its first edge out, and the number of edges at the end.
    first_out: Vec<u32>,
    /// Edges by target, in order; for each block where its own begin, and the number of edges at the end.
    incoming: Vec<EdgeId>,
    first_in: Vec<u32>,
    /// The reachable blocks in reverse postorder, and for each block its place there.
    order: Vec<BlockId>,
    rank: Vec<u32>,
}

/// The rank of a block that cannot be reached.
const UNREACHABLE: u32 = u32::MAX;

impl FlowGraph {
    /// The graph with the blocks and edges of `graph`.
    pub fn of(graph: &impl Graph) -> FlowGraph {
        let mut first_out = Vec::with_capacity(graph.block_count() + 1);
        // Most blocks have one way to go or two.
        let mut targets = Vec::with_capacity(2 * graph.block_count());
        for block in 0..graph.block_count() as u32 {
            first_out.push(targets.len() as u32);
            targets.extend(graph.successors(BlockId(block)));
        }
        first_out.push(targets.len() as u32);
        FlowGraph::new(graph.entry(), first_out, targets)
    }

    /// From the edges by their sources: `first_out` says for each block where its own begin in `targets`, and where
    /// all end.
    pub(super) fn new(entry: BlockId, first_out: Vec<u32>, targets: Vec<BlockId>) -> FlowGraph {
        let blocks = first_out.len() - 1;
        let mut sources = vec![BlockId(0); targets.len()];
        let mut first_in = vec![0; blocks + 1];
        for block in 0..blocks {
            let edges = first_out[block] as usize..first_out[block + 1] as usize;
            sources[edges.clone()].fill(BlockId(block as u32));
            targets[edges].iter().for_each(|target| first_in[target.index() + 1] += 1);
        }
        for block in 0..blocks {
            first_in[block + 1] += first_in[block];
        }
        let mut next = first_in.clone();
        let mut incoming = vec![EdgeId(0); targets.len()];
        for (edge, target) in targets.iter().enumerate() {
            let at = &mut next[target.index()];
            incoming[*at as usize] = EdgeId(edge as u32);
            *at += 1;
        }
        let (order, rank) = (Vec::with_capacity(blocks), vec![UNREACHABLE; blocks]);
        let mut graph = FlowGraph { entry, sources, targets, first_out, incoming, first_in, order, rank };
        graph.find_order();
        graph
    }

    /// Depth-first search with a stack of its own. Successors are visited from the last to the first, so that in
    /// the reversed postorder the first successor, the one that falls through, comes first.
    fn find_order(&mut self) {
        if self.rank.is_empty() {
            return;
        }
        let mut visited = vec![false; self.rank.len()];
        // Blocks on the way, each with the end of its edges that are still to be followed.
        let mut stack = Vec::with_capacity(self.rank.len());
        stack.push((self.entry, self.first_out[self.entry.index() + 1]));
        visited[self.entry.index()] = true;
        while let Some((block, end)) = stack.last_mut() {
            if *end == self.first_out[block.index()] {
                self.order.push(*block);
                stack.pop();
                continue;
            }
            *end -= 1;
            let target = self.targets[*end as usize];
            if !std::mem::replace(&mut visited[target.index()], true) {
                stack.push((target, self.first_out[target.index() + 1]));
            }
        }
        self.order.reverse();
        for (rank, block) in self.order.iter().enumerate() {
            self.rank[block.index()] = rank as u32;
        }
    }

    /// All blocks.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = BlockId> + use<> {
        (0..self.rank.len() as u32).map(BlockId)
    }

    /// All edges.
    pub fn edges(&self) -> impl ExactSizeIterator<Item = EdgeId> + use<> {
        (0..self.targets.len() as u32).map(EdgeId)
    }

    /// How many edges there are.
    pub fn edge_count(&self) -> usize {
        self.targets.len()
    }

    /// Where an edge begins.
    pub fn source(&self, edge: EdgeId) -> BlockId {
        self.sources[edge.index()]
    }

    /// Where an edge ends.
    pub fn target(&self, edge: EdgeId) -> BlockId {
        self.targets[edge.index()]
    }

    /// The edges out of a block, in the order of its successors.
    pub fn out_edges(&self, block: BlockId) -> impl ExactSizeIterator<Item = EdgeId> + use<> {
        (self.first_out[block.index()]..self.first_out[block.index() + 1]).map(EdgeId)
    }

    /// The edges into a block, in order of their numbers.
    pub fn in_edges(&self, block: BlockId) -> &[EdgeId] {
        &self.incoming[self.first_in[block.index()] as usize..self.first_in[block.index() + 1] as usize]
    }

    /// The blocks that edges out of a block go to.
    pub fn targets_of(&self, block: BlockId) -> &[BlockId] {
        &self.targets[self.first_out[block.index()] as usize..self.first_out[block.index() + 1] as usize]
    }

    /// The blocks that edges into a block come from; one of two parallel edges comes twice.
    pub fn predecessors(&self, block: BlockId) -> impl Iterator<Item = BlockId> {
        self.in_edges(block).iter().map(|&edge| self.source(edge))
    }

    /// The blocks that can be reached, each before its successors but for those of retreating edges.
    pub fn reverse_postorder(&self) -> &[BlockId] {
        &self.order
    }

    /// The place of a block in the reverse postorder; `None` if it cannot be reached.
    pub fn rank(&self, block: BlockId) -> Option<u32> {
        Some(self.rank[block.index()]).filter(|&rank| rank != UNREACHABLE)
    }

    /// Can the block be reached from the entry.
    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.rank[block.index()] != UNREACHABLE
    }

    /// Does the edge go from a reachable block to one that is not later in the reverse postorder. Every cycle has such
    /// an edge.
    pub fn is_retreating(&self, edge: EdgeId) -> bool {
        let (source, target) = (self.rank(self.source(edge)), self.rank(self.target(edge)));
        source.is_some() && target <= source
    }
}

impl Graph for FlowGraph {
    fn block_count(&self) -> usize {
        self.rank.len()
    }

    fn entry(&self) -> BlockId {
        self.entry
    }

    fn successors(&self, block: BlockId) -> impl Iterator<Item = BlockId> {
        self.targets_of(block).iter().copied()
    }
}
