//! The branch trace buffer itself: the last K taken branches (section 3.1; four on the Itanium-2, 16 or 32 in later
//! processors).
//!
//! `push` is the only thing that happens for each taken branch: one store, one addition, two comparisons, no
//! allocation.

use super::branch::TakenBranch;
use super::parameter::{OutOfRange, within};
use super::{BranchKind, Place};

/// A ring of the last taken branches.
#[derive(Debug, Clone)]
pub struct Ring {
    slots: Box<[TakenBranch]>,
    next: usize,
    filled: usize,
}

impl Ring {
    /// The deepest ring there is.
    pub const MAX_DEPTH: usize = 1 << 16;

    /// An empty ring for `depth` branches.
    ///
    /// # Errors
    ///
    /// If the depth is not in `1..=MAX_DEPTH`.
    pub fn new(depth: usize) -> Result<Self, OutOfRange> {
        let depth = within("depth", depth, 1, Self::MAX_DEPTH)?;
        let nothing =
            TakenBranch { source: Place::Missing, target: Place::Missing, kind: BranchKind::Transfer };
        Ok(Self { slots: vec![nothing; depth].into_boxed_slice(), next: 0, filled: 0 })
    }

    /// Remembers a branch, and forgets the oldest one if the ring is full.
    #[inline]
    pub fn push(&mut self, branch: TakenBranch) {
        self.slots[self.next] = branch;
        self.next += 1;
        if self.next == self.slots.len() {
            self.next = 0;
        }
        self.filled += usize::from(self.filled < self.slots.len());
    }

    /// How many branches the ring can hold.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.slots.len()
    }

    /// How many branches it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.filled
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.filled == 0
    }

    /// Forgets everything, as when another thread is scheduled onto the buffer.
    pub fn clear(&mut self) {
        self.next = 0;
        self.filled = 0;
    }

    /// Copies the branches, oldest first, over what is in `into`. Allocates only while `into` is smaller than the ring.
    pub fn snapshot(&self, into: &mut Vec<TakenBranch>) {
        into.clear();
        if self.filled == self.slots.len() {
            into.extend_from_slice(&self.slots[self.next..]);
        }
        into.extend_from_slice(&self.slots[..self.next]);
    }
}
