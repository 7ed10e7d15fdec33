//! The innermost loop of each block, by strongly connected components within strongly connected components.
//!
//! A component with a cycle is a loop; without its header (the block that a depth-first search meets first) what is
//! still connected are the inner loops. For reducible graphs these are the natural loops, those with one header
//! merged; irreducible ones get some deterministic nesting, which is all that region formation needs. O(edges · depth
//! of nesting).

use super::layout::MethodCode;
use crate::ids::BlockId;
use std::collections::BTreeSet;

/// A loop of one method, numbered from the outside in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoopId(pub u32);

/// For each block the innermost loop that it belongs to. Blocks that cannot be reached have none.
#[must_use]
pub fn innermost_loops(code: &MethodCode) -> Vec<Option<LoopId>> {
    let preorder = preorder(code);
    let mut innermost = vec![None; code.len()];
    let mut search = Search {
        code,
        group: vec![0; code.len()],
        number: vec![0; code.len()],
        low: vec![0; code.len()],
        on_stack: vec![false; code.len()],
    };
    let all: Vec<BlockId> =
        (0..code.len()).map(BlockId::new).filter(|&block| code.reachable(block)).collect();
    let (mut loops, mut groups) = (0, 1);
    let mut open = vec![all];
    while let Some(blocks) = open.pop() {
        for component in search.components(&blocks, groups) {
            let cyclic = component.len() > 1 || code.successors(component[0]).contains(&component[0]);
            if !cyclic {
                continue;
            }
            for &block in &component {
                innermost[block.index()] = Some(LoopId(loops));
            }
            loops += 1;
            let header = component.iter().copied().min_by_key(|block| preorder[block.index()]);
            let inner: Vec<BlockId> = component.into_iter().filter(|&block| Some(block) != header).collect();
            if !inner.is_empty() {
                open.push(inner);
            }
        }
        groups += 1;
    }
    innermost
}

/// The edges that go back to a block from which a depth-first search is still on its way: each cycle has one, and where loops have one
/// entry these are the edges to their headers.
#[must_use]
pub fn back_edges(code: &MethodCode) -> BTreeSet<(BlockId, BlockId)> {
    let mut found = BTreeSet::new();
    let (mut seen, mut open) = (vec![false; code.len()], vec![false; code.len()]);
    for root in std::iter::once(code.entry()).chain(code.entries().iter().copied()) {
        if seen[root.index()] {
            continue;
        }
        (seen[root.index()], open[root.index()]) = (true, true);
        let mut way = vec![(root, 0)];
        while let Some((block, arm)) = way.last_mut() {
            let (from, next) = (*block, code.successors(*block).get(*arm).copied());
            *arm += 1;
            match next {
                None => {
                    open[from.index()] = false;
                    way.pop();
                }
                Some(to) if open[to.index()] => {
                    found.insert((from, to));
                }
                Some(to) if !seen[to.index()] => {
                    (seen[to.index()], open[to.index()]) = (true, true);
                    way.push((to, 0));
                }
                Some(_) => {}
            }
        }
    }
    found
}

fn preorder(code: &MethodCode) -> Vec<u32> {
    let mut order = vec![u32::MAX; code.len()];
    let mut next = 0;
    for root in std::iter::once(code.entry()).chain(code.entries().iter().copied()) {
        let mut open = vec![root];
        while let Some(block) = open.pop() {
            if order[block.index()] == u32::MAX {
                order[block.index()] = next;
                next += 1;
                open.extend(code.successors(block).iter().rev());
            }
        }
    }
    order
}

struct Search<'c> {
    code: &'c MethodCode,
    /// Which set of blocks a block is searched with.
    group: Vec<u32>,
    /// Order of discovery from 1; 0 while undiscovered.
    number: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
}

impl Search<'_> {
    /// The strongly connected components of the graph between these blocks (Tarjan 1972, with a stack of its own).
    fn components(&mut self, blocks: &[BlockId], group: u32) -> Vec<Vec<BlockId>> {
        for &block in blocks {
            self.group[block.index()] = group;
            self.number[block.index()] = 0;
        }
        let mut components = Vec::new();
        let mut stack: Vec<BlockId> = Vec::new();
        let mut discovered = 0;
        for &root in blocks {
            if self.number[root.index()] != 0 {
                continue;
            }
            let mut calls: Vec<(BlockId, usize)> = vec![(root, 0)];
            while let Some(&mut (block, ref mut arm)) = calls.last_mut() {
                let at = block.index();
                if *arm == 0 {
                    discovered += 1;
                    (self.number[at], self.low[at], self.on_stack[at]) = (discovered, discovered, true);
                    stack.push(block);
                }
                let next = self.code.successors(block).get(*arm).copied();
                *arm += 1;
                if let Some(next) = next {
                    let to = next.index();
                    if self.group[to] != group {
                    } else if self.number[to] == 0 {
                        calls.push((next, 0));
                    } else if self.on_stack[to] {
                        self.low[at] = self.low[at].min(self.number[to]);
                    }
                    continue;
                }
                calls.pop();
                if let Some(&(caller, _)) = calls.last() {
                    self.low[caller.index()] = self.low[caller.index()].min(self.low[at]);
                }
                if self.low[at] == self.number[at] {
                    let start = stack.iter().rposition(|&other| other == block).unwrap_or(0);
                    let component = stack.split_off(start);
                    for member in &component {
                        self.on_stack[member.index()] = false;
                    }
                    components.push(component);
                }
            }
        }
        components
    }
}
