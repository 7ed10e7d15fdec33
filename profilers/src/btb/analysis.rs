//! The off-line phase as two steps: traces become a profile of runs ([`Analysis`]), a profile becomes weights of full
//! paths ([`Estimate`]). Everything that is dropped on the way is counted.
//!
//! Nothing here is bound to the end of the program (open question M6): traces can be added and estimates made at any
//! time, on any thread.

use super::branch::{Recording, Trace};
use super::edges::EdgeCounts;
use super::extent::{Extent, Passage};
use super::layout::{MethodCode, Program};
use super::lengths::{Lengths, Passed};
use super::parameter::OutOfRange;
use super::partial::{Discard, Reconstruction, reconstruct};
use super::paths::{FullPath, PathIndex, Piece, RegionPaths, pieces};
use super::profile::{Conflict, MethodRuns, RunProfile};
use super::regions::{RegionId, RegionOptions, Regions};
use super::runs::{Crossing, split_at_calls};
use super::spans::Spans;
use super::weights::{FirstGuess, Match, Weighting, weigh};
use crate::ids::{BlockId, MethodId};
use std::collections::BTreeMap;

/// Numbers about traces and partial paths. "Traces" are different traces, as in the paper's tables; "samples" are
/// weighed by their counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Traces that were understood.
    pub traces: u64,
    /// Their samples.
    pub samples: u64,
    /// Samples that were discarded, by the position of the reason in [`Discard::ALL`].
    pub discarded: [u64; Discard::ALL.len()],
    /// Samples in which a place was replaced.
    pub repaired: u64,
    /// Samples whose program counter contradicted the last branch and was not used.
    pub pc_ignored: u64,
    /// Samples that found the table full, or the ring empty, while recording.
    pub not_recorded: u64,
    /// Traces by how many calls and returns they cross (the paper's Table 3).
    pub crossings: BTreeMap<u32, u64>,
    /// Their samples in the same way.
    pub crossing_samples: BTreeMap<u32, u64>,
    /// Instructions of all partial paths before extension; divide by `traces` for the paper's Table 2. Of blocks with calls those
    /// pieces count that control was in ([`Extent`]).
    pub initial_length: u64,
    /// The same after extension.
    pub extended_length: u64,
    /// Runs of blocks that partial paths were cut into at calls and returns.
    pub runs: u64,
}

impl Statistics {
    /// How many samples were discarded for a reason.
    #[must_use]
    pub fn discards(&self, reason: Discard) -> u64 {
        self.discarded[reason as usize]
    }

    /// How many samples were discarded.
    #[must_use]
    pub fn all_discards(&self) -> u64 {
        self.discarded.iter().fold(0, |sum, &count| sum.saturating_add(count))
    }
}

/// Traces on their way to a profile.
#[derive(Debug, Clone)]
pub struct Analysis<'p> {
    program: &'p Program,
    reconstruction: Reconstruction,
    crossing: Crossing,
    spans: Option<&'p Spans>,
    statistics: Statistics,
    /// In how many samples.
    runs: BTreeMap<MethodId, BTreeMap<Vec<BlockId>, u64>>,
    /// What partial paths are cut into for their lengths, by how many traces.
    cut: BTreeMap<MethodId, BTreeMap<Vec<Passed>, u64>>,
}

impl<'p> Analysis<'p> {
    /// Ready for traces of this program.
    #[must_use]
    pub fn new(program: &'p Program, reconstruction: Reconstruction, crossing: Crossing) -> Self {
        let statistics = Statistics::default();
        let (runs, cut) = (BTreeMap::new(), BTreeMap::new());
        Self { program, reconstruction, crossing, spans: None, statistics, runs, cut }
    }

    /// Runs are to span these calls; a call that is not one of them suspends a run until it returns. To be said before
    /// there is any trace. Estimates are then made for the program of the spans.
    #[must_use]
    pub fn spanning(mut self, spans: &'p Spans) -> Self {
        self.spans = Some(spans);
        self
    }

    /// The graphs that runs are in.
    fn graphs(&self) -> &'p Program {
        self.spans.map_or(self.program, Spans::program)
    }

    /// Adds all traces of a recording.
    pub fn add_recording(&mut self, recording: &Recording) {
        for trace in &recording.traces {
            self.add(&trace.trace, trace.count);
        }
        add(&mut self.statistics.not_recorded, recording.lost);
        add(&mut self.statistics.not_recorded, recording.empty);
    }

    /// Adds one trace that was sampled `count` times.
    pub fn add(&mut self, trace: &Trace, count: u64) {
        let statistics = &mut self.statistics;
        let path = match reconstruct(self.program, trace, self.reconstruction) {
            Ok(path) => path,
            Err(reason) => {
                add(&mut statistics.discarded[reason as usize], count);
                return;
            }
        };
        statistics.traces += 1;
        add(&mut statistics.samples, count);
        add(&mut statistics.repaired, if path.repaired > 0 { count } else { 0 });
        add(&mut statistics.pc_ignored, if path.pc_ignored { count } else { 0 });
        *statistics.crossings.entry(path.crossings).or_insert(0) += 1;
        add(statistics.crossing_samples.entry(path.crossings).or_insert(0), count);
        let runs = match self.spans {
            Some(spans) => spans.runs(&path),
            None => split_at_calls(&path, self.crossing),
        };
        for run in runs {
            statistics.runs += 1;
            add(self.runs.entry(run.method).or_default().entry(run.blocks).or_insert(0), count);
        }
        self.measure(&Extent::new(self.program, path.initial(), self.reconstruction.extend));
    }

    /// Adds the lengths of a path.
    fn measure(&mut self, extent: &Extent) {
        let program = self.program;
        let passed = |passage: &Passage| {
            let size = program.method(passage.method).map_or(0, |code| passage.size(code));
            Passed { block: passage.block, instructions: size }
        };
        let length = |passages: &[Passage]| passages.iter().map(|of| passed(of).instructions).sum();
        add(&mut self.statistics.initial_length, length(extent.initial()));
        add(&mut self.statistics.extended_length, length(&extent.passages));
        for run in extent.runs() {
            let of_method = self.cut.entry(run[0].method).or_default();
            add(of_method.entry(run.iter().map(passed).collect()).or_insert(0), 1);
        }
    }

    /// The numbers so far.
    #[must_use]
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// How long partial paths are after each cut. Calls cut them always, also if runs rejoin or span calls.
    ///
    /// # Errors
    ///
    /// If the options are not valid.
    pub fn lengths(&self, options: RegionOptions) -> Result<Lengths, OutOfRange> {
        let mut lengths = Lengths::default();
        for (&method, runs) in &self.cut {
            if let Some(code) = self.program.method(method) {
                let runs = runs.iter().map(|(run, &traces)| (run.as_slice(), traces));
                lengths.add(code, options, runs)?;
            }
        }
        Ok(lengths)
    }

    /// The profile so far.
    #[must_use]
    pub fn profile(&self) -> RunProfile {
        let methods = self.runs.iter().filter_map(|(&id, runs)| {
            let code = self.graphs().method(id)?;
            let samples = runs.iter().map(|(blocks, &samples)| (blocks.clone(), samples));
            Some(MethodRuns::new(id, code.fingerprint(), samples.collect()))
        });
        RunProfile { methods: methods.collect() }
    }
}

fn add(sum: &mut u64, count: u64) {
    *sum = sum.saturating_add(count);
}

/// How a profile becomes weights.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EstimateOptions {
    /// How regions are formed.
    pub regions: RegionOptions,
    /// How counts are divided.
    pub weighting: Weighting,
}

/// The weight of one full path.
#[derive(Debug, Clone, PartialEq)]
pub struct PathWeight {
    /// The method.
    pub method: MethodId,
    /// The region.
    pub region: RegionId,
    /// The path's number within the region.
    pub path: PathIndex,
    /// The path.
    pub full: FullPath,
    /// Its weight in samples, above 0.
    pub weight: f64,
}

/// How ambiguous a region was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionSummary {
    /// The method.
    pub method: MethodId,
    /// The region.
    pub region: RegionId,
    /// How many full paths it has.
    pub paths: u64,
    /// How many different partial paths were matched.
    pub partials: u64,
    /// The sizes of their matching sets, added up.
    pub matches: u64,
    /// Their samples.
    pub flow: u64,
}

impl RegionSummary {
    /// The matching ratio: the average size of the matching sets (section 4.6).
    #[must_use]
    pub fn matching_ratio(&self) -> f64 {
        self.matches as f64 / self.partials as f64
    }
}

/// Weights of full paths, and what was not used for them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Estimate {
    /// The paths with weight, in the order of method, region, number.
    pub paths: Vec<PathWeight>,
    /// The regions with evidence, in the same order.
    pub regions: Vec<RegionSummary>,
    /// Pieces that runs were cut into at region boundaries, in samples.
    pub pieces: u64,
    /// Instructions of all pieces, in samples.
    pub pieces_length: u64,
    /// Pieces without an edge, in samples: they carry no information.
    pub without_edge: u64,
    /// Pieces with more matches than allowed, in samples.
    pub ambiguous: u64,
    /// Runs that the code does not have, in samples: the profile is damaged.
    pub invalid: u64,
    /// Counts of other code.
    pub conflicts: Vec<Conflict>,
}

impl Estimate {
    /// The weights of all full paths under these options. The edge profile serves [`FirstGuess::EdgeProfile`] and
    /// cold edges; without one the samples' own edges do.
    ///
    /// # Errors
    ///
    /// If an option is not valid.
    pub fn new(
        program: &Program,
        profile: &RunProfile,
        options: EstimateOptions,
        edges: Option<&EdgeCounts>,
    ) -> Result<Self, OutOfRange> {
        options.weighting.validated()?;
        let mut estimate = Self::default();
        let needs_edges =
            options.weighting.first == FirstGuess::EdgeProfile || options.weighting.cold.is_some();
        let own = (needs_edges && edges.is_none()).then(|| EdgeCounts::of_samples(profile));
        let none = EdgeCounts::new();
        let edges = edges.or(own.as_ref()).unwrap_or(&none);
        // Validates the cap even if there is nothing to do.
        let mut in_order = RunProfile::default();
        estimate.conflicts = in_order.merge(profile).conflicts;
        super::parameter::within("cap of paths in a region", options.regions.cap, 2, RegionOptions::MAX_CAP)?;
        for method in &in_order.methods {
            match program.method(method.method) {
                Some(code) if code.fingerprint() == method.fingerprint => {
                    estimate.method(code, method, options, edges)?;
                }
                code => estimate.conflicts.push(Conflict {
                    method: method.method,
                    kept: code.map(MethodCode::fingerprint),
                    refused: method.fingerprint,
                    count: method.count(),
                }),
            }
        }
        Ok(estimate)
    }

    fn method(
        &mut self,
        code: &MethodCode,
        method: &MethodRuns,
        options: EstimateOptions,
        edges: &EdgeCounts,
    ) -> Result<(), OutOfRange> {
        let regions = Regions::new(code, options.regions)?;
        let mut counts: BTreeMap<Piece, u64> = BTreeMap::new();
        for run in &method.runs {
            let Some(pieces) = pieces(code, &regions, &run.blocks) else {
                add(&mut self.invalid, run.count);
                continue;
            };
            for piece in pieces {
                add(&mut self.pieces, run.count);
                let length: u64 = piece.blocks.iter().map(|&block| code.size(block)).sum();
                add(&mut self.pieces_length, length.saturating_mul(run.count));
                if piece.edges() == 0 {
                    add(&mut self.without_edge, run.count);
                } else {
                    add(counts.entry(piece).or_insert(0), run.count);
                }
            }
        }
        // Pieces are ordered by region first.
        let counts: Vec<(Piece, u64)> = counts.into_iter().collect();
        for group in counts.chunk_by(|(a, _), (b, _)| a.region == b.region) {
            self.region(code, &regions, method.method, group, options.weighting, edges);
        }
        Ok(())
    }

    fn region(
        &mut self,
        code: &MethodCode,
        regions: &Regions,
        method: MethodId,
        group: &[(Piece, u64)],
        weighting: Weighting,
        edges: &EdgeCounts,
    ) {
        let Some(region) = group.first().map(|(piece, _)| piece.region) else { return };
        let paths = RegionPaths::new(code, regions, region);
        let count = |from, to| edges.get(method, from, to);
        let cold = weighting.cold.map(|cold| paths.cold(code, cold.fraction, count));
        let prior = (weighting.first == FirstGuess::EdgeProfile).then(|| paths.prior(code, count));
        let mut summary =
            RegionSummary { method, region, paths: paths.count() as u64, partials: 0, matches: 0, flow: 0 };
        let mut evidence = Vec::new();
        for (piece, count) in group {
            let Some(mut set) = paths.matching(regions, piece) else {
                add(&mut self.invalid, *count);
                continue;
            };
            if let Some(cold) = &cold {
                let mut warm = set.clone();
                warm.subtract(cold);
                if !warm.is_empty() {
                    set = warm;
                }
            }
            let matches = set.count();
            if weighting.most_matches.is_some_and(|most| matches > most as usize) {
                add(&mut self.ambiguous, *count);
                continue;
            }
            summary.partials += 1;
            summary.matches += matches as u64;
            add(&mut summary.flow, *count);
            evidence.push(Match { paths: set, count: *count });
        }
        if evidence.is_empty() {
            return;
        }
        let weighed = weigh(paths.count(), &evidence, prior.as_deref(), weighting.em);
        for (number, weight) in weighed.weights.into_iter().enumerate().filter(|(_, weight)| *weight > 0.0) {
            let path = PathIndex(number as u32);
            if let Some(full) = paths.path(path) {
                self.paths.push(PathWeight { method, region, path, full, weight });
            }
        }
        self.regions.push(summary);
    }

    /// The paths from the heaviest to the lightest; of equal ones the first in the order of method, region, number.
    #[must_use]
    pub fn ranked(&self) -> Vec<&PathWeight> {
        let mut paths: Vec<&PathWeight> = self.paths.iter().collect();
        paths.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        paths
    }

    /// The sum of all weights.
    #[must_use]
    pub fn flow(&self) -> f64 {
        self.paths.iter().map(|path| path.weight).sum()
    }
}
