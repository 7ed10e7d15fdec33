//! The profilers of one virtual machine at work: what compiled code calls where paths end, and what is done at yieldpoints.
//!
//! All calls come from the thread of the virtual machine; nothing here allocates in the steady state. Green threads share
//! the tables, so their counts are merged as they come; what an activation must remember is in its frame.

use super::counters::CounterArea;
use super::instrument::{Instrumentation, Instrumented, PathTableCells, VersionPaths};
use super::spec::ProfileOptions;
use super::trace::{Trace, TraceFrame};
use crate::compiled::helpers::machinery;
use crate::compiled::{CodeId, Entry, Level, Site};
use crate::context::{Context, NO_PATH, control};
use crate::vm::Machinery;
use holloway_bytecode::FunctionId;
use holloway_profilers::edges::EdgeProfile;
use holloway_profilers::kblpp::{Activation, Forest};
use holloway_profilers::schedule::{Client, Kinds, Schedule, Verdict, Word, YieldKind};
use holloway_profilers::stream::{Losses, Lost, PathTable, SampledPaths, Storage};
use holloway_profilers::{BranchArm, PathNumber, VersionId};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The reason of sites that are yieldpoints of returns: the last path of the activation has ended there.
const RETURN: &str = "return";

/// A piece of code that counts, from its installation on, even when the code itself is gone.
#[derive(Debug)]
pub struct Version {
    /// Whose code.
    pub function: FunctionId,
    /// How it is entered.
    pub entry: Entry,
    /// How it was compiled.
    pub level: Level,
    /// What its counts mean.
    pub instrumented: Instrumented,
}

/// The end of a path where there is no yieldpoint, as compiled code says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathEnd {
    /// Of which code.
    pub version: u32,
    /// In front of a loop: the number that its yieldpoint tells, in any round.
    pub told: Option<u32>,
}

impl PathEnd {
    /// No number of a path: all the paths of a piece of code have smaller ones.
    const NOT_TOLD: u32 = u32::MAX;

    /// Packed into a word.
    pub fn word(self) -> u64 {
        u64::from(self.version) | u64::from(self.told.unwrap_or(PathEnd::NOT_TOLD)) << 32
    }

    fn from_word(word: u64) -> PathEnd {
        let told = (word >> 32) as u32;
        PathEnd { version: word as u32, told: (told != PathEnd::NOT_TOLD).then_some(told) }
    }
}

/// The profilers of a machine.
pub(crate) struct Profiling {
    pub(super) options: ProfileOptions,
    pub(super) counters: Option<Arc<CounterArea>>,
    pub(super) versions: BTreeMap<u32, Version>,
    /// Exact counts of paths in hash tables.
    pub(super) table: PathTable,
    pub(crate) forest: Option<Forest>,
    pub(super) schedule: Option<Schedule>,
    pub(super) samples: SampledPaths,
    pub(super) losses: Losses,
    pub(super) trace: Trace,
    /// The end of a path that was seen last is in front of a loop: its code, and the number that the loop's yieldpoint tells.
    entered: Option<(VersionId, PathNumber)>,
}

impl Profiling {
    /// Makes what the options ask for. `Err` if the system has no memory for counters.
    pub fn new(options: ProfileOptions) -> Result<Profiling, String> {
        let counters = if options.instrumentation().is_needed() {
            let area = CounterArea::new().map_err(|error| format!("no memory for counters: {error}"))?;
            Some(Arc::new(area))
        } else {
            None
        };
        let schedule = match options.pep {
            Some(pep) => {
                let client = Client { kinds: Kinds::PATH_ENDS, parameters: pep.window };
                Some(Schedule::new(&[client]).map_err(|error| error.to_string())?)
            }
            None => None,
        };
        Ok(Profiling {
            options,
            counters,
            versions: BTreeMap::new(),
            table: PathTable::new(Storage::Hash),
            forest: options.kblpp.map(Forest::new),
            schedule,
            samples: SampledPaths::default(),
            losses: Losses::default(),
            trace: Trace::default(),
            entered: None,
        })
    }

    /// What compiled code is to count.
    pub fn instrumentation(&self) -> Instrumentation {
        self.options.instrumentation()
    }

    /// The counters of compiled code.
    pub fn counters(&self) -> Option<Arc<CounterArea>> {
        self.counters.clone()
    }

    /// Are yieldpoints looked at, so that there must be ticks.
    pub fn samples(&self) -> bool {
        self.schedule.is_some()
    }

    /// The edge profile of what was sampled so far, if anything was.
    pub fn sampled_edges(&self) -> Option<EdgeProfile> {
        (self.samples.distinct() > 0).then(|| self.samples.edges())
    }

    /// Code was installed.
    pub fn installed(&mut self, code: CodeId, version: Version) {
        if let Some(VersionPaths { dag, table, .. }) = &version.instrumented.paths
            && self.options.blpp.is_some()
        {
            self.table.define(VersionId(code.0), dag.paths());
            if let Some(cells) = *table {
                self.tell_table(VersionId(code.0), cells);
            }
        }
        self.versions.insert(code.0, version);
    }

    /// Tells compiled code where its hash table is.
    fn tell_table(&mut self, version: VersionId, cells: u32) {
        if let (Some(counters), Some(address)) = (&self.counters, self.table.address(version)) {
            let words = [address.slots as u64, u64::from(address.shift), u64::from(version.0)];
            (cells..).zip(words).for_each(|(cell, word)| counters.set(cell, word));
        }
    }

    /// An activation of this code ends at a site, which is not the end of the path that it is on unless that is a return's.
    pub fn ended(&mut self, code: CodeId, site: &Site, reason: Lost) {
        let Some(Version { instrumented, .. }) = self.versions.get(&code.0) else { return };
        if instrumented.paths.is_some() && site.reason != RETURN {
            self.losses.add(reason);
        }
        if let (Some(counters), Some(edges)) = (&self.counters, &instrumented.edges)
            && site.block < edges.blocks
        {
            counters.increment(edges.ended + site.block);
        }
    }

    /// The number of the path that ends where `told` is said, if nothing was seen since `entered`.
    fn meant(
        &self,
        entered: Option<(VersionId, PathNumber)>,
        version: VersionId,
        told: PathNumber,
    ) -> PathNumber {
        if entered != Some((version, told)) {
            return told;
        }
        let mut rounds = paths_of(&self.versions, version).into_iter().flat_map(|paths| &paths.first_rounds);
        rounds.find(|rounds| rounds.0 == told).map_or(told, |rounds| rounds.1)
    }

    /// Takes a sample of a path.
    fn record(&mut self, version: VersionId, path: PathNumber) {
        let versions = &self.versions;
        let mut decode = |version: VersionId, path: PathNumber, out: &mut Vec<BranchArm>| {
            let path = paths_of(versions, version).and_then(|paths| paths.dag.decode(path));
            out.extend(path.into_iter().flat_map(|path| path.branches));
        };
        self.samples.record(version, path, &mut decode);
    }
}

/// What the path numbers of a piece of code mean, if it has any.
fn paths_of(versions: &BTreeMap<u32, Version>, version: VersionId) -> Option<&VersionPaths> {
    versions.get(&version.0)?.instrumented.paths.as_ref()
}

/// A yieldpoint was taken, after a tick or in an open window: `path` ends there, if any does, of the code at `place`. Samples if the
/// schedule says so, and sets the control word to what the schedule needs. True if threads are to be switched.
pub(crate) fn yieldpoint(vm: &mut Machinery, ticked: bool, path: u64, place: u64) -> bool {
    let entered = vm.profiling.entered.take();
    let Some(schedule) = &mut vm.profiling.schedule else { return ticked };
    if ticked {
        schedule.tick();
    }
    let kind = if path == NO_PATH { YieldKind::Prologue } else { YieldKind::Header };
    let decision = schedule.yieldpoint(kind);
    match schedule.word() {
        Word::None => {}
        // A signal may have set it meanwhile, which sets it to all, too.
        Word::All => vm.context.control.store(control::ALL, Ordering::SeqCst),
        Word::Calls => {
            let control = &vm.context.control;
            // Nothing to do where it is set to all already.
            let _ =
                control.compare_exchange(control::NONE, control::CALLS, Ordering::SeqCst, Ordering::SeqCst);
        }
    }
    if decision.verdict(0) == Verdict::Take {
        let version = VersionId((place >> 32) as u32);
        let path = vm.profiling.meant(entered, version, path);
        vm.profiling.record(version, path);
    }
    decision.switch
}

/// A path ended that the stub did not find in the table where it looked first.
pub(crate) unsafe extern "C" fn count_new_path(ctx: *mut Context, cells: *const PathTableCells, path: u64) {
    // SAFETY: called by compiled code with its context, while no reference into the machinery is held; the cells are counters that were
    // given to it.
    let (vm, version) = unsafe { (machinery(ctx), (*cells).version) };
    let version = VersionId(version as u32);
    vm.profiling.table.count(version, path);
    if let Some(cells) = paths_of(&vm.profiling.versions, version).and_then(|paths| paths.table) {
        vm.profiling.tell_table(version, cells);
    }
}

/// The first path of an activation ended and goes into the k-slab forest. Gives what the activation has to remember.
pub(crate) unsafe extern "C" fn plant_forest(ctx: *mut Context, version: u64, path: u64) -> u64 {
    // SAFETY: as `count_new_path`.
    let vm = unsafe { machinery(ctx) };
    let mut activation = Activation::default();
    step(vm, &mut activation, VersionId(version as u32), path);
    u64::from(activation.bits())
}

/// A path ended that is not the one that usually follows.
pub(crate) unsafe extern "C" fn grow_forest(ctx: *mut Context, end: u64, activation: *mut Activation) {
    // SAFETY: as `count_new_path`; what the activation remembers is in a slot of the frame of the calling code.
    let (vm, activation) = unsafe { (machinery(ctx), &mut *activation) };
    step(vm, activation, VersionId((end >> 32) as u32), end & u64::from(u32::MAX));
}

fn step(vm: &mut Machinery, activation: &mut Activation, version: VersionId, path: PathNumber) {
    let Profiling { versions, forest: Some(forest), counters, .. } = &mut vm.profiling else { return };
    let is_first = *activation == Activation::default();
    forest.path(activation, version, path);
    vm.context.forest = forest.addresses();
    if is_first
        && let Some(counters) = counters
        && let Some(roots) = paths_of(versions, version).and_then(|paths| paths.roots)
    {
        counters.set(roots.counter(path), u64::from(activation.bits()));
    }
}

/// A path ended where there is no yieldpoint, while yieldpoints are taken. Only an open window is interested.
pub(crate) unsafe extern "C" fn sample_path(ctx: *mut Context, end: u64, path: u64) {
    // SAFETY: as `count_new_path`.
    let vm = unsafe { machinery(ctx) };
    let PathEnd { version, told } = PathEnd::from_word(end);
    vm.profiling.entered = None;
    if let Some(schedule) = &mut vm.profiling.schedule
        && schedule.window(0).is_open()
    {
        // What else the schedule decides, the next yieldpoint sees: the control word stays as it is until then.
        let taken = schedule.yieldpoint(YieldKind::Header).verdict(0) == Verdict::Take;
        // Otherwise the next yieldpoint need not be the next that is seen.
        if schedule.window(0).is_open() {
            vm.profiling.entered = told.map(|told| (VersionId(version), PathNumber::from(told)));
        }
        if taken {
            vm.profiling.record(VersionId(version), path);
        }
    }
}

/// An activation does a step that is traced.
pub(crate) unsafe extern "C" fn trace_step(ctx: *mut Context, step: u64, frame: *mut TraceFrame) {
    // SAFETY: as `grow_forest`.
    let (vm, frame) = unsafe { (machinery(ctx), &mut *frame) };
    vm.profiling.trace.step(frame, step);
}
