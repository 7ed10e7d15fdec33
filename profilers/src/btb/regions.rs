//! Regions: parts of a method in which a partial path has a matching set of full paths (section 3.3).
//!
//! A region is entered only at its entry (rule 1), lies inside of one loop or outside of it (rule 2), has fewer than
//! N paths from its entry to its exits (rule 3), and has as many blocks as possible (rule 4). The paper grows it
//! greedily and breadth first from the method's entry; where it stops, the exits are entries of new regions.
//!
//! A block is admitted when all its predecessors are. Therefore the order of admission is a topological order of the
//! edges inside, an edge to the region's own entry is an exit, and irreducible loops need no care: their blocks
//! become regions of their own. A join that is rejected is tried again with its next predecessor. A block that would
//! reach the cap is not: admitting another one never lowers the number of paths with both. Ours: blocks where control
//! arrives without an edge are always entries.
//!
//! Invariants: each reachable block is in exactly one region; a region of more than one block has fewer than N paths
//! (a single block may have more exits than that, and there is nothing to cut). O(edges · predecessors).

use super::layout::MethodCode;
use super::loops::innermost_loops;
use super::parameter::{OutOfRange, within};
use crate::ids::BlockId;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A region of one method, in the order of creation: region 0 starts at the method's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RegionId(pub u32);

/// What tells full paths apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Exits {
    /// Their blocks alone; however a path leaves its last block, it is the same path. The paper needs this for its
    /// BCE, which has two exits, to match uniquely.
    #[default]
    Merged,
    /// Their blocks and the exit edge, as for Ball and Larus.
    Kept,
}

/// How regions are formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegionOptions {
    /// The paper's limit N: a region has fewer paths.
    pub cap: u32,
    /// What counts as a path.
    pub exits: Exits,
}

impl RegionOptions {
    /// The highest limit: sets of paths are bits, one set for each edge.
    pub const MAX_CAP: u32 = 1 << 16;
}

impl Default for RegionOptions {
    /// The paper does not give its N.
    fn default() -> Self {
        Self { cap: 1024, exits: Exits::Merged }
    }
}

/// The regions of one method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Regions {
    options: RegionOptions,
    of: Vec<Option<RegionId>>,
    position: Vec<u32>,
    blocks: Vec<Vec<BlockId>>,
}

impl Regions {
    /// Divides a method into regions.
    ///
    /// # Errors
    ///
    /// If the cap is not in `2..=MAX_CAP`: even a single block has one path.
    pub fn new(code: &MethodCode, options: RegionOptions) -> Result<Self, OutOfRange> {
        within("cap of paths in a region", options.cap, 2, RegionOptions::MAX_CAP)?;
        let loops = innermost_loops(code);
        let count = code.len();
        let mut regions =
            Self { options, of: vec![None; count], position: vec![0; count], blocks: Vec::new() };
        let mut growth = Growth { ways: vec![0; count], exits: vec![0; count], total: 0 };
        let mut entries: VecDeque<BlockId> = VecDeque::from([code.entry()]);
        entries.extend(code.entries());
        while let Some(entry) = entries.pop_front() {
            if regions.of(entry).is_some() {
                continue;
            }
            let id = RegionId(regions.blocks.len() as u32);
            regions.blocks.push(Vec::new());
            regions.grow(code, &loops, &mut growth, id, entry);
            for &block in &regions.blocks[id.0 as usize] {
                entries.extend(code.successors(block).iter().filter(|&&to| regions.of(to).is_none()));
            }
        }
        Ok(regions)
    }

    fn grow<L: PartialEq>(
        &mut self,
        code: &MethodCode,
        loops: &[L],
        growth: &mut Growth,
        id: RegionId,
        entry: BlockId,
    ) {
        self.admit(id, entry);
        growth.ways[entry.index()] = 1;
        growth.exits[entry.index()] = code.successors(entry).len() as u64;
        growth.total = self.ends(growth.exits[entry.index()], code, entry);
        let mut candidates: VecDeque<BlockId> = code.successors(entry).iter().copied().collect();
        while let Some(block) = candidates.pop_front() {
            let fits = self.of(block).is_none()
                && !code.landing(block)
                && loops[block.index()] == loops[entry.index()]
                && code.predecessors(block).iter().all(|&from| self.of(from) == Some(id));
            if !fits {
                continue;
            }
            // Each path that left to the block is continued by each way to leave the block; a path that has lost its
            // last exit no longer ends before it.
            let (mut ways, mut total) = (0u64, growth.total);
            for &from in code.predecessors(block) {
                let (w, exits) = (growth.ways[from.index()], growth.exits[from.index()]);
                ways = ways.saturating_add(w);
                total -= w * (self.ends(exits, code, from) - self.ends_without_leaving(exits - 1));
            }
            let exits = code.successors(block).len() as u64;
            total = total.saturating_add(ways.saturating_mul(self.ends(exits, code, block)));
            if total >= u64::from(self.options.cap) {
                continue;
            }
            for &from in code.predecessors(block) {
                growth.exits[from.index()] -= 1;
            }
            growth.total = total;
            growth.ways[block.index()] = ways;
            growth.exits[block.index()] = exits;
            self.admit(id, block);
            candidates.extend(code.successors(block));
        }
    }

    fn admit(&mut self, id: RegionId, block: BlockId) {
        let blocks = &mut self.blocks[id.0 as usize];
        self.of[block.index()] = Some(id);
        self.position[block.index()] = blocks.len() as u32;
        blocks.push(block);
    }

    /// How many paths end in a block for each way to it.
    fn ends(&self, exits: u64, code: &MethodCode, block: BlockId) -> u64 {
        if code.successors(block).is_empty() { 1 } else { self.ends_without_leaving(exits) }
    }

    fn ends_without_leaving(&self, exits: u64) -> u64 {
        match self.options.exits {
            Exits::Merged => exits.min(1),
            Exits::Kept => exits,
        }
    }

    /// How the regions were formed.
    #[must_use]
    pub fn options(&self) -> RegionOptions {
        self.options
    }

    /// How many regions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether there is no region; there always is one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The region of a block; `None` if the block does not exist or cannot be reached.
    #[must_use]
    pub fn of(&self, block: BlockId) -> Option<RegionId> {
        self.of.get(block.index()).copied().flatten()
    }

    /// The blocks of a region: its entry first, each block after all its predecessors.
    #[must_use]
    pub fn blocks(&self, region: RegionId) -> &[BlockId] {
        &self.blocks[region.0 as usize]
    }

    /// Where a region is entered.
    #[must_use]
    pub fn entry(&self, region: RegionId) -> BlockId {
        self.blocks(region)[0]
    }

    /// Where a block stands among the blocks of its region.
    pub(super) fn position(&self, block: BlockId) -> usize {
        self.position[block.index()] as usize
    }

    /// Whether an edge stays within a region: its ends are in the same one and it does not lead to its entry. Every
    /// other edge is a boundary: calls apart, that is where paths are cut.
    #[must_use]
    pub fn inside(&self, from: BlockId, to: BlockId) -> bool {
        match (self.of(from), self.of(to)) {
            (Some(a), Some(b)) => a == b && self.entry(a) != to,
            _ => false,
        }
    }
}

/// What is known of the region that grows.
struct Growth {
    /// How many ways lead from the entry to a block.
    ways: Vec<u64>,
    /// How many different successors of a block lead out of the region.
    exits: Vec<u64>,
    /// How many paths there are.
    total: u64,
}
