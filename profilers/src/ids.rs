//! The names of things: dense numbers with a type of their own, so that a block is never taken for a method.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident($prefix:literal);)*) => { $(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The number as an index into a dense table.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The thing with this index. Tables here have fewer than 2^32 rows.
            #[must_use]
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("fewer than 2^32 of everything"))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    )* };
}

ids! {
    /// A basic block of one control-flow graph.
    BlockId("b");
    /// A method of the program.
    MethodId("m");
    /// A compiled version of a method, with a numbering of its own.
    VersionId("v");
    /// Which way a branch went: the position of the edge in its block's list of successors. A two-way branch has arm 0
    /// (taken) and arm 1 (not taken), a switch has one arm for each case and one for the default.
    Arm("#");
}

/// An edge of a control-flow graph: the block it leaves and the position in that block's list of successors. Parallel
/// edges are different edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Edge {
    /// The block that the edge leaves.
    pub from: BlockId,
    /// Which of its successors the edge leads to.
    pub arm: Arm,
}

/// A branch of the source program. Several branches of a compiled version may stand for the same one (inlining,
/// duplication), and then share its counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BranchId {
    /// The method whose code has the branch.
    pub method: MethodId,
    /// Where in that method's code it is.
    pub position: u32,
}

/// One outcome of a branch of the source program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BranchArm {
    /// The branch.
    pub branch: BranchId,
    /// The way it went. This is the source's arm, which may differ from the position among a block's successors.
    pub arm: Arm,
}

/// The number of a path in one version's numbering, from 0.
pub type PathNumber = u64;
