//! The passes: a list of values, each with a name. A pass changes a region and says whether it did.

pub mod blocks;
pub mod conditions;
pub mod copies;
pub mod dead;
pub mod devirtualize;
pub mod edit;
pub mod escape;
pub mod facts;
pub mod gvn;
pub mod inline;
pub mod inversion;
pub mod licm;
pub mod memory;
pub mod neighbours;
pub mod params;
pub mod peeling;
pub mod predication;
pub mod preheaders;
pub mod select;
pub mod simplify;

use crate::hierarchy::Hierarchy;
use crate::ir::Region;
use crate::options::Options;
use holloway_bytecode::{ClassId, Program};
use holloway_vm::compiled::{CallDecision, Profile};
use std::collections::BTreeSet;

/// What passes may ask.
pub struct Input<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its classes.
    pub hierarchy: &'a Hierarchy,
    /// Its past.
    pub profile: &'a dyn Profile,
    /// The settings.
    pub options: &'a Options,
}

/// What a compilation learns on the way.
#[derive(Default, Debug)]
pub struct Notes {
    /// The code is right only while these classes have no instances.
    pub uninstantiated: BTreeSet<ClassId>,
    /// What was decided about calls.
    pub inlining: Vec<CallDecision>,
    /// Calls of the program for which there is no code.
    pub absent: Vec<CallDecision>,
}

/// A pass.
pub struct Pass {
    /// Its name in dumps and timings.
    pub name: &'static str,
    /// What it does; true if the region changed.
    pub run: fn(&mut Region, &Input<'_>, &mut Notes) -> bool,
}

/// The pass with this name.
pub fn by_name(name: &str) -> Option<&'static Pass> {
    ALL.iter().find(|pass| pass.name == name)
}

/// All passes, by themselves (the order in which a compilation runs them is in the pipeline).
pub const ALL: &[Pass] = &[
    Pass { name: "devirtualize", run: devirtualize::run },
    Pass { name: "inline", run: inline::run },
    Pass { name: "stores", run: |region, _, _| crate::build::stores::relax(region) },
    Pass { name: "gvn", run: gvn::run },
    Pass { name: "neighbours", run: neighbours::run },
    Pass { name: "conditions", run: conditions::run },
    Pass { name: "memory", run: memory::run },
    Pass { name: "escape", run: escape::run },
    Pass { name: "inversion", run: inversion::run },
    Pass { name: "licm", run: licm::run },
    Pass { name: "peeling", run: peeling::run },
    Pass { name: "simplify", run: simplify::run },
    Pass { name: "params", run: params::run },
    Pass { name: "blocks", run: blocks::run },
    Pass { name: "dead", run: dead::run },
    Pass { name: "predication", run: predication::run },
    Pass { name: "select", run: select::run },
];
