//! The counts by which blocks are ordered: those of the region, or those of another profile for the same branches.
//!
//! What the compiler made itself (guards, tests for receivers) is in no profile, and has the region's counts in any case.

use crate::frequency::{Counts, counts};
use crate::ir::{BlockId, Region, Source, Terminator};
use holloway_vm::compiled::OrderBy;

/// How often the end of a block went each way, in the order of [`counts`].
pub fn weights(region: &Region, block: BlockId, by: OrderBy<'_>) -> Counts {
    let own = counts(region, block);
    let function = |source: Source| region.inlines[source.inline.index()].function;
    match (by, &region.block(block).end) {
        (OrderBy::Profile | OrderBy::Aside, _) => own,
        (OrderBy::Program, _) => own.iter().map(|_| 0.0).collect(),
        (OrderBy::Counts(other), &Terminator::Branch { source: Some(source), .. }) => {
            let [not_taken, taken] = other.branch(function(source), source.pc).map(f64::from);
            Counts::from(if source.negated { [not_taken, taken] } else { [taken, not_taken] })
        }
        (OrderBy::Counts(other), &Terminator::Switch { source, .. }) => {
            let found = other.switch(function(source), source.pc, own.len());
            found.into_iter().map(f64::from).collect()
        }
        (OrderBy::Counts(_), _) => own,
    }
}
