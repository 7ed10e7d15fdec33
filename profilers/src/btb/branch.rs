//! Taken branches and the traces made of them (section 3.1).
//!
//! A record of the buffer names where a branch was and where it went. Whoever fills the ring has already mapped
//! addresses to blocks, as well as it could: a place may be [`Outside`](Place::Outside) of the profiled program (the
//! paper's shared libraries), or [`Missing`](Place::Missing) (the paper: "branch addresses are occasionally entered
//! without a target"), or plainly wrong; nothing here is trusted.
//!
//! Calls do not end blocks: a call leaves the middle of its block for the callee's entry, and the matching return
//! arrives in the middle of the same block.

use super::period::Period;
use crate::ids::{BlockId, MethodId};
use serde::{Deserialize, Serialize};

/// One end of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Place {
    /// In a block of a method of the program.
    At {
        /// The method.
        method: MethodId,
        /// The block of the method's graph.
        block: BlockId,
    },
    /// In code that is not profiled: a library, the runtime.
    Outside,
    /// Not recorded.
    Missing,
}

impl Place {
    /// The place in this block.
    #[must_use]
    pub fn at(method: MethodId, block: BlockId) -> Self {
        Self::At { method, block }
    }
}

/// What kind of instruction the branch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum BranchKind {
    /// Along an edge of the method's graph.
    Jump,
    /// From the middle of a block to the entry of a method; the frame stays.
    Call,
    /// From a block without successors to the middle of the caller's block.
    Return,
    /// Control that follows neither an edge nor a frame: a throw to its handler, a tail call, on-stack replacement.
    /// It arrives at one of the method's entries.
    Transfer,
}

/// One record of the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TakenBranch {
    /// Where the branch is.
    pub source: Place,
    /// Where it went.
    pub target: Place,
    /// What it is.
    pub kind: BranchKind,
}

impl TakenBranch {
    /// A branch within one method.
    #[must_use]
    pub fn jump(method: MethodId, source: BlockId, target: BlockId) -> Self {
        Self { source: Place::at(method, source), target: Place::at(method, target), kind: BranchKind::Jump }
    }
}

/// One copy of the ring: the last taken branches, oldest first, and where the program stood when it was taken.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Trace {
    /// The branches, oldest first; at most as many as the ring is deep.
    pub branches: Vec<TakenBranch>,
    /// Where the program stood, if known. The paper did not have it; it extends the last run exactly.
    pub pc: Option<Place>,
}

/// A trace and how often it was sampled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedTrace {
    /// The trace.
    pub trace: Trace,
    /// How many samples were equal to it, at least 1.
    pub count: u64,
}

/// Everything that one run of a program recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// How many branches the ring held.
    pub depth: usize,
    /// How often it was copied.
    pub period: Period,
    /// The different traces in increasing order.
    pub traces: Vec<CountedTrace>,
    /// Samples that found the table full.
    pub lost: u64,
    /// Samples that found the ring empty.
    pub empty: u64,
}

impl Recording {
    /// How many samples the traces stand for.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.traces.iter().fold(0, |sum, trace| sum.saturating_add(trace.count))
    }
}
