//! Natural loops and the forest of their nesting.
//!
//! A *back edge* goes to a block that dominates its source. The natural loop of a header is the header and all blocks
//! that reach one of its back edges without going through the header (Aho, Sethi, Ullman, "Compilers", section 10.4; back
//! edges of the same header make one loop). Two natural loops are nested or disjoint. Headers are taken against the reverse
//! postorder, inner before outer; the walk back from the back edges steps over a loop that was found before in one
//! step, from its header, so every block is walked at most once for each loop directly around it, and edges are looked at once per such walk.
//!
//! A graph is *reducible* if its retreating edges are all back edges. Those that are not are listed in
//! [`Loops::irreducible_edges`]; the cycles that they close are no natural loops. Which retreating edges these are
//! depends on the depth-first search, but not whether there are any (Hecht and Ullman, "Characterizations of Reducible Flow
//! Graphs", 1974).

use super::{BlockId, Dominators, EdgeId, FlowGraph, Graph};

/// A loop, by its number. Outer loops have smaller numbers than those inside.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LoopId(pub u32);

impl LoopId {
    /// The position in a table of loops.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A natural loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// Its only entry.
    pub header: BlockId,
    /// The edges from inside to the header, in order of their numbers.
    pub back_edges: Vec<EdgeId>,
    /// All its blocks, those of inner loops included, in reverse postorder; the header is the first.
    pub blocks: Vec<BlockId>,
    /// The loop directly around it.
    pub parent: Option<LoopId>,
    /// How many loops are around it and it is itself: 1 for an outermost one.
    pub depth: u32,
}

/// The loops of a graph.
#[derive(Clone, Debug)]
pub struct Loops {
    loops: Vec<Loop>,
    /// For each block the innermost loop around it.
    innermost: Vec<Option<LoopId>>,
    irreducible: Vec<EdgeId>,
}

impl Loops {
    /// The loops of a graph.
    pub fn of(graph: &FlowGraph, dominators: &Dominators) -> Loops {
        let is_back_edge = |edge: EdgeId| dominators.dominates(graph.target(edge), graph.source(edge));
        let irreducible = graph.edges().filter(|&e| graph.is_retreating(e) && !is_back_edge(e)).collect();
        let mut loops = Vec::new();
        for &header in graph.reverse_postorder() {
            let edges = graph.in_edges(header).iter().copied();
            let back_edges: Vec<EdgeId> = edges.filter(|&e| is_back_edge(e)).collect();
            if !back_edges.is_empty() {
                loops.push(Loop { header, back_edges, blocks: Vec::new(), parent: None, depth: 0 });
            }
        }
        let mut found = Loops { loops, innermost: vec![None; graph.block_count()], irreducible };
        for number in (0..found.loops.len()).rev() {
            found.walk_back(graph, LoopId(number as u32));
        }
        found.collect(graph);
        found
    }

    /// Finds the blocks directly in a loop, and the loops directly in it. Inner loops were found before.
    fn walk_back(&mut self, graph: &FlowGraph, id: LoopId) {
        let header = self.loops[id.index()].header;
        self.innermost[header.index()] = Some(id);
        let mut work: Vec<BlockId> =
            self.loops[id.index()].back_edges.iter().map(|&edge| graph.source(edge)).collect();
        while let Some(block) = work.pop() {
            let from = match self.outermost(block) {
                Some(known) if known == id => continue,
                // A loop that now turns out to be inside: go on before its header.
                Some(inner) => {
                    self.loops[inner.index()].parent = Some(id);
                    self.loops[inner.index()].header
                }
                None => {
                    self.innermost[block.index()] = Some(id);
                    block
                }
            };
            work.extend(graph.predecessors(from).filter(|&p| graph.is_reachable(p)));
        }
    }

    /// The outermost loop around a block that is known so far.
    fn outermost(&self, block: BlockId) -> Option<LoopId> {
        let mut at = self.innermost[block.index()]?;
        while let Some(parent) = self.loops[at.index()].parent {
            at = parent;
        }
        Some(at)
    }

    /// Depths, and lists of blocks.
    fn collect(&mut self, graph: &FlowGraph) {
        for number in 0..self.loops.len() {
            let parent = self.loops[number].parent;
            self.loops[number].depth = 1 + parent.map_or(0, |p| self.loops[p.index()].depth);
        }
        for &block in graph.reverse_postorder() {
            let mut at = self.innermost[block.index()];
            while let Some(id) = at {
                self.loops[id.index()].blocks.push(block);
                at = self.loops[id.index()].parent;
            }
        }
    }

    /// All loops; outer ones before those inside.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (LoopId, &Loop)> {
        self.loops.iter().enumerate().map(|(i, l)| (LoopId(i as u32), l))
    }

    /// A loop.
    pub fn get(&self, id: LoopId) -> &Loop {
        &self.loops[id.index()]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.loops.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.loops.is_empty()
    }

    /// The innermost loop around a block.
    pub fn innermost(&self, block: BlockId) -> Option<LoopId> {
        self.innermost[block.index()]
    }

    /// The loop of which a block is the header.
    pub fn headed_by(&self, block: BlockId) -> Option<LoopId> {
        self.innermost(block).filter(|&id| self.get(id).header == block)
    }

    /// How many loops are around a block.
    pub fn depth(&self, block: BlockId) -> u32 {
        self.innermost(block).map_or(0, |id| self.get(id).depth)
    }

    /// Is the block in the loop.
    pub fn contains(&self, id: LoopId, block: BlockId) -> bool {
        let mut at = self.innermost(block);
        while let Some(inner) = at {
            if inner == id {
                return true;
            }
            at = self.get(inner).parent;
        }
        false
    }

    /// Does the edge go to a loop's header from inside.
    pub fn is_back_edge(&self, graph: &FlowGraph, edge: EdgeId) -> bool {
        self.headed_by(graph.target(edge)).is_some_and(|id| self.contains(id, graph.source(edge)))
    }

    /// The edges from inside a loop to outside, in order of the blocks they leave.
    pub fn exits(&self, graph: &FlowGraph, id: LoopId) -> Vec<EdgeId> {
        let edges = self.get(id).blocks.iter().flat_map(|&block| graph.out_edges(block));
        edges.filter(|&edge| !self.contains(id, graph.target(edge))).collect()
    }

    /// The edges from outside to a loop's header.
    pub fn entries(&self, graph: &FlowGraph, id: LoopId) -> Vec<EdgeId> {
        let edges = graph.in_edges(self.get(id).header).iter().copied();
        edges
            .filter(|&e| graph.is_reachable(graph.source(e)) && !self.contains(id, graph.source(e)))
            .collect()
    }

    /// The retreating edges that are no back edges, in order of their numbers.
    pub fn irreducible_edges(&self) -> &[EdgeId] {
        &self.irreducible
    }

    /// Is every cycle of the graph part of a natural loop.
    pub fn is_reducible(&self) -> bool {
        self.irreducible.is_empty()
    }
}
