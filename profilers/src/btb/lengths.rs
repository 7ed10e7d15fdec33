//! How long partial paths are after each cut (the paper's Table 2): at calls and returns, at back edges as well, and at the boundaries of
//! regions. All by different traces, as in the paper's tables: a run that two traces show counts twice, however often these were sampled.
//!
//! Regions end in more places than back edges, for a loop is entered and left, too; so the last two differ.

use super::layout::MethodCode;
use super::loops::back_edges;
use super::parameter::OutOfRange;
use super::paths::pieces;
use super::regions::{RegionOptions, Regions};
use crate::ids::BlockId;
use serde::{Deserialize, Serialize};

/// Pieces, and their instructions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Length {
    /// How many there are.
    pub pieces: u64,
    /// The instructions of all of them.
    pub instructions: u64,
}

impl Length {
    pub(super) fn add(&mut self, code: &MethodCode, blocks: &[BlockId], times: u64) {
        let instructions: u64 = blocks.iter().map(|&block| code.size(block)).sum();
        self.pieces = self.pieces.saturating_add(times);
        self.instructions = self.instructions.saturating_add(instructions.saturating_mul(times));
    }

    /// Instructions of a piece.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.instructions as f64 / self.pieces.max(1) as f64
    }
}

/// The lengths of partial paths that were cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lengths {
    /// At calls and returns.
    pub calls: Length,
    /// There and at back edges.
    pub loops: Length,
    /// There and at the boundaries of regions.
    pub regions: Length,
}

impl Lengths {
    /// Adds runs of a method, each with the number of different traces that show it.
    ///
    /// # Errors
    ///
    /// If the options are not valid.
    pub(super) fn add<'r>(
        &mut self,
        code: &MethodCode,
        options: RegionOptions,
        runs: impl Iterator<Item = (&'r [BlockId], u64)>,
    ) -> Result<(), OutOfRange> {
        let (regions, back) = (Regions::new(code, options)?, back_edges(code));
        for (blocks, traces) in runs {
            self.calls.add(code, blocks, traces);
            for part in blocks.chunk_by(|&from, &to| !back.contains(&(from, to))) {
                self.loops.add(code, part, traces);
            }
            for piece in pieces(code, &regions, blocks).into_iter().flatten() {
                self.regions.add(code, &piece.blocks, traces);
            }
        }
        Ok(())
    }
}
