//! Exact counts of Ball-Larus paths: `count[r]++`.
//!
//! Ball & Larus 1996; as PEP's ground truth ("perfect path profile") Bond & McKinley 2005, sec. 5.1. A version with few
//! paths has an array of counters, one with many a hash table; the usual bound is the one at which LLVM's former pass
//! changed from one to the other. The number of table operations and of hash probes is exact and the same on every
//! run, because it is what k-BLPP is compared with.

use super::hash::{OpenTable, TableAddress};
use super::{Consumer, Event, Losses, Lost, PathCount, PathEnd, PathProfile};
use crate::ids::{PathNumber, VersionId};

/// Where the counters of a version are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// In an array if the version has at most this many paths, in a hash table otherwise.
    ArrayUpTo(u64),
    /// In a hash table.
    Hash,
}

impl Storage {
    /// Arrays for up to 100,000 paths.
    pub const USUAL: Self = Self::ArrayUpTo(100_000);
}

#[derive(Debug, Clone)]
enum Counters {
    Array(Box<[u64]>),
    Hash(OpenTable<u64>),
}

/// Exact path counts of any number of versions.
#[derive(Debug, Clone)]
pub struct PathTable {
    storage: Storage,
    versions: Vec<Option<Counters>>,
    /// Whether paths that end without a yieldpoint are counted.
    silent: bool,
    losses: Losses,
    strays: u64,
}

impl PathTable {
    /// An empty table that counts every path.
    #[must_use]
    pub fn new(storage: Storage) -> Self {
        Self { storage, versions: Vec::new(), silent: true, losses: Losses::default(), strays: 0 }
    }

    /// The same without paths that end where there is no yieldpoint: what a sampler could have seen, which is what its
    /// accuracy is measured against. These are among the losses then.
    #[must_use]
    pub fn without_silent_ends(self) -> Self {
        Self { silent: false, ..self }
    }

    /// Says how many paths a version has, before its first path. A version that was never defined has a hash table.
    pub fn define(&mut self, version: VersionId, paths: u64) {
        let storage = self.storage;
        let counters = self.counters(version);
        if counters.is_none() {
            *counters = Some(match storage {
                Storage::ArrayUpTo(bound) if paths <= bound => {
                    Counters::Array(vec![0; paths as usize].into_boxed_slice())
                }
                _ => Counters::Hash(OpenTable::new()),
            });
        }
    }

    /// Counts a path.
    #[inline]
    pub fn count(&mut self, version: VersionId, path: PathNumber) {
        let counter = match self.versions.get_mut(version.index()) {
            Some(Some(Counters::Hash(table))) => table.existing(path),
            Some(Some(Counters::Array(counters))) => counters.get_mut(path as usize),
            _ => None,
        };
        match counter {
            Some(counter) => *counter += 1,
            None => self.count_new(version, path),
        }
    }

    #[cold]
    #[inline(never)]
    fn count_new(&mut self, version: VersionId, path: PathNumber) {
        match self.counters(version).get_or_insert_with(|| Counters::Hash(OpenTable::new())) {
            Counters::Hash(table) => *table.slot(path) += 1,
            Counters::Array(_) => self.strays += 1,
        }
    }

    /// Where a version's hash table is in memory, until its next new path. A version without one, of which no path was counted
    /// yet or whose counters are in an array, has an empty table.
    pub fn address(&mut self, version: VersionId) -> TableAddress {
        match self.versions.get_mut(version.index()) {
            Some(Some(Counters::Hash(table))) => table.address(),
            _ => TableAddress::empty(),
        }
    }

    /// The counts.
    #[must_use]
    pub fn profile(&self) -> PathProfile {
        let mut all = Vec::new();
        for (index, counters) in self.versions.iter().enumerate() {
            let version = VersionId::new(index);
            let mut add = |path, count| all.push(PathCount { version, path, count });
            match counters {
                None => {}
                Some(Counters::Hash(table)) => table.iter().for_each(|(path, count)| add(path, count)),
                Some(Counters::Array(counters)) => {
                    let taken = (0..).zip(counters).filter(|&(_, &count)| count > 0);
                    taken.for_each(|(path, &count)| add(path, count));
                }
            }
        }
        all.into_iter().collect()
    }

    /// Adds another thread's counts, losses and probes.
    pub fn merge(&mut self, other: &Self) {
        for (index, theirs) in other.versions.iter().enumerate() {
            let Some(theirs) = theirs else { continue };
            let own = self.counters(VersionId::new(index));
            match (own, theirs) {
                (own @ None, theirs) => *own = Some(theirs.clone()),
                (Some(Counters::Hash(own)), Counters::Hash(theirs)) => {
                    let further = own.further() + theirs.further();
                    for (path, count) in theirs.sorted() {
                        *own.slot(path) += count;
                    }
                    own.set_further(further);
                }
                (Some(Counters::Array(own)), Counters::Array(theirs)) if own.len() == theirs.len() => {
                    own.iter_mut().zip(theirs).for_each(|(own, count)| *own += count);
                }
                (Some(own), theirs) => own.absorb(theirs),
            }
        }
        self.losses.merge(&other.losses);
        self.strays += other.strays;
    }

    /// How many hash operations there were; each is one counted path.
    #[must_use]
    pub fn hash_operations(&self) -> u64 {
        self.tables().map(|table| table.iter().map(|(_, count)| count).sum::<u64>()).sum()
    }

    /// How many slots these operations have visited: at least one each.
    #[must_use]
    pub fn hash_probes(&self) -> u64 {
        self.hash_operations() + self.tables().map(OpenTable::further).sum::<u64>()
    }

    /// Entries of the hash tables.
    #[must_use]
    pub fn hash_entries(&self) -> usize {
        self.tables().map(OpenTable::len).sum()
    }

    /// Memory in use, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let bytes = |counters: &Counters| match counters {
            Counters::Array(counters) => std::mem::size_of_val(&**counters),
            Counters::Hash(table) => table.bytes(),
        };
        self.versions.len() * size_of::<Option<Counters>>()
            + self.versions.iter().flatten().map(bytes).sum::<usize>()
    }

    /// Paths that were lost.
    #[must_use]
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    /// Numbers that no path of their version has: 0 unless the code that computes them is wrong.
    #[must_use]
    pub fn strays(&self) -> u64 {
        self.strays
    }

    fn tables(&self) -> impl Iterator<Item = &OpenTable<u64>> {
        self.versions.iter().flatten().filter_map(|counters| match counters {
            Counters::Hash(table) => Some(table),
            Counters::Array(_) => None,
        })
    }

    fn counters(&mut self, version: VersionId) -> &mut Option<Counters> {
        if self.versions.len() <= version.index() {
            self.versions.resize(version.index() + 1, None);
        }
        &mut self.versions[version.index()]
    }
}

impl Counters {
    /// Adds counters of the other kind: from here on they are in a hash table.
    fn absorb(&mut self, other: &Self) {
        let mut table = OpenTable::new();
        for counters in [&*self, other] {
            match counters {
                Self::Hash(counts) => {
                    counts.sorted().into_iter().for_each(|(path, n)| *table.slot(path) += n)
                }
                Self::Array(counts) => {
                    for (path, &count) in (0..).zip(counts).filter(|&(_, &count)| count > 0) {
                        *table.slot(path) += count;
                    }
                }
            }
        }
        *self = Self::Hash(table);
    }
}

impl Consumer for PathTable {
    type Activation = ();

    #[inline]
    fn path(&mut self, (): &mut (), event: Event) {
        if event.end == PathEnd::Silent && !self.silent {
            self.losses.add(Lost::Silent);
        } else {
            self.count(event.version, event.path);
        }
    }

    fn lost(&mut self, (): &mut (), _version: VersionId, reason: Lost) {
        self.losses.add(reason);
    }
}
