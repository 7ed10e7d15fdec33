//! Escape analysis: objects that nobody outside of the compiled code gets to know are not made. Their fields become values.
//!
//! It is a *partial* one (L. Stadler, T. Würthinger, H. Mössenböck, "Partial Escape Analysis and Scalar Replacement for
//! Java", CGO 2014): an object is *virtual* from its allocation to the first place where it escapes, and is made there, on the
//! ways that lead there and only on those. Loads from a virtual object are the values that were stored, comparisons and
//! type tests of it are known. Frame states describe virtual objects ([`Op::Virtual`](crate::ir::Op::Virtual)), so
//! that the interpreter gets them if compiled code is left. An object escapes where it is passed to a call, returned, or
//! stored into something that is not virtual itself.
//!
//! | file | what it holds |
//! |---|---|
//! | [`model`] | what is known at a place: which objects are virtual, and what is in their fields |
//! | [`names`] | which values can be names of objects, and where they are live |
//! | [`analysis`] | sweeps until that is known everywhere, and can be carried out |
//! | [`times`] | what has changed since a block was looked at last |
//! | [`steps`] | what a node does |
//! | [`meet`] | what a block begins with: fields that differ become parameters, and so do objects that replace each other around a loop |
//! | [`sources`] | frame states for allocations that have moved |
//! | [`rewrite`], [`recipes`] | carrying it out: nodes and parameters; frame states |
//! | [`barriers`] | which stores need a write barrier now |
//!
//! The analysis changes nothing. Some of what it tries turns out not to work: an object has two names where it
//! may have one only, or there is no frame state to make it with. Then that is noted ([`model::Refusals`]) and the analysis
//! begins anew; so what it finds in the end needs no exceptions, and if it takes too long, nothing happens.
//!
//! On each way through the region an object is made at most once, and only if the program makes it.
//! Linear in the size of the region times the virtual objects at a time, for each sweep and attempt.

pub mod analysis;
pub mod barriers;
pub mod meet;
pub mod model;
pub mod names;
pub mod recipes;
pub mod rewrite;
pub mod sources;
pub mod steps;
pub mod times;

use super::{Input, Notes};
use crate::ir::Region;
use crate::passes::edit::Places;
use analysis::{Analysis, Facts, is_candidate};
use model::Refusals;
use names::Names;
use rewrite::Rewriter;

/// Attempts after which the region stays as it is.
const MOST_ATTEMPTS: usize = 24;

/// Attempts after which objects are given up that could be made earlier.
const PATIENCE: usize = 10;

/// Runs the pass.
pub fn run(region: &mut Region, input: &Input<'_>, _: &mut Notes) -> bool {
    let nodes = region.blocks.iter().flat_map(|block| &block.nodes);
    if !nodes.clone().any(|&value| is_candidate(input.program, region.op(value)).is_some()) {
        return false;
    }
    region.clear_unreachable();
    let shape = region.shape();
    // A name means one object only if cycles have one entry.
    if !shape.loops.is_reducible() {
        return false;
    }
    let facts = Facts {
        names: Names::of(region, input.program, &shape.graph),
        places: Places::of(region),
        graph: &shape.graph,
        program: input.program,
    };
    let mut refusals = Refusals::default();
    for attempt in 0..MOST_ATTEMPTS {
        refusals.is_impatient = attempt >= PATIENCE;
        let mut analysis = Analysis::new(region, &facts, refusals.clone());
        if analysis.classes.is_empty() {
            return false;
        }
        let is_solved = analysis.solve(region);
        let in_vain = analysis.in_vain(region);
        if is_solved && in_vain.is_empty() {
            Rewriter::new(region, analysis, &shape.dominators).run();
            return true;
        }
        let before = std::mem::replace(&mut refusals, analysis.refusals);
        refusals.allocations.extend(in_vain);
        if refusals == before {
            return false;
        }
    }
    false
}
