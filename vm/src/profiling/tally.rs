//! The tables in which one green thread counts; or all of them together, unless each is to count by itself.
//!
//! Compiled code is the same for all. It reaches its counters and the nodes of the forest from the context, and the rest from its
//! counters: words there say where hash tables and roots of the forest are. So to count elsewhere is to exchange three words
//! of the context ([`Tally::attach`]); what an activation must remember is in its frame, and belongs to the thread anyway.
//!
//! Most threads run little of the code. A table is made with the first path that is counted in it; until then the words name one that is
//! empty.

use super::caches::CacheEntry;
use super::call_tally::{CountedCalls, MadeCalls};
use super::counters::CounterArea;
use super::instrument::{Roots, TableKind, VersionPaths};
use super::state::Version;
use crate::context::Context;
use holloway_profilers::calls::CallGraph;
use holloway_profilers::edges::EdgeProfile;
use holloway_profilers::kblpp::{Activation, Forest, K};
use holloway_profilers::stream::{Losses, PathCount, PathProfile, PathTable, Storage};
use holloway_profilers::{Edge, PathNumber, VersionId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The tables.
pub(super) struct Tally {
    counters: Option<CounterArea>,
    /// Exact counts of paths in hash tables.
    table: PathTable,
    /// Exact counts of calls through tables.
    receivers: PathTable,
    /// Exact counts of windows of paths.
    windows: PathTable,
    forest: Option<Forest>,
    /// Samples, if they are counted by thread.
    samples: BTreeMap<(VersionId, PathNumber), u64>,
    pub losses: Losses,
    /// Calls outside of counters.
    pub made: MadeCalls,
    /// Of so many pieces of code that count in hash tables the counters say where these are.
    told: usize,
}

/// A piece of code that counts in a hash table.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableCells {
    /// The code.
    pub version: VersionId,
    /// The first of the counters that say where the table is.
    pub cells: u32,
    /// What is in it.
    pub kind: TableKind,
}

/// What was counted in the tables.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// Exact edges of compiled code.
    pub edges: EdgeProfile,
    /// Increments of counters of edges.
    pub edge_increments: u64,
    /// Exact paths.
    pub paths: PathProfile,
    /// Exact calls of compiled code whose callees the compiler knew.
    pub calls: CallGraph,
    /// The others, by their keys: site and class of the receiver.
    pub receivers: PathProfile,
    /// Calls outside of those counters.
    pub made: CountedCalls,
    /// Sampled paths, if samples are counted by thread.
    pub samples: PathProfile,
    /// The k-slab forest, if there is one.
    pub forest: Option<Forest>,
    /// Paths that were begun and dropped, by reason.
    pub losses: Losses,
    /// Operations on hash tables of exact paths.
    pub hash_operations: u64,
    /// Slots that these visited.
    pub hash_probes: u64,
    /// Windows of paths, by their numbers.
    pub windows: PathProfile,
    /// Their table.
    pub window_table: WindowStatistics,
}

/// A hash table of windows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct WindowStatistics {
    /// Operations on it: one for each path that ended.
    pub hash_operations: u64,
    /// Slots that these visited.
    pub hash_probes: u64,
    /// Its entries.
    pub entries: u64,
    /// Its size.
    pub bytes: u64,
}

impl WindowStatistics {
    /// Adds another's, up to the largest number that there is.
    pub fn merge(&mut self, other: WindowStatistics) {
        self.hash_operations += other.hash_operations;
        self.hash_probes += other.hash_probes;
        self.entries = self.entries.saturating_add(other.entries);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

impl Tally {
    /// Empty tables.
    pub fn new(counters: Option<CounterArea>, k: Option<K>) -> Tally {
        Tally {
            counters,
            table: PathTable::new(Storage::Hash),
            receivers: PathTable::new(Storage::Hash),
            windows: PathTable::new(Storage::Hash),
            forest: k.map(Forest::new),
            samples: BTreeMap::new(),
            losses: Losses::default(),
            made: MadeCalls::default(),
            told: 0,
        }
    }

    /// From here on compiled code counts here. `tables` is all code that counts in hash tables.
    pub fn attach(&mut self, context: &mut Context, tables: &[TableCells]) {
        for &table in &tables[self.told..] {
            self.tell_table(table);
        }
        self.told = tables.len();
        if let Some(counters) = &self.counters {
            context.counters = counters.base();
        }
        if let Some(forest) = &mut self.forest {
            context.forest = forest.addresses();
        }
    }

    /// Tells compiled code where its hash table is.
    fn tell_table(&mut self, TableCells { version, cells, kind }: TableCells) {
        let address = self.table(kind).address(version);
        if let Some(counters) = &self.counters {
            let marked = u64::from(version.0) | kind.mark();
            let words = [address.slots as u64, u64::from(address.shift), marked];
            (cells..).zip(words).for_each(|(cell, word)| counters.set(cell, word));
        }
    }

    fn table(&mut self, kind: TableKind) -> &mut PathTable {
        match kind {
            TableKind::Paths => &mut self.table,
            TableKind::Calls => &mut self.receivers,
            TableKind::Windows => &mut self.windows,
        }
    }

    /// Counts a path, or what stands for a call or a window, in the hash table of this code.
    pub fn count(&mut self, table: TableCells, path: PathNumber) {
        self.table(table.kind).count(table.version, path);
        self.tell_table(table);
    }

    /// A path ended: the activation takes a step in the forest. Only its first step asks for the roots.
    pub fn step(
        &mut self,
        activation: &mut Activation,
        version: VersionId,
        path: PathNumber,
        roots: impl FnOnce() -> Option<Roots>,
        context: &mut Context,
    ) {
        let Some(forest) = &mut self.forest else { return };
        let is_first = *activation == Activation::default();
        forest.path_for_code(activation, version, path);
        context.forest = forest.addresses();
        if is_first
            && *activation != Activation::default()
            && let Some(counters) = &self.counters
            && let Some(roots) = roots()
        {
            counters.set(roots.counter(path), Roots::word(*activation, path));
        }
    }

    /// One more, of a counter that compiled code leaves to us.
    pub fn increment(&self, counter: u32) {
        if let Some(counters) = &self.counters {
            counters.increment(counter);
        }
    }

    /// A sample was taken.
    pub fn sample(&mut self, version: VersionId, path: PathNumber) {
        *self.samples.entry((version, path)).or_default() += 1;
    }

    /// What was counted here, by this code.
    pub fn counted(&self, versions: &BTreeMap<u32, Version>) -> Counted {
        let samples = self.samples.iter();
        let sample = |(&(version, path), &count): (&_, &u64)| PathCount { version, path, count };
        let mut counted = Counted {
            edges: EdgeProfile::default(),
            edge_increments: 0,
            paths: self.paths(versions),
            calls: self.calls(versions),
            receivers: self.receivers.profile(),
            made: self.made.counted(),
            samples: samples.map(sample).collect(),
            forest: self.forest.clone(),
            losses: self.losses,
            hash_operations: self.table.hash_operations(),
            hash_probes: self.table.hash_probes(),
            windows: self.windows.profile(),
            window_table: WindowStatistics {
                hash_operations: self.windows.hash_operations(),
                hash_probes: self.windows.hash_probes(),
                entries: self.windows.hash_entries() as u64,
                bytes: self.windows.bytes() as u64,
            },
        };
        self.edges(versions, &mut counted);
        self.caches(versions, &mut counted.made);
        counted
    }

    /// Adds up the edges, which not all have a counter.
    fn edges(&self, versions: &BTreeMap<u32, Version>, counted: &mut Counted) {
        let Some(counters) = &self.counters else { return };
        for edges in versions.values().filter_map(|version| version.instrumented.edges.as_ref()) {
            let read = |first: u32, count: usize| -> Vec<u64> {
                (first..).take(count).map(|counter| counters.get(counter)).collect()
            };
            let ended = read(edges.ended, edges.blocks as usize);
            let counts = read(edges.counters, edges.sparse.len());
            if counts.iter().chain(&ended).all(|&count| count == 0) {
                continue;
            }
            let executed = edges.sparse.solve(&counts, &ended);
            let executed: BTreeMap<Edge, u64> =
                executed.into_iter().filter(|&(_, count)| count > 0).collect();
            for (edge, outcome) in &edges.arms {
                if let Some(&count) = executed.get(edge) {
                    counted.edges.add(*outcome, count);
                }
            }
            counted.edge_increments += counts.iter().sum::<u64>();
        }
    }

    fn calls(&self, versions: &BTreeMap<u32, Version>) -> CallGraph {
        let Some(counters) = &self.counters else { return CallGraph::new() };
        let calls = versions.values().filter_map(|version| version.instrumented.calls.as_ref());
        calls.flat_map(|calls| &calls.counted).map(|&(edge, counter)| (edge, counters.get(counter))).collect()
    }

    /// The inline caches of compiled code.
    fn caches(&self, versions: &BTreeMap<u32, Version>, counted: &mut CountedCalls) {
        let Some(counters) = &self.counters else { return };
        for caches in versions.values().filter_map(|version| version.instrumented.caches.as_ref()) {
            for &(edge, counter) in &caches.bound {
                counted.caches.graph.add(edge, counters.get(counter));
            }
            for &(site, first) in &caches.sites {
                counted.caches.lose(site, counters.get(first));
                for entry in (0..caches.entries).map(|number| first + 1 + 2 * number) {
                    let (class, count) = (counters.get(entry) as u32, counters.get(entry + 1));
                    if count > 0 {
                        *counted.cache_entries.entry(CacheEntry { site, class }).or_default() += count;
                    }
                }
            }
        }
    }

    fn paths(&self, versions: &BTreeMap<u32, Version>) -> PathProfile {
        let mut profile = self.table.profile();
        let Some(counters) = &self.counters else { return profile };
        let arrays = versions.iter().filter_map(|(&version, code)| {
            let VersionPaths { dag, counters: Some(first), .. } = code.instrumented.paths.as_ref()? else {
                return None;
            };
            Some((VersionId(version), dag.paths(), *first))
        });
        for (version, paths, first) in arrays {
            let counts =
                (0..paths).map(|path| PathCount { version, path, count: counters.get(first + path as u32) });
            profile.merge(&counts.filter(|count| count.count > 0).collect());
        }
        profile
    }
}

impl Counted {
    /// What all of these are together.
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a Counted>) -> Counted {
        let mut sum = Counted::default();
        all.into_iter().for_each(|counted| sum.merge(counted));
        sum
    }

    /// Adds what another thread counted.
    pub fn merge(&mut self, other: &Counted) {
        self.edges.merge(&other.edges);
        self.edge_increments += other.edge_increments;
        self.paths.merge(&other.paths);
        self.calls.merge(&other.calls);
        self.receivers.merge(&other.receivers);
        self.made.merge(&other.made);
        self.samples.merge(&other.samples);
        match (&mut self.forest, &other.forest) {
            (Some(own), Some(theirs)) => own.merge(theirs).expect("all forests of a machine have the same k"),
            (own @ None, theirs) => own.clone_from(theirs),
            (Some(_), None) => {}
        }
        self.losses.merge(&other.losses);
        self.windows.merge(&other.windows);
        self.window_table.merge(other.window_table);
        self.hash_operations += other.hash_operations;
        self.hash_probes += other.hash_probes;
    }
}
