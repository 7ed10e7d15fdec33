//! PEP: continuous path and edge profiling.
//!
//! Bond & McKinley 2005, sec. 3 and 4. Code computes path numbers all the time and stores none; at a yieldpoint that
//! ends a path and is selected by the schedule, the handler counts the path, and each outcome of a branch on it in an
//! edge profile. A path is decoded when it is sampled for the first time; its counters are remembered, so that a sample
//! in the steady state is one hash operation and one addition per branch, without memory. The edge profile has the
//! same form as that of the baseline tier and may continue it.
//!
//! [`SampledPaths`] is what the handler of a virtual machine calls, which has its own yieldpoints and a
//! [`Schedule`] that PEP shares with others. [`Pep`] is the whole sampler as a consumer of an exact stream: every path
//! end is a yieldpoint that may or may not be taken.

use super::hash::Map;
use super::{Consumer, Event, Losses, Lost, PathCount, PathProfile};
use crate::edges::{EdgeCounters, EdgeProfile};
use crate::ids::{BranchArm, PathNumber, VersionId};
use crate::schedule::{Client, Counts, Kinds, Parameters, Schedule, YieldKind};
use std::ops::Range;

/// Knows which branches are on a path.
pub trait Decode {
    /// Appends the outcomes of the branches on this path, in the order of execution. An outcome may come twice.
    fn branches(&mut self, version: VersionId, path: PathNumber, out: &mut Vec<BranchArm>);
}

impl<F: FnMut(VersionId, PathNumber, &mut Vec<BranchArm>)> Decode for F {
    fn branches(&mut self, version: VersionId, path: PathNumber, out: &mut Vec<BranchArm>) {
        self(version, path, out);
    }
}

#[derive(Debug, Clone)]
struct Sampled {
    version: VersionId,
    path: PathNumber,
    count: u64,
    /// Where in the list of counters those of its branches are.
    counters: Range<u32>,
}

/// Sampled paths with their counts, and the edge profile they add up to.
#[derive(Debug, Clone, Default)]
pub struct SampledPaths {
    by_number: Map<(VersionId, PathNumber), u32>,
    paths: Vec<Sampled>,
    counters: Vec<u32>,
    edges: EdgeCounters,
    decoded: Vec<BranchArm>,
}

impl SampledPaths {
    /// No samples, and an edge profile to be continued.
    #[must_use]
    pub fn continuing(edges: &EdgeProfile) -> Self {
        Self { edges: EdgeCounters::from(edges), ..Self::default() }
    }

    /// Takes a sample; decodes the path if it is new.
    pub fn record(&mut self, version: VersionId, path: PathNumber, decode: &mut impl Decode) {
        let index = match self.by_number.get(&(version, path)) {
            Some(&index) => index,
            None => self.add(version, path, decode),
        };
        let sampled = &mut self.paths[index as usize];
        sampled.count += 1;
        for &counter in &self.counters[sampled.counters.start as usize..sampled.counters.end as usize] {
            self.edges.increment(counter, 1);
        }
    }

    /// The counts of the sampled paths, in samples.
    #[must_use]
    pub fn paths(&self) -> PathProfile {
        let count = |&Sampled { version, path, count, .. }: &Sampled| PathCount { version, path, count };
        self.paths.iter().map(count).collect()
    }

    /// The edge profile: of the samples, on top of what it continues.
    #[must_use]
    pub fn edges(&self) -> EdgeProfile {
        self.edges.profile()
    }

    /// How many different paths were sampled.
    #[must_use]
    pub fn distinct(&self) -> usize {
        self.paths.len()
    }

    /// The sampled paths of a version.
    pub fn of_version(&self, version: VersionId) -> impl Iterator<Item = PathNumber> + '_ {
        self.paths.iter().filter(move |sampled| sampled.version == version).map(|sampled| sampled.path)
    }

    /// Renames the paths of a version that will not run again: the samples of each count for another, whose branches are the same, or for
    /// itself. The edge profile stays. Takes time for all sampled paths.
    pub fn fold(&mut self, version: VersionId, mut to: impl FnMut(PathNumber) -> (VersionId, PathNumber)) {
        let (paths, counters) = (std::mem::take(&mut self.paths), std::mem::take(&mut self.counters));
        self.by_number.clear();
        for sampled in paths {
            let Sampled { path, count, .. } = sampled;
            let name = if sampled.version == version { to(path) } else { (sampled.version, path) };
            let index = *self.by_number.entry(name).or_insert_with(|| {
                let start = self.counters.len() as u32;
                let own = sampled.counters.start as usize..sampled.counters.end as usize;
                self.counters.extend_from_slice(&counters[own]);
                let counters = start..self.counters.len() as u32;
                self.paths.push(Sampled { version: name.0, path: name.1, count: 0, counters });
                self.paths.len() as u32 - 1
            });
            self.paths[index as usize].count += count;
        }
    }

    /// Adds another thread's samples, of the same versions. Its edge profile must not continue one that this one
    /// continues as well, or that would count twice.
    pub fn merge(&mut self, other: &Self) {
        for theirs in &other.paths {
            let counters = &other.counters[theirs.counters.start as usize..theirs.counters.end as usize];
            let mut decode = |_, _, out: &mut Vec<BranchArm>| {
                out.extend(counters.iter().map(|&counter| other.edges.name(counter)));
            };
            let index = match self.by_number.get(&(theirs.version, theirs.path)) {
                Some(&index) => index,
                None => self.add(theirs.version, theirs.path, &mut decode),
            };
            self.paths[index as usize].count += theirs.count;
        }
        self.edges.merge(&other.edges);
    }

    #[cold]
    #[inline(never)]
    fn add(&mut self, version: VersionId, path: PathNumber, decode: &mut impl Decode) -> u32 {
        self.decoded.clear();
        decode.branches(version, path, &mut self.decoded);
        let start = self.counters.len() as u32;
        for &branch in &self.decoded {
            self.counters.push(self.edges.counter(branch));
        }
        let index = self.paths.len() as u32;
        self.paths.push(Sampled { version, path, count: 0, counters: start..self.counters.len() as u32 });
        self.by_number.insert((version, path), index);
        index
    }
}

/// PEP over an exact stream: every path end is a yieldpoint, ticks come from outside.
#[derive(Debug, Clone)]
pub struct Pep<D> {
    schedule: Schedule,
    samples: SampledPaths,
    losses: Losses,
    decode: D,
}

impl<D: Decode> Pep<D> {
    /// A sampler with this window and this way to decode.
    #[must_use]
    pub fn new(parameters: Parameters, decode: D) -> Self {
        let client = Client { kinds: Kinds::PATH_ENDS, parameters };
        let schedule = Schedule::new(&[client]).expect("a schedule has room for one client");
        Self { schedule, samples: SampledPaths::default(), losses: Losses::default(), decode }
    }

    /// The timer has ticked.
    pub fn tick(&mut self) {
        self.schedule.tick();
    }

    /// What was sampled.
    #[must_use]
    pub fn samples(&self) -> &SampledPaths {
        &self.samples
    }

    /// Ticks, windows, samples and skips.
    #[must_use]
    pub fn counts(&self) -> &Counts {
        self.schedule.window(0).counts()
    }

    /// Paths that no sampler could have seen.
    #[must_use]
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    /// Adds what another thread's sampler has sampled and lost. Its window stays its own.
    pub fn merge(&mut self, other: &Self) {
        self.samples.merge(&other.samples);
        self.losses.merge(&other.losses);
    }
}

impl<D: Decode> Consumer for Pep<D> {
    type Activation = ();

    /// The yieldpoint of the prologue: it ends no path, but may be the first that is taken after a tick.
    fn enter(&mut self, _version: VersionId) {
        self.schedule.reach(YieldKind::Prologue);
    }

    #[inline]
    fn path(&mut self, (): &mut (), event: Event) {
        match event.end.yieldpoint() {
            None => self.losses.add(Lost::Silent),
            Some(kind) => {
                if self.schedule.reach(kind).is_some_and(|decision| decision.takes_any()) {
                    self.samples.record(event.version, event.path, &mut self.decode);
                }
            }
        }
    }

    fn lost(&mut self, (): &mut (), _version: VersionId, reason: Lost) {
        self.losses.add(reason);
    }
}
