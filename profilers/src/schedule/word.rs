//! The control word of a virtual machine's thread, and which yieldpoints it lets through.
//!
//! Jikes RVM's variant (Arnold & Grove 2005, sec. 5.1): a signed word with three states. Prologues and epilogues are
//! taken if it is not 0, loop headers only if it is above 0. One test per yieldpoint then serves the timer, samplers of
//! calls, which must not pay for loops, and samplers of paths, which need loop headers:
//!
//! ```text
//!              tick                first taken yieldpoint: windows open
//!   None (0) --------> All (1) --------------------------------------------.
//!      ^                 ^  |                                              |
//!      |            tick |  '-- some window needs headers: stays All       |
//!      |                 |                                                 v
//!      '-------------- Calls (-1) <------- only windows of calls are open -'
//!        all windows done: the thread switch that the tick asked for
//! ```

use serde::{Deserialize, Serialize};

/// Where a yieldpoint stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum YieldKind {
    /// At the entry of a method. Ends no path.
    Prologue,
    /// At the exit of a method, before its frame is gone. Ends a path.
    Epilogue,
    /// At a loop header or another place where paths are cut. Ends a path.
    Header,
}

/// A set of kinds of yieldpoints: the opportunities of one sampler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds(u8);

impl Kinds {
    /// Where paths end: headers and epilogues. PEP's opportunities.
    pub const PATH_ENDS: Self = Self::of(YieldKind::Header).and(Self::of(YieldKind::Epilogue));
    /// Where methods are entered: CBS's opportunities.
    pub const PROLOGUES: Self = Self::of(YieldKind::Prologue);
    /// Where methods are entered or left: the other choice for CBS.
    pub const CALLS: Self = Self::PROLOGUES.and(Self::of(YieldKind::Epilogue));

    /// Only this kind.
    #[must_use]
    pub const fn of(kind: YieldKind) -> Self {
        Self(1 << kind as u8)
    }

    /// The union of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether this kind is one of them.
    #[must_use]
    pub const fn contains(self, kind: YieldKind) -> bool {
        self.0 & Self::of(kind).0 != 0
    }

    /// The word under which all yieldpoints of these kinds are taken, and as few others as it can.
    #[must_use]
    pub const fn word(self) -> Word {
        if self.contains(YieldKind::Header) {
            Word::All
        } else if self.0 != 0 {
            Word::Calls
        } else {
            Word::None
        }
    }
}

/// The three states of the control word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Word {
    /// Prologues and epilogues are taken: -1.
    Calls = -1,
    /// No yieldpoint is taken: 0.
    None = 0,
    /// All yieldpoints are taken: 1.
    All = 1,
}

impl Word {
    /// The number that the yieldpoints test.
    #[must_use]
    pub const fn value(self) -> i32 {
        self as i32
    }

    /// Whether a yieldpoint of this kind is taken: headers test `> 0`, the others `!= 0`.
    #[must_use]
    pub const fn takes(self, kind: YieldKind) -> bool {
        match kind {
            YieldKind::Header => self.value() > 0,
            YieldKind::Prologue | YieldKind::Epilogue => self.value() != 0,
        }
    }

    /// The word under which everything is taken that either takes.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, _) | (_, Self::All) => Self::All,
            (Self::Calls, _) | (_, Self::Calls) => Self::Calls,
            (Self::None, Self::None) => Self::None,
        }
    }
}
