//! A virtual machine: one program, its heap, its threads. [`Vm`] is what the outside sees; [`Machinery`] is what slow
//! paths, natives and the scheduler work on.
//!
//! # Who may hold what
//!
//! Everything happens on one system thread, but on many native stacks: green threads run on coroutines, and each can be
//! suspended in the middle of a native. So a `&mut Machinery` must not live across a switch of threads. The rule: entry points
//! (slow paths, the scheduler's loop) turn the raw pointer into a reference, and only [`crate::threads`] switches, through
//! the raw pointer.

use crate::classes::ClassTable;
use crate::compiled::frames::{self, Crossing, Frame, Position};
use crate::compiled::library::CompiledState;
use crate::compiled::{
    BlockOrder, CallSource, CompiledCalls, Entry, GivenCalls, Model, TierOptions, TierStatistics,
};
use crate::context::{Context, control};
use crate::errors::{self, Failure, StopReason, Trace, UncaughtError};
use crate::heap::{self, Heap, HeapConfig};
use crate::interpreter::Dispatch;
use crate::interpreter::machine::Object;
use crate::interpreter::slow;
use crate::layout::{Header, ObjectPointer};
use crate::live::LiveRegisters;
use crate::loader::LoadedCode;
use crate::profiling::file::ProfileFile;
use crate::profiling::{Collected, Looks, ProfileOptions, Profiling, TraceReader};
use crate::signals::{INTERRUPT, InterruptHandle, Signals};
use crate::threads::Threads;
use crate::timer::{Distances, Timer, TimerSource, thread_time};
use holloway_bytecode::verify::VerifiedProgram;
use holloway_bytecode::{ClassId, ErrorKind, FunctionId, Program};
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How a virtual machine runs its program.
pub struct VmOptions {
    /// The heap.
    pub heap: HeapConfig,
    /// How many calls may nest: frames above the program's entry function, or of a thread that it started.
    pub stack_depth: u64,
    /// After this much wall time the program is ended.
    pub time_limit: Option<Duration>,
    /// After this many yieldpoints the program is ended.
    pub fuel: Option<u64>,
    /// Where ticks come from.
    pub timer: TimerSource,
    /// What the program sees as its seed.
    pub seed: i64,
    /// What the program sees as its arguments.
    pub arguments: Vec<String>,
    /// How the interpreter dispatches.
    pub dispatch: Dispatch,
    /// Where the program's output goes.
    pub output: Box<dyn Write + Send>,
    /// Called after each collection.
    pub gc_log: Option<heap::Observer>,
    /// What is compiled, and how.
    pub tiers: TierOptions,
    /// What of compiled code is profiled.
    pub profile: ProfileOptions,
    /// The calls of an earlier run, the hot ones of which regions of branch traces span, if they are to.
    pub hot_calls: Option<Arc<GivenCalls>>,
}

/// Nested calls allowed by default.
pub const DEFAULT_STACK_DEPTH: u64 = 20_000;

impl Default for VmOptions {
    fn default() -> Self {
        VmOptions {
            heap: HeapConfig::default(),
            stack_depth: DEFAULT_STACK_DEPTH,
            time_limit: None,
            fuel: None,
            timer: TimerSource::default(),
            seed: 0,
            arguments: Vec::new(),
            dispatch: Dispatch::default(),
            output: Box::new(std::io::stdout()),
            gc_log: None,
            tiers: TierOptions::default(),
            profile: ProfileOptions::default(),
            hot_calls: None,
        }
    }
}

/// How a run ended.
#[derive(Debug)]
pub enum Outcome {
    /// The main thread returned. Errors of other threads that nobody joined.
    Finished(Vec<UncaughtError>),
    /// The main thread ended with an error; and those of other threads, as above.
    Failed(UncaughtError, Vec<UncaughtError>),
    /// The program was ended from outside; the stack of the thread that ran.
    Stopped(StopReason, Trace),
}

impl Outcome {
    /// The system did not give what is needed to begin.
    pub(crate) fn failed_to_start(message: String) -> Outcome {
        let (class, trace) = ("SystemError".to_owned(), Trace::default());
        Outcome::Failed(UncaughtError { class, message, trace, thread: 0 }, Vec::new())
    }
}

/// What a run did.
#[derive(Clone, Default, Debug)]
pub struct Statistics {
    /// Yieldpoints that were taken (their slow path ran).
    pub yieldpoints_taken: u64,
    /// Ticks of the timer seen.
    pub ticks: u64,
    /// Switches between threads.
    pub thread_switches: u64,
    /// Threads started, the main thread included.
    pub threads: u64,
    /// Methods that the interpreter entered at least once.
    pub methods_entered: u64,
    /// Words of bytecode that these methods have.
    pub entered_words: u64,
    /// The heap.
    pub heap: heap::HeapStatistics,
    /// Compiled code.
    pub tiers: TierStatistics,
    /// Processor time of the system thread while the program ran: without what a run does before its first instruction, such as
    /// starting the timer or replaying advice, and after its last.
    pub cpu_time: Duration,
    /// The same by the clock.
    pub wall_time: Duration,
}

/// A virtual machine with a loaded program.
pub struct Vm {
    machinery: Box<Machinery>,
}

/// The parts of a virtual machine.
pub struct Machinery {
    pub(crate) context: Box<Context>,
    pub(crate) program: Arc<VerifiedProgram>,
    pub(crate) entry: FunctionId,
    pub(crate) code: LoadedCode,
    pub(crate) classes: ClassTable,
    pub(crate) heap: Heap,
    pub(crate) globals: Box<[u64]>,
    pub(crate) strings: Box<[*mut Header]>,
    /// The strings of one ASCII character, by its code.
    pub(crate) characters: Vec<ObjectPointer>,
    pub(crate) threads: Threads,
    pub(crate) live: LiveRegisters,
    pub(crate) signals: Arc<Signals>,
    pub(crate) timer: Option<Timer>,
    /// How long it was until the next tick when the last run ended: the clock of ticks stands still between runs, so that short runs
    /// see as many ticks as a long one.
    until_tick: Option<Duration>,
    pub(crate) options: VmOptions,
    pub(crate) started: Instant,
    pub(crate) yieldpoints: u64,
    pub(crate) next_tick: u64,
    pub(crate) distances: Distances,
    /// Nanoseconds of virtual time in which every thread slept.
    pub(crate) slept: u64,
    pub(crate) next_number: i64,
    largest_frame: usize,
    pub(crate) statistics: Statistics,
    /// The error for the case that there is no memory to make one, and its trace.
    pub(crate) prepared: [ObjectPointer; 2],
    /// Why the program is being ended, once it is.
    pub(crate) stop: Option<(StopReason, Trace)>,
    /// Writing output failed: from then on nothing is written.
    pub(crate) output_failed: bool,
    /// Where the running thread stands, set whenever running code calls.
    pub(crate) position: Position,
    /// Compiled code.
    pub(crate) compiled: CompiledState,
    /// What counts in it.
    pub(crate) profiling: Profiling,
}

impl Vm {
    /// Loads a program. `Err` says why the machine could not be made (no entry, no address space, no memory for constants).
    pub fn new(program: Arc<VerifiedProgram>, mut options: VmOptions) -> Result<Vm, String> {
        let entry = program.entry.ok_or("the program has no entry function")?;
        let mut code = LoadedCode::allocate(&program);
        let classes = ClassTable::build(&program, &code);
        code.link(&program, &classes);
        if options.profile.pep_takes_turns() {
            code.share_versions();
        }
        // SAFETY: the class table lives in the same machinery as the heap and does not move.
        let mut heap =
            unsafe { Heap::new(options.heap.clone(), classes.base()) }.map_err(|e| e.to_string())?;
        heap.set_observer(options.gc_log.take());
        let mut globals = vec![0u64; program.globals.len()].into_boxed_slice();
        let box_header = |class| (classes.offset(class) as u64) << 32;
        let mut profiling = Profiling::new(options.profile)?;
        if options.tiers.continuous {
            profiling.watch();
        }
        let mut context = Box::new(Context {
            classes: classes.base(),
            runs: heap.runs(),
            globals: globals.as_mut_ptr(),
            receivers: code.receiver_cells(),
            epilogues: u32::from(profiling.samples_epilogues()),
            box_headers: [
                box_header(ClassId::INT_BOX),
                box_header(ClassId::FLOAT_BOX),
                box_header(ClassId::BOOL_BOX),
            ],
            ..Context::default()
        });
        profiling.attach(&mut context);
        profiling.make_recorder(&program, &code, options.hot_calls.as_deref(), &mut context)?;
        let tiers = std::mem::take(&mut options.tiers);
        if let Some(advice) = &tiers.replay {
            advice.check(&program).map_err(|why| format!("the advice does not fit the program: {why}"))?;
        }
        if let Some(CallSource::Given(calls)) = &tiers.method_order {
            calls
                .check(&program)
                .map_err(|why| format!("methods cannot be ordered by the profile: {why}"))?;
        }
        if let CallSource::Given(calls) = &tiers.inlining.calls {
            calls.check(&program).map_err(|why| format!("calls cannot be chosen by the profile: {why}"))?;
        }
        if let BlockOrder::Given(edges) = &tiers.block_order {
            edges.check(&program).map_err(|why| format!("blocks cannot be ordered by the profile: {why}"))?;
        }
        if tiers.compiler.is_some() {
            code.set_thresholds(tiers.method_threshold);
        }
        let compiled = CompiledState::new(tiers, program.functions.len(), program.classes.len());
        let signals = Signals::new();
        let mut machinery = Box::new(Machinery {
            context,
            code,
            classes,
            heap,
            globals,
            strings: Box::new([]),
            characters: Vec::new(),
            threads: Threads::new(),
            live: LiveRegisters::default(),
            signals,
            timer: None,
            until_tick: None,
            started: Instant::now(),
            yieldpoints: 0,
            next_tick: 0,
            distances: Distances::new(options.timer),
            slept: 0,
            next_number: 1,
            largest_frame: program.functions.iter().map(|f| f.registers.len()).max().unwrap_or(0),
            statistics: Statistics::default(),
            prepared: [std::ptr::null_mut(); 2],
            stop: None,
            output_failed: false,
            position: Position::Interpreted(std::ptr::null(), std::ptr::null_mut()),
            compiled,
            profiling,
            options,
            program,
            entry,
        });
        machinery.context.machine = &raw mut *machinery;
        // SAFETY: the context is boxed and lives until `Machinery::drop`, which detaches.
        unsafe { machinery.signals.attach(&raw const machinery.context.control) };
        machinery
            .prepare()
            .map_err(|_| "the heap limit leaves no room for the program's constants".to_owned())?;
        Ok(Vm { machinery })
    }

    /// Ends the program from another system thread.
    pub fn interrupt_handle(&self) -> InterruptHandle {
        InterruptHandle(self.machinery.signals.clone())
    }

    /// Runs the program's entry function from the beginning: globals are unset first, so that a machine can run its
    /// program again, after an error too.
    pub fn run(&mut self) -> Outcome {
        self.machinery.run()
    }

    /// Between runs: moves compiled code to other places in memory, as the number decides. The same code is slower in some places than in others,
    /// and who compares two codes wants the average.
    pub fn scatter(&mut self, seed: u64) {
        crate::compiled::method_order::scatter(&mut self.machinery, seed);
    }

    /// What the runs so far did.
    pub fn statistics(&self) -> Statistics {
        let counters = self.machinery.code.profile_counters();
        let functions = (0..).map(FunctionId).zip(&self.machinery.program.functions);
        let entered = functions.filter(|(id, _)| counters.invocations(*id) > 0);
        let (methods_entered, entered_words) = entered.fold((0, 0), |(methods, words), (_, function)| {
            (methods + 1, words + function.code.len() as u64)
        });
        Statistics {
            methods_entered,
            entered_words,
            heap: self.machinery.heap.statistics(),
            tiers: self.machinery.compiled.statistics.clone(),
            ..self.machinery.statistics.clone()
        }
    }

    /// What it has learned of its program, for a replay.
    pub fn advice(&self) -> crate::adaptive::Advice {
        crate::adaptive::controller::advice(&self.machinery)
    }

    /// Words that the interpreter executed so far, about ([`crate::adaptive::past`]).
    pub fn interpreted_words(&self) -> f64 {
        crate::adaptive::controller::interpreted_words_of_program(&self.machinery)
    }

    /// How often each branch went which way: for every branch of the function, its place, and its counters
    /// (not taken, taken); for every case of a switch, the place of its word and (0, taken).
    pub fn branch_counts(&self, function: FunctionId) -> Vec<BranchCount> {
        self.machinery.branch_counts(function)
    }

    /// What the profilers found so far, as a file; `main` names the program, `ended` says how it ended.
    pub fn profile_file(&self, main: &str, ended: &str) -> ProfileFile {
        ProfileFile::of(&self.machinery.program, main, ended, &self.profile())
    }

    /// What the profilers found so far.
    pub fn profile(&self) -> Collected {
        crate::profiling::collect(&self.machinery)
    }

    /// How often profilers looked, so far.
    pub fn looks(&self) -> Looks {
        crate::profiling::looks(&self.machinery)
    }

    /// Does a profiler do something at ticks of the timer.
    pub fn works_at_ticks(&self) -> bool {
        self.machinery.profiling.samples()
    }

    /// Does a profiler go on, in the next run, with what a tick of an earlier one began.
    pub fn samples_go_on(&self) -> bool {
        self.machinery.profiling.goes_on()
    }

    /// Asks, from any thread and while the program runs, what its branch traces say: with `btb:analysis=background`.
    pub fn trace_reader(&self) -> Option<TraceReader> {
        self.machinery.profiling.recorder.as_ref()?.reader()
    }

    /// What was decided about the calls of compiled methods, and why: of the code that is entered by now.
    pub fn compiled_calls(&self) -> Vec<CompiledCalls> {
        self.machinery.compiled.calls()
    }

    /// What was decided last about compiling a method and its loops, if that is kept
    /// ([`crate::compiled::TierOptions::explains`]).
    pub fn said_of(&self, function: FunctionId) -> Vec<(Entry, String)> {
        self.machinery.compiled.said(function)
    }

    /// How often the interpreter entered a method.
    pub fn invocations(&self, function: FunctionId) -> u32 {
        self.machinery.code.profile_counters().invocations(function)
    }

    /// What a compiler must know of this machine. Valid while the machine lives.
    pub fn model(&self) -> Model {
        Model::of(&self.machinery)
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.machinery.program
    }
}

/// How often the branch at `pc` had each outcome: not taken and taken, or the cases of a switch with the default last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BranchCount {
    /// Word of the branch in its function.
    pub pc: u32,
    /// Counts, which wrap at 32 bits.
    pub outcomes: Vec<u32>,
}

impl Drop for Machinery {
    fn drop(&mut self) {
        // The compiler's thread reads counters of the code, which goes away next.
        self.compiled.stop();
        self.signals.detach();
    }
}

impl Machinery {
    /// Makes the string constants and the prepared error.
    fn prepare(&mut self) -> Result<(), Failure> {
        for character in 0..128 {
            // Not in the list yet, so that a new one is made.
            let string = self.allocate_string(&[character])?;
            self.characters.push(string);
        }
        let program = self.program.clone();
        // The collector sees what was made so far.
        self.strings = vec![std::ptr::null_mut(); program.strings.len()].into_boxed_slice();
        for (number, text) in program.strings.iter().enumerate() {
            self.strings[number] = self.allocate_string(text.as_bytes())?;
        }
        self.context.strings = self.strings.as_ptr();
        if let (Some(&class), Some(trace)) =
            (program.error_classes.get(ErrorKind::OutOfMemory as usize), errors::trace_class(self))
        {
            self.prepared[1] = self.allocate_array(trace, errors::TRACE_WORDS)?;
            self.prepared[0] = self.allocate_instance(class)?;
            let message = format!("out of memory: the heap is limited to {}", self.heap.limit_in_words());
            let text = self.allocate_string(message.as_bytes())?;
            self.store_reference(self.prepared[0], 0, text);
        }
        Ok(())
    }

    /// See [`Vm::branch_counts`].
    pub(crate) fn branch_counts(&self, function: FunctionId) -> Vec<BranchCount> {
        let code = &self.program.functions[function.index()].code;
        let mut counts = Vec::new();
        for (pc, i) in holloway_bytecode::code::instructions(code) {
            use holloway_bytecode::ops::OpShape;
            let pc = pc as u32;
            match i.op.shape() {
                OpShape::Branch | OpShape::LoopBranch => {
                    let (not_taken, taken) = self.code.counters(function, pc + 1);
                    counts.push(BranchCount { pc, outcomes: vec![not_taken, taken] });
                }
                OpShape::Switch => {
                    let outcomes = (0..i.cases().len() as u32)
                        .map(|case| self.code.counters(function, pc + 2 + case).1)
                        .collect();
                    counts.push(BranchCount { pc, outcomes });
                }
                _ => {}
            }
        }
        counts
    }

    fn run(&mut self) -> Outcome {
        self.globals.fill(0);
        self.compiled.reset();
        self.stop = None;
        self.started = Instant::now();
        self.yieldpoints = 0;
        self.slept = 0;
        self.next_number = 1;
        self.next_tick = self.distances.first();
        self.timer = None;
        self.reset_control();
        self.profiling.keep_windows_open(&self.context);
        // Ticks and the time limit of an earlier run are over; an interrupt is not.
        if let Err(Failure::Stop(reason)) = slow::check_stop(self.signals.take() & INTERRUPT) {
            return Outcome::Stopped(reason, Trace::default());
        }
        crate::adaptive::controller::begin(self);
        let samples = self.compiled.is_started() && crate::adaptive::controller::listens(self);
        let samples = samples || self.profiling.samples();
        if (self.options.time_limit.is_some() || samples)
            && let Err(error) = self.start_timer()
        {
            return Outcome::failed_to_start(format!("cannot start the timer thread: {error}"));
        }
        self.listeners_begin();
        let (cpu, wall) = (thread_time(), Instant::now());
        let outcome = crate::threads::run_all(&raw mut *self);
        self.statistics.wall_time += wall.elapsed();
        self.statistics.cpu_time += thread_time().saturating_sub(cpu);
        self.until_tick = self.timer.take().map(Timer::end);
        self.distances.end(self.next_tick.saturating_sub(self.yieldpoints));
        self.listeners_end();
        self.profiling.take_native_branches(self.compiled.map());
        self.flush();
        outcome
    }

    /// Starts the timer thread unless it runs or has nothing to do. Ticks are only wanted from the wall clock.
    pub(crate) fn start_timer(&mut self) -> std::io::Result<()> {
        let period = match self.options.timer {
            TimerSource::Wall(period) => Some(period),
            TimerSource::Virtual(_) | TimerSource::Drawn { .. } => None,
        };
        // A limit beyond what the clock can say is none.
        let deadline = self.options.time_limit.and_then(|limit| self.started.checked_add(limit));
        if self.timer.is_none() && (period.is_some() || deadline.is_some()) {
            self.timer = Some(Timer::start(self.signals.clone(), period, self.until_tick.take(), deadline)?);
        }
        Ok(())
    }

    /// Are yieldpoints counted, so that every one must be taken.
    pub(crate) fn counts_yieldpoints(&self) -> bool {
        self.options.fuel.is_some() || self.options.timer.yieldpoints().is_some()
    }

    /// Is a yieldpoint taken only to be counted: for virtual ticks, of which the next is not due, and no signal is raised. Nearly all are.
    pub(crate) fn is_between_ticks(&self) -> bool {
        self.options.timer.yieldpoints().is_some()
            && self.options.fuel.is_none()
            && self.yieldpoints + 1 < self.next_tick
            && !self.signals.is_raised()
    }

    /// Sets the control word to what it is between signals.
    pub(crate) fn reset_control(&self) {
        let every = self.counts_yieldpoints() || self.compiled.takes_all_yieldpoints();
        let word = if every { control::ALL } else { control::NONE };
        self.context.control.store(word, std::sync::atomic::Ordering::SeqCst);
    }

    /// The class of an object.
    pub(crate) fn class_of(&self, object: ObjectPointer) -> ClassId {
        ClassId(self.classes_record(object).id)
    }

    pub(crate) fn classes_record(&self, object: ObjectPointer) -> &crate::layout::ClassRecord {
        // SAFETY: live objects have the offset of a record in their header.
        unsafe { &*self.classes.base().add(Object(object).class() as usize).cast() }
    }

    /// Calls `with` for each frame of the running thread, the innermost first: its function and place.
    pub(crate) fn walk_current(&self, with: &mut dyn FnMut((FunctionId, u32)) -> bool) {
        let thread = self.threads.current();
        self.walk(self.position, thread.crossing, thread.stack.begin(), with);
    }

    /// The same for any thread.
    pub(crate) fn walk(
        &self,
        position: Position,
        crossing: *const Crossing,
        start: *mut u64,
        with: &mut dyn FnMut((FunctionId, u32)) -> bool,
    ) {
        let mut place = |frame| match frame {
            Frame::Interpreted(pc, ..) => self.code.locate(pc).is_none_or(&mut *with),
            Frame::Compiled(function, pc) => with((function, pc)),
        };
        // SAFETY: callers pass what belongs to one thread.
        unsafe { frames::walk(&self.code, self.compiled.map(), start, position, crossing, &mut place) };
    }

    /// The text of a string object.
    pub(crate) fn text(&self, string: ObjectPointer) -> &str {
        let object = Object(string);
        // SAFETY: strings hold valid UTF-8 (all ways to make one check it) and do not move; the caller keeps it alive.
        unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(object.byte(0), object.length())) }
    }

    /// The error for the case that no other can be made.
    pub(crate) fn out_of_memory_error(&mut self) -> ObjectPointer {
        // Forget where it was thrown the last time.
        Object(self.prepared[0]).set_field(1, 0);
        self.prepared[0]
    }

    /// Its message, for others like it.
    pub(crate) fn out_of_memory_message(&self) -> ObjectPointer {
        Object(self.prepared[0]).field(0) as ObjectPointer
    }

    /// The trace array that belongs to the prepared error.
    pub(crate) fn prepared_trace(&self, error: ObjectPointer) -> Option<ObjectPointer> {
        (error == self.prepared[0]).then_some(self.prepared[1])
    }

    /// Registers of the function with the most.
    pub(crate) fn largest_frame(&self) -> usize {
        self.largest_frame
    }

    /// Writes what the program printed.
    pub(crate) fn flush(&mut self) {
        if self.options.output.flush().is_err() {
            self.output_failed = true;
        }
    }
}
