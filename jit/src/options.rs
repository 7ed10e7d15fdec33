//! How hard to try, and which assumptions are allowed.

pub use holloway_vm::compiled::Level;

/// What a guarded inlined call does when the receiver is of another class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fallback {
    /// A real call.
    Call,
    /// Leaves for the interpreter.
    Deopt,
    /// Leaves where the profile saw no other class, else calls.
    Profile,
}

/// Settings of a compilation.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// How much to do.
    pub level: Level,
    /// What guarded calls fall back to.
    pub fallback: Fallback,
    /// Branches that were never taken become exits.
    pub prune_untaken: bool,
    /// Mark where inlined methods are entered, so that their calls can be counted.
    pub mark_calls: bool,
    /// Check the region after each pass. For tests.
    pub verify: bool,
}

impl Options {
    /// The settings of a level.
    pub fn of(level: Level) -> Options {
        Options {
            level,
            fallback: Fallback::Profile,
            prune_untaken: level == Level::O2,
            mark_calls: false,
            verify: cfg!(debug_assertions),
        }
    }
}
