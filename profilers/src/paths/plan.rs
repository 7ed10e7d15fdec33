//! A plan: what running code does to the path register, as a value (PEP sections 3.1 and 3.2, figures 1 and 3).
//!
//! This file is what is asked for ([`Options`]), what is answered ([`Plan`]) and why there may be no answer
//! ([`PlanError`]); `numbering` finds the answer.
//!
//! Invariant: where a path ends, `r` plus the end value is its number, below [`Plan::paths`]; and anywhere before,
//! `r` is the number of a path that begins with the edges run so far. That holds because additions stay on the
//! edges that they belong to. The spanning-tree placement of Ball and Larus saves some of them and loses it: who emits
//! code may do that with the values of a plan.

use super::cuts::Cut;
use super::limit::{DEFAULT_LIMIT, GREATEST_LIMIT};
use super::numbering::Arms;
use crate::ids::{Arm, BlockId, Edge, PathNumber};
use serde::{Deserialize, Serialize};
use std::fmt;

/// In which order the edges out of a block get their values. The first gets 0, which needs no code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Placement {
    /// The most frequent first: smart path numbering (PEP section 3.4, figure 4). Ties go by arm.
    Smart,
    /// In the order of the arms (PEP figure 2).
    Naive,
    /// The least frequent first, so that the most frequent edge is certain to have code if it has a sibling: what
    /// profile-guided profiling is worth is measured against this.
    Hot,
}

/// What is asked of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Options {
    /// Where paths end.
    pub cut: Cut,
    /// Which edges get code.
    pub placement: Placement,
    /// From no join may more paths go on than this: one more block is cut instead. 1 to [`GREATEST_LIMIT`].
    pub limit: u64,
    /// Treat the arms of a block that lead to the same target as one edge. Fewer paths, but which of the arms was
    /// taken is not known then: such an edge counts for a source branch only if all its arms stand for the same
    /// outcome.
    pub merge_parallel: bool,
}

impl Default for Options {
    /// Back edges, smart, 2^31, parallel edges kept apart.
    fn default() -> Self {
        Self { cut: Cut::BackEdges, placement: Placement::Smart, limit: DEFAULT_LIMIT, merge_parallel: false }
    }
}

/// Why there is no plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlanError {
    /// The limit on paths is not in its range.
    Limit(u64),
    /// A block to be cut does not exist.
    UnknownBlock {
        /// The block that was asked for.
        block: BlockId,
        /// How many blocks there are.
        blocks: usize,
    },
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(limit) => {
                write!(f, "a limit of {limit} paths: it must be from 1 to {GREATEST_LIMIT}")
            }
            Self::UnknownBlock { block, blocks } => {
                write!(f, "no block {block} to cut: the graph has {blocks} blocks, numbered from b0")
            }
        }
    }
}

impl std::error::Error for PlanError {}

/// What an edge does to the path register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Action {
    /// The path goes on: `r += value`. No code if the value is 0.
    Add(PathNumber),
    /// The path ends on the edge and the next one begins there.
    Break(PathBreak),
}

/// The end of a path and the beginning of the next: `count (r + end); r = begin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PathBreak {
    /// What is added to the path register to get the number of the path that ends: val(t→EXIT).
    pub end: PathNumber,
    /// What the path register is then: val(ENTRY→h).
    pub begin: PathNumber,
}

/// Why a block is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Why {
    /// It was asked for.
    Listed,
    /// A cycle had no block that was asked for.
    Cycle,
    /// There would be too many paths.
    Limit,
}

/// A block that is split behind its yieldpoint, where a path ends with the number `r` and the next begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CutBlock {
    /// The block.
    pub block: BlockId,
    /// The path register of the path that begins: val(ENTRY→v2).
    pub begin: PathNumber,
    /// Why it is cut.
    pub why: Why,
}

/// How code keeps track of the path it runs, made by [`Plan::new`].
///
/// `r` is the path register of an activation; it is live across calls. `count n` stands for whatever is done with
/// the number of a path that ends: a table is updated, a sample taken, nothing.
///
/// | where | what |
/// |---|---|
/// | the method is entered | `r =` [`Plan::start`] |
/// | control arrives at a further entry | `r =` [`Plan::entry_start`] |
/// | edge with [`Action::Add`] | `r += value`, nothing if it is 0 |
/// | edge with [`Action::Break`] | `count (r + end); r = begin` |
/// | block with a [`CutBlock`], at its yieldpoint | `count r; r = begin` |
/// | block without successors, before the frame is gone | `count r` |
///
/// A block that is entered, as the method's entry or as a further one, is run from its first instruction: if it is
/// cut, its yieldpoint ends a path without edges. Code that is entered behind the yieldpoint (on-stack replacement
/// taken in the yieldpoint itself) starts with [`CutBlock::begin`] instead.
///
/// A plan can be compared, hashed, written to a file, and printed: one line for each place that does something. It
/// cannot be read from a file: make it anew from the same graph, which gives the same plan.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Plan {
    pub(super) paths: u64,
    pub(super) entry: BlockId,
    pub(super) start: PathNumber,
    /// Sorted.
    pub(super) entries: Vec<(BlockId, PathNumber)>,
    /// By block and arm: where the edge leads and what it does. Edges of unreachable blocks add 0.
    pub(super) edges: Vec<Arms<(BlockId, Action)>>,
    /// Sorted by block.
    pub(super) cuts: Vec<CutBlock>,
    pub(super) merged: bool,
}

impl Plan {
    /// How many paths there are: their numbers are `0..paths()`. Never 0.
    #[must_use]
    pub fn paths(&self) -> u64 {
        self.paths
    }

    /// Is a path register needed? A method with a single path needs no instrumentation at all: its register would
    /// always be 0.
    #[must_use]
    pub fn needs_register(&self) -> bool {
        self.paths > 1
    }

    /// The path register when the method is entered.
    #[must_use]
    pub fn start(&self) -> PathNumber {
        self.start
    }

    /// Where the method is entered.
    #[must_use]
    pub fn entry(&self) -> BlockId {
        self.entry
    }

    /// The path register when control arrives at one of the graph's further entries, `None` for other blocks.
    #[must_use]
    pub fn entry_start(&self, block: BlockId) -> Option<PathNumber> {
        let found = self.entries.binary_search_by_key(&block, |&(entry, _)| entry);
        found.ok().map(|index| self.entries[index].1)
    }

    /// The further entries and their path registers, by block.
    pub fn entries(&self) -> impl Iterator<Item = (BlockId, PathNumber)> {
        self.entries.iter().copied()
    }

    /// What an edge does.
    ///
    /// # Panics
    ///
    /// If the graph does not have this edge.
    #[must_use]
    pub fn action(&self, edge: Edge) -> Action {
        self.edges[edge.from.index()][edge.arm.index()].1
    }

    /// Where an edge leads.
    ///
    /// # Panics
    ///
    /// If the graph does not have this edge.
    #[must_use]
    pub fn target(&self, edge: Edge) -> BlockId {
        self.edges[edge.from.index()][edge.arm.index()].0
    }

    /// Every edge of the graph with what it does, by block and arm.
    pub fn actions(&self) -> impl Iterator<Item = (Edge, Action)> {
        self.edges.iter().enumerate().flat_map(|(from, arms)| {
            let edge = move |arm| Edge { from: BlockId::new(from), arm: Arm::new(arm) };
            arms.iter().enumerate().map(move |(arm, &(_, action))| (edge(arm), action))
        })
    }

    /// The edges that are cut, by block and arm. They end paths and need a yieldpoint to be seen.
    pub fn cut_edges(&self) -> impl Iterator<Item = (Edge, PathBreak)> {
        self.actions().filter_map(|(edge, action)| match action {
            Action::Break(at) => Some((edge, at)),
            Action::Add(_) => None,
        })
    }

    /// The cut of a block, if it has one.
    #[must_use]
    pub fn cut(&self, block: BlockId) -> Option<CutBlock> {
        self.cuts.binary_search_by_key(&block, |cut| cut.block).ok().map(|index| self.cuts[index])
    }

    /// The blocks that are cut, by number.
    #[must_use]
    pub fn cut_blocks(&self) -> &[CutBlock] {
        &self.cuts
    }

    /// The blocks that are cut though nobody asked for it. Paths end in them: a sampler sees those only if each
    /// gets a yieldpoint.
    pub fn added_cuts(&self) -> impl Iterator<Item = CutBlock> {
        self.cuts.iter().copied().filter(|cut| cut.why != Why::Listed)
    }

    /// Are parallel edges one edge here?
    #[must_use]
    pub fn merges_parallel(&self) -> bool {
        self.merged
    }

    /// The edges that have an addition: those that add something, and cut edges that add something before they count.
    pub fn additions(&self) -> impl Iterator<Item = Edge> {
        self.actions().filter(|&(_, action)| action.adds()).map(|(edge, _)| edge)
    }

    /// How many additions are executed when edges are taken this often. Smart placement has the fewest of all
    /// orders of the edges, for any frequencies, if these are the ones that it was made with; it is no promise for
    /// others.
    #[must_use]
    pub fn expected_additions(&self, frequency: impl Fn(Edge) -> u64) -> u64 {
        self.additions().map(frequency).fold(0, u64::saturating_add)
    }
}

impl Action {
    /// Does it add to the path register? If not, an edge that is not cut has no code.
    #[must_use]
    pub fn adds(self) -> bool {
        match self {
            Self::Add(value) | Self::Break(PathBreak { end: value, .. }) => value != 0,
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |n: u64| if n == 1 { "" } else { "s" };
        let additions = self.additions().count() as u64;
        write!(f, "{} path{}, ", self.paths, plural(self.paths))?;
        writeln!(f, "{additions} edge{} with an addition", plural(additions))?;
        writeln!(f, "enter {}: r = {}", self.entry, self.start)?;
        for (block, value) in self.entries() {
            writeln!(f, "arrive at {block}: r = {value}")?;
        }
        for (from, arms) in self.edges.iter().enumerate() {
            let block = BlockId::new(from);
            if let Some(CutBlock { begin, why, .. }) = self.cut(block) {
                writeln!(f, "{block}: count r; r = {begin} ({why})")?;
            }
            for (arm, (target, action)) in arms.iter().enumerate() {
                match action {
                    Action::Add(0) => {}
                    Action::Add(value) => writeln!(f, "{block}#{arm} to {target}: r += {value}")?,
                    Action::Break(PathBreak { end, begin }) => {
                        writeln!(f, "{block}#{arm} to {target}: count r + {end}; r = {begin}")?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Listed => "as asked",
            Self::Cycle => "a cycle without a cut",
            Self::Limit => "too many paths",
        })
    }
}
