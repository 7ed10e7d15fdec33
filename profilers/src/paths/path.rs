//! A path as blocks, edges and branches: what a number stands for.

use crate::ids::{BlockId, BranchArm, Edge};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How a path begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Begin {
    /// The method was entered.
    Method,
    /// Control arrived at one of the further entries without an edge: a handler, an entry by on-stack replacement.
    Entry(BlockId),
    /// Another path ended here: behind the yieldpoint of a cut block, or at the target of a cut edge. No plan has
    /// both at the same block.
    Cut(BlockId),
}

/// How a path ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum End {
    /// The method is left from this block.
    Exit(BlockId),
    /// At the yieldpoint of a cut block.
    Cut(BlockId),
    /// By taking a cut edge.
    BackEdge(Edge),
    /// It has not ended: this is the part of a path that was run so far.
    Open,
}

/// On which side of the place at which paths are cut something in a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// In front of the yieldpoint of a cut block.
    Before,
    /// Behind it; also all that is in other blocks.
    Behind,
}

/// A path through a method.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Path {
    /// How it begins.
    pub begin: Begin,
    /// The blocks it runs through. A path from cut block to cut block has both: it runs through the rest of the
    /// first and the beginning of the last, which may be the same block. The target of a cut edge at the end is not
    /// here: it is the first block of the next path.
    pub blocks: Vec<BlockId>,
    /// The edges it takes, a cut edge at its end included. So the sum over paths of their edges is the edge profile.
    pub edges: Vec<Edge>,
    /// The outcomes of branches of the source program among the edges, in order.
    pub branches: Vec<BranchArm>,
    /// How many of its edges leave a block that has several ways to go (conditional and switch branches): the
    /// length b of branch flow (PEP section 6.3). Counts branches of the compiled code, of the source or not.
    pub branch_count: u32,
    /// How it ends.
    pub end: End,
}

impl Path {
    /// The path that was begun and has not moved yet.
    pub(super) fn starting(begin: Begin, block: BlockId) -> Self {
        let (edges, branches) = (Vec::new(), Vec::new());
        Self { begin, blocks: vec![block], edges, branches, branch_count: 0, end: End::Open }
    }

    /// Does it run through that side of its block at an index: of the first one not through what is before the yieldpoint
    /// at which it begins, of the last one not through what is behind that at which it ends. So what is executed in
    /// a cut block is on one of two paths, though both have the block.
    #[must_use]
    pub fn passes(&self, index: usize, side: Side) -> bool {
        match side {
            Side::Before => index > 0 || !matches!(self.begin, Begin::Cut(_)),
            Side::Behind => index + 1 < self.blocks.len() || !matches!(self.end, End::Cut(_)),
        }
    }

    /// Takes one more edge.
    pub(super) fn take(&mut self, edge: Edge, branch: Option<BranchArm>, is_branch: bool) {
        self.edges.push(edge);
        self.branches.extend(branch);
        self.branch_count += u32::from(is_branch);
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.begin {
            Begin::Method => write!(f, "enter:")?,
            Begin::Entry(_) => write!(f, "arrive:")?,
            Begin::Cut(_) => write!(f, "go on:")?,
        }
        for block in &self.blocks {
            write!(f, " {block}")?;
        }
        match self.end {
            End::Exit(_) => write!(f, ", exit"),
            End::Cut(_) => write!(f, ", cut"),
            End::BackEdge(edge) => write!(f, ", back edge {}{}", edge.from, edge.arm),
            End::Open => write!(f, ", ..."),
        }
    }
}
