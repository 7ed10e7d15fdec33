//! Code that is no more: what profilers kept of it by its number is forgotten, or goes on in the name of a piece of code that ran the
//! same paths. Numbers of code are never given twice, so that nothing that stays can be taken for another's.
//!
//! * What paths do, which is remembered when they are sampled first (branches and receivers of late, calls for credit), is
//!   forgotten. What was counted of it stays: that is about the program, not about code.
//! * Sampled paths are folded. Two paths of code of one method, entered in one way and compiled at one level, are the same if they begin and end
//!   in the same places, and their branches went the same ways (which is how profiles of different runs are compared, too). The piece
//!   that had a path first keeps the samples of all; a piece of which none is left is forgotten altogether.
//! * Exact counts stay what they are, with the code that they are about: each piece has counters of its own, and each thread has, if
//!   each counts by itself. Who asks for them asks for all of them.
//!
//! So a program whose code is made again for ever keeps no more than it has different paths.

use super::state::{Profiling, Version};
use crate::compiled::{CodeId, Entry, Level};
use holloway_bytecode::FunctionId;
use holloway_profilers::paths::{Begin, End};
use holloway_profilers::{BlockId, BranchArm, PathNumber, VersionId};
use std::collections::BTreeMap;

/// A path of the program: of which code, and what it is there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct ProgramPath {
    code: (FunctionId, Entry, Level),
    begin: (bool, Option<(FunctionId, u32)>),
    end: (bool, Option<(FunctionId, u32)>),
    branches: Vec<BranchArm>,
    /// Its length in branches of the code, of the source or not.
    length: u32,
}

/// The sampled paths of code that is gone, by what they are, with the piece that keeps the samples of each.
#[derive(Default, Debug)]
pub(super) struct GonePaths(BTreeMap<ProgramPath, (VersionId, PathNumber)>);

/// Forgets a piece of code.
pub(super) fn forget(profiling: &mut Profiling, code: CodeId) {
    let version = VersionId(code.0);
    profiling.forget_steps(version);
    let Some(known) = profiling.versions.get(&code.0) else { return };
    // Who traces steps asks for all the code that they are steps of.
    if profiling.options.per_thread || profiling.options.traced || !is_only_sampled(known) {
        return;
    }
    let mut keeps = false;
    let mut to = BTreeMap::new();
    for path in profiling.samples.of_version(version) {
        let home = match program_path(known, path) {
            Some(what) => *profiling.gone_paths.0.entry(what).or_insert((version, path)),
            None => (version, path),
        };
        keeps |= home.0 == version;
        to.insert(path, home);
    }
    profiling.samples.fold(version, |path| to[&path]);
    if !keeps {
        profiling.versions.remove(&code.0);
    }
}

/// Is nothing counted in the code itself.
fn is_only_sampled(version: &Version) -> bool {
    let of = &version.instrumented;
    let counts = of.edges.is_some() || of.calls.is_some() || of.caches.is_some() || of.branches.is_some();
    let counts_paths = of.paths.as_ref().is_some_and(|paths| {
        paths.counters.is_some() || paths.table.is_some() || paths.roots.is_some() || paths.windows.is_some()
    });
    !counts && !counts_paths
}

fn program_path(version: &Version, path: PathNumber) -> Option<ProgramPath> {
    let paths = version.instrumented.paths.as_ref()?;
    let path = paths.dag.get().decode(path)?;
    let place = |block: Option<&BlockId>| paths.places.get(block?.index()).copied();
    Some(ProgramPath {
        code: (version.function, version.entry, version.level),
        begin: (matches!(path.begin, Begin::Cut(_)), place(path.blocks.first())),
        end: (matches!(path.end, End::Exit(_)), place(path.blocks.last())),
        branches: path.branches,
        length: path.branch_count,
    })
}
