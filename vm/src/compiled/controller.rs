//! The code that there is: asking for it, installing it, and throwing it away.
//!
//! What is worth compiling is decided in [`crate::adaptive`]; here it is asked for, compiled in the background or
//! synchronously, and installed at the next yieldpoint. Code at a higher level takes the place of what was there: calls go to
//! the new code, frames of the old one finish in it, or leave it at a yieldpoint that is taken.
//!
//! Code is thrown away when it was left too often because an assumption was wrong, or when a class gets its first instance
//! and the code relied on there being none. It is not entered any more then, frames of it leave as soon as control comes
//! back to them, and its memory is freed when no frame is left. What failed is remembered, so that the next compilation does
//! not assume it again: each failure removes an assumption, so that this comes to an end.

use super::area::CodeArea;
use super::frames::{self, Position};
use super::leave::{self, Pending};
use super::map::{CodeMap, CodeObject};
use super::perf_map::PerfMap;
use super::profile::{Profile, Receivers};
use super::report::{Log, LogEvent, TierStatistics};
use super::request::{CodeId, Compiled, Compiler, Entry, Level, Request};
use super::{Model, Outcome, enter, report, stubs};
use crate::adaptive::advice::{Advice, AdviceProfile};
use crate::adaptive::controller::{self as adaptive, Verdict};
use crate::adaptive::queue::{Done, Job, Queue, Urgency};
use crate::adaptive::{Adaptive, Constants};
use crate::interpreter::machine::Machine;
use crate::loader::Counters;
use crate::vm::Machinery;
use holloway_bytecode::verify::VerifiedProgram;
use holloway_bytecode::{ClassId, FunctionId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Makes the compiler for a machine, once the machine exists.
pub type CompilerFactory =
    Box<dyn FnOnce(Arc<VerifiedProgram>, Model) -> Result<Arc<dyn Compiler>, String> + Send>;

/// How the tiers are used.
pub struct TierOptions {
    /// Makes the compiler; without one everything is interpreted.
    pub compiler: Option<CompilerFactory>,
    /// The level at which everything is compiled; without one, the adaptive system decides.
    pub level: Option<Level>,
    /// What the adaptive system knows of tiers and machine.
    pub constants: Constants,
    /// What to compile, instead of what the adaptive system would. It fits the program.
    pub replay: Option<Arc<Advice>>,
    /// Compute digests of machine code.
    pub digests: bool,
    /// Compile at once instead of in the background.
    pub synchronous: bool,
    /// Entries of a method after which it is thought about first.
    pub method_threshold: u32,
    /// Thousands of back edges after which a loop is thought about first.
    pub loop_steps: u32,
    /// Bytes of executable memory.
    pub code_cache: usize,
    /// Enter compiled loops at every back edge.
    pub osr_every_backedge: bool,
    /// Leave compiled code at every n-th taken yieldpoint.
    pub deopt_every: Option<u32>,
    /// Told what happens, one line each.
    pub log: Option<Log>,
    /// Told where code lies, for `perf`.
    pub perf_map: Option<PerfMap>,
}

impl Default for TierOptions {
    fn default() -> Self {
        TierOptions {
            compiler: None,
            level: None,
            constants: Constants::default(),
            replay: None,
            digests: false,
            synchronous: false,
            method_threshold: 300,
            loop_steps: 2,
            code_cache: 64 << 20,
            osr_every_backedge: false,
            deopt_every: None,
            log: None,
            perf_map: None,
        }
    }
}

/// Failures of assumptions after which code is made again.
const FAILURES: u32 = 3;

/// What is known of a function.
#[derive(Default)]
struct FunctionState {
    method: Option<CodeId>,
    loops: BTreeMap<u32, CodeId>,
    /// How often the back edges of a loop left the interpreter, and at which number it is thought about.
    steps: BTreeMap<u32, (u32, u32)>,
    /// The highest level that was asked for.
    requested: BTreeMap<Entry, Level>,
    refused: BTreeSet<Entry>,
}

/// The part of a machine that deals with compiled code.
pub(crate) struct CompiledState {
    pub(super) map: CodeMap,
    pub(super) outcome: Outcome,
    pub(super) pending: Pending,
    /// An error is on its way through compiled frames.
    pub(super) unwinding: bool,
    /// Values that the collector must see while frames are rebuilt.
    pub(super) held: Vec<u64>,
    area: Option<CodeArea>,
    functions: Vec<FunctionState>,
    compiler: Option<Arc<dyn Compiler>>,
    queue: Option<Queue>,
    pub(crate) adaptive: Adaptive,
    advice: Option<Arc<AdviceProfile>>,
    next_code: u32,
    failed: Arc<BTreeSet<(FunctionId, u32, &'static str)>>,
    instantiated: Arc<Vec<bool>>,
    /// Code that relies on a class having no instances.
    relying: BTreeMap<ClassId, Vec<CodeId>>,
    retired: Vec<CodeId>,
    yields: u32,
    pub(crate) options: TierOptions,
    pub(crate) statistics: TierStatistics,
}

/// What is known of the past: what the interpreter counts, or advice; and what was learned from compiled code.
pub(crate) struct PastProfile {
    counters: Counters,
    advice: Option<Arc<AdviceProfile>>,
    failed: Arc<BTreeSet<(FunctionId, u32, &'static str)>>,
    instantiated: Arc<Vec<bool>>,
}

impl Profile for PastProfile {
    fn branch(&self, function: FunctionId, pc: u32) -> [u32; 2] {
        if let Some(advice) = &self.advice {
            return advice.branch(function, pc);
        }
        let (not_taken, taken) = self.counters.counters(function, pc + 1);
        [not_taken, taken]
    }

    fn switch(&self, function: FunctionId, pc: u32, cases: usize) -> Vec<u32> {
        if let Some(advice) = &self.advice {
            return advice.switch(function, pc, cases);
        }
        (0..cases as u32).map(|case| self.counters.counters(function, pc + 2 + case).1).collect()
    }

    fn receivers(&self, function: FunctionId, pc: u32) -> Receivers {
        match &self.advice {
            Some(advice) => advice.receivers(function, pc),
            None => self.counters.receivers(function, pc),
        }
    }

    fn invocations(&self, function: FunctionId) -> u32 {
        match &self.advice {
            Some(advice) => advice.invocations(function),
            None => self.counters.invocations(function),
        }
    }

    fn is_instantiated(&self, class: ClassId) -> bool {
        self.instantiated[class.index()]
            || self.advice.as_ref().is_some_and(|advice| advice.is_instantiated(class))
    }

    fn has_failed(&self, function: FunctionId, pc: u32, reason: &str) -> bool {
        self.failed.iter().any(|&(f, p, r)| f == function && p == pc && r == reason)
            || self.advice.as_ref().is_some_and(|advice| advice.has_failed(function, pc, reason))
    }
}

/// What is known of the past just now. It reads counters while they change.
pub(crate) fn past_profile(vm: &Machinery) -> PastProfile {
    PastProfile {
        counters: vm.code.profile_counters(),
        advice: vm.compiled.advice.clone(),
        failed: vm.compiled.failed.clone(),
        instantiated: vm.compiled.instantiated.clone(),
    }
}

impl CompiledState {
    pub(crate) fn new(options: TierOptions, functions: usize, classes: usize) -> CompiledState {
        CompiledState {
            adaptive: Adaptive::new(options.constants.clone(), functions),
            advice: options.replay.as_ref().map(|advice| Arc::new(AdviceProfile::of(advice))),
            map: CodeMap::default(),
            outcome: Outcome::default(),
            pending: Pending::default(),
            unwinding: false,
            held: Vec::new(),
            area: None,
            functions: std::iter::repeat_with(FunctionState::default).take(functions).collect(),
            compiler: None,
            queue: None,
            next_code: 0,
            failed: Arc::default(),
            instantiated: Arc::new(vec![false; classes]),
            relying: BTreeMap::new(),
            retired: Vec::new(),
            yields: 0,
            options,
            statistics: TierStatistics::default(),
        }
    }

    /// Values that are on their way between tiers.
    pub(crate) fn roots(&self) -> impl Iterator<Item = u64> + '_ {
        self.pending.values().chain(self.held.iter().copied())
    }

    /// Stress modes that work at yieldpoints need all of them.
    pub(crate) fn takes_all_yieldpoints(&self) -> bool {
        self.options.osr_every_backedge || self.options.deopt_every.is_some()
    }

    /// The installed code.
    pub(crate) fn map(&self) -> &CodeMap {
        &self.map
    }

    /// Is there a compiler at work.
    pub(crate) fn is_started(&self) -> bool {
        self.queue.is_some()
    }

    /// The code that is entered, in the order in which it was installed.
    pub(crate) fn installed(&self) -> impl Iterator<Item = (FunctionId, Entry, Level)> + '_ {
        let current = |object: &&CodeObject| object.valid && !object.superseded;
        self.map.iter().filter(current).map(|object| (object.function, object.entry, object.level))
    }

    /// Assumptions that are not made any more, with the reasons for which code was left.
    pub(crate) fn failed_assumptions(&self) -> impl Iterator<Item = (FunctionId, u32, &'static str)> + '_ {
        self.failed.iter().copied()
    }

    /// Ends the compiler's thread, after what it is compiling just now.
    pub(crate) fn stop(&mut self) {
        if let Some(mut queue) = self.queue.take() {
            queue.stop();
        }
    }

    /// Before a run: nothing is on its way.
    pub(crate) fn reset(&mut self) {
        self.outcome = Outcome::default();
        self.pending = Pending::default();
        self.unwinding = false;
        self.held.clear();
    }

    /// Is every back edge a chance to enter compiled code.
    pub(crate) fn enters_loops(&self) -> bool {
        self.options.osr_every_backedge
    }

    fn log(&mut self, event: LogEvent, line: &str) {
        if let Some(log) = &mut self.options.log {
            log(event, line);
        }
    }
}

/// A method was entered from compiled code, in the interpreter.
pub(super) fn count_invocation(vm: &mut Machinery, function: FunctionId) {
    if vm.code.count_invocation(function) {
        hot_method(vm, function);
    }
}

/// A method reached its threshold of entries.
pub(crate) fn hot_method(vm: &mut Machinery, function: FunctionId) {
    vm.code.raise_threshold(function);
    if adaptive::counted(vm, function, Entry::Method) == Verdict::AskAgain {
        vm.code.double_threshold(function);
    }
}

/// A back edge to the loop header at which the machine stands was taken, and not for the first time (`often`), or every one counts. True: go on at
/// the machine's place.
pub(crate) fn hot_loop(vm: *mut Machinery, machine: &mut Machine, often: bool) -> bool {
    // SAFETY: the caller has a live machinery; the reference ends before compiled code runs.
    let (function, code) = {
        // SAFETY: as above.
        let vm = unsafe { &mut *vm };
        if vm.compiled.options.compiler.is_none() && vm.compiled.compiler.is_none() {
            return true;
        }
        let Some((function, pc)) = vm.code.locate(machine.pc) else { return true };
        install_finished(vm);
        if !vm.compiled.functions[function.index()].loops.contains_key(&pc) {
            consider_loop(vm, function, pc, often);
        }
        let Some(&id) = vm.compiled.functions[function.index()].loops.get(&pc) else { return true };
        let Some(object) = vm.compiled.map.get(id) else { return true };
        let address = object.address;
        // SAFETY: a frame has a header, which says how many calls may nest above it.
        let depth = unsafe { *machine.base.sub(2) };
        if depth < object.tables.depth || !has_native_room(vm) {
            return true;
        }
        vm.compiled.statistics.loop_entries += 1;
        if vm.compiled.options.log.is_some() {
            let line = report::loop_entry(&vm.program, object, pc);
            vm.compiled.log(LogEvent::Osr, &line);
        }
        (function, address)
    };
    enter::run_loop(vm, machine, function, code)
}

/// A loop without code left the interpreter: is it time to think about it.
fn consider_loop(vm: &mut Machinery, function: FunctionId, pc: u32, often: bool) {
    let entry = Entry::Loop(pc);
    if vm.compiled.options.osr_every_backedge {
        let level = vm.compiled.options.level.unwrap_or(Level::O2);
        return ask(vm, function, entry, level, Urgency::InOrder);
    }
    let first = vm.compiled.options.loop_steps;
    let (steps, next) = {
        let steps = vm.compiled.functions[function.index()].steps.entry(pc).or_insert((0, first));
        steps.0 += often as u32;
        *steps
    };
    if steps < next {
        return;
    }
    let next = match adaptive::counted(vm, function, entry) {
        Verdict::AskAgain => steps.saturating_mul(2),
        Verdict::Settled => u32::MAX,
    };
    vm.compiled.functions[function.index()].steps.insert(pc, (steps, next));
}

/// A method is entered that has code. The frame is made. True: go on at the machine's place.
pub(crate) fn enter_method(vm: *mut Machinery, machine: &mut Machine) -> bool {
    let (function, code) = {
        // SAFETY: as in `hot_loop`.
        let vm = unsafe { &mut *vm };
        // The loader put the function beside the opcode.
        let function = FunctionId((machine.word(0) >> 32) as u32);
        let address = vm.code.compiled(function);
        if !has_native_room(vm) {
            machine.pc = vm.code.address(function, 0);
            return true;
        }
        (function, address)
    };
    enter::run_method(vm, machine, function, code)
}

/// Native stack that must be left for helpers, natives and the interpreter itself.
pub(crate) const NATIVE_RESERVE: usize = 96 * 1024;

fn has_native_room(vm: &Machinery) -> bool {
    let here = 0u8;
    &raw const here > vm.context.native_limit
}

/// Asks for code, unless it (or code at a higher level) was asked for before.
pub(crate) fn ask(vm: &mut Machinery, function: FunctionId, entry: Entry, level: Level, urgency: Urgency) {
    if !start(vm) {
        return;
    }
    let state = &mut vm.compiled.functions[function.index()];
    if state.refused.contains(&entry) || state.requested.get(&entry).is_some_and(|&asked| asked >= level) {
        return;
    }
    let promotes = state.requested.insert(entry, level).is_some();
    let request = Request { code: CodeId(vm.compiled.next_code), function, entry, level };
    vm.compiled.next_code += 1;
    if vm.compiled.options.log.is_some() {
        let why = report::reason(vm, &request, urgency);
        let what = report::name(&vm.program, function, entry);
        let line = format!("{what}: {} #{} is asked for: {why}", level.name(), request.code.0);
        vm.compiled.log(LogEvent::Compile, &line);
    }
    let job = Job { request, profile: past_profile(vm), urgency, since: Instant::now() };
    let synchronous = vm.compiled.options.synchronous || vm.compiled.options.replay.is_some();
    let Some(queue) = &vm.compiled.queue else { return };
    let waiting = queue.push(job);
    let done = synchronous.then(|| queue.wait()).flatten();
    let statistics = &mut vm.compiled.statistics.adaptive;
    statistics.promotions += promotes as u64;
    statistics.longest_queue = statistics.longest_queue.max(waiting);
    if let Some(done) = done {
        finish(vm, done);
    }
}

/// Makes compiler, thread and executable memory when they are needed first.
pub(crate) fn start(vm: &mut Machinery) -> bool {
    if vm.compiled.queue.is_some() {
        return true;
    }
    let Some(factory) = vm.compiled.options.compiler.take() else { return false };
    let compiler = match factory(vm.program.clone(), Model::of(vm)) {
        Ok(compiler) => compiler,
        Err(why) => {
            let line = format!("the program stays interpreted: {why}");
            vm.compiled.log(LogEvent::Compile, &line);
            return false;
        }
    };
    let functions = vm.program.functions.len();
    let made = CodeArea::new(vm.compiled.options.code_cache).and_then(|mut area| {
        // A thunk for each method, so that compiled code can call all of them in the same way.
        let mut bytes = Vec::with_capacity(functions * stubs::THUNK);
        for function in 0..functions as u32 {
            bytes.extend_from_slice(&stubs::thunk(vm.code.method(FunctionId(function))));
        }
        let thunks =
            area.allocate(bytes.len()).ok_or_else(|| std::io::Error::other("the code cache is too small"))?;
        area.write(thunks, &bytes)?;
        let queue = Queue::start(compiler.clone(), vm.program.clone(), vm.signals.clone())?;
        Ok((area, thunks, queue))
    });
    match made {
        Ok((area, thunks, queue)) => {
            vm.code.set_thunks(thunks, stubs::THUNK);
            report::map_thunks(vm, thunks);
            vm.compiled.area = Some(area);
            vm.compiled.queue = Some(queue);
            vm.compiled.compiler = Some(compiler);
            if adaptive::listens(vm)
                && let Err(error) = vm.start_timer()
            {
                let line = format!("methods are not sampled: {error}");
                vm.compiled.log(LogEvent::Compile, &line);
            }
            true
        }
        Err(error) => {
            let line = format!("the program stays interpreted: {error}");
            vm.compiled.log(LogEvent::Compile, &line);
            false
        }
    }
}

/// Installs what the compiler has finished.
pub(crate) fn install_finished(vm: &mut Machinery) {
    while let Some(done) = vm.compiled.queue.as_ref().and_then(Queue::finished) {
        finish(vm, done);
    }
}

fn finish(vm: &mut Machinery, done: Done) {
    match done {
        Done::Compiled(request, result, time) => install(vm, request, result, time),
        Done::Dropped(request) => {
            vm.compiled.statistics.adaptive.dropped += 1;
            let state = &mut vm.compiled.functions[request.function.index()];
            state.requested.remove(&request.entry);
            match request.entry {
                Entry::Method => vm.code.double_threshold(request.function),
                Entry::Loop(pc) => {
                    let steps = state.steps.entry(pc).or_default();
                    steps.1 = steps.0.saturating_add(vm.compiled.options.loop_steps);
                }
            }
            if vm.compiled.options.log.is_some() {
                let what = report::name(&vm.program, request.function, request.entry);
                let line = format!("{what}: #{} is given up: it does not run any more", request.code.0);
                vm.compiled.log(LogEvent::Compile, &line);
            }
        }
    }
}

fn install(vm: &mut Machinery, request: Request, result: Result<Compiled, String>, time: Duration) {
    let what = report::name(&vm.program, request.function, request.entry);
    vm.compiled.statistics.compile_time += time;
    let refuse = |vm: &mut Machinery, why: String| {
        vm.compiled.statistics.refused += 1;
        vm.compiled.functions[request.function.index()].refused.insert(request.entry);
        vm.compiled.log(LogEvent::Compile, &format!("{what}: stays interpreted: {why}"));
    };
    let compiled = match result {
        Ok(compiled) => compiled,
        Err(why) => return refuse(vm, why),
    };
    // From now on there may be instances of these classes without the interpreter's doing.
    for &class in &compiled.instantiates {
        note_instance(vm, class);
    }
    // A class that the code relies on may have got an instance while it was compiled, or gets one by this very code.
    if compiled.uninstantiated.iter().any(|class| vm.compiled.instantiated[class.index()]) {
        vm.compiled.functions[request.function.index()].requested.remove(&request.entry);
        return ask(vm, request.function, request.entry, request.level, Urgency::InOrder);
    }
    free_retired(vm);
    let Some(address) = allocate_code(vm, compiled.bytes.len(), &what) else {
        return refuse(
            vm,
            format!(
                "its {} bytes do not fit into the code cache of {}, whatever is evicted",
                compiled.bytes.len(),
                vm.compiled.options.code_cache
            ),
        );
    };
    let Some(area) = &mut vm.compiled.area else { return };
    if let Err(error) = area.write(address, &compiled.bytes) {
        return refuse(vm, format!("its code cannot be made executable: {error}"));
    }
    let statistics = &mut vm.compiled.statistics;
    statistics.code_in_use = area.used();
    let own_words = vm.program.functions[request.function.index()].code.len();
    statistics.count(request.level, &compiled, own_words, time);
    if vm.compiled.options.digests {
        let identity = format!("{what} {}", request.level.name());
        statistics.digest = compiled.digest(statistics.digest, identity.as_bytes());
    }
    for &class in &compiled.uninstantiated {
        vm.compiled.relying.entry(class).or_default().push(request.code);
    }
    for note in &compiled.notes {
        vm.compiled.log(LogEvent::Inline, note);
    }
    if vm.compiled.options.log.is_some() {
        let line = report::outcome(&vm.program, &request, &compiled, time);
        vm.compiled.log(LogEvent::Compile, &line);
    }
    let object = CodeObject {
        id: request.code,
        function: request.function,
        entry: request.entry,
        level: request.level,
        address,
        valid: true,
        superseded: false,
        failures: 0,
        tables: compiled,
    };
    report::map_code(vm, &object);
    vm.compiled.map.insert(object);
    let state = &mut vm.compiled.functions[request.function.index()];
    let old = match request.entry {
        Entry::Method => {
            vm.code.set_compiled(request.function, Some(address));
            state.method.replace(request.code)
        }
        Entry::Loop(pc) => state.loops.insert(pc, request.code),
    };
    if let Some(old) = old
        && let Some(object) = vm.compiled.map.get_mut(old)
    {
        object.superseded = true;
        vm.compiled.retired.push(old);
    }
}

/// Room for code. Where there is none, the oldest code is evicted until there is, except what waits on some stack.
fn allocate_code(vm: &mut Machinery, length: usize, what: &str) -> Option<*const u8> {
    loop {
        if let Some(address) = vm.compiled.area.as_mut()?.allocate(length) {
            return Some(address);
        }
        let oldest = vm.compiled.map.oldest_valid()?;
        let victim = vm.compiled.map.get(oldest)?;
        let line = format!(
            "{} #{} is evicted: the code cache of {} bytes is full, and {what} needs {length} bytes",
            vm.program.functions[victim.function.index()].name,
            oldest.0,
            vm.compiled.options.code_cache
        );
        vm.compiled.log(LogEvent::Compile, &line);
        vm.compiled.statistics.evictions += 1;
        invalidate(vm, oldest);
        free_retired(vm);
    }
}

/// Is the code of a place still valid.
pub(super) fn is_valid(vm: &Machinery, place: u64) -> bool {
    vm.compiled.map.get(CodeId((place >> 32) as u32)).is_some_and(|object| object.valid)
}

/// Has the code of a place been replaced by code at a higher level.
pub(super) fn is_superseded(vm: &Machinery, place: u64) -> bool {
    vm.compiled.map.get(CodeId((place >> 32) as u32)).is_some_and(|object| object.superseded)
}

/// Stress: is it time to leave compiled code at a yieldpoint.
pub(super) fn wants_exit(vm: &mut Machinery) -> bool {
    let Some(every) = vm.compiled.options.deopt_every else { return false };
    vm.compiled.yields += 1;
    vm.compiled.yields.is_multiple_of(every.max(1))
}

/// Compiled code was left at a site.
pub(super) fn note_exit(vm: &mut Machinery, id: CodeId, site: u32, unwinding: bool) {
    let Some(object) = vm.compiled.map.get_mut(id) else { return };
    let tables = &object.tables.sites[site as usize];
    let reason = match tables.reason {
        "call" if unwinding => "exception",
        "call" => "invalid",
        reason => reason,
    };
    let speculation = tables.speculation;
    let place = speculation.unwrap_or((tables.frames[0].function, tables.frames[0].pc));
    let (name, level) = (object.function, object.level.name());
    *vm.compiled.statistics.exits.entry(reason).or_default() += 1;
    if vm.compiled.options.log.is_some() {
        let at = vm.program.functions[place.0.index()].position(place.1);
        let line = format!(
            "{} {level} #{} left: {reason} in {}:{} (line {})",
            vm.program.functions[name.index()].name,
            id.0,
            vm.program.functions[place.0.index()].name,
            place.1,
            at.line
        );
        vm.compiled.log(LogEvent::Deopt, &line);
    }
    if speculation.is_some() {
        let Some(object) = vm.compiled.map.get_mut(id) else { return };
        object.failures += 1;
        if object.failures >= FAILURES {
            let line = format!(
                "#{} is invalid: left {FAILURES} times because an assumption was wrong ({reason})",
                id.0
            );
            vm.compiled.log(LogEvent::Deopt, &line);
            Arc::make_mut(&mut vm.compiled.failed).insert((place.0, place.1, reason));
            invalidate(vm, id);
        }
    }
}

/// A class is about to get its first instance, if it had none before.
pub(crate) fn note_instance(vm: &mut Machinery, class: ClassId) {
    if vm.compiled.instantiated[class.index()] {
        return;
    }
    Arc::make_mut(&mut vm.compiled.instantiated)[class.index()] = true;
    for id in vm.compiled.relying.remove(&class).unwrap_or_default() {
        if vm.compiled.map.get(id).is_some_and(|object| object.valid) {
            let name = vm.program.classes[class.index()].name.to_string();
            vm.compiled.log(LogEvent::Deopt, &format!("#{} is invalid: {name} has an instance", id.0));
            invalidate(vm, id);
        }
    }
}

/// Code is not to be used any more.
fn invalidate(vm: &mut Machinery, id: CodeId) {
    let Some(object) = vm.compiled.map.get_mut(id) else { return };
    if !std::mem::replace(&mut object.valid, false) {
        return;
    }
    let (function, entry, superseded) = (object.function, object.entry, object.superseded);
    vm.compiled.statistics.invalidations += 1;
    if superseded {
        // It is not entered any more, and waits to be freed already.
        return leave::leave_frames(vm, id);
    }
    let first = vm.compiled.options.loop_steps;
    let state = &mut vm.compiled.functions[function.index()];
    state.requested.remove(&entry);
    match entry {
        Entry::Method if state.method == Some(id) => {
            state.method = None;
            vm.code.set_compiled(function, None);
            vm.code.lower_threshold(function);
        }
        Entry::Loop(pc) if state.loops.get(&pc) == Some(&id) => {
            state.loops.remove(&pc);
            let steps = state.steps.entry(pc).or_default();
            steps.1 = steps.0.saturating_add(first);
        }
        _ => {}
    }
    leave::leave_frames(vm, id);
    vm.compiled.retired.push(id);
}

/// Frees code that is not valid and that no frame uses.
fn free_retired(vm: &mut Machinery) {
    if vm.compiled.retired.is_empty() {
        return;
    }
    let mut used = BTreeSet::new();
    let map = &vm.compiled.map;
    vm.threads.each(vm.position, |position, crossing, _| {
        if let Position::Compiled(_, place) = position {
            used.insert(CodeId((place >> 32) as u32));
        }
        let mut note = |_: *mut u64, returns: *const u8| {
            used.extend(map.find(returns).map(|object| object.id));
        };
        // SAFETY: positions and crossings of live threads.
        unsafe { frames::return_addresses(position, crossing, &mut note) };
    });
    let retired = std::mem::take(&mut vm.compiled.retired);
    for id in retired {
        if used.contains(&id) {
            vm.compiled.retired.push(id);
        } else if let Some(object) = vm.compiled.map.remove(id)
            && let Some(area) = &mut vm.compiled.area
        {
            area.release(object.address, object.tables.bytes.len());
            vm.compiled.statistics.code_in_use = area.used();
        }
    }
}
