//! Which blocks run so seldom that it does not matter what a call there costs. It may preserve all registers: what is alive across
//! a call that does not wants one of the few that calls preserve wherever it is used, and frequent code may have to keep something else
//! in memory for it.

use crate::frequency::Frequencies;
use crate::ir::{BlockId, Region};

/// About so many instructions more are executed by a call that preserves all registers.
const PRESERVING: f64 = 60.0;

/// Which part of what a region executes is next to nothing.
const NEXT_TO_NOTHING: f64 = 0.005;

/// The blocks in which calls preserve all registers.
pub struct Seldom(Vec<bool>);

impl Seldom {
    /// Decides by how often blocks run, in comparison with all that the region executes.
    pub fn of(region: &Region, found: &Frequencies) -> Seldom {
        let nodes = |block: BlockId| found.block(block) * region.block(block).nodes.len() as f64;
        let all: f64 = region.block_ids().map(nodes).sum();
        let is_seldom = |block| found.block(block) * PRESERVING <= NEXT_TO_NOTHING * all;
        Seldom(region.block_ids().map(is_seldom).collect())
    }

    /// Is a block one of them.
    pub fn contains(&self, block: BlockId) -> bool {
        self.0[block.index()]
    }
}
