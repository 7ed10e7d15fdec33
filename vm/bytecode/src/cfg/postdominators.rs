//! Postdominators: the dominators of the reversed graph, with a virtual exit as its entry.
//!
//! Every block without successor leads to the virtual exit. From an endless loop no such block is reached; so that it
//! takes part at all, one block of each strongly connected component that nothing leaves is given an edge to the exit,
//! too: the first one in postorder, which is the far end of the loop. [`Postdominators::exits`] tells which blocks
//! have such edges, so that nothing is hidden. A block without successors is itself such a component, so there is only one rule.
//!
//! Components are found as by Kosaraju and Sharir: against the edges, in reverse postorder.

use super::{BlockId, Dominators, FlowGraph, Graph};

/// Which blocks postdominate which: a postdominates b if every path from b to the virtual exit goes through a.
#[derive(Clone, Debug)]
pub struct Postdominators {
    /// Of the reversed graph, in which the virtual exit is the last block.
    dominators: Dominators,
    virtual_exit: BlockId,
    exits: Vec<BlockId>,
}

/// The reachable part of a graph, backwards, with the virtual exit as the entry.
struct Reversed<'a> {
    graph: &'a FlowGraph,
    exits: &'a [BlockId],
}

impl Graph for Reversed<'_> {
    fn block_count(&self) -> usize {
        self.graph.block_count() + 1
    }

    fn entry(&self) -> BlockId {
        BlockId(self.graph.block_count() as u32)
    }

    fn successors(&self, block: BlockId) -> impl Iterator<Item = BlockId> {
        let (exits, edges) =
            if block == self.entry() { (self.exits, &[][..]) } else { (&[][..], self.graph.in_edges(block)) };
        let sources = edges.iter().map(|&edge| self.graph.source(edge));
        exits.iter().copied().chain(sources.filter(|&block| self.graph.is_reachable(block)))
    }
}

impl Postdominators {
    /// The postdominators of a graph.
    pub fn of(graph: &FlowGraph) -> Postdominators {
        let exits = exits(graph);
        let reversed = Reversed { graph, exits: &exits };
        let virtual_exit = reversed.entry();
        let dominators = Dominators::of(&FlowGraph::of(&reversed));
        Postdominators { dominators, virtual_exit, exits }
    }

    /// The blocks with an edge to the virtual exit: those without successors, and one of each endless loop.
    pub fn exits(&self) -> &[BlockId] {
        &self.exits
    }

    /// The closest of the blocks that postdominate `block`, other than itself. `None` if that is the virtual exit, or
    /// the block cannot be reached.
    pub fn immediate(&self, block: BlockId) -> Option<BlockId> {
        self.dominators.immediate(block).filter(|&b| b != self.virtual_exit)
    }

    /// Every path from `block` to the virtual exit goes through `postdominator`; every block postdominates itself.
    /// False if one of them cannot be reached from the entry.
    pub fn postdominates(&self, postdominator: BlockId, block: BlockId) -> bool {
        self.dominators.dominates(postdominator, block)
    }

    /// The closest block that postdominates both; `None` if that is the virtual exit or one of them cannot be reached.
    pub fn nearest_common(&self, a: BlockId, b: BlockId) -> Option<BlockId> {
        self.dominators.nearest_common(a, b).filter(|&b| b != self.virtual_exit)
    }
}

/// One block of each component that nothing leaves.
fn exits(graph: &FlowGraph) -> Vec<BlockId> {
    const NONE: u32 = u32::MAX;
    let order = graph.reverse_postorder();
    let mut component = vec![NONE; graph.block_count()];
    let mut count = 0;
    let mut work = Vec::new();
    for &root in order {
        if component[root.index()] != NONE {
            continue;
        }
        component[root.index()] = count;
        work.push(root);
        while let Some(block) = work.pop() {
            for source in graph.predecessors(block).filter(|&p| graph.is_reachable(p)) {
                if component[source.index()] == NONE {
                    component[source.index()] = count;
                    work.push(source);
                }
            }
        }
        count += 1;
    }
    let mut has_exit = vec![false; count as usize];
    for &block in order {
        let own = component[block.index()];
        let leaves = graph.targets_of(block).iter().any(|target| component[target.index()] != own);
        has_exit[own as usize] |= leaves;
    }
    let mut exits = Vec::new();
    for &block in order.iter().rev() {
        if !std::mem::replace(&mut has_exit[component[block.index()] as usize], true) {
            exits.push(block);
        }
    }
    exits.sort_unstable();
    exits
}
