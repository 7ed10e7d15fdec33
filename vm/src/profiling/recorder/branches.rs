//! Branch traces: the ring of the running thread, the clock that says when to copy it, the table of copies, and what the analysis
//! makes of it all.
//!
//! One clock for all threads: a sample is due after so many taken branches of the program, or so many ticks, and shows the ring
//! of the thread that runs then. The rings of the other threads wait. In a burst it shows the branches that come next, behind some that are
//! passed over by chance.

use super::Event;
use super::analyst::{Analyst, TraceReader};
use super::blocks::{BlockTable, region_graphs};
use super::burst::DELAY;
use super::exact::{ExactPaths, PathCount};
use crate::profiling::native::VersionBranches;
use crate::profiling::spec::BtbOptions;
use crate::threads::ThreadNumber;
use holloway_bytecode::Program;
use holloway_profilers::btb::{
    self, Analysis, BranchKind, Clock, EdgeCounts, Estimate, Lengths, Noise, Place, Reconstruction,
    Recording, Ring, RunProfile, Spans, Statistics, TakenBranch, TraceTable,
};
use holloway_profilers::osp::Random;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Different traces that are kept; samples of further ones are counted as lost.
const MOST_TRACES: usize = 1 << 16;

/// What branch traces say.
#[derive(Clone, Debug)]
pub struct CollectedTraces {
    /// What was asked for.
    pub options: BtbOptions,
    /// The traces.
    pub recording: Recording,
    /// How they were understood.
    pub statistics: Statistics,
    /// The runs of blocks on them.
    pub runs: RunProfile,
    /// What regions span, if they span calls: then `runs` and paths are in its graphs.
    pub spans: Option<Arc<Spans>>,
    /// How long partial paths are after each cut: instructions of bytecode, or of the machine code if they are of that.
    pub lengths: Option<Lengths>,
    /// The weights of full paths.
    pub estimate: Estimate,
    /// The truth, if it was asked for: full paths with their counts.
    pub exact: Option<Vec<PathCount>>,
    /// The branches of the machine code to which the traces belong, if they are of machine code.
    pub machine: BTreeMap<u32, VersionBranches>,
}

/// The branch trace buffers of a machine's threads.
pub(crate) struct BranchTraces {
    options: BtbOptions,
    clock: Clock,
    table: TraceTable,
    running: ThreadNumber,
    ring: Ring,
    rings: BTreeMap<ThreadNumber, Ring>,
    scratch: Vec<TakenBranch>,
    /// So many more branches are taken until a burst is over.
    until_burst_ends: u64,
    /// For how many that are.
    random: Random,
    /// If records are to be as inexact as those of hardware.
    noise: Option<Noise>,
    exact: Option<ExactPaths>,
    /// If regions span calls.
    spans: Option<Arc<Spans>>,
    /// Takes the place of the table if the traces are analysed while the program runs.
    analyst: Option<Analyst>,
}

impl BranchTraces {
    /// Empty buffers. `Err` says which parameter is out of range.
    pub fn new(
        options: BtbOptions,
        program: &Program,
        spans: Option<Arc<Spans>>,
    ) -> Result<BranchTraces, String> {
        let wrong = |error: btb::OutOfRange| format!("btb: {error}");
        let clock = Clock::new(options.period, options.spread.into(), options.seed).map_err(wrong)?;
        let count = program.functions.len();
        let analyst = match options.background {
            true => {
                let table = TraceTable::new(MOST_TRACES).map_err(wrong)?;
                Some(Analyst::start(region_graphs(program), spans.clone(), table, options)?)
            }
            false => None,
        };
        Ok(BranchTraces {
            analyst,
            clock,
            table: TraceTable::new(MOST_TRACES).map_err(wrong)?,
            running: 0,
            ring: Ring::new(options.depth as usize).map_err(wrong)?,
            rings: BTreeMap::new(),
            scratch: Vec::with_capacity(options.depth as usize),
            until_burst_ends: 0,
            random: Random::new(options.seed),
            noise: match options.noise {
                0 => None,
                percent => Some(Noise::new(percent, options.seed).map_err(wrong)?),
            },
            exact: options.exact.then(|| match &spans {
                Some(of) => ExactPaths::new(of.program(), count, options.regions(), spans.clone()),
                None => ExactPaths::new(&region_graphs(program), count, options.regions(), None),
            }),
            spans,
            options,
        })
    }

    /// The running thread took a branch.
    #[inline]
    pub fn taken(&mut self, kind: BranchKind, source: Place, target: Place) {
        self.ring.push(TakenBranch { source, target, kind });
        self.until_burst_ends = self.until_burst_ends.saturating_sub(1);
        if self.clock.branch() {
            self.sample(None);
        }
    }

    /// Nobody knows what the running thread did until now.
    pub fn interrupted(&mut self) {
        self.ring.clear();
    }

    /// Follows a move for the truth.
    #[inline]
    pub fn follow(&mut self, event: Event, blocks: &BlockTable) {
        if let Some(exact) = &mut self.exact {
            exact.follow(event, blocks);
        }
    }

    /// Are ticks needed.
    pub fn wants_ticks(&self) -> bool {
        self.options.period.ticks().is_some()
    }

    /// A tick: is a sample due.
    pub fn tick(&mut self) -> bool {
        self.clock.ticks(1)
    }

    /// A burst begins.
    pub fn begin_burst(&mut self) {
        self.until_burst_ends = self.random.bits() % DELAY + self.ring.depth() as u64;
    }

    /// Has a burst passed over enough, and is the buffer full.
    pub fn is_burst_over(&self) -> bool {
        self.until_burst_ends == 0 && self.ring.len() == self.ring.depth()
    }

    /// Takes a sample.
    pub fn sample(&mut self, at: Option<Place>) {
        self.ring.snapshot(&mut self.scratch);
        if let Some(noise) = &mut self.noise {
            noise.disturb(&mut self.scratch);
        }
        match &mut self.analyst {
            Some(analyst) => analyst.record(&self.scratch, at),
            None => self.table.record(&self.scratch, at),
        }
    }

    /// For who wants to know what the traces say while the program runs.
    pub fn reader(&self) -> Option<TraceReader> {
        self.analyst.as_ref().map(Analyst::reader)
    }

    /// This thread runs from here on.
    pub fn switch_to(&mut self, thread: ThreadNumber) {
        if thread != self.running {
            let mut ring = self.rings.remove(&thread);
            let next = ring.take().or_else(|| Ring::new(self.options.depth as usize).ok());
            if let Some(next) = next {
                let parked = std::mem::replace(&mut self.ring, next);
                self.rings.insert(self.running, parked);
            }
            self.running = thread;
        }
        self.exact.iter_mut().for_each(|exact| exact.switch_to(thread));
    }

    /// A thread is over.
    pub fn thread_ends(&mut self, thread: ThreadNumber) {
        self.rings.remove(&thread);
        if thread == self.running {
            self.ring.clear();
        }
        self.exact.iter_mut().for_each(|exact| exact.thread_ends(thread));
    }

    /// What the traces say so far. `edges` is an edge profile, for the weights that want one.
    pub fn collect(&self, program: &Program, edges: &EdgeCounts) -> CollectedTraces {
        let of_analyst = self.analyst.as_ref().and_then(Analyst::table);
        let table = of_analyst.as_ref().unwrap_or(&self.table);
        let recording = Recording {
            depth: self.ring.depth(),
            period: self.clock.period(),
            traces: table.traces(),
            // What an analyst had that came to harm is lost.
            lost: match (&self.analyst, &of_analyst) {
                (Some(analyst), None) => analyst.samples(),
                _ => table.lost(),
            },
            empty: table.empty(),
        };
        let methods = region_graphs(program);
        let spans = self.spans.as_deref();
        let mut analysis = analysis(&methods, spans, self.options);
        analysis.add_recording(&recording);
        let runs = analysis.profile();
        let spanned = spans.map(|spans| spans.edges(edges));
        let (graphs, edges) = (spans.map_or(&methods, Spans::program), spanned.as_ref().unwrap_or(edges));
        // The options were checked when they were read.
        let estimate = Estimate::new(graphs, &runs, self.options.estimate(), Some(edges));
        CollectedTraces {
            options: self.options,
            statistics: analysis.statistics().clone(),
            recording,
            lengths: analysis.lengths(self.options.regions()).ok(),
            runs,
            estimate: estimate.unwrap_or_default(),
            exact: self.exact.as_ref().map(ExactPaths::counts),
            machine: BTreeMap::new(),
            spans: self.spans.clone(),
        }
    }
}

/// An analysis without traces yet.
pub(super) fn analysis<'p>(
    methods: &'p btb::Program,
    spans: Option<&'p Spans>,
    options: BtbOptions,
) -> Analysis<'p> {
    let analysis = Analysis::new(methods, Reconstruction::default(), options.crossing);
    match spans {
        Some(spans) => analysis.spanning(spans),
        None => analysis,
    }
}
