//! Subpaths in a profile file: the most executed ones of all, those that were sampled with their estimates, and how well the
//! encodings tell subpaths apart.
//!
//! Of all subpaths, of which there may be millions, the file has the first by their count. If a sample is in the same file, it
//! has also all that count as the same as one of these or as one that was sampled: so the estimates can be held
//! against the truth to the last count.

use super::{PlaceRecord, Writer};
use crate::profiling::spec::SubpathOptions;
use crate::profiling::{CollectedSubpaths, SampledSubpaths};
use holloway_profilers::BlockId;
use holloway_profilers::osp::{Encoder, Encoding, Exhaustive, Keeping, Row, Stratum, census};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What is known of subpaths.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SubpathRecords {
    /// The blocks that something below refers to.
    pub blocks: Vec<BlockRecord>,
    /// All subpaths, counted.
    pub exact: Option<ExactSubpathRecord>,
    /// A sample of them.
    pub sampled: Option<SubpathSampleRecord>,
}

/// A block of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BlockRecord {
    /// Its number in the whole program, from which identities are made.
    pub number: u32,
    /// Where it begins.
    #[serde(flatten)]
    pub place: PlaceRecord,
    /// Back edges lead there.
    pub header: bool,
}

/// All subpaths.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ExactSubpathRecord {
    /// Blocks that were executed.
    pub blocks: u64,
    /// The same of each thread, without those that executed none; empty in files from before this was told.
    #[serde(default)]
    pub threads: Vec<u64>,
    /// How many subpaths of each length were executed.
    pub lengths: Vec<(u32, u64)>,
    /// Different subpaths.
    pub distinct: u64,
    /// How encodings divide them; nothing with `census=no`.
    pub encodings: Vec<CensusRecord>,
    /// Subpaths with their counts, the most executed first.
    pub paths: Vec<SubpathRecord>,
}

/// A subpath and how often it was executed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SubpathRecord {
    /// Its blocks, by their positions in the table.
    pub blocks: Vec<u32>,
    /// How often.
    pub count: u64,
}

/// What an encoding takes for the same.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CensusRecord {
    /// Which one.
    pub encoding: Encoding,
    /// Different identities.
    pub classes: u64,
    /// Executions of subpaths that share theirs.
    pub merged_flow: u64,
    /// Executions of those that share theirs with one that is no rotation.
    pub false_flow: u64,
    /// Executions of all.
    pub flow: u64,
}

/// A sample of subpaths.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SubpathSampleRecord {
    /// Which subpaths count as the same.
    pub encoding: Encoding,
    /// The seed of that.
    pub encoding_seed: u64,
    /// Only subpaths that start with a loop's header were sampled.
    pub at_loops: bool,
    /// Are the estimates shares of what is not known, because ticks start samples.
    pub by_ticks: bool,
    /// What a full list did.
    pub list: Keeping,
    /// The mean number of blocks between samples, at the end.
    pub rate: u64,
    /// Of so many samples of what was not in a counting list, one came in at the end.
    pub threshold: u64,
    /// Blocks that were passed; with ticks, what these are taken for.
    pub blocks: u64,
    /// Subpaths that were completed, and those that were not.
    pub taken: u64,
    /// See above.
    pub abandoned: u64,
    /// How often a list was full.
    pub thinnings: u64,
    /// Bytes of one thread's profiler, descriptions included.
    pub bytes: u64,
    /// How many subpaths its list can hold; 0 in files from before this was told.
    #[serde(default)]
    pub entries: u64,
    /// Threads that had one.
    pub threads: u64,
    /// Lengths: with which probability each was sampled, and how many subpaths of it were executed.
    pub lengths: Vec<Stratum>,
    /// What is left of the samples, the largest estimate first.
    pub paths: Vec<EstimateRecord>,
}

/// A sampled subpath.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EstimateRecord {
    /// How many blocks it has.
    pub length: u32,
    /// Its identity among those of the same length.
    pub id: u64,
    /// Samples.
    pub count: u64,
    /// How often it was executed, by estimate.
    pub estimate: f64,
    /// The 95 % confidence interval of that: from here
    pub low: f64,
    /// to here.
    pub high: f64,
    /// So often at least, surely for all subpaths of the sample together.
    pub surely: f64,
    /// Its blocks, by their positions in the table, of the first that was sampled; null if it was not described.
    pub blocks: Option<Vec<u32>>,
}

/// The subpaths of the truth that the file has.
fn kept(exact: &Exhaustive, top: usize, sampled: Option<&SampledSubpaths>) -> Vec<(Vec<BlockId>, u64)> {
    let Some(sampled) = sampled else { return exact.top(top) };
    let encoder = sampled.encoder();
    // Of millions of long subpaths, identities take longest: each is made once, and found again by the order.
    let mut identities: Vec<(u32, u64)> = Vec::with_capacity(exact.distinct());
    let mut classes: HashMap<(u32, u64), u64> = HashMap::new();
    exact.for_each(|blocks, count| {
        let identity = (blocks.len() as u32, encoder.encode(blocks));
        identities.push(identity);
        *classes.entry(identity).or_default() += count;
    });
    let mut ranked: Vec<((u32, u64), u64)> = classes.into_iter().collect();
    ranked.sort_unstable_by_key(|&(class, count)| (std::cmp::Reverse(count), class));
    ranked.truncate(top);
    let mut wanted: HashSet<(u32, u64)> = ranked.into_iter().map(|ranked| ranked.0).collect();
    wanted.extend(sampled.sample.rows.iter().map(|row: &Row| (row.length, row.id)));
    let mut kept = Vec::new();
    let mut order = identities.into_iter();
    exact.for_each(|blocks, count| {
        if order.next().is_some_and(|identity| wanted.contains(&identity)) {
            kept.push((blocks.to_vec(), count));
        }
    });
    kept.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| (a.0.len(), &a.0).cmp(&(b.0.len(), &b.0))));
    kept
}

/// Blocks in the table, by number.
#[derive(Default)]
struct Blocks {
    positions: BTreeMap<u32, u32>,
}

impl Blocks {
    fn note(&mut self, blocks: &[BlockId]) {
        for block in blocks {
            self.positions.entry(block.0).or_default();
        }
    }

    fn of(&self, blocks: &[BlockId]) -> Vec<u32> {
        blocks.iter().map(|block| self.positions.get(&block.0).copied().unwrap_or_default()).collect()
    }
}

impl Writer<'_> {
    /// What was found.
    pub(super) fn subpaths(&mut self, found: &CollectedSubpaths) -> SubpathRecords {
        let (exact, sampled) = (found.exact.as_ref(), found.sampled.as_ref());
        let kept = exact.map(|(options, exact)| kept(exact, options.top as usize, sampled));
        let mut blocks = Blocks::default();
        kept.iter().flatten().for_each(|(path, _)| blocks.note(path));
        let rows = sampled.iter().flat_map(|sampled| &sampled.report.paths);
        rows.filter_map(|row| row.blocks.as_deref()).for_each(|path| blocks.note(path));
        // Numbers that no block has come from identities that collided: they are not shown.
        blocks.positions.retain(|&number, _| (number as usize) < found.places.len());
        blocks.positions.values_mut().zip(0..).for_each(|(position, at)| *position = at);
        let record = |&number: &u32| {
            let place = found.places[number as usize];
            BlockRecord { number, place: self.place(place.method, place.position), header: place.header }
        };
        let table: Vec<BlockRecord> = blocks.positions.keys().map(record).collect();
        self.methods.extend(table.iter().map(|block| block.place.method));
        SubpathRecords {
            exact: exact
                .zip(kept)
                .map(|((options, exact), kept)| exact_record(options, exact, kept, &blocks)),
            sampled: sampled.map(|sampled| sample_record(sampled, &blocks)),
            blocks: table,
        }
    }
}

fn exact_record(
    options: &SubpathOptions,
    exact: &Exhaustive,
    kept: Vec<(Vec<BlockId>, u64)>,
    blocks: &Blocks,
) -> ExactSubpathRecord {
    let wanted = if options.census { Encoding::ALL.as_slice() } else { &[] };
    let encodings = wanted.iter().map(|&encoding| {
        let of = census(exact, Encoder::new(encoding, 1));
        CensusRecord {
            encoding,
            classes: of.classes,
            merged_flow: of.merged_flow,
            false_flow: of.false_flow,
            flow: of.flow,
        }
    });
    ExactSubpathRecord {
        blocks: exact.blocks(),
        threads: exact.threads().into_iter().filter(|&blocks| blocks > 0).collect(),
        lengths: exact.lengths(),
        distinct: exact.distinct() as u64,
        encodings: encodings.collect(),
        paths: kept
            .into_iter()
            .map(|(path, count)| SubpathRecord { blocks: blocks.of(&path), count })
            .collect(),
    }
}

fn sample_record(found: &SampledSubpaths, blocks: &Blocks) -> SubpathSampleRecord {
    let SampledSubpaths { options, sample, report, work, .. } = found;
    SubpathSampleRecord {
        encoding: sample.encoding,
        encoding_seed: sample.encoding_seed,
        at_loops: options.at_loops,
        by_ticks: options.is_by_ticks(),
        list: sample.keeping,
        rate: sample.rate,
        threshold: sample.threshold,
        blocks: found.blocks,
        taken: work.taken,
        abandoned: work.abandoned,
        thinnings: work.thinnings,
        bytes: found.bytes,
        entries: found.entries,
        threads: found.threads,
        lengths: sample.strata.clone(),
        paths: report
            .paths
            .iter()
            .map(|row| EstimateRecord {
                length: row.length,
                id: row.id,
                count: row.count,
                estimate: row.estimate,
                low: row.interval.0,
                high: row.interval.1,
                surely: row.surely,
                blocks: row.blocks.as_deref().map(|path| blocks.of(path)),
            })
            .collect(),
    }
}
