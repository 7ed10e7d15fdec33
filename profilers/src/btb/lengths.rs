//! How long partial paths are after each cut (the paper's Table 2): at calls and returns, at back edges as well, and at the boundaries of
//! regions. All by different traces, as in the paper's tables: a run that two traces show counts twice, however often these were sampled.
//!
//! What is cut is the path as far as it reaches ([`Extent`](super::extent::Extent)): no instruction counts twice, and none that the trace does not show.
//! So what is between two calls of a block is a piece of its own, and cuts lose nothing.
//!
//! Regions end in more places than back edges, for a loop is entered and left, too; so the last two differ.

use super::layout::MethodCode;
use super::loops::back_edges;
use super::parameter::OutOfRange;
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

/// A block on a path, with so many of its instructions as the path has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Passed {
    pub block: BlockId,
    pub instructions: u64,
}

impl Length {
    fn add(&mut self, piece: &[Passed], times: u64) {
        let instructions: u64 = piece.iter().map(|of| of.instructions).sum();
        // Where a path comes back to the end of a block and goes on in the next one, nothing is left of the first.
        if instructions > 0 {
            self.pieces = self.pieces.saturating_add(times);
            self.instructions = self.instructions.saturating_add(instructions.saturating_mul(times));
        }
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
        runs: impl Iterator<Item = (&'r [Passed], u64)>,
    ) -> Result<(), OutOfRange> {
        let (regions, back) = (Regions::new(code, options)?, back_edges(code));
        for (run, traces) in runs {
            self.calls.add(run, traces);
            for piece in run.chunk_by(|from, to| !back.contains(&(from.block, to.block))) {
                self.loops.add(piece, traces);
            }
            for piece in run.chunk_by(|from, to| regions.inside(from.block, to.block)) {
                self.regions.add(piece, traces);
            }
        }
        Ok(())
    }
}
