//! Branch traces in a profile file: how they were understood, the runs of blocks that they show, and the full paths of regions with
//! their weights; with their exact counts, too, if these were asked for.

use super::{PlaceRecord, Writer};
use crate::profiling::CollectedTraces;
use crate::profiling::recorder::arm_of;
use holloway_bytecode::cfg::Cfg;
use holloway_profilers::btb::{Discard, Lengths, Statistics};
use holloway_profilers::{BlockId, BranchId, MethodId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What branch traces say.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TraceRecords {
    /// Different traces that were understood.
    pub traces: u64,
    /// Samples of these.
    pub samples: u64,
    /// Samples that found the table full.
    pub lost: u64,
    /// Samples that found no branch.
    pub empty: u64,
    /// Samples in which a place that was not recorded, or wrong, was found out.
    #[serde(default)]
    pub repaired: u64,
    /// Samples that were not understood, by reason.
    pub discarded: BTreeMap<String, u64>,
    /// Different traces that cross so many calls and returns.
    pub crossings: BTreeMap<u32, u64>,
    /// Instructions of all different partial paths, as recorded.
    pub initial_length: u64,
    /// The same after they were extended to the next point of uncertainty.
    pub extended_length: u64,
    /// The same after they were cut, of different traces; nothing of traces of machine code.
    #[serde(default)]
    pub lengths: Option<Lengths>,
    /// Pieces of partial paths without an edge, in samples: they say nothing.
    pub without_edge: u64,
    /// Samples of the pieces that were matched: the sum of all weights.
    pub flow: u64,
    /// Different pieces that were matched with full paths.
    pub partials: u64,
    /// With how many, added up.
    pub matches: u64,
    /// The runs of blocks on partial paths: what profiles of several runs of the program add up.
    pub runs: Vec<RunRecord>,
    /// Full paths of regions, of which there is a weight or a count.
    pub paths: Vec<RegionPathRecord>,
}

/// Blocks of one activation of a method, one after the other.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RunRecord {
    /// The number of the method.
    pub method: u32,
    /// The words of its bytecode at which the blocks begin.
    pub blocks: Vec<u32>,
    /// How often, in samples.
    pub count: u64,
}

/// A full path: from the entry of a region to where it leaves.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RegionPathRecord {
    /// Where the region is entered.
    pub begin: PlaceRecord,
    /// The last block begins here.
    pub end: PlaceRecord,
    /// The words at which its blocks begin.
    pub blocks: Vec<u32>,
    /// How its branches went: position in the table, arm. How the last block was left is not part of the path.
    pub branches: Vec<(u32, u32)>,
    /// Its weight, in samples.
    pub weight: f64,
    /// How often it was run; null if that was not counted.
    pub count: Option<u64>,
}

fn discarded(statistics: &Statistics) -> BTreeMap<String, u64> {
    let all = Discard::ALL.iter().map(|&reason| (reason.text().to_string(), statistics.discards(reason)));
    all.filter(|&(_, count)| count > 0).collect()
}

impl Writer<'_> {
    /// What was found. All branches are in the table already.
    pub(super) fn traces(&mut self, found: &CollectedTraces) -> TraceRecords {
        let mut paths: BTreeMap<(MethodId, &[BlockId]), (f64, u64)> = BTreeMap::new();
        for path in &found.estimate.paths {
            paths.entry((path.method, &path.full.blocks)).or_default().0 += path.weight;
        }
        for (method, blocks, count) in found.exact.iter().flatten() {
            paths.entry((*method, blocks)).or_default().1 += count;
        }
        let mut graphs = Graphs { of: BTreeMap::new() };
        let positions: BTreeMap<BranchId, u32> = self.branches.keys().copied().zip(0..).collect();
        let records = paths.into_iter().map(|((method, blocks), (weight, count))| {
            let cfg = graphs.get(self, method);
            let starts: Vec<u32> = blocks.iter().map(|&block| cfg.block(at(block)).start).collect();
            let place = |position: Option<&u32>| self.place(method.0, position.copied().unwrap_or(0));
            let branches = blocks.windows(2).filter_map(|pair| {
                let position = cfg.block(at(pair[0])).last;
                let branch = BranchId { method, position };
                let arms = *self.branches.get(&branch)? as usize;
                let mut edges = cfg.out_edges(at(pair[0]));
                let edge = edges.find(|&edge| cfg.target(edge).0 == pair[1].0)?;
                Some((positions[&branch], arm_of(cfg.kind(edge), arms)? as u32))
            });
            RegionPathRecord {
                begin: place(starts.first()),
                end: place(starts.last()),
                branches: branches.collect(),
                blocks: starts,
                weight,
                count: found.exact.is_some().then_some(count),
            }
        });
        let records: Vec<RegionPathRecord> = records.collect();
        let runs = found.runs.methods.iter().flat_map(|of| {
            let cfg = graphs.get(self, of.method);
            of.runs
                .iter()
                .map(|run| RunRecord {
                    method: of.method.0,
                    blocks: run.blocks.iter().map(|&block| cfg.block(at(block)).start).collect(),
                    count: run.count,
                })
                .collect::<Vec<_>>()
        });
        let runs: Vec<RunRecord> = runs.collect();
        self.methods.extend(records.iter().map(|path| path.begin.method));
        self.methods.extend(runs.iter().map(|run| run.method));
        let statistics = &found.statistics;
        let regions = &found.estimate.regions;
        TraceRecords {
            traces: statistics.traces,
            samples: statistics.samples,
            lost: found.recording.lost,
            empty: found.recording.empty,
            repaired: statistics.repaired,
            discarded: discarded(statistics),
            crossings: statistics.crossings.clone(),
            initial_length: statistics.initial_length,
            extended_length: statistics.extended_length,
            lengths: found.lengths,
            without_edge: found.estimate.without_edge,
            flow: regions.iter().map(|region| region.flow).sum(),
            partials: regions.iter().map(|region| region.partials).sum(),
            matches: regions.iter().map(|region| region.matches).sum(),
            runs,
            paths: records,
        }
    }
}

/// The graph's name of a block.
fn at(block: BlockId) -> holloway_bytecode::cfg::BlockId {
    holloway_bytecode::cfg::BlockId(block.0)
}

/// Graphs of methods, made when they are needed.
struct Graphs {
    of: BTreeMap<MethodId, Cfg>,
}

impl Graphs {
    fn get(&mut self, writer: &Writer<'_>, method: MethodId) -> &Cfg {
        let function = &writer.program.functions[method.index()];
        self.of.entry(method).or_insert_with(|| Cfg::of_function(function))
    }
}
