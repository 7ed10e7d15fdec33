//! The trace: everything that compiled code goes through, one step after the other. Tests ask for it, to make profiles from it
//! in the most obvious way and compare, and experiments about forests (`holloway experiment nodes`, `lookups`); compiled code is many
//! times slower and the trace grows with every block.

use holloway_profilers::{Arm, BlockId, Edge, VersionId};

/// What an activation of compiled code does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// It takes an edge.
    Edge(Edge),
    /// It is at the beginning of a block.
    Block(BlockId),
    /// It is where paths end and begin, in this block.
    Cut(BlockId),
    /// It is about to return, in front of the yieldpoint, where the last path ends.
    Return(BlockId),
    /// The yieldpoint is over, too: nothing comes after this.
    Gone(BlockId),
}

impl Step {
    /// Packed into a word.
    pub fn word(self) -> u64 {
        let (kind, block, arm) = match self {
            Step::Edge(Edge { from, arm }) => (0, from, arm.0),
            Step::Block(block) => (1, block, 0),
            Step::Cut(block) => (2, block, 0),
            Step::Return(block) => (3, block, 0),
            Step::Gone(block) => (4, block, 0),
        };
        u64::from(block.0) << 32 | u64::from(arm) << 3 | kind
    }

    fn from_word(word: u64) -> Step {
        let block = BlockId((word >> 32) as u32);
        match word & 7 {
            0 => Step::Edge(Edge { from: block, arm: Arm(word as u32 >> 3) }),
            1 => Step::Block(block),
            2 => Step::Cut(block),
            3 => Step::Return(block),
            _ => Step::Gone(block),
        }
    }
}

/// A step of an activation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Traced {
    /// The activation: a number that no other has, from 1 on.
    pub activation: u64,
    /// Its code.
    pub version: VersionId,
    /// What it does.
    pub step: Step,
}

/// What an activation keeps in its frame: its number, 0 before its first step, and its code.
#[repr(C)]
pub struct TraceFrame {
    activation: u64,
    version: u64,
}

impl TraceFrame {
    /// The words of a frame at the entry of this version.
    pub fn words(version: u32) -> [u64; 2] {
        [0, u64::from(version)]
    }
}

/// The steps of all activations in the order in which they were done.
#[derive(Clone, Debug, Default)]
pub(super) struct Trace {
    pub steps: Vec<Traced>,
    activations: u64,
}

impl Trace {
    /// The activation with this frame does a step.
    pub fn step(&mut self, frame: &mut TraceFrame, word: u64) {
        if frame.activation == 0 {
            self.activations += 1;
            frame.activation = self.activations;
        }
        let (activation, version) = (frame.activation, VersionId(frame.version as u32));
        self.steps.push(Traced { activation, version, step: Step::from_word(word) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_words_and_back() {
        let block = BlockId(u32::MAX);
        let edges = [0, 1, (1 << 29) - 1].map(|arm| Step::Edge(Edge { from: BlockId(7), arm: Arm(arm) }));
        let others = [Step::Block(block), Step::Cut(block), Step::Return(block), Step::Gone(block)];
        for step in edges.into_iter().chain(others) {
            assert_eq!(Step::from_word(step.word()), step);
        }
    }
}
