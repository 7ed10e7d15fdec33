//! Dominators by the algorithm of Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (Rice University
//! TR-06-33870, 2001), section 3, and dominance frontiers by its section 4.
//!
//! The immediate dominators are found by iteration over the reverse postorder: that of a block is the nearest common
//! ancestor of its predecessors in the tree as known so far. Blocks are named by their rank, so walking up means to
//! smaller numbers, and *nearest common ancestor* is two fingers that take turns. A reducible graph takes one
//! round and one more to see that nothing changes; in general it is quadratic at worst, which no graph of real code
//! comes near.
//!
//! Deviation: afterwards the tree is numbered in pre- and postorder, so that [`Dominators::dominates`] takes two
//! comparisons instead of a walk.

use super::{BlockId, FlowGraph, Graph};

/// Which blocks dominate which: a dominates b if every path from the entry to b goes through a.
#[derive(Clone, Debug)]
pub struct Dominators {
    /// For each block its immediate dominator, itself for the entry and for unreachable blocks.
    immediate: Vec<BlockId>,
    /// For each block when a walk of the tree enters and leaves it; empty intervals for unreachable blocks.
    enters: Vec<u32>,
    leaves: Vec<u32>,
    /// Distance from the root of the tree.
    depth: Vec<u32>,
    /// Children of each block in reverse postorder, in one array, and where those of each begin.
    children: Vec<BlockId>,
    first_child: Vec<u32>,
}

impl Dominators {
    /// The dominators of a graph.
    pub fn of(graph: &FlowGraph) -> Dominators {
        let order = graph.reverse_postorder();
        let by_rank = immediate_by_rank(graph);
        let count = graph.block_count();
        let mut immediate: Vec<BlockId> = graph.blocks().collect();
        let mut depth = vec![0; count];
        let mut first_child = vec![0; count + 1];
        for (rank, &block) in order.iter().enumerate().skip(1) {
            let parent = order[by_rank[rank] as usize];
            immediate[block.index()] = parent;
            depth[block.index()] = depth[parent.index()] + 1;
            first_child[parent.index() + 1] += 1;
        }
        for block in 0..count {
            first_child[block + 1] += first_child[block];
        }
        let mut next = first_child.clone();
        let mut children = vec![BlockId(0); order.len().saturating_sub(1)];
        for &block in order.iter().skip(1) {
            let at = &mut next[immediate[block.index()].index()];
            children[*at as usize] = block;
            *at += 1;
        }
        let (enters, leaves) = (vec![0; count], vec![0; count]);
        let mut dominators = Dominators { immediate, enters, leaves, depth, children, first_child };
        dominators.number(graph);
        dominators
    }

    /// Numbers the tree. A block's subtree takes as many numbers as it has blocks, so sizes, summed up against the
    /// reverse postorder, give the intervals without a walk.
    fn number(&mut self, graph: &FlowGraph) {
        let order = graph.reverse_postorder();
        let mut size = vec![1_u32; self.immediate.len()];
        for &block in order.iter().skip(1).rev() {
            size[self.immediate[block.index()].index()] += size[block.index()];
        }
        for &block in order {
            // The entry begins at 1, so that the empty intervals of unreachable blocks contain nothing.
            let enter = if self.depth[block.index()] == 0 { 1 } else { self.enters[block.index()] };
            self.enters[block.index()] = enter;
            self.leaves[block.index()] = enter + size[block.index()];
            let mut next = enter + 1;
            for i in self.first_child[block.index()]..self.first_child[block.index() + 1] {
                let child = self.children[i as usize];
                self.enters[child.index()] = next;
                next += size[child.index()];
            }
        }
    }

    /// The closest of the blocks that dominate `block`, other than itself. The entry has none, nor have unreachable blocks.
    pub fn immediate(&self, block: BlockId) -> Option<BlockId> {
        Some(self.immediate[block.index()]).filter(|&parent| parent != block)
    }

    /// Every path from the entry to `block` goes through `dominator`; every block dominates itself. False if one of
    /// them cannot be reached.
    pub fn dominates(&self, dominator: BlockId, block: BlockId) -> bool {
        let enter = self.enters[block.index()];
        enter != 0 && self.enters[dominator.index()] <= enter && enter < self.leaves[dominator.index()]
    }

    /// [`Dominators::dominates`], and the two are different.
    pub fn strictly_dominates(&self, dominator: BlockId, block: BlockId) -> bool {
        dominator != block && self.dominates(dominator, block)
    }

    /// The blocks whose immediate dominator is `block`, in reverse postorder.
    pub fn children(&self, block: BlockId) -> &[BlockId] {
        &self.children[self.first_child[block.index()] as usize..self.first_child[block.index() + 1] as usize]
    }

    /// How many blocks strictly dominate `block`.
    pub fn depth(&self, block: BlockId) -> u32 {
        self.depth[block.index()]
    }

    /// The closest block that dominates both; `None` if one of them cannot be reached.
    pub fn nearest_common(&self, a: BlockId, b: BlockId) -> Option<BlockId> {
        if !self.dominates(a, a) || !self.dominates(b, b) {
            return None;
        }
        let mut at = a;
        while !self.dominates(at, b) {
            at = self.immediate[at.index()];
        }
        Some(at)
    }

    /// For each block its dominance frontier: the blocks that it does not strictly dominate, but of which it dominates a
    /// predecessor. Each list is in reverse postorder.
    pub fn frontiers(&self, graph: &FlowGraph) -> Vec<Vec<BlockId>> {
        let mut frontiers = vec![Vec::new(); graph.block_count()];
        for &block in graph.reverse_postorder() {
            for mut at in graph.predecessors(block).filter(|&p| graph.is_reachable(p)) {
                while !self.strictly_dominates(at, block) {
                    // Blocks are visited in order, so a repetition could only be the last entry.
                    let frontier: &mut Vec<BlockId> = &mut frontiers[at.index()];
                    if frontier.last() != Some(&block) {
                        frontier.push(block);
                    }
                    match self.immediate(at) {
                        Some(parent) => at = parent,
                        None => break,
                    }
                }
            }
        }
        frontiers
    }
}

/// The immediate dominators, with ranks in reverse postorder for names.
fn immediate_by_rank(graph: &FlowGraph) -> Vec<u32> {
    const UNKNOWN: u32 = u32::MAX;
    let order = graph.reverse_postorder();
    let mut immediate = vec![UNKNOWN; order.len()];
    if order.is_empty() {
        return immediate;
    }
    immediate[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for (rank, &block) in order.iter().enumerate().skip(1) {
            let mut found = UNKNOWN;
            for predecessor in graph.predecessors(block).filter_map(|p| graph.rank(p)) {
                if immediate[predecessor as usize] == UNKNOWN {
                    continue;
                }
                found = if found == UNKNOWN { predecessor } else { meet(&immediate, found, predecessor) };
            }
            changed |= std::mem::replace(&mut immediate[rank], found) != found;
        }
    }
    immediate
}

/// The nearest common ancestor.
fn meet(immediate: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        while a > b {
            a = immediate[a as usize];
        }
        while b > a {
            b = immediate[b as usize];
        }
    }
    a
}
