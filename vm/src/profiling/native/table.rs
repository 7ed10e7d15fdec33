//! What the compiler says of the branches of a piece of machine code, and the graph that the analysis of branch traces makes of it.

use holloway_profilers::BranchArm;
use holloway_profilers::btb::{BlockCode, Layout, LayoutError, MethodCode};
use holloway_profilers::{Arm, BlockId, Graph};
use std::collections::BTreeSet;

/// The machine code of a region as blocks, and the region's control flow that they stand for.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct VersionBranches {
    /// The blocks of the machine code, by ascending offsets.
    pub blocks: Vec<NativeBlock>,
    /// Where control goes from the end of a block: positions in the list.
    pub edges: Vec<(u32, u32)>,
    /// Offsets at which control arrives after errors.
    pub landings: Vec<u32>,
    /// The targets of the region's blocks, in the order of their arms.
    pub targets: Vec<Vec<u32>>,
    /// Which of the region's edges are outcomes of branches of the program, ascending.
    pub outcomes: Vec<Outcome>,
}

/// A block of machine code, up to the next one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NativeBlock {
    /// The offset of its first byte.
    pub start: u32,
    /// The region's block for which it works; nothing if it leaves, or only moves values on the way.
    pub owner: Option<u32>,
    /// Does the region's block begin here.
    pub head: bool,
    /// Its machine instructions. What they call is not known: code may be replaced.
    pub code: BlockCode,
}

/// An edge of the region that is an outcome of a branch of the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Outcome {
    /// The region's block.
    pub from: u32,
    /// Which of its targets.
    pub arm: u32,
    /// In which of the methods that the region is made of: a method may be inlined several times.
    pub inline: u32,
    /// The outcome.
    pub branch: BranchArm,
}

impl VersionBranches {
    /// The block with the byte at an offset.
    pub fn block_at(&self, offset: u32) -> Option<BlockId> {
        let after = self.blocks.partition_point(|block| block.start <= offset);
        after.checked_sub(1).map(BlockId::new)
    }

    /// The machine code's graph. The layout is the order of addresses.
    ///
    /// # Errors
    ///
    /// If it is no graph.
    pub fn code(&self, fingerprint: u64) -> Result<MethodCode, LayoutError> {
        let mut successors: Vec<Vec<u32>> = vec![Vec::new(); self.blocks.len()];
        for &(from, to) in &self.edges {
            if let Some(list) = successors.get_mut(from as usize)
                && !list.contains(&to)
            {
                list.push(to);
            }
        }
        let falls =
            |(at, list): (usize, &Vec<u32>)| list.iter().position(|&to| to as usize == at + 1).map(Arm::new);
        let falling: Vec<Option<Arm>> = successors.iter().enumerate().map(falls).collect();
        let lists: Vec<&[u32]> = successors.iter().map(Vec::as_slice).collect();
        let landings: BTreeSet<BlockId> = self.landings.iter().filter_map(|&at| self.block_at(at)).collect();
        let graph = Graph::new(&lists).with_entries(landings.into_iter().collect());
        let code = self.blocks.iter().map(|block| block.code.clone()).collect();
        Ok(MethodCode::new(&graph, Layout::Arms(&falling), fingerprint)?.with_code(code))
    }

    /// The outcome that an edge of the region is.
    pub fn outcome(&self, from: u32, arm: u32) -> Option<&Outcome> {
        let key = |outcome: &Outcome| (outcome.from, outcome.arm);
        let found = self.outcomes.binary_search_by_key(&(from, arm), key);
        found.ok().map(|at| &self.outcomes[at])
    }
}
