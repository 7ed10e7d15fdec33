//! How hard to try, and which assumptions are allowed.

pub use holloway_vm::compiled::Level;
use std::sync::Arc;

/// Settings of a compilation.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// How much to do.
    pub level: Level,
    /// Branches that were never taken become exits.
    pub prune_untaken: bool,
    /// Mark where inlined methods are entered, so that their calls can be counted.
    pub mark_calls: bool,
    /// Tell where blocks of the bytecode are entered: the number of the first block of each method.
    pub mark_blocks: Option<Arc<[u32]>>,
    /// Check the region after each pass. For tests.
    pub verify: bool,
}

impl Options {
    /// The settings of a level.
    pub fn of(level: Level) -> Options {
        Options {
            level,
            prune_untaken: level == Level::O2,
            mark_calls: false,
            mark_blocks: None,
            verify: cfg!(debug_assertions),
        }
    }
}
