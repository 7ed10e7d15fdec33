//! A past in which one thing is otherwise than it was: how blocks are ordered, or who chooses what is inlined.

use holloway_bytecode::{ClassId, FunctionId};
use holloway_vm::compiled::{Branches, Inlining, OrderBy, Profile, ReachedMethods, Receivers};

/// The past, with what a compilation is told of these.
#[derive(Clone, Copy)]
pub struct Past<'a> {
    /// All else.
    pub under: &'a dyn Profile,
    /// By what blocks are ordered.
    pub order: OrderBy<'a>,
    /// Who chooses what is inlined.
    pub inlining: Inlining<'a>,
}

impl<'a> Past<'a> {
    /// The past as it was.
    pub fn of(under: &'a dyn Profile) -> Past<'a> {
        Past { under, order: under.order(), inlining: under.inlining() }
    }
}

impl Branches for Past<'_> {
    fn branch(&self, function: FunctionId, pc: u32) -> [u32; 2] {
        self.under.branch(function, pc)
    }

    fn switch(&self, function: FunctionId, pc: u32, cases: usize) -> Vec<u32> {
        self.under.switch(function, pc, cases)
    }
}

impl Profile for Past<'_> {
    fn order(&self) -> OrderBy<'_> {
        self.order
    }

    fn inlining(&self) -> Inlining<'_> {
        self.inlining
    }

    fn reached(&self, function: FunctionId, pc: u32) -> Option<ReachedMethods> {
        self.under.reached(function, pc)
    }

    fn receivers(&self, function: FunctionId, pc: u32) -> Receivers {
        self.under.receivers(function, pc)
    }

    fn invocations(&self, function: FunctionId) -> u32 {
        self.under.invocations(function)
    }

    fn is_instantiated(&self, class: ClassId) -> bool {
        self.under.is_instantiated(class)
    }

    fn has_failed(&self, function: FunctionId, pc: u32, reason: &str) -> bool {
        self.under.has_failed(function, pc, reason)
    }
}
