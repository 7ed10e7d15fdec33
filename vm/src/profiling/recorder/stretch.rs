//! Stretches of blocks that are counted, where there are two versions of the code (`osp:skip=versions`; the two copies of Arnold
//! and Ryder 2001, entered at ticks).
//!
//! ```text
//!          tick                 by chance             skip is over              enough blocks
//!   Over ────────► PassesOver ─────────────► Skips ◄───────────────► Samples ─────────────────► Over
//! ```
//!
//! Only the version of the code that tells of blocks runs in a stretch, or the recording interpreter. Both count down the same
//! word of the context, and call [`Stretch::due`] with the block for which it is zero. The profiler sees the stretches of a
//! thread as if one followed the other: what is left of its skip goes on in the next one. A sample is never cut: a stretch that ends in one
//! is so much longer. A stretch begins at a yieldpoint, so that it passes over some blocks first, by chance.
//!
//! When it is over, code that tells of blocks may go on for a moment, or when control comes back to an older frame of it.
//! Then nobody looks at what it tells, but after [`LEAVES_AFTER`] blocks it is asked to leave at its next yieldpoint.
//!
//! Invariant: while [`Part::Skips`] of `n` blocks with the word at `left`, `n + 1 - left` of them have passed.

use holloway_profilers::BlockId;
use holloway_profilers::osp::Profiler;

/// What code that is not to tell of blocks tells before it is asked to leave.
pub(super) const LEAVES_AFTER: u64 = 64;

/// What the word of the context counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Part {
    /// Nothing: there is no stretch.
    #[default]
    Over,
    /// Blocks at the beginning of the stretch that are not counted.
    PassesOver,
    /// So many blocks of the profiler's skip.
    Skips(u64),
    /// The blocks of a sample, one by one.
    Samples,
}

/// The stretch of one thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Stretch {
    part: Part,
    /// What is left of the profiler's skip.
    skip: u64,
    /// What is left of the stretch.
    rest: u64,
}

impl Stretch {
    /// Nothing was counted yet.
    pub fn new(profiler: &Profiler) -> Stretch {
        Stretch { skip: profiler.plan().skip, ..Stretch::default() }
    }

    /// Is there one.
    pub fn is_on(&self) -> bool {
        self.part != Part::Over
    }

    /// Does a sample lack blocks.
    pub fn is_sampling(&self) -> bool {
        self.part == Part::Samples
    }

    /// It begins: passes over so many blocks, and counts so many. The word of the context.
    pub fn begin(&mut self, passes_over: u64, blocks: u64) -> u64 {
        (self.part, self.rest) = (Part::PassesOver, blocks);
        passes_over + 1
    }

    /// A block is entered for which the word is zero. The next word.
    pub fn due(&mut self, block: BlockId, profiler: &mut Profiler, buffer: &mut Vec<BlockId>) -> u64 {
        match self.part {
            Part::Over => return LEAVES_AFTER,
            Part::PassesOver => {}
            Part::Skips(passed) => self.pass(passed),
            Part::Samples => return self.append(block, profiler, buffer),
        }
        match (self.rest, self.skip) {
            (0, _) => {
                self.part = Part::Over;
                LEAVES_AFTER
            }
            (_, 0) => self.append(block, profiler, buffer),
            (rest, skip) => {
                self.part = Part::Skips(rest.min(skip));
                rest.min(skip)
            }
        }
    }

    /// It ends in between, or all ends: the word is `left`.
    pub fn end(&mut self, left: u64, profiler: &mut Profiler, buffer: &mut Vec<BlockId>) {
        match std::mem::take(&mut self.part) {
            Part::Over | Part::PassesOver => {}
            Part::Skips(blocks) => self.pass((blocks + 1).saturating_sub(left)),
            Part::Samples => {
                self.skip = profiler.finish(profiler.plan().skip, buffer).skip;
                buffer.clear();
            }
        }
        // A profiler wants to pass one block at least; where none is left, it is the next stretch that begins with a sample.
        profiler.remaining(self.skip);
    }

    fn pass(&mut self, blocks: u64) {
        self.skip = self.skip.saturating_sub(blocks);
        self.rest = self.rest.saturating_sub(blocks);
    }

    /// A block of a sample.
    fn append(&mut self, block: BlockId, profiler: &mut Profiler, buffer: &mut Vec<BlockId>) -> u64 {
        self.part = Part::Samples;
        buffer.push(block);
        if buffer.len() >= profiler.plan().length as usize {
            self.rest = self.rest.saturating_sub(buffer.len() as u64);
            self.skip = profiler.finish(profiler.plan().skip, buffer).skip;
            buffer.clear();
            self.part = Part::Skips(0);
        }
        1
    }
}
