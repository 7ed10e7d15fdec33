//! Addresses of machine code as places: a record of the processor becomes a taken branch of a piece of code.
//!
//! Records are not trusted: addresses skid, pieces of code go away. What contradicts the graph of the code the analysis discards by itself;
//! here everything becomes *some* branch. What an instruction is its bytes say. A call leaves compiled code for a stub or a helper
//! more often than not: that is outside, and so is whatever happens there. A return arrives behind its call, which
//! counts as the block of the call.

use super::decode::{NativeBranch, decode};
use super::table::VersionBranches;
use holloway_profilers::MethodId;
use holloway_profilers::btb::{BranchKind, Place, TakenBranch};

/// The last taken branches as addresses, the oldest first, and where control was.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NativeSample {
    /// From and to.
    pub branches: Vec<(u64, u64)>,
    /// Where control was when the sample was taken, if that is known.
    pub at: Option<u64>,
}

/// An address in a piece of code.
#[derive(Clone, Copy, Debug)]
pub struct Here<'a> {
    /// The number of the code.
    pub code: u32,
    /// The offset in it.
    pub offset: u32,
    /// All of it.
    pub bytes: &'a [u8],
    /// What the compiler said of its branches.
    pub branches: &'a VersionBranches,
}

impl Here<'_> {
    fn place_at(&self, offset: u32) -> Place {
        let block = self.branches.block_at(offset);
        block.map_or(Place::Outside, |block| Place::at(MethodId(self.code), block))
    }
}

/// A sample as taken branches, in `into`, and the place where control was. Moves outside of compiled code are left out. The branches
/// are none if no compiled code is among them.
pub fn understand<'a>(
    sample: &NativeSample,
    find: impl Fn(u64) -> Option<Here<'a>>,
    into: &mut Vec<TakenBranch>,
) -> Option<Place> {
    into.clear();
    for &(from, to) in &sample.branches {
        let branch = branch(find(from), find(to));
        // Between two moves outside nothing is seen of the program.
        if (branch.source, branch.target) != (Place::Outside, Place::Outside) {
            into.push(branch);
        }
    }
    let at = find(sample.at?)?;
    Some(at.place_at(at.offset))
}

fn branch(from: Option<Here<'_>>, to: Option<Here<'_>>) -> TakenBranch {
    let instruction = from.map(|from| (from, from.bytes.get(from.offset as usize..).and_then(decode)));
    let source = from.map_or(Place::Outside, |from| from.place_at(from.offset));
    let at_target = |to: Here<'_>| to.place_at(to.offset);
    let behind_call = |to: Here<'_>| to.place_at(to.offset.saturating_sub(1));
    let (target, kind) = match (instruction, to) {
        (None, None) => (Place::Outside, BranchKind::Jump),
        // From a stub or a helper: into a method, to a landing pad, or back.
        (None, Some(to)) if to.offset == 0 || to.branches.landings.contains(&to.offset) => {
            (at_target(to), BranchKind::Transfer)
        }
        (None, Some(to)) => (behind_call(to), BranchKind::Return),
        (Some((_, Some(NativeBranch::Call))), to) => (to.map_or(Place::Outside, at_target), BranchKind::Call),
        (Some((_, Some(NativeBranch::Return))), Some(to)) if to.branches.landings.contains(&to.offset) => {
            (at_target(to), BranchKind::Transfer)
        }
        (Some((_, Some(NativeBranch::Return))), to) => {
            (to.map_or(Place::Outside, behind_call), BranchKind::Return)
        }
        // Stubs are jumped to where they return for the code.
        (Some(_), None) => (Place::Outside, BranchKind::Transfer),
        (Some((from, _)), Some(to)) if from.code == to.code => (at_target(to), BranchKind::Jump),
        (Some(_), Some(to)) => (at_target(to), BranchKind::Transfer),
    };
    TakenBranch { source, target, kind }
}
