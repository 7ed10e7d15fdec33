//! Branch traces of compiled code as the processor sees them: addresses, not places of the program.
//!
//! ```text
//! lbr:  perf_event_open ──► records ─┐
//! step: trap flag ──► handler ───────┴─► addresses ──places──► taken branches of pieces of code ──► TraceTable
//!                                                                                                    │ Analysis, on the
//!             weights of full paths ◄── Estimate ◄── runs of the program's blocks ◄── translate ◄────┘ machine code's graph
//! ```
//!
//! | file | what it does |
//! |---|---|
//! | `perf_events` | the processor's own records, by way of the kernel |
//! | `records` | what the bytes of these mean |
//! | `step` | the same branches, by stepping through the code |
//! | `decode` | what kind of branch an instruction is |
//! | `table` | what the compiler says of the branches of its code |
//! | `places` | from addresses to places in machine code |
//! | `translate` | from runs of machine code to runs of the program |
//!
//! Machine code is the same as without: the compiler only keeps a table of its blocks. A trace is understood on the graph of the
//! machine code, where it happened, and then told in terms of the program; inlined methods come apart there.

mod decode;
mod perf_events;
mod places;
mod records;
mod step;
mod table;
mod translate;

pub use perf_events::{BranchRecords, Refused, counters};
pub use places::{Here, NativeSample, understand};
pub use records::{Records, parse};
pub use table::{NativeBlock, Outcome, VersionBranches};
pub use translate::{Methods, translate};

use super::recorder::{CollectedTraces, region_graphs};
use super::spec::{Backend, BtbOptions};
use super::state::Version;
use crate::compiled::CodeMap;
use holloway_bytecode::Program;
use holloway_bytecode::cfg::Cfg;
use holloway_profilers::btb::{
    self, Analysis, Clock, EdgeCounts, Estimate, MethodRuns, Reconstruction, Recording, RunCount, RunProfile,
    TraceTable,
};
use holloway_profilers::{BlockId, MethodId};
use std::collections::BTreeMap;
use step::Stepper;

/// Different traces that are kept; samples of further ones are counted as lost.
const MOST_TRACES: usize = 1 << 16;

/// Who records.
enum Source {
    Processor(BranchRecords),
    Stepper(Stepper),
}

/// The branch records of a machine's compiled code.
pub(crate) struct NativeTraces {
    options: BtbOptions,
    source: Source,
    clock: Clock,
    table: TraceTable,
    /// Samples that the kernel lost, or that make no sense.
    lost: u64,
    scratch: Vec<btb::TakenBranch>,
}

impl NativeTraces {
    /// Begins to record the calling thread, if the back end is one of these. `Err` says why that cannot be and what to do.
    pub fn new(options: Option<BtbOptions>) -> Result<Option<NativeTraces>, String> {
        let Some(options) = options else { return Ok(None) };
        let source = match options.backend {
            Backend::Lbr => {
                let period = options.period.branches().unwrap_or(1);
                let records = BranchRecords::open(period).map_err(|why| {
                    format!(
                        "btb:backend=lbr: {why}; `holloway doctor` says what this machine has, and backend=step \
                         or backend=burst need no such records"
                    )
                })?;
                Source::Processor(records)
            }
            Backend::Step => Source::Stepper(
                Stepper::new(options.seed)
                    .map_err(|why| format!("btb:backend=step: {why}; backend=burst does not step"))?,
            ),
            Backend::Recorder | Backend::Burst => return Ok(None),
        };
        let wrong = |error: btb::OutOfRange| format!("btb: {error}");
        Ok(Some(NativeTraces {
            source,
            clock: Clock::new(options.period, options.spread.into(), options.seed).map_err(wrong)?,
            table: TraceTable::new(MOST_TRACES).map_err(wrong)?,
            lost: 0,
            scratch: Vec::new(),
            options,
        }))
    }

    /// A tick, of a clock or not, while compiled code is at these addresses. Where ticks of a clock come sooner than samples are over, some are
    /// left out, or the program would never get on.
    pub fn tick(
        &mut self,
        map: &CodeMap,
        versions: &BTreeMap<u32, Version>,
        area: Option<std::ops::Range<u64>>,
        by_clock: bool,
    ) {
        self.take(map, versions);
        let due = self.clock.ticks(1);
        if let (Source::Stepper(stepper), true, Some(area)) = (&mut self.source, due, area)
            && !(by_clock && stepper.has_to_rest())
        {
            stepper.begin(area, self.options.depth as usize);
        }
    }

    /// Counts what was recorded. The code of the records must still be there: this comes before any goes.
    pub fn take(&mut self, map: &CodeMap, versions: &BTreeMap<u32, Version>) {
        let samples = match &mut self.source {
            Source::Stepper(stepper) => stepper.take().into_iter().collect(),
            Source::Processor(records) => {
                let Records { samples, lost, damaged } = parse(&records.take(), self.options.depth as usize);
                self.lost = self.lost.saturating_add(lost).saturating_add(damaged);
                samples
            }
        };
        let find = |address: u64| {
            let object = map.find(address as *const u8)?;
            let offset = object.offset(address as *const u8)?;
            // The end of a piece belongs to the call before it, or to nobody.
            let branches = versions.get(&object.id.0)?.instrumented.branches.as_ref()?;
            Some(Here { code: object.id.0, offset, bytes: &object.tables.bytes, branches })
        };
        for sample in samples {
            let at = understand(&sample, find, &mut self.scratch);
            self.table.record(&self.scratch, at);
        }
    }

    /// What the traces say so far. `edges` is an edge profile, for the weights that want one.
    pub fn collect(
        &self,
        program: &Program,
        versions: &BTreeMap<u32, Version>,
        edges: &EdgeCounts,
    ) -> CollectedTraces {
        let recording = Recording {
            depth: self.options.depth as usize,
            period: self.clock.period(),
            traces: self.table.traces(),
            lost: self.table.lost().saturating_add(self.lost),
            empty: self.table.empty(),
        };
        let tables = versions.iter().filter_map(|(&id, of)| Some((id, of.instrumented.branches.clone()?)));
        let tables: BTreeMap<u32, VersionBranches> = tables.collect();
        let Analysed { statistics, lengths, runs } = analyse(program, &tables, &recording, self.options);
        let estimate = Estimate::new(&region_graphs(program), &runs, self.options.estimate(), Some(edges));
        CollectedTraces {
            options: self.options,
            statistics,
            recording,
            lengths,
            runs,
            estimate: estimate.unwrap_or_default(),
            exact: None,
            machine: tables,
            spans: None,
        }
    }
}

/// Graphs of a program's methods.
struct Graphs<'p> {
    program: &'p Program,
    known: BTreeMap<MethodId, Cfg>,
}

impl Methods for Graphs<'_> {
    fn cfg(&mut self, method: MethodId) -> Option<&Cfg> {
        let function = self.program.functions.get(method.index())?;
        Some(self.known.entry(method).or_insert_with(|| Cfg::of_function(function)))
    }
}

/// What traces of machine code say.
pub struct Analysed {
    /// How they were understood.
    pub statistics: btb::Statistics,
    /// How long partial paths are after each cut, in instructions of machine code.
    pub lengths: Option<btb::Lengths>,
    /// The runs of the program's blocks that they show.
    pub runs: RunProfile,
}

/// Understands traces of machine code on its graph, and tells them in terms of the program.
pub fn analyse(
    program: &Program,
    tables: &BTreeMap<u32, VersionBranches>,
    recording: &Recording,
    options: BtbOptions,
) -> Analysed {
    let mut machine = btb::Program::new();
    for (&id, table) in tables {
        if let Ok(code) = table.code(u64::from(id)) {
            machine.insert(MethodId(id), code);
        }
    }
    let mut analysis = Analysis::new(&machine, Reconstruction::default(), options.crossing);
    analysis.add_recording(recording);
    let mut graphs = Graphs { program, known: BTreeMap::new() };
    let mut counts: BTreeMap<MethodId, BTreeMap<Vec<BlockId>, u64>> = BTreeMap::new();
    for method in analysis.profile().methods {
        let Some(table) = tables.get(&method.method.0) else { continue };
        for run in method.runs {
            for found in translate(table, &run.blocks, &mut graphs) {
                let sum = counts.entry(found.method).or_default().entry(found.blocks).or_default();
                *sum = sum.saturating_add(run.count);
            }
        }
    }
    let methods = counts.into_iter().filter_map(|(method, runs)| {
        let function = program.functions.get(method.index())?;
        let runs = runs.into_iter().map(|(blocks, count)| RunCount { blocks, count }).collect();
        Some(MethodRuns { method, fingerprint: crate::fingerprint::number_of_function(function), runs })
    });
    Analysed {
        statistics: analysis.statistics().clone(),
        lengths: analysis.lengths(options.regions()).ok(),
        runs: RunProfile { methods: methods.collect() },
    }
}
