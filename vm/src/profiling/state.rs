//! The profilers of one virtual machine at work: what compiled code calls where paths end, and what is done at yieldpoints.
//!
//! All calls come from the thread of the virtual machine; nothing here allocates in the steady state. Versions of the code and the
//! sampling schedule are the machine's; what is counted goes into the tables of the running green thread ([`super::threads`]), and what
//! an activation must remember is in its frame.

use super::calls::{self, CallSampler};
use super::counters::{CounterArea, CounterNumbers};
use super::gone::{self, GonePaths};
use super::instrument::{
    Instrumentation, Instrumented, PathTableCells, TableKind, VersionCalls, VersionPaths,
};
use super::listeners::Listeners;
use super::moments::Moments;
use super::native::NativeTraces;
use super::recent::{Behaviour, RecentSamples, Step, on_path};
use super::recorder::{Recorder, Surprise};
use super::seen::Seen;
use super::spec::{CallsAt, ProfileOptions};
use super::tally::{Counted, TableCells, Tally};
use super::threads::{CountedThread, Tallies};
use super::trace::{Trace, TraceFrame};
use crate::compiled::frames::Position;
use crate::compiled::helpers::machinery;
use crate::compiled::{CodeId, CodeMap, Entry, GivenCalls, Level, Site};
use crate::context::{Context, NO_PATH, UNSURE, control};
use crate::loader::LoadedCode;
use crate::threads::ThreadNumber;
use crate::timer::TimerSource;
use crate::vm::Machinery;
use holloway_bytecode::FunctionId;
use holloway_bytecode::verify::VerifiedProgram;
use holloway_profilers::edges::EdgeProfile;
use holloway_profilers::kblpp::Activation;
use holloway_profilers::schedule::{Client, Kinds, Schedule, Verdict, Word, YieldKind};
use holloway_profilers::stream::{Lost, SampledPaths};
use holloway_profilers::{BlockId, BranchArm, PathNumber, VersionId};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

/// The reason of sites that are yieldpoints of returns: the last path of the activation has ended there.
const RETURN: &str = "return";

/// A piece of code that counts, from its installation on, even when the code itself is gone, as long as there are counts of it
/// ([`super::gone`]).
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

/// The profilers of a machine.
pub(crate) struct Profiling {
    pub(super) options: ProfileOptions,
    numbers: Option<Arc<CounterNumbers>>,
    pub(super) versions: BTreeMap<u32, Version>,
    /// Code that counts paths in hash tables.
    tables: Vec<TableCells>,
    tallies: Tallies,
    pub(super) schedule: Option<Schedule>,
    /// The samples of all threads: what compilers are told does not depend on who counts by itself.
    pub(super) samples: SampledPaths,
    /// Those of them whose code is gone.
    pub(super) gone_paths: GonePaths,
    pub(super) trace: Trace,
    pub(super) sampler: Option<CallSampler>,
    pub(super) listeners: Option<Listeners>,
    pub(super) moments: Option<Moments>,
    pub(super) clients: Clients,
    /// What the interpreter tells of its moves, if somebody listens.
    pub(crate) recorder: Option<Box<Recorder>>,
    /// Branch traces of compiled code.
    pub(super) native: Option<Box<NativeTraces>>,
    /// How many opportunities the stubs may let pass, as they were told.
    told: u32,
    /// What the program did since the last tick, if code follows it.
    recent: Option<RecentSamples>,
    /// The how manyth stretch of time it is in which all yieldpoints are taken (see [`super::seen`]).
    stretch: u64,
}

/// Who samples, by position among the clients of the schedule.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clients {
    pub pep: Option<usize>,
    pub cbs: Option<usize>,
}

impl Profiling {
    /// Makes what the options ask for. `Err` if the system has no memory for counters.
    pub fn new(options: ProfileOptions) -> Result<Profiling, String> {
        let wanted = options.marked_instrumentation().unwrap_or(options.instrumentation());
        let counters = match wanted.is_needed() {
            true => Some(CounterArea::new().map_err(|error| format!("no memory for counters: {error}"))?),
            false => None,
        };
        if options.cbs.is_some_and(|cbs| cbs.credit) && options.pep.is_none() {
            return Err(
                "cbs:credit=paths credits calls through the paths of `pep`, which was not asked for".into()
            );
        }
        let (mut clients, mut samplers) = (Clients::default(), Vec::new());
        if let Some(pep) = options.pep {
            clients.pep = Some(samplers.len());
            samplers.push(Client { kinds: Kinds::PATH_ENDS, parameters: pep.window });
        }
        if let Some(cbs) = options.cbs {
            clients.cbs = Some(samplers.len());
            samplers.push(Client { kinds: cbs.at.kinds(), parameters: cbs.window });
        }
        let schedule = match &*samplers {
            [] => None,
            samplers => Some(Schedule::new(samplers).map_err(|error| error.to_string())?),
        };
        Ok(Profiling {
            options,
            numbers: counters.is_some().then(Arc::default),
            versions: BTreeMap::new(),
            tables: Vec::new(),
            tallies: Tallies::new(counters, options.kblpp),
            schedule,
            samples: SampledPaths::default(),
            gone_paths: GonePaths::default(),
            recent: None,
            trace: Trace::default(),
            sampler: options.cbs.map(CallSampler::new).transpose()?,
            listeners: options.oneshot.map(Listeners::new),
            moments: options.snapshots.map(Moments::new),
            clients,
            recorder: None,
            native: NativeTraces::new(options.btb)?.map(Box::new),
            told: 0,
            stretch: 1,
        })
    }

    /// Makes the recorder if there is anything to record, now that the code is loaded. `hot` are the calls that regions may span.
    pub fn make_recorder(
        &mut self,
        program: &Arc<VerifiedProgram>,
        code: &LoadedCode,
        hot: Option<&GivenCalls>,
        context: &mut Context,
    ) -> Result<(), String> {
        self.recorder = Recorder::new(&self.options, program, code, hot)?.map(Box::new);
        context.recording = self.recorder.as_ref().is_some_and(|recorder| recorder.is_on());
        context.blocks = self.recorder.as_ref().map(|recorder| recorder.blocks()).unwrap_or_default();
        Ok(())
    }

    /// What compiled code is to count.
    pub fn instrumentation(&self) -> Instrumentation {
        self.options.instrumentation()
    }

    /// Where compiled code gets its counters from.
    pub fn counter_numbers(&self) -> Option<Arc<CounterNumbers>> {
        self.numbers.clone()
    }

    /// Is the running thread to be interpreted, although there may be compiled code.
    pub fn stays_interpreted(&self) -> bool {
        self.recorder.as_ref().is_some_and(|recorder| recorder.stays_interpreted())
    }

    /// Is the running thread in a stretch or a look, so that it enters the second version of code.
    pub fn enters_marked(&self) -> bool {
        self.recorder.as_ref().is_some_and(|recorder| recorder.enters_marked())
    }

    /// What the second version of compiled code counts, if there are two.
    pub fn marked_instrumentation(&self) -> Option<Instrumentation> {
        self.options.marked_instrumentation()
    }

    /// Do versions of code take turns with PEP's, and if so, is it the turn of that.
    pub fn looks(&self) -> Option<bool> {
        self.recorder.as_ref()?.looks()
    }

    /// The program does something else, or may do so: PEP is to look at it.
    pub fn changed(&mut self) {
        self.recorder.iter_mut().for_each(|recorder| recorder.changed());
    }

    /// Nothing is new in what was seen: PEP need not look any longer.
    pub fn seen_enough(&mut self) {
        self.recorder.iter_mut().for_each(|recorder| recorder.seen_enough());
    }

    /// Is there code below that is to be left where control comes back to it from the interpreter.
    pub fn leaves_callers(&self) -> bool {
        self.recorder.as_ref().is_some_and(|recorder| recorder.leaves_callers())
    }

    /// Code that tells of blocks is left because nobody wants it.
    pub fn leaves_marked(&mut self) {
        self.recorder.iter_mut().for_each(|recorder| recorder.leaves_marked());
    }

    /// Is the running thread to leave this version of compiled code.
    pub fn leaves(&self, marked: bool) -> bool {
        self.recorder.as_ref().is_some_and(|recorder| recorder.leaves(marked))
    }

    /// Is the running thread interpreted for a sample, or on its way back from that.
    pub fn in_burst(&self) -> bool {
        self.recorder.as_ref().is_some_and(|recorder| recorder.in_burst())
    }

    /// Compiled code is seen to run in the middle of a burst.
    pub fn compiled_code_runs(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            recorder.take_returned();
        }
    }

    /// Does each green thread count by itself.
    fn per_thread(&self) -> bool {
        self.options.per_thread
    }

    /// The tables of the running thread.
    pub(super) fn here(&mut self) -> &mut Tally {
        self.tallies.here()
    }

    /// Code that runs now counts in the tables of the running thread.
    pub fn attach(&mut self, context: &mut Context) {
        self.tallies.here().attach(context, &self.tables);
    }

    /// A thread was made that will run this function.
    pub fn thread_begins(&mut self, thread: ThreadNumber, function: Option<FunctionId>) {
        if self.per_thread() {
            self.tallies.begin(thread, function);
        }
    }

    /// This thread runs from here on.
    pub fn switch_to(&mut self, thread: ThreadNumber, context: &mut Context) {
        if let Some(recorder) = &mut self.recorder {
            recorder.switch_to(thread, &mut context.blocks);
            context.recording = recorder.is_on();
        }
        if self.per_thread() {
            self.tallies.switch_to(thread, context, &self.tables);
        }
    }

    /// A thread is over: no code runs before the next switch.
    pub fn thread_ends(&mut self, thread: ThreadNumber, context: &Context) {
        if let Some(recorder) = &mut self.recorder {
            recorder.thread_ends(thread, &context.blocks);
        }
        self.tallies.end(thread, &self.versions);
    }

    /// What was counted: by all together, and by each thread if each counts by itself.
    pub(super) fn counted(&self) -> (Counted, Option<Vec<CountedThread>>) {
        let threads = self.per_thread().then(|| self.tallies.threads(&self.versions));
        let mut counted = match &threads {
            None => self.tallies.together(&self.versions),
            Some(threads) => Counted::sum(threads.iter().map(|thread| &thread.counted)),
        };
        // Branches are known that were never executed.
        let edges = self.versions.values().filter_map(|version| version.instrumented.edges.as_ref());
        edges.flat_map(|edges| &edges.arms).for_each(|&(_, outcome)| counted.edges.add(outcome, 0));
        (counted, threads)
    }

    /// Are yieldpoints looked at, so that there must be ticks.
    pub fn samples(&self) -> bool {
        let records = self.recorder.as_ref().is_some_and(|recorder| recorder.wants_ticks());
        self.schedule.is_some() || self.moments.is_some() || records || self.native.is_some()
    }

    /// A run begins, or time was slept away, and the control word is as between signals: windows that are open stay so.
    pub fn keep_windows_open(&self, context: &Context) {
        self.schedule.iter().for_each(|schedule| keep_open(schedule.word(), &context.control));
    }

    /// Does something go on that a tick began: an open window, or a burst.
    pub fn goes_on(&self) -> bool {
        self.in_burst() || self.schedule.as_ref().is_some_and(|schedule| schedule.word() != Word::None)
    }

    /// Are samples of calls taken where methods are left, too.
    pub fn samples_epilogues(&self) -> bool {
        self.options.cbs.is_some_and(|cbs| cbs.at == CallsAt::Both)
    }

    /// The edge profile of what was sampled so far, if anything was.
    pub fn sampled_edges(&self) -> Option<EdgeProfile> {
        (self.samples.distinct() > 0).then(|| self.samples.edges())
    }

    /// What the program did since this was asked last, if that is of interest.
    pub fn take_recent(&mut self) -> Behaviour {
        self.recent.as_mut().map(RecentSamples::behaviour).unwrap_or_default()
    }

    /// From now on, it is of interest.
    pub fn watch(&mut self) {
        self.recent = Some(RecentSamples::default());
        self.sampler.iter_mut().for_each(CallSampler::watch);
    }

    /// Code is about to go: what was recorded of it is counted first.
    pub fn take_native_branches(&mut self, map: &CodeMap) {
        if let Some(native) = &mut self.native {
            native.take(map, &self.versions);
        }
    }

    /// A piece of code is no more, and neither is any frame of it.
    pub fn gone(&mut self, code: CodeId) {
        gone::forget(self, code);
    }

    /// What the paths of a piece of code do need not be known any more.
    pub(super) fn forget_steps(&mut self, version: VersionId) {
        self.recent.iter_mut().for_each(|recent| recent.forget(version));
        self.sampler.iter_mut().for_each(|sampler| sampler.forget(version));
    }

    /// Code was installed.
    pub fn installed(&mut self, code: CodeId, version: Version, context: &mut Context) {
        let told = self.tables.len();
        for kind in [TableKind::Paths, TableKind::Calls, TableKind::Windows] {
            if let Some(cells) = cells_of(&version.instrumented, kind) {
                self.tables.push(TableCells { version: VersionId(code.0), cells, kind });
            }
        }
        if self.tables.len() > told {
            // The other threads are told when they run.
            self.attach(context);
        }
        self.versions.insert(code.0, version);
    }

    /// An activation of this code ends at a site, which is not the end of the path that it is on unless that is a return's.
    pub fn ended(&mut self, code: CodeId, site: &Site, reason: Lost) {
        let Some(Version { instrumented, .. }) = self.versions.get(&code.0) else { return };
        if instrumented.paths.is_some() && site.reason != RETURN {
            self.tallies.here().losses.add(reason);
        }
        if let Some(edges) = &instrumented.edges
            && site.block < edges.blocks
        {
            self.tallies.here().increment(edges.ended + site.block);
        }
    }

    /// Takes a sample of a path.
    fn record(&mut self, version: VersionId, path: PathNumber) {
        let versions = &self.versions;
        let mut decode = |version: VersionId, path: PathNumber, out: &mut Vec<BranchArm>| {
            let path = paths_of(versions, version).and_then(|paths| paths.dag.get().decode(path));
            out.extend(path.into_iter().flat_map(|path| path.branches));
        };
        self.samples.record(version, path, &mut decode);
        if let Some(recent) = &mut self.recent {
            recent.record(version, path, || {
                let paths = paths_of(versions, version);
                let Some((paths, path)) =
                    paths.and_then(|paths| Some((paths, paths.dag.get().decode(path)?)))
                else {
                    return Vec::new();
                };
                let reached = on_path(&paths.receivers, &path).into_iter().map(Step::Reaches);
                path.branches.into_iter().map(Step::Goes).chain(reached).collect()
            });
        }
        if let Some(sampler) = &mut self.sampler {
            sampler.record_path(version, path, || {
                let paths = paths_of(&self.versions, version);
                let decoded = paths.and_then(|paths| Some((paths, paths.dag.get().decode(path)?)));
                decoded.map_or_else(Vec::new, |(paths, path)| paths.passed(&path).collect())
            });
        }
        if self.per_thread() {
            self.tallies.here().sample(version, path);
        }
    }
}

impl Machinery {
    /// Something happened on a slow path of the running thread that the recording interpreter must hear of.
    pub(crate) fn note_surprise(&mut self, surprise: Surprise) {
        if self.context.recording
            && let Some(recorder) = &mut self.profiling.recorder
        {
            recorder.surprise(surprise);
        }
    }
}

/// What the path numbers of a piece of code mean, if it has any.
fn paths_of(versions: &BTreeMap<u32, Version>, version: VersionId) -> Option<&VersionPaths> {
    versions.get(&version.0)?.instrumented.paths.as_ref()
}

/// The counters that say where a hash table of a piece of code is, if it has one of this kind.
fn cells_of(instrumented: &Instrumented, kind: TableKind) -> Option<u32> {
    let (paths, calls) = (instrumented.paths.as_ref(), instrumented.calls.as_ref());
    match kind {
        TableKind::Paths => paths.and_then(|VersionPaths { table, .. }| *table),
        TableKind::Calls => calls.and_then(|VersionCalls { receivers, .. }| Some(receivers.as_ref()?.cells)),
        TableKind::Windows => paths.and_then(|VersionPaths { windows, .. }| Some(windows.as_ref()?.cells)),
    }
}

/// A yieldpoint that was taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    /// What it is of a method; nothing if the method is entered once more, by its compiled code.
    pub kind: Option<YieldKind>,
    /// The path that ends there, or [`NO_PATH`].
    pub path: u64,
    /// The place in compiled code.
    pub place: u64,
}

/// Has yieldpoints taken as the schedule's word says, if it says so: what a signal sets meanwhile stays.
fn keep_open(word: Word, control: &AtomicI32) {
    match word {
        Word::None => {}
        Word::All => control.store(control::ALL, Ordering::SeqCst),
        Word::Calls => {
            // Nothing to do where it is set to all already.
            let _ =
                control.compare_exchange(control::NONE, control::CALLS, Ordering::SeqCst, Ordering::SeqCst);
        }
    }
}

/// A yieldpoint was taken and only counted: nothing is to be done before the next tick. False if something is.
pub(crate) fn passes(vm: &mut Machinery) -> bool {
    match &mut vm.profiling {
        Profiling { schedule: Some(schedule), stretch, .. } => {
            let idle = schedule.is_idle();
            *stretch += u64::from(idle);
            idle
        }
        _ => true,
    }
}

/// A yieldpoint was taken, after a tick or in an open window. Samples if the schedule says so, and sets the control word to what the
/// schedule needs. True if threads are to be switched.
pub(crate) fn yieldpoint(vm: &mut Machinery, ticked: bool, taken: Taken) -> bool {
    let Taken { kind, path, place } = taken;
    if ticked && let Some(recorder) = &mut vm.profiling.recorder {
        let at = match vm.position {
            // In front of a method that has compiled code there is a word more, which enters that.
            Position::Interpreted(pc, _) => Some(vm.code.word_of(pc) + usize::from(kind.is_none())),
            _ => None,
        };
        recorder.tick(at, &mut vm.context.blocks);
        vm.context.recording = recorder.is_on();
    }
    if ticked && let Profiling { native: Some(native), versions, .. } = &mut vm.profiling {
        let by_clock = matches!(vm.options.timer, TimerSource::Wall(_));
        native.tick(vm.compiled.map(), versions, vm.compiled.addresses(), by_clock);
    }
    // Code without PEP's instrumentation has no end of a path for a window to wait for. With a tick, it may be left.
    let plain = || matches!(vm.position, Position::Compiled(..)) && !vm.compiled.is_marked(place);
    let rests = vm.profiling.looks().map(|looks| !looks || !ticked && plain());
    let Profiling { schedule: Some(schedule), clients, told, stretch, .. } = &mut vm.profiling else {
        return ticked;
    };
    // What the stubs let pass. They count down to -1, and leave the last step to us.
    schedule.skip(told.saturating_sub(u32::try_from(vm.context.skips).unwrap_or(0)));
    if ticked {
        schedule.tick();
    }
    if let (Some(pep), Some(rests)) = (clients.pep, rests) {
        schedule.rest(pep, rests);
    }
    let thread = vm.threads.current_mut();
    let ends_path = path != NO_PATH && matches!(vm.position, Position::Compiled(..));
    let (frame, tells) = match vm.position {
        Position::Compiled(frame, _) => (frame as usize, ends_path || kind == Some(YieldKind::Prologue)),
        Position::Stub(frame) => (frame as usize, true),
        // Compiled code that interpreted code enters is further in than what called that.
        Position::Interpreted(..) => match thread.crossing as usize {
            0 => (Seen::ALL, true),
            caller => (caller, true),
        },
    };
    let before = tells && thread.seen.from(*stretch, frame);
    let sure = ends_path && (before || path & UNSURE == 0);
    let decision = schedule.yieldpoint_for(|client, kinds| match Some(client) == clients.pep {
        true => sure,
        false => kind.is_some_and(|kind| kinds.contains(kind)),
    });
    if schedule.word() != Word::All {
        *stretch += 1;
    }
    vm.context.skips = i32::try_from(schedule.skippable()).unwrap_or(i32::MAX);
    *told = vm.context.skips as u32;
    keep_open(schedule.word(), &vm.context.control);
    let clients = *clients;
    let takes =
        |client: Option<usize>| client.is_some_and(|client| decision.verdict(client) == Verdict::Take);
    if takes(clients.pep) {
        let version = VersionId((place >> 32) as u32);
        vm.profiling.record(version, path & !UNSURE);
    }
    if takes(clients.cbs) {
        calls::sample(vm);
    }
    decision.switch
}

/// A path ended that the stub did not find in the table where it looked first.
pub(crate) unsafe extern "C" fn count_new_path(ctx: *mut Context, cells: *const PathTableCells, path: u64) {
    // SAFETY: called by compiled code with its context, while no reference into the machinery is held; the cells are counters that were
    // given to it.
    let (vm, version) = unsafe { (machinery(ctx), (*cells).version) };
    let Profiling { versions, tallies, .. } = &mut vm.profiling;
    let (kind, version) = (TableKind::of_mark(version), VersionId(version as u32));
    if let Some(cells) = versions.get(&version.0).and_then(|code| cells_of(&code.instrumented, kind)) {
        tallies.here().count(TableCells { version, cells, kind }, path);
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
    let Profiling { versions, tallies, .. } = &mut vm.profiling;
    let roots = || paths_of(versions, version).and_then(|paths| paths.roots);
    tallies.here().step(activation, version, path, roots, &mut vm.context);
}

/// A path ended where there is no yieldpoint, while yieldpoints are taken. Only an open window is interested.
/// `frame` is that of the caller.
pub(crate) unsafe extern "C" fn sample_path(ctx: *mut Context, version: u64, path: u64, frame: *const u64) {
    // SAFETY: as `count_new_path`.
    let vm = unsafe { machinery(ctx) };
    let Profiling { schedule: Some(schedule), stretch, clients: Clients { pep: Some(pep), .. }, .. } =
        &mut vm.profiling
    else {
        return;
    };
    if !schedule.window(*pep).is_open() {
        return;
    }
    let before = vm.threads.current_mut().seen.from(*stretch, frame as usize);
    let sure = before || path & UNSURE == 0;
    if sure && schedule.opportunity_of(*pep) == Verdict::Take {
        vm.profiling.record(VersionId(version as u32), path & !UNSURE);
    }
}

/// A block of the bytecode is entered by compiled code, and somebody wants to know of it.
pub(crate) unsafe extern "C" fn enter_block(ctx: *mut Context, number: u64) {
    // SAFETY: as `count_new_path`.
    let vm = unsafe { machinery(ctx) };
    vm.profiling.compiled_enters(BlockId(number as u32), &mut vm.context);
}

/// An activation does a step that is traced.
pub(crate) unsafe extern "C" fn trace_step(ctx: *mut Context, step: u64, frame: *mut TraceFrame) {
    // SAFETY: as `grow_forest`.
    let (vm, frame) = unsafe { (machinery(ctx), &mut *frame) };
    vm.profiling.trace.step(frame, step);
}
