//! The full paths of a region: their numbers, the sets P(e), and the matching sets of partial paths (section 3.3 and
//! 3.4).
//!
//! Inside of a region edges form an acyclic graph, so full paths are numbered as by Ball and Larus: a path's number
//! is the sum of the offsets of its edges. Paths that end in a block come before those that go on, successors in the
//! order of the arms; this is the order of a depth-first enumeration, and the numbers are dense. No path is stored.
//! P(e) is a bit set for each edge; the minimum matching set of a partial path (definition 3.2) is the intersection
//! over its edges.
//!
//! For a partial path that lies within the region M is never empty: each block is reached from the entry, and each
//! leads to an exit. Space: paths · edges / 8 bytes. A pass over all paths builds the sets; a match costs O(edges of
//! the path · paths / 64).

use super::bits::BitSet;
use super::layout::MethodCode;
use super::regions::{Exits, RegionId, Regions};
use crate::ids::BlockId;
use serde::{Deserialize, Serialize};

/// The number of a full path within its region, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PathIndex(pub u32);

/// A full path: from a region's entry to where it leaves.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FullPath {
    /// The blocks.
    pub blocks: Vec<BlockId>,
    /// Where it goes on, if exits are kept and it does not leave the method.
    pub exit: Option<BlockId>,
}

/// A part of a partial path that lies within one region.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Piece {
    /// The region.
    pub region: RegionId,
    /// The blocks, at least one.
    pub blocks: Vec<BlockId>,
    /// Where it left the region, if exits are kept and the trace shows it.
    pub exit: Option<BlockId>,
}

impl Piece {
    /// How many edges it has. Without one it says nothing about paths.
    #[must_use]
    pub fn edges(&self) -> usize {
        self.blocks.len() - 1 + usize::from(self.exit.is_some())
    }
}

/// Cuts a run of blocks at back edges and region boundaries. `None` if it is not a run of this method: a block does not
/// exist or there is no edge between two of them.
#[must_use]
pub fn pieces(code: &MethodCode, regions: &Regions, run: &[BlockId]) -> Option<Vec<Piece>> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut before: Option<BlockId> = None;
    for &block in run {
        let region = regions.of(block)?;
        if let (Some(from), Some(piece)) = (before, pieces.last_mut()) {
            if !code.successors(from).contains(&block) {
                return None;
            }
            if regions.inside(from, block) {
                piece.blocks.push(block);
                before = Some(block);
                continue;
            }
            piece.exit = (regions.options().exits == Exits::Kept).then_some(block);
        }
        pieces.push(Piece { region, blocks: vec![block], exit: None });
        before = Some(block);
    }
    Some(pieces)
}

/// The full paths of one region.
#[derive(Debug, Clone)]
pub struct RegionPaths {
    blocks: Vec<BlockId>,
    nodes: Vec<Node>,
}

#[derive(Debug, Clone)]
struct Node {
    /// How many paths end here for each way to it.
    ends: u32,
    /// How many paths go on from here, those that end included.
    paths: u32,
    /// Positions of the successors inside.
    inner: Vec<usize>,
    /// The successors outside.
    exits: Vec<BlockId>,
    /// P(e) of the edges inside, then of those that leave if exits are kept.
    sets: Vec<BitSet>,
}

impl RegionPaths {
    /// Numbers the paths of a region of this method and builds the sets.
    #[must_use]
    pub fn new(code: &MethodCode, regions: &Regions, region: RegionId) -> Self {
        let blocks = regions.blocks(region).to_vec();
        let kept = regions.options().exits == Exits::Kept;
        let mut nodes: Vec<Node> = blocks
            .iter()
            .map(|&block| {
                let successors = code.successors(block);
                let (inner, exits): (Vec<BlockId>, Vec<BlockId>) =
                    successors.iter().partition(|&&to| regions.inside(block, to));
                let ends = match exits.len() {
                    0 => usize::from(successors.is_empty()),
                    exits if kept => exits,
                    _ => 1,
                };
                let inner = inner.into_iter().map(|to| regions.position(to)).collect();
                let exits = if kept { exits } else { Vec::new() };
                Node { ends: ends as u32, paths: 0, inner, exits, sets: Vec::new() }
            })
            .collect();
        for at in (0..nodes.len()).rev() {
            nodes[at].paths = nodes[at].ends + nodes[at].inner.iter().map(|&to| nodes[to].paths).sum::<u32>();
        }
        let mut paths = Self { blocks, nodes };
        let count = paths.count();
        for node in &mut paths.nodes {
            node.sets = vec![BitSet::empty(count); node.inner.len() + node.exits.len()];
        }
        let mut edges = Vec::new();
        for number in 0..count {
            edges.clear();
            paths.walk(number as u32, |at, arm| edges.push((at, arm)));
            for &(at, arm) in &edges {
                if let Some(set) = paths.nodes[at].sets.get_mut(arm) {
                    set.insert(number);
                }
            }
        }
        paths
    }

    /// How many full paths there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.nodes[0].paths as usize
    }

    /// Visits the blocks of a path by position, each with the arm that goes on: an inner edge, or beyond these an exit.
    fn walk(&self, mut number: u32, mut visit: impl FnMut(usize, usize)) {
        let mut at = 0;
        loop {
            let node = &self.nodes[at];
            if number < node.ends {
                visit(at, node.inner.len() + number as usize);
                return;
            }
            number -= node.ends;
            let mut next = None;
            for (arm, &to) in node.inner.iter().enumerate() {
                if number < self.nodes[to].paths {
                    next = Some((arm, to));
                    break;
                }
                number -= self.nodes[to].paths;
            }
            let Some((arm, to)) = next else { return };
            visit(at, arm);
            at = to;
        }
    }

    /// The path with this number, `None` if there is none.
    #[must_use]
    pub fn path(&self, path: PathIndex) -> Option<FullPath> {
        if path.0 as usize >= self.count() {
            return None;
        }
        let mut full = FullPath { blocks: Vec::new(), exit: None };
        self.walk(path.0, |at, arm| {
            let node = &self.nodes[at];
            full.blocks.push(self.blocks[at]);
            full.exit = arm.checked_sub(node.inner.len()).and_then(|exit| node.exits.get(exit)).copied();
        });
        Some(full)
    }

    /// The number of a full path, `None` if it is not one of the region's. Where exits are merged, `exit` does not
    /// matter.
    #[must_use]
    pub fn number(&self, blocks: &[BlockId], exit: Option<BlockId>) -> Option<PathIndex> {
        let (&first, rest) = blocks.split_first()?;
        if first != self.blocks[0] {
            return None;
        }
        let (mut at, mut number) = (0, 0);
        for &block in rest {
            let node = &self.nodes[at];
            let arm = node.inner.iter().position(|&to| self.blocks[to] == block)?;
            let before: u32 = node.inner[..arm].iter().map(|&to| self.nodes[to].paths).sum();
            number += node.ends + before;
            at = node.inner[arm];
        }
        let node = &self.nodes[at];
        let end = match exit {
            Some(exit) if !node.exits.is_empty() => node.exits.iter().position(|&to| to == exit)?,
            None if !node.exits.is_empty() => return None,
            _ => 0,
        };
        ((end as u32) < node.ends).then_some(PathIndex(number + end as u32))
    }

    /// P(e): the paths that contain this edge of the region, `None` if it has no such edge.
    #[must_use]
    pub fn with_edge(&self, from: BlockId, to: BlockId) -> Option<&BitSet> {
        let at = self.blocks.iter().position(|&block| block == from)?;
        let node = &self.nodes[at];
        let inner = node.inner.iter().position(|&inner| self.blocks[inner] == to);
        let exit = || node.exits.iter().position(|&exit| exit == to).map(|exit| node.inner.len() + exit);
        node.sets.get(inner.or_else(exit)?)
    }

    /// M: the paths that contain all edges of a partial path of this region; `None` if it is not one. Without any
    /// edge these are all paths.
    #[must_use]
    pub fn matching(&self, regions: &Regions, piece: &Piece) -> Option<BitSet> {
        let mut set = BitSet::full(self.count());
        let inside = |block: BlockId| {
            regions.of(block) == Some(piece.region) && regions.entry(piece.region) == self.blocks[0]
        };
        if !piece.blocks.iter().all(|&block| inside(block)) {
            return None;
        }
        for pair in piece.blocks.windows(2) {
            let node = &self.nodes[regions.position(pair[0])];
            let arm = node.inner.iter().position(|&to| self.blocks[to] == pair[1])?;
            set.intersect(&node.sets[arm]);
        }
        if let (Some(exit), Some(&last)) = (piece.exit, piece.blocks.last()) {
            let node = &self.nodes[regions.position(last)];
            let arm = node.exits.iter().position(|&to| to == exit)?;
            set.intersect(&node.sets[node.inner.len() + arm]);
        }
        Some(set)
    }

    /// Whether an edge belongs to this path alone, so that whoever sees the edge knows the path (an "obvious" path in
    /// the words of Joshi, Bond, Zilles: *Targeted Path Profiling*, 2004).
    #[must_use]
    pub fn obvious(&self, path: PathIndex) -> bool {
        let mut obvious = false;
        if (path.0 as usize) < self.count() {
            self.walk(path.0, |at, arm| {
                obvious |= self.nodes[at].sets.get(arm).is_some_and(|set| set.count() == 1);
            });
        }
        obvious
    }

    /// For each path the probability that an edge profile gives it when it is taken for independent choices: the
    /// product of each edge's share among its block's successors. A block without counts splits evenly; merged exits
    /// are one choice.
    #[must_use]
    pub fn prior(&self, code: &MethodCode, count: impl Fn(BlockId, BlockId) -> u64) -> Vec<f64> {
        let shares = self.shares(code, count);
        let mut prior = vec![1.0; self.count()];
        for (number, probability) in prior.iter_mut().enumerate() {
            self.walk(number as u32, |at, arm| *probability *= shares[at].get(arm).map_or(1.0, |s| s.0));
        }
        prior
    }

    /// The paths with a cold edge: one whose share among its block's successors is below `fraction`. Blocks without
    /// counts have none.
    #[must_use]
    pub fn cold(&self, code: &MethodCode, fraction: f64, count: impl Fn(BlockId, BlockId) -> u64) -> BitSet {
        let shares = self.shares(code, count);
        let mut cold = BitSet::empty(self.count());
        for number in 0..self.count() {
            let mut any = false;
            self.walk(number as u32, |at, arm| {
                any |= shares[at].get(arm).is_some_and(|&(share, known)| known && share < fraction);
            });
            if any {
                cold.insert(number);
            }
        }
        cold
    }

    /// For each block and arm (merged exits: one arm) its share, and whether the block has counts at all.
    fn shares(&self, code: &MethodCode, count: impl Fn(BlockId, BlockId) -> u64) -> Vec<Vec<(f64, bool)>> {
        let share = |(node, &block): (&Node, &BlockId)| {
            let successors = code.successors(block);
            let counts: Vec<f64> = successors.iter().map(|&to| count(block, to) as f64).collect();
            let total: f64 = counts.iter().sum();
            let of = |wanted: &dyn Fn(BlockId) -> bool| {
                let chosen = || successors.iter().zip(&counts).filter(|&(&to, _)| wanted(to));
                if total > 0.0 {
                    (chosen().map(|(_, count)| count).sum::<f64>() / total, true)
                } else {
                    (chosen().count() as f64 / successors.len().max(1) as f64, false)
                }
            };
            let inside = |to: BlockId| node.inner.iter().any(|&inner| self.blocks[inner] == to);
            let mut shares: Vec<_> =
                node.inner.iter().map(|&inner| of(&|to| to == self.blocks[inner])).collect();
            if !node.exits.is_empty() {
                shares.extend(node.exits.iter().map(|&exit| of(&|to| to == exit)));
            } else if node.ends > 0 && !successors.is_empty() {
                shares.push(of(&|to| !inside(to)));
            }
            shares
        };
        self.nodes.iter().zip(&self.blocks).map(share).collect()
    }
}
