//! A profile as it is written to a file: complete in itself, so that who reads it needs neither the program nor the code that
//! counted. docs/profiles.md describes the format.
//!
//! Branches and places are in tables and everything else refers to them by position. A path number means something for one
//! version of the code only; what a path *is* (where it begins, how its branches went) is written beside it, and
//! by that paths of different versions, runs and builds can be told to be the same.

mod outcomes;
mod subpaths;
mod threads;
mod traces;

pub use subpaths::{
    BlockRecord, CensusRecord, EstimateRecord, ExactSubpathRecord, SubpathRecord, SubpathRecords,
    SubpathSampleRecord,
};
pub use threads::ThreadRecord;
pub use traces::{RegionPathRecord, RunRecord, SiteRecord, TraceRecords};

use super::call_records::{self, CallRecords};
use super::collect::{Collected, CollectedVersion, Iterated, Windowed};
use super::tally::WindowStatistics;
use super::threads::CountedThread;
use crate::compiled::Entry;
use crate::fingerprint::{of_function, of_program};
use holloway_bytecode::verify::VerifiedProgram;
use holloway_profilers::edges::EdgeProfile;
use holloway_profilers::kblpp::{Gram, Statistics};
use holloway_profilers::paths::{Begin, End};
use holloway_profilers::schedule::Counts;
use holloway_profilers::stream::{Losses, Lost, PathCount, PathProfile};
use holloway_profilers::{BlockId, BranchId, PathNumber, VersionId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The word by which the files are known.
pub const FORMAT: &str = "holloway-profile";
/// The version of the format that is written and read.
pub const VERSION: u32 = 1;

/// A profile.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProfileFile {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// Whose it is.
    pub program: ProgramRecord,
    /// How the run ended, in words; `finished` if it did.
    pub ended: String,
    /// The profilers that ran, as on the command line.
    pub profilers: Vec<String>,
    /// The methods that something below refers to.
    pub methods: Vec<MethodRecord>,
    /// The branches of these methods.
    pub branches: Vec<BranchRecord>,
    /// Edge profiles.
    pub edges: EdgeRecords,
    /// Code that counted.
    pub versions: Vec<VersionRecord>,
    /// What the path numbers below mean, by version and number.
    pub paths: Vec<PathRecord>,
    /// How often paths were run, exactly.
    pub exact: Option<Vec<CountRecord>>,
    /// How often paths were seen by PEP, in samples.
    pub sampled: Option<SampleRecord>,
    /// Paths over several iterations.
    pub iterated: Option<ForestRecord>,
    /// Windows of paths, if they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub windowed: Option<WindowRecord>,
    /// Calls. Older files have none.
    #[serde(default)]
    pub calls: CallRecords,
    /// Paths from branch traces, if they were made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traces: Option<TraceRecords>,
    /// Subpaths, if they were counted or sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subpaths: Option<SubpathRecords>,
    /// Paths that were begun and dropped, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Work on tables.
    pub work: WorkRecord,
    /// The same by thread, if each counted by itself: by number, then the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<Vec<ThreadRecord>>,
}

/// A program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProgramRecord {
    /// Its main file.
    pub main: String,
    /// A number that stands for its code.
    pub fingerprint: String,
    /// Its files, as places name them.
    pub files: Vec<String>,
}

/// A method.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MethodRecord {
    /// Its number in the program.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// A number that stands for its bytecode.
    pub fingerprint: String,
    /// Where its code begins: file, as a number in the program's list, and line. Older files do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin: Option<(u32, u32)>,
}

/// A place in the source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct PlaceRecord {
    /// The number of the method.
    pub method: u32,
    /// The word of its bytecode.
    pub position: u32,
    /// The number of the file, in the program's list.
    pub file: u32,
    /// The line there, from 1.
    pub line: u32,
}

/// A branch of the source.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BranchRecord {
    /// Where it is.
    #[serde(flatten)]
    pub place: PlaceRecord,
    /// How many ways it can go: taken and not taken, or the cases of a switch, the default last.
    pub arms: u32,
}

/// Edge profiles: for each branch, by its position in the table, how often it went each way.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct EdgeRecords {
    /// Of the interpreter: the one-time profile of the papers.
    pub baseline: Vec<(u32, Vec<u64>)>,
    /// Of compiled code, exactly.
    pub exact: Option<Vec<(u32, Vec<u64>)>>,
    /// Of the sampled paths.
    pub sampled: Option<Vec<(u32, Vec<u64>)>>,
    /// Of the sampled subpaths, as far as they are described: in 1024ths of a sample. Older files have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subpaths: Option<Vec<(u32, Vec<u64>)>>,
}

/// A piece of code.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct VersionRecord {
    /// Its number.
    pub id: u32,
    /// The number of the method.
    pub method: u32,
    /// The loop at which it is entered, if it is not entered by a call.
    #[serde(rename = "loop")]
    pub entry: Option<u32>,
    /// The level at which it was compiled.
    pub level: String,
    /// How many paths there could be; 0 if paths were not numbered.
    pub paths: u64,
    /// Additions to the path register by the numbering of its paths.
    pub additions: u32,
    /// Ends of paths without a yieldpoint of their own.
    pub added_ends: u32,
}

/// What a path number means.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PathRecord {
    /// The version of the code.
    pub version: u32,
    /// The number there.
    pub number: PathNumber,
    /// Where it begins.
    pub begin: PlaceRecord,
    /// In which way: `entry` or `cut`.
    pub begins: String,
    /// The block in which it ends begins here.
    pub end: PlaceRecord,
    /// In which way: `exit` or `cut`.
    pub ends: String,
    /// How its branches went: position in the table, arm.
    pub branches: Vec<(u32, u32)>,
    /// How many branches of the compiled code are on it, of the source or not: its length in branch flow.
    pub length: u32,
}

/// How often a path was run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CountRecord {
    /// The version of the code.
    pub version: u32,
    /// The number there.
    pub number: PathNumber,
    /// How often.
    pub count: u64,
}

/// What PEP saw.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SampleRecord {
    /// Paths, in samples.
    pub paths: Vec<CountRecord>,
    /// Windows, samples, overruns.
    pub window: Counts,
}

/// The k-iteration path forest.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ForestRecord {
    /// How many iterations.
    pub k: u32,
    /// What the forest did and how large it is.
    pub statistics: Statistics,
    /// Sequences of path numbers of a version with exact counts, in order; each is followed by those that continue it.
    pub sequences: Vec<SequenceRecord>,
}

/// Windows of paths.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct WindowRecord {
    /// How many paths a window has, but for those in front of which there were no others.
    pub k: u32,
    /// What was done with the table, and how large it is.
    pub statistics: WindowStatistics,
    /// Versions whose windows were not counted, as their numbers do not fit a word.
    pub refused: Vec<u32>,
    /// Windows as sequences of path numbers of a version, in order, with exact counts.
    pub sequences: Vec<SequenceRecord>,
}

/// A sequence of paths.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SequenceRecord {
    /// The version of the code.
    pub version: u32,
    /// The numbers there.
    pub numbers: Vec<PathNumber>,
    /// How often they followed each other.
    pub count: u64,
}

/// Work on tables.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct WorkRecord {
    /// Operations on the hash table of exact paths.
    pub hash_operations: u64,
    /// Further probes that they needed.
    pub hash_probes: u64,
}

impl ProfileFile {
    /// Is this a profile that can be read; else why not.
    pub fn check(&self) -> Result<(), String> {
        if self.format != FORMAT {
            return Err(format!("its format is '{}', not '{FORMAT}'", self.format));
        }
        if self.version != VERSION {
            return Err(format!(
                "it is of version {}, and this program reads version {VERSION}",
                self.version
            ));
        }
        let branches = self.branches.len() as u32;
        let edges = self.edges.baseline.iter().chain(self.edges.exact.iter().flatten());
        let edges = edges.chain(self.edges.sampled.iter().chain(&self.edges.subpaths).flatten());
        let by_thread = self.threads.iter().flatten().flat_map(|thread| thread.edges.iter().flatten());
        let edges = edges.chain(by_thread).map(|&(branch, _)| branch);
        let on_paths = self.paths.iter().flat_map(|path| path.branches.iter().map(|&(branch, _)| branch));
        let of_regions = self.traces.iter().flat_map(|traces| &traces.paths);
        let on_paths = on_paths.chain(of_regions.flat_map(|path| path.branches.iter().map(|at| at.0)));
        match edges.chain(on_paths).find(|&branch| branch >= branches) {
            Some(branch) => Err(format!("it refers to branch {branch}, and there are {branches}")),
            None => Ok(()),
        }
    }

    /// What was found in a program.
    pub fn of(program: &VerifiedProgram, main: &str, ended: &str, found: &Collected) -> ProfileFile {
        let mut writer = Writer { program, branches: BTreeMap::new(), methods: BTreeSet::new() };
        let used = used_paths(found);
        writer.note_branches(&found.baseline);
        found.edges.iter().for_each(|edges| writer.note_branches(edges));
        found.sampled.iter().for_each(|sampled| writer.note_branches(&sampled.edges));
        let paths = writer.paths(found, &used);
        let versions: Vec<VersionRecord> = found.versions.iter().map(|of| writer.version(of)).collect();
        let edges = EdgeRecords {
            baseline: writer.edges(&found.baseline),
            exact: found.edges.as_ref().map(|edges| writer.edges(edges)),
            sampled: found.sampled.as_ref().map(|sampled| writer.edges(&sampled.edges)),
            subpaths: found.subpaths.as_ref().and_then(|subpaths| {
                let sampled = subpaths.sampled.as_ref()?;
                Some(writer.edges(&outcomes::outcomes(&writer, sampled, &subpaths.places)))
            }),
        };
        let threads = found.threads.as_ref();
        let threads =
            threads.map(|threads| threads.iter().map(|thread| writer.thread(thread, found)).collect());
        let calls = call_records::records(found, &mut |method, position| {
            writer.methods.insert(method);
            writer.place(method, position)
        });
        let traces = found.traces.as_ref().map(|traces| writer.traces(traces));
        let subpaths = found.subpaths.as_ref().map(|subpaths| writer.subpaths(subpaths));
        ProfileFile {
            format: FORMAT.into(),
            version: VERSION,
            program: writer.program_record(main),
            ended: ended.into(),
            profilers: found.options.specs().iter().map(ToString::to_string).collect(),
            methods: writer.methods(),
            branches: writer.branch_records(),
            edges,
            versions,
            paths,
            exact: found.paths.as_ref().map(count_records),
            sampled: found
                .sampled
                .as_ref()
                .map(|sampled| SampleRecord { paths: count_records(&sampled.paths), window: sampled.window }),
            iterated: found.iterated.as_ref().map(forest_record),
            windowed: found.windowed.as_ref().map(window_record),
            calls,
            traces,
            subpaths,
            dropped: dropped(&found.losses),
            work: WorkRecord { hash_operations: found.hash_operations, hash_probes: found.hash_probes },
            threads,
        }
    }
}

fn count_records(profile: &PathProfile) -> Vec<CountRecord> {
    let record = |PathCount { version, path, count }: PathCount| CountRecord {
        version: version.0,
        number: path,
        count,
    };
    profile.iter().map(record).collect()
}

fn forest_record(iterated: &Iterated) -> ForestRecord {
    let grams = iterated.paths.grams().into_iter();
    let sequence =
        |gram: Gram| SequenceRecord { version: gram.version.0, numbers: gram.paths, count: gram.count };
    ForestRecord { k: iterated.k, statistics: iterated.statistics, sequences: grams.map(sequence).collect() }
}

fn window_record(windowed: &Windowed) -> WindowRecord {
    let sequence = |(version, numbers, count): (VersionId, &[PathNumber], u64)| SequenceRecord {
        version: version.0,
        numbers: numbers.to_vec(),
        count,
    };
    WindowRecord {
        k: windowed.k,
        statistics: windowed.statistics,
        refused: windowed.refused.iter().map(|version| version.0).collect(),
        sequences: windowed.paths.iter().map(sequence).collect(),
    }
}

fn dropped(losses: &Losses) -> BTreeMap<String, u64> {
    let all = Lost::ALL.iter().map(|&reason| (reason.name().to_string(), losses.of(reason)));
    all.filter(|&(_, count)| count > 0).collect()
}

/// The path numbers that occur, by version.
fn used_paths(found: &Collected) -> BTreeMap<u32, BTreeSet<PathNumber>> {
    let mut used: BTreeMap<u32, BTreeSet<PathNumber>> = BTreeMap::new();
    let profiles = found.paths.iter().chain(found.sampled.iter().map(|sampled| &sampled.paths));
    for count in profiles.flat_map(PathProfile::iter) {
        used.entry(count.version.0).or_default().insert(count.path);
    }
    for gram in found.iterated.iter().flat_map(|iterated| iterated.paths.grams()) {
        used.entry(gram.version.0).or_default().extend(gram.paths);
    }
    for (version, paths, _) in found.windowed.iter().flat_map(|windowed| windowed.paths.iter()) {
        used.entry(version.0).or_default().extend(paths);
    }
    used
}

/// The tables in the making.
struct Writer<'a> {
    program: &'a VerifiedProgram,
    /// Branches with their numbers of arms, and later their positions in the table.
    branches: BTreeMap<BranchId, u32>,
    methods: BTreeSet<u32>,
}

impl Writer<'_> {
    fn note_branches(&mut self, edges: &EdgeProfile) {
        for (branch, arms) in edges.iter() {
            let known = self.branches.entry(branch).or_default();
            *known = (*known).max(arms.len() as u32);
            self.methods.insert(branch.method.0);
        }
    }

    fn place(&self, method: u32, position: u32) -> PlaceRecord {
        let function = &self.program.functions[method as usize];
        let at = function.position(position);
        PlaceRecord { method, position, file: at.file, line: at.line }
    }

    fn edges(&self, edges: &EdgeProfile) -> Vec<(u32, Vec<u64>)> {
        let positions: BTreeMap<BranchId, u32> = self.branches.keys().copied().zip(0..).collect();
        let executed = edges.iter().filter(|(_, arms)| arms.iter().any(|&count| count > 0));
        executed.map(|(branch, arms)| (positions[&branch], arms.to_vec())).collect()
    }

    fn paths(&mut self, found: &Collected, used: &BTreeMap<u32, BTreeSet<PathNumber>>) -> Vec<PathRecord> {
        let mut decoded = Vec::new();
        for version in &found.versions {
            let Some(dag) = &version.dag else { continue };
            for &number in used.get(&version.version.0).into_iter().flatten() {
                let Some(path) = dag.decode(number) else { continue };
                for outcome in &path.branches {
                    let known = self.branches.entry(outcome.branch).or_default();
                    *known = (*known).max(outcome.arm.0 + 1).max(2);
                    self.methods.insert(outcome.branch.method.0);
                }
                decoded.push((version, number, path));
            }
        }
        let positions: BTreeMap<BranchId, u32> = self.branches.keys().copied().zip(0..).collect();
        let mut records = Vec::new();
        for (version, number, path) in decoded {
            let block = |block: BlockId| {
                let (function, position) = version.places[block.index()];
                self.place(function.0, position)
            };
            let first = path.blocks.first().copied().unwrap_or(BlockId(0));
            let last = path.blocks.last().copied().unwrap_or(BlockId(0));
            let record = PathRecord {
                version: version.version.0,
                number,
                begin: block(first),
                begins: if matches!(path.begin, Begin::Cut(_)) { "cut" } else { "entry" }.into(),
                end: block(last),
                ends: if matches!(path.end, End::Exit(_)) { "exit" } else { "cut" }.into(),
                branches: path.branches.iter().map(|at| (positions[&at.branch], at.arm.0)).collect(),
                length: path.branch_count,
            };
            records.push(record);
        }
        let places = records.iter().flat_map(|record| [record.begin.method, record.end.method]);
        self.methods.extend(places.collect::<Vec<_>>());
        records
    }

    fn version(&mut self, of: &CollectedVersion) -> VersionRecord {
        self.methods.insert(of.function.0);
        VersionRecord {
            id: of.version.0,
            method: of.function.0,
            entry: match of.entry {
                Entry::Method => None,
                Entry::Loop(pc) => Some(pc),
            },
            level: of.level.name().into(),
            paths: of.dag.as_ref().map_or(0, holloway_profilers::paths::PathDag::paths),
            additions: of.additions,
            added_ends: of.added_ends,
        }
    }

    fn thread(&mut self, of: &CountedThread, found: &Collected) -> ThreadRecord {
        self.methods.extend(of.function.map(|function| function.0));
        let calls = call_records::records_of(&of.calls, &mut |method, position| {
            self.methods.insert(method);
            self.place(method, position)
        });
        let counted = &of.counted;
        ThreadRecord {
            thread: of.thread,
            threads: of.threads,
            method: of.function.map(|function| function.0),
            edges: found.edges.is_some().then(|| self.edges(&counted.edges)),
            exact: found.paths.is_some().then(|| count_records(&counted.paths)),
            sampled: found.sampled.is_some().then(|| count_records(&counted.samples)),
            // A thread that never ran has no forest yet.
            iterated: found.iterated.as_ref().map(|all| match &counted.forest {
                Some(forest) => forest_record(&Iterated::of(forest)),
                None => ForestRecord { k: all.k, statistics: Statistics::default(), sequences: Vec::new() },
            }),
            windowed: of.windowed.as_ref().map(window_record),
            calls,
            dropped: dropped(&counted.losses),
            work: WorkRecord { hash_operations: counted.hash_operations, hash_probes: counted.hash_probes },
        }
    }

    fn branch_records(&self) -> Vec<BranchRecord> {
        let record = |(branch, &arms): (&BranchId, &u32)| BranchRecord {
            place: self.place(branch.method.0, branch.position),
            arms,
        };
        self.branches.iter().map(record).collect()
    }

    fn methods(&self) -> Vec<MethodRecord> {
        let record = |&id: &u32| {
            let function = &self.program.functions[id as usize];
            let PlaceRecord { file, line, .. } = self.place(id, 0);
            MethodRecord {
                id,
                name: function.name.to_string(),
                fingerprint: of_function(function),
                begin: Some((file, line)),
            }
        };
        self.methods.iter().map(record).collect()
    }

    fn program_record(&self, main: &str) -> ProgramRecord {
        ProgramRecord {
            main: main.into(),
            fingerprint: of_program(self.program),
            files: self.program.files.iter().map(ToString::to_string).collect(),
        }
    }
}
