//! Branch traces in a profile file: how they were understood, the runs of blocks that they show, and the full paths of regions with
//! their weights; with their exact counts, too, if these were asked for.
//!
//! A block is the word of its method's bytecode at which it begins. Where regions span hot calls, a method has more blocks than
//! those in its bytecode, and words behind it for them, site by site: one for the second half of the site's block, then
//! those of the callee's bytecode ([`SiteRecord`]).

use super::{PlaceRecord, Writer};
use crate::profiling::CollectedTraces;
use crate::profiling::recorder::arm_of;
use holloway_bytecode::cfg::Cfg;
use holloway_profilers::btb::{Discard, Inlined, Lengths, Part, Spans, Statistics};
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
    /// Samples of them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub crossing_samples: BTreeMap<u32, u64>,
    /// Instructions of all different partial paths, as recorded.
    pub initial_length: u64,
    /// The same after they were extended to the next point of uncertainty.
    pub extended_length: u64,
    /// The same after they were cut, of different traces; nothing in a file from before they were kept.
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
    /// The hot calls that regions span, if they do, in the order of methods and of the words of their second halves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<SiteRecord>,
    /// The runs of blocks on partial paths: what profiles of several runs of the program add up.
    pub runs: Vec<RunRecord>,
    /// Full paths of regions, of which there is a weight or a count.
    pub paths: Vec<RegionPathRecord>,
}

/// A hot call that regions span.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SiteRecord {
    /// The number of the method that calls.
    pub method: u32,
    /// The word at which the block of the call begins; it stands for the block up to the call.
    pub block: u32,
    /// The word that stands for the block from the call on. Words above it are those of the callee.
    pub after: u32,
    /// The number of the method that is called.
    pub callee: u32,
    /// Nothing else can be called there.
    pub only: bool,
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
    /// The number of the method whose region it is, if it begins elsewhere: in a callee that the region spans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<u32>,
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

impl RegionPathRecord {
    /// The number of the method whose region it is.
    pub fn owner(&self) -> u32 {
        self.method.unwrap_or(self.begin.method)
    }
}

impl TraceRecords {
    /// Method and word at which a block begins that a method's path or run names.
    pub fn place_of(&self, method: u32, block: u32) -> (u32, u32) {
        let after = self.sites.partition_point(|site| (site.method, site.after) <= (method, block));
        let site = after.checked_sub(1).map(|at| self.sites[at]);
        match site.filter(|site| site.method == method && site.after <= block) {
            None => (method, block),
            Some(site) if site.after == block => (method, site.block),
            Some(site) => (site.callee, block - site.after - 1),
        }
    }
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
        let mut graphs = Graphs { of: BTreeMap::new(), afters: BTreeMap::new() };
        let sites = self.sites(found.spans.as_deref(), &mut graphs);
        let spans = found.spans.as_deref();
        let inlined = |method: MethodId| spans.and_then(|spans| spans.inlined(method));
        let positions: BTreeMap<BranchId, u32> = self.branches.keys().copied().zip(0..).collect();
        let records = paths.into_iter().map(|((method, blocks), (weight, count))| {
            let named: Vec<Named> =
                blocks.iter().map(|&block| graphs.name(self, method, inlined(method), block)).collect();
            let place = |named: Option<&Named>| {
                named.map_or(self.place(method.0, 0), |of| self.place(of.method.0, of.start))
            };
            let begin = place(named.first());
            let branches: Vec<(u32, u32)> = named
                .windows(2)
                .filter_map(|pair| {
                    // To a callee and from it there is no branch.
                    let [from, to] = [pair[0], pair[1]];
                    if from.part == Part::BeforeCall || to.part == Part::AfterCall {
                        return None;
                    }
                    let cfg = graphs.get(self, from.method);
                    let branch = BranchId { method: from.method, position: cfg.block(at(from.block)).last };
                    let arms = *self.branches.get(&branch)? as usize;
                    let edge =
                        cfg.out_edges(at(from.block)).find(|&edge| cfg.target(edge).0 == to.block.0)?;
                    Some((positions[&branch], arm_of(cfg.kind(edge), arms)? as u32))
                })
                .collect();
            RegionPathRecord {
                method: (begin.method != method.0).then_some(method.0),
                begin,
                end: place(named.last()),
                branches,
                blocks: named.iter().map(|of| of.word).collect(),
                weight,
                count: found.exact.is_some().then_some(count),
            }
        });
        let records: Vec<RegionPathRecord> = records.collect();
        let runs = found.runs.methods.iter().flat_map(|of| {
            let inlined = inlined(of.method);
            let mut word = |&block| graphs.name(self, of.method, inlined, block).word;
            of.runs
                .iter()
                .map(|run| RunRecord {
                    method: of.method.0,
                    blocks: run.blocks.iter().map(&mut word).collect(),
                    count: run.count,
                })
                .collect::<Vec<_>>()
        });
        let runs: Vec<RunRecord> = runs.collect();
        let of_paths = records.iter().flat_map(|path| [path.owner(), path.begin.method, path.end.method]);
        self.methods.extend(of_paths.chain(runs.iter().map(|run| run.method)));
        self.methods.extend(sites.iter().flat_map(|site| [site.method, site.callee]));
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
            crossing_samples: statistics.crossing_samples.clone(),
            initial_length: statistics.initial_length,
            extended_length: statistics.extended_length,
            lengths: found.lengths,
            without_edge: found.estimate.without_edge,
            flow: regions.iter().map(|region| region.flow).sum(),
            partials: regions.iter().map(|region| region.partials).sum(),
            matches: regions.iter().map(|region| region.matches).sum(),
            sites,
            runs,
            paths: records,
        }
    }

    /// The hot calls, with the words of what they add to their methods.
    fn sites(&self, spans: Option<&Spans>, graphs: &mut Graphs) -> Vec<SiteRecord> {
        let words = |method: MethodId| self.program.functions[method.index()].code.len() as u32;
        let mut records = Vec::new();
        for inlined in spans.iter().flat_map(|spans| spans.all()) {
            let method = inlined.method();
            let mut after = words(method);
            for site in inlined.sites() {
                let block = graphs.get(self, method).block(at(site.block)).start;
                let (callee, only) = (site.callee.0, site.only);
                records.push(SiteRecord { method: method.0, block, after, callee, only });
                graphs.afters.entry(method).or_default().push(after);
                after += 1 + words(site.callee);
            }
        }
        records
    }
}

/// A block of a method's graph, found in the bytecode.
#[derive(Clone, Copy)]
struct Named {
    /// The method in whose bytecode it is.
    method: MethodId,
    block: BlockId,
    part: Part,
    /// The word there at which it begins.
    start: u32,
    /// The word that the file has for it.
    word: u32,
}

/// The graph's name of a block.
fn at(block: BlockId) -> holloway_bytecode::cfg::BlockId {
    holloway_bytecode::cfg::BlockId(block.0)
}

/// Graphs of methods, made when they are needed.
struct Graphs {
    of: BTreeMap<MethodId, Cfg>,
    /// The words of the second halves at a method's hot sites.
    afters: BTreeMap<MethodId, Vec<u32>>,
}

impl Graphs {
    fn get(&mut self, writer: &Writer<'_>, method: MethodId) -> &Cfg {
        let function = &writer.program.functions[method.index()];
        self.of.entry(method).or_insert_with(|| Cfg::of_function(function))
    }

    /// A block of a method's graph, with its hot callees if it has some.
    fn name(
        &mut self,
        writer: &Writer<'_>,
        method: MethodId,
        inlined: Option<&Inlined>,
        block: BlockId,
    ) -> Named {
        let site = inlined.and_then(|of| of.sites().iter().rposition(|site| site.after <= block));
        let origin = inlined.and_then(|of| of.origin(block));
        let (of, block, part) =
            origin.map_or((method, block, Part::Whole), |origin| (origin.method, origin.block, origin.part));
        let start = self.get(writer, of).block(at(block)).start;
        let after = site.and_then(|site| self.afters.get(&method)?.get(site).copied());
        let word = match (after, part) {
            (None, _) => start,
            (Some(after), Part::AfterCall) => after,
            (Some(after), _) => after + 1 + start,
        };
        Named { method: of, block, part, start, word }
    }
}
