//! The profile by which the blocks of machine code are ordered. It is chosen apart from the one by which everything else is
//! decided, so that what an order is worth can be measured by itself.

use super::past::{PastProfile, branch_at};
use super::profile::{Branches, OrderBy};
use crate::fingerprint::is_of_program;
use crate::profiling::file::ProfileFile;
use holloway_bytecode::{FunctionId, Program};
use holloway_profilers::edges::EdgeProfile;
use holloway_profilers::{Arm, BranchArm, BranchId, MethodId};
use std::sync::Arc;

/// The profile that is chosen.
#[derive(Clone, Default, Debug)]
pub enum BlockOrder {
    /// None: the order of the program.
    Program,
    /// The order of the program, but what runs seldom by the compiler's profile stands behind all else.
    Aside,
    /// What the interpreter counted until code was compiled.
    OneTime,
    /// The same, and what PEP sampled since, if it runs: the profile by which everything else is decided.
    #[default]
    Continuous,
    /// What the interpreter counted, with the ways of each branch exchanged: as bad as can be.
    Flipped,
    /// The profile of another run.
    Given(Arc<GivenEdges>),
}

/// The edge profile of another run.
#[derive(Clone, PartialEq, Debug)]
pub struct GivenEdges {
    /// The fingerprint of the program.
    program: String,
    edges: EdgeProfile,
}

/// Which counts of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counted {
    /// All that happened: in the interpreter and, exactly, in compiled code.
    Exactly,
    /// What PEP or CBS sampled.
    Sampled,
}

impl GivenEdges {
    /// The counts of a file that was checked. `Err` says what it lacks.
    pub fn of(file: &ProfileFile, counted: Counted) -> Result<GivenEdges, String> {
        let (counts, more, lacks) = match counted {
            Counted::Exactly => {
                let lacks = "it has no exact edges: they are counted with --profile edges";
                (&file.edges.exact, &file.edges.baseline[..], lacks)
            }
            Counted::Sampled => {
                (&file.edges.sampled, &[][..], "it has no sampled edges: they are sampled with --profile pep")
            }
        };
        let counts = counts.as_ref().ok_or(lacks)?;
        let mut edges = EdgeProfile::default();
        for (number, arms) in counts.iter().chain(more) {
            let place = file.branches[*number as usize].place;
            let branch = BranchId { method: MethodId(place.method), position: place.position };
            for (arm, &count) in arms.iter().enumerate() {
                edges.add(BranchArm { branch, arm: Arm::new(arm) }, count);
            }
        }
        Ok(GivenEdges { program: file.program.fingerprint.clone(), edges })
    }

    /// The same with the ways of each branch exchanged.
    pub fn flipped(self) -> GivenEdges {
        GivenEdges { edges: self.edges.flipped(), ..self }
    }

    /// Is it a profile of this program.
    pub fn check(&self, program: &Program) -> Result<(), String> {
        is_of_program(&self.program, program)
    }

    /// The counts of a branch, made smaller together until they fit.
    fn arms(&self, function: FunctionId, pc: u32) -> impl Fn(usize) -> u32 {
        let arms = self.edges.arms(branch_at(function, pc));
        let most = arms.iter().max().copied().unwrap_or(0);
        let shift = (u64::BITS - most.leading_zeros()).saturating_sub(u32::BITS);
        move |arm| arms.get(arm).map_or(0, |&count| (count >> shift) as u32)
    }
}

impl Branches for GivenEdges {
    fn branch(&self, function: FunctionId, pc: u32) -> [u32; 2] {
        let arms = self.arms(function, pc);
        // The profiles' arms are in the other order.
        [arms(1), arms(0)]
    }

    fn switch(&self, function: FunctionId, pc: u32, cases: usize) -> Vec<u32> {
        (0..cases).map(self.arms(function, pc)).collect()
    }
}

/// A profile with the ways of each branch exchanged: those of a switch in reverse, as [`EdgeProfile::flipped`] has them.
pub(super) struct Flipped(pub PastProfile);

impl Branches for Flipped {
    fn branch(&self, function: FunctionId, pc: u32) -> [u32; 2] {
        let [not_taken, taken] = self.0.branch(function, pc);
        [taken, not_taken]
    }

    fn switch(&self, function: FunctionId, pc: u32, cases: usize) -> Vec<u32> {
        self.0.switch(function, pc, cases).into_iter().rev().collect()
    }
}

/// What a compilation is told of the profile that is chosen.
#[derive(Default)]
pub(super) enum Told {
    Program,
    Aside,
    #[default]
    Profile,
    Counts(Box<dyn Branches>),
    Given(Arc<GivenEdges>),
}

impl Told {
    /// For a compiler.
    pub fn order(&self) -> OrderBy<'_> {
        match self {
            Told::Program => OrderBy::Program,
            Told::Aside => OrderBy::Aside,
            Told::Profile => OrderBy::Profile,
            Told::Counts(counts) => OrderBy::Counts(&**counts),
            Told::Given(edges) => OrderBy::Counts(&**edges),
        }
    }
}
