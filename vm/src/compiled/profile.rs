//! What the past says: the profile that a compiler asks.
//!
//! The interpreter counts as it runs; a compiler on another system thread reads the counters while they change, each
//! atomically. Advice from a file answers the same questions.

use super::inlining::Inlining;
use holloway_bytecode::{ClassId, FunctionId};

/// The classes that a call's receiver had.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Receivers {
    /// Classes with their counts, the most frequent first.
    pub classes: Vec<(ClassId, u32)>,
    /// How often it was of a class that is not listed.
    pub others: u32,
}

impl Receivers {
    /// All calls that were seen.
    pub fn total(&self) -> u64 {
        self.classes.iter().map(|&(_, count)| count as u64).sum::<u64>() + self.others as u64
    }
}

/// The methods that a call through a table reached.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReachedMethods {
    /// Methods with their counts.
    pub methods: Vec<(FunctionId, u64)>,
    /// How often it was one of which is not known which.
    pub others: u64,
}

impl ReachedMethods {
    /// All calls.
    pub fn total(&self) -> u64 {
        self.others + self.methods.iter().map(|(_, count)| count).sum::<u64>()
    }
}

/// Which ways the branches of a program went.
pub trait Branches: Send + Sync {
    /// The branch at `pc`: how often it was not taken, and taken.
    fn branch(&self, function: FunctionId, pc: u32) -> [u32; 2];

    /// The switch at `pc`: how often each of its `cases` was taken, the default last.
    fn switch(&self, function: FunctionId, pc: u32, cases: usize) -> Vec<u32>;
}

/// By what the blocks of machine code are ordered.
#[derive(Clone, Copy)]
pub enum OrderBy<'a> {
    /// By nothing that was counted: the order of the program.
    Program,
    /// The order of the program, but what runs seldom by the profile stands behind all else.
    Aside,
    /// By the profile that everything else is decided by.
    Profile,
    /// By other counts.
    Counts(&'a dyn Branches),
}

impl OrderBy<'_> {
    /// Are blocks ordered by a plan.
    pub fn is_planned(self) -> bool {
        matches!(self, OrderBy::Profile | OrderBy::Counts(_))
    }
}

/// What is known of the past of a program.
pub trait Profile: Branches {
    /// By what the blocks of machine code are ordered.
    fn order(&self) -> OrderBy<'_> {
        OrderBy::Profile
    }

    /// Who chooses which calls are inlined, and what is known of these.
    fn inlining(&self) -> Inlining<'_> {
        Inlining::default()
    }

    /// What the virtual or interface call at `pc` reached of late, if that is known: it is asked before the receivers.
    fn reached(&self, _function: FunctionId, _pc: u32) -> Option<ReachedMethods> {
        None
    }

    /// The virtual or interface call at `pc`: its receivers.
    fn receivers(&self, function: FunctionId, pc: u32) -> Receivers;

    /// How often the function was entered in the interpreter.
    fn invocations(&self, function: FunctionId) -> u32;

    /// Words that the function's own code was made of when it was compiled last, inlined methods included; 0 if it never was.
    fn own_code(&self, _function: FunctionId) -> usize {
        0
    }

    /// Has there ever been an instance of exactly this class.
    fn is_instantiated(&self, class: ClassId) -> bool;

    /// Did code that assumed something have to be left, for the reason of this name? The place is that of the innermost frame with
    /// which it was left.
    fn has_failed(&self, function: FunctionId, pc: u32, reason: &str) -> bool;
}

/// Nothing is known: no counts, any class may have instances, nothing failed yet.
pub struct NoProfile;

impl Branches for NoProfile {
    fn branch(&self, _: FunctionId, _: u32) -> [u32; 2] {
        [0, 0]
    }

    fn switch(&self, _: FunctionId, _: u32, cases: usize) -> Vec<u32> {
        vec![0; cases]
    }
}

impl Profile for NoProfile {
    fn receivers(&self, _: FunctionId, _: u32) -> Receivers {
        Receivers::default()
    }

    fn invocations(&self, _: FunctionId) -> u32 {
        0
    }

    fn is_instantiated(&self, _: ClassId) -> bool {
        true
    }

    fn has_failed(&self, _: FunctionId, _: u32, _: &str) -> bool {
        false
    }
}
