//! A profile to ask. Paths that are the same are one here, whatever version of the code ran them: a path *is* where it begins, how
//! its branches went and where it ends (Bond & McKinley 2005 compare paths of one version only, for theirs is replayed).

use holloway_profilers::edges::EdgeProfile;
use holloway_profilers::kblpp::{Gram, K, PathForest};
use holloway_profilers::{Arm, BranchArm, BranchId, MethodId, VersionId};
use holloway_vm::profiling::file::{BranchRecord, CountRecord, PathRecord, PlaceRecord, ProfileFile};
use std::collections::{BTreeMap, BTreeSet};

/// A place in the bytecode: method and word.
pub type Spot = (u32, u32);

/// What a path is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PathKey {
    /// Where it begins.
    pub begin: Spot,
    /// How its branches went.
    pub branches: Vec<BranchArm>,
    /// Where it ends.
    pub end: Spot,
}

/// A path with what is known of it.
#[derive(Clone, Debug)]
pub struct Path {
    /// What it is.
    pub key: PathKey,
    /// Where it begins, and where it ends.
    pub places: [PlaceRecord; 2],
    /// `entry` or `cut`, and `exit` or `cut`.
    pub ways: [String; 2],
    /// Versions that have it.
    pub versions: BTreeSet<u32>,
    /// Methods whose code these are; paths of loops may be in code of callers.
    pub methods: BTreeSet<u32>,
    /// Branches on it, at most if the versions differ: its length in branch flow.
    pub length: u32,
}

/// How counts of paths came about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// By blpp.
    Exact,
    /// By kblpp, whose single paths are exact as well.
    Forest,
    /// By PEP.
    Sampled,
}

impl Origin {
    /// In words, after "counted".
    pub fn name(self) -> &'static str {
        match self {
            Origin::Exact => "exactly, by blpp",
            Origin::Forest => "exactly, by kblpp",
            Origin::Sampled => "in samples, by PEP",
        }
    }
}

/// Counts of paths, by their position in [`Profile::paths`].
pub type PathCounts = BTreeMap<usize, u64>;

/// A profile.
pub struct Profile {
    /// As it was written, with names that a terminal does not obey.
    pub file: ProfileFile,
    /// If it is one thread's: which.
    pub thread: Option<String>,
    /// Its paths, in the order of their keys.
    pub paths: Vec<Path>,
    /// Where version and number of a path are in `paths`.
    numbers: BTreeMap<(u32, u64), usize>,
    branches: BTreeMap<BranchId, usize>,
    methods: BTreeMap<u32, usize>,
    /// The methods whose code versions are.
    versions: BTreeMap<u32, u32>,
}

impl Profile {
    /// Of a file without problems.
    pub fn new(mut file: ProfileFile) -> Profile {
        let files = file.program.files.iter_mut().chain([&mut file.program.main, &mut file.ended]);
        let names = file.methods.iter_mut().map(|method| &mut method.name);
        files.chain(names).chain(&mut file.profilers).for_each(clean);
        let versions: BTreeMap<u32, u32> = file.versions.iter().map(|of| (of.id, of.method)).collect();
        let mut merged: BTreeMap<PathKey, Path> = BTreeMap::new();
        for record in &file.paths {
            let key = key_of(&file.branches, record);
            let path = merged.entry(key.clone()).or_insert_with(|| Path {
                key,
                places: [record.begin, record.end],
                ways: [record.begins.clone(), record.ends.clone()],
                versions: BTreeSet::new(),
                methods: BTreeSet::new(),
                length: 0,
            });
            path.versions.insert(record.version);
            path.methods.extend(versions.get(&record.version));
            path.length = path.length.max(record.length);
        }
        let at: BTreeMap<&PathKey, usize> = merged.keys().zip(0..).collect();
        let number =
            |record: &PathRecord| ((record.version, record.number), at[&key_of(&file.branches, record)]);
        let numbers = file.paths.iter().map(number).collect();
        let branches = file.branches.iter().map(id_of).zip(0..).collect();
        let methods = file.methods.iter().map(|method| method.id).zip(0..).collect();
        let paths = merged.into_values().collect();
        Profile { paths, thread: None, numbers, branches, methods, versions, file }
    }

    /// Where the code of a method begins, if the file says it: number of the file, line.
    pub fn begin(&self, method: u32) -> Option<(u32, u32)> {
        self.file.methods[*self.methods.get(&method)?].begin
    }

    /// The name of a method.
    pub fn method(&self, id: u32) -> &str {
        self.methods.get(&id).map_or("?", |&at| &self.file.methods[at].name)
    }

    /// The name of a file.
    pub fn file_name(&self, number: u32) -> &str {
        self.file.program.files.get(number as usize).map_or("?", |name| name)
    }

    /// What is known of a branch.
    pub fn branch(&self, id: BranchId) -> Option<&BranchRecord> {
        self.branches.get(&id).map(|&at| &self.file.branches[at])
    }

    /// The path that a version gives this number.
    pub fn path_of(&self, version: u32, number: u64) -> Option<usize> {
        self.numbers.get(&(version, number)).copied()
    }

    /// The method whose code a version is.
    pub fn method_of_version(&self, version: u32) -> Option<u32> {
        self.versions.get(&version).copied()
    }

    /// Counts by path instead of by number.
    pub fn counts(&self, records: &[CountRecord]) -> PathCounts {
        let mut counts = PathCounts::new();
        for record in records {
            if let Some(path) = self.path_of(record.version, record.number) {
                *counts.entry(path).or_default() += record.count;
            }
        }
        counts
    }

    /// Exact counts of single paths, by whichever profiler.
    pub fn exact(&self) -> Option<(Origin, Vec<CountRecord>)> {
        if let Some(exact) = &self.file.exact {
            return Some((Origin::Exact, exact.clone()));
        }
        let forest = self.file.iterated.as_ref()?;
        let single = |sequence: &holloway_vm::profiling::file::SequenceRecord| match *sequence.numbers {
            [number] => Some(CountRecord { version: sequence.version, number, count: sequence.count }),
            _ => None,
        };
        Some((Origin::Forest, forest.sequences.iter().filter_map(single).collect()))
    }

    /// Sampled paths.
    pub fn sampled(&self) -> Option<(Origin, Vec<CountRecord>)> {
        self.file.sampled.as_ref().map(|sampled| (Origin::Sampled, sampled.paths.clone()))
    }

    /// The best counts of paths that there are.
    pub fn best(&self) -> Option<(Origin, Vec<CountRecord>)> {
        self.exact().or_else(|| self.sampled())
    }

    /// Counts in the file as an edge profile.
    pub fn edges(&self, rows: &[(u32, Vec<u64>)]) -> EdgeProfile {
        let mut edges = EdgeProfile::default();
        for (number, arms) in rows {
            let Some(record) = self.file.branches.get(*number as usize) else { continue };
            let branch = id_of(record);
            edges.declare(branch, record.arms as usize);
            for (arm, &count) in arms.iter().enumerate() {
                edges.add(BranchArm { branch, arm: Arm::new(arm) }, count);
            }
        }
        edges
    }

    /// The best edge profile that there is, and where it comes from: exact edges, those of exact paths, those of samples, the
    /// interpreter's.
    pub fn best_edges(&self) -> (&'static str, EdgeProfile) {
        if let Some(exact) = &self.file.edges.exact {
            return ("exactly, in compiled code", self.edges(exact));
        }
        if let Some((_, exact)) = self.exact() {
            return ("exactly, as branches of paths in compiled code", self.expanded(&exact));
        }
        match &self.file.edges.sampled {
            Some(sampled) => ("in samples, by PEP", self.edges(sampled)),
            None => ("by the interpreter", self.edges(&self.file.edges.baseline)),
        }
    }

    /// The edges of paths.
    pub fn expanded(&self, records: &[CountRecord]) -> EdgeProfile {
        let mut edges = EdgeProfile::default();
        for (path, count) in self.counts(records) {
            for &outcome in &self.paths[path].key.branches {
                if let Some(record) = self.branch(outcome.branch) {
                    edges.declare(outcome.branch, record.arms as usize);
                }
                edges.add(outcome, count);
            }
        }
        edges
    }

    /// The forest with one tree set for each method: versions become methods, path numbers become positions in
    /// [`Profile::paths`].
    pub fn forest(&self) -> Option<PathForest> {
        let forest = self.file.iterated.as_ref()?;
        let mut merged: BTreeMap<(u32, Vec<u64>), u64> = BTreeMap::new();
        for sequence in &forest.sequences {
            let paths = sequence.numbers.iter().map(|&number| self.path_of(sequence.version, number));
            let paths: Option<Vec<u64>> = paths.map(|path| path.map(|path| path as u64)).collect();
            if let (Some(method), Some(paths)) = (self.method_of_version(sequence.version), paths) {
                *merged.entry((method, paths)).or_default() += sequence.count;
            }
        }
        let gram = |((method, paths), count): ((u32, Vec<u64>), u64)| Gram {
            version: VersionId(method),
            paths,
            count,
        };
        let grams: Vec<Gram> = merged.into_iter().map(gram).collect();
        PathForest::of_grams(K::new(forest.k).ok()?, &grams).ok()
    }
}

/// The name of a branch.
pub fn id_of(record: &BranchRecord) -> BranchId {
    BranchId { method: MethodId(record.place.method), position: record.place.position }
}

fn key_of(branches: &[BranchRecord], record: &PathRecord) -> PathKey {
    let outcome = |&(branch, arm): &(u32, u32)| BranchArm {
        branch: id_of(&branches[branch as usize]),
        arm: Arm::new(arm as usize),
    };
    PathKey {
        begin: (record.begin.method, record.begin.position),
        branches: record.branches.iter().map(outcome).collect(),
        end: (record.end.method, record.end.position),
    }
}

/// Names come from a file: a terminal must not obey them.
fn clean(name: &mut String) {
    if name.chars().any(char::is_control) {
        *name = name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    }
}
