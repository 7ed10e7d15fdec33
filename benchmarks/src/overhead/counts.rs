//! What a configuration does, in numbers that repeat: the code that it adds, and how often that is executed in an
//! iteration.
//!
//! They come from machines of their own, under a clock that takes every yieldpoint, so that all are counted; no tick ever
//! comes, so that PEP does not sample. How many additions to the path register are executed is not counted but
//! follows from how often each path is run: where paths are numbered, the machine counts them exactly, whatever the
//! configuration does with them. (Paths that are begun and dropped are missing; such are rare in the steady state.)

use super::arm::{Arm, Failure, Host, Purpose};
use super::learn::Learned;
use super::subject::{Subject, Work};
use holloway_profilers::paths::{EdgeKind, NodeId, PathDag};
use holloway_profilers::{PathNumber, VersionId};
use holloway_vm::profiling::{Collected, ProfileOptions, Storage};
use serde::Serialize;
use std::collections::BTreeMap;

/// Samples before one is counted.
const WARM_UP: usize = 3;

/// What a configuration adds to the code of a program, and does in its iterations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Counts {
    /// Additions to the path register by the numbering of paths; the code may have less.
    pub additions: u64,
    /// Ends of paths in the code that have no yieldpoint of their own.
    pub added_ends: u64,
    /// Paths that there could be, in all methods.
    pub paths: u64,
    /// Yieldpoints executed in an iteration.
    pub yieldpoints_executed: u64,
    /// Additions executed in an iteration.
    pub additions_executed: u64,
    /// Paths that end in an iteration; each updates a table, if all paths are counted.
    pub path_ends: u64,
    /// Counters of edges that are incremented in an iteration.
    pub edge_counts: u64,
    /// Operations on hash tables in an iteration: of exact paths, of the k-slab forest, and of windows.
    pub hash_operations: u64,
    /// Further probes that they needed.
    pub hash_probes: u64,
}

/// Counts.
pub fn count(
    subject: &Subject,
    host: &dyn Host,
    learned: &Learned,
    profile: ProfileOptions,
) -> Result<Counts, Failure> {
    let mut counting = profile;
    if counting.instrumentation().paths.is_some() {
        counting.blpp = counting.blpp.or(Some(Storage::Array));
    }
    let purpose = Purpose::Count(learned.advice.clone(), counting);
    let mut arm = Arm::new(subject, host, Work::ONE, learned.expected, purpose)?;
    for _ in 0..WARM_UP {
        arm.sample()?;
    }
    let before = Snapshot::of(&arm, profile);
    arm.sample()?;
    let after = Snapshot::of(&arm, profile);
    let in_iteration = |of: fn(&Snapshot) -> u64| of(&after).saturating_sub(of(&before));
    Ok(Counts {
        yieldpoints_executed: in_iteration(|snapshot| snapshot.yieldpoints),
        additions_executed: in_iteration(|snapshot| snapshot.additions),
        path_ends: in_iteration(|snapshot| snapshot.path_ends),
        edge_counts: in_iteration(|snapshot| snapshot.edge_counts),
        hash_operations: in_iteration(|snapshot| snapshot.hash_operations),
        hash_probes: in_iteration(|snapshot| snapshot.hash_probes),
        ..after.code
    })
}

/// What was counted so far.
struct Snapshot {
    code: Counts,
    yieldpoints: u64,
    additions: u64,
    path_ends: u64,
    edge_counts: u64,
    hash_operations: u64,
    hash_probes: u64,
}

impl Snapshot {
    /// `asked` is the configuration; the machine's may count more.
    fn of(arm: &Arm<'_>, asked: ProfileOptions) -> Snapshot {
        let found = arm.vm().profile();
        let (additions, path_ends) = executed(&found);
        let mut snapshot = Snapshot {
            code: Counts {
                additions: found.versions.iter().map(|version| u64::from(version.additions)).sum(),
                added_ends: found.versions.iter().map(|version| u64::from(version.added_ends)).sum(),
                paths: found
                    .versions
                    .iter()
                    .filter_map(|version| version.dag.as_ref())
                    .map(PathDag::paths)
                    .sum(),
                ..Counts::default()
            },
            yieldpoints: arm.vm().statistics().yieldpoints_taken,
            additions,
            path_ends,
            edge_counts: found.edge_increments,
            hash_operations: 0,
            hash_probes: 0,
        };
        if asked.blpp.is_some() {
            snapshot.hash_operations += found.hash_operations;
            snapshot.hash_probes += found.hash_probes;
        }
        if let Some(iterated) = &found.iterated {
            snapshot.hash_operations += iterated.statistics.hash_operations;
            snapshot.hash_probes += iterated.statistics.further_probes;
        }
        if let Some(windowed) = &found.windowed {
            snapshot.hash_operations += windowed.statistics.hash_operations;
            snapshot.hash_probes += windowed.statistics.hash_probes;
        }
        snapshot
    }
}

/// Additions to the path register that were executed, and paths that ended.
fn executed(found: &Collected) -> (u64, u64) {
    let dags: BTreeMap<VersionId, &PathDag> =
        found.versions.iter().filter_map(|version| Some((version.version, version.dag.as_ref()?))).collect();
    let (mut additions, mut ends) = (0u64, 0u64);
    for path in found.paths.iter().flat_map(|paths| paths.iter()) {
        let on_path = dags.get(&path.version).map_or(0, |dag| additions_on(dag, path.path));
        additions = additions.saturating_add(on_path.saturating_mul(path.count));
        ends = ends.saturating_add(path.count);
    }
    (additions, ends)
}

/// The additions on the path with this number: its edges, the one that ends it included, whose value is not 0. Where a path begins
/// the register is set, which is no addition.
fn additions_on(dag: &PathDag, number: PathNumber) -> u64 {
    let (mut node, mut rest, mut additions) = (NodeId::ENTRY, number, 0);
    while node != NodeId::EXIT {
        let edges = dag.edges(node);
        let Some(edge) = edges[..edges.partition_point(|edge| edge.value <= rest)].last() else { break };
        additions += u64::from(edge.value != 0 && !matches!(edge.kind, EdgeKind::Begin(_)));
        rest -= edge.value;
        node = edge.to;
    }
    additions
}
