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

use super::area::{CodeArea, Piece};
use super::call_weights::{OneTimeCalls, SampledCallWeights};
use super::free::free_retired;
use super::inlining::CompiledCalls;
use super::leave::{self, Pending};
use super::map::{CodeMap, CodeObject};
use super::method_order::MethodOrder;
use super::options::TierOptions;
use super::past::{OwnCode, past_profile};
use super::reasons::Reasons;
use super::replayed::{self, Replaying};
use super::report::{LogEvent, TierStatistics};
use super::request::{CodeId, Compiled, Compiler, Entry, Level, Request};
use super::{Model, Outcome, report, stubs};
use crate::adaptive::advice::AdviceProfile;
use crate::adaptive::controller as adaptive;
use crate::adaptive::organizer::Organizer;
use crate::adaptive::queue::{Done, Job, Queue, Urgency};
use crate::adaptive::watcher::{OutOfDate, Watcher};
use crate::profiling::Version;
use crate::vm::Machinery;
use holloway_bytecode::{ClassId, FunctionId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Failures of assumptions after which code is made again.
const FAILURES: u32 = 3;

/// What is known of a function.
#[derive(Default)]
pub(super) struct FunctionState {
    pub(super) method: Option<CodeId>,
    pub(super) loops: BTreeMap<u32, CodeId>,
    /// How often the back edges of a loop left the interpreter, and at which number it is thought about.
    pub(super) steps: BTreeMap<u32, (u32, u32)>,
    /// The highest level that was asked for.
    pub(super) requested: BTreeMap<Entry, Level>,
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
    pub(super) area: Option<CodeArea>,
    pub(super) functions: Vec<FunctionState>,
    /// The same for the second versions, if there are two of everything.
    marked: Vec<FunctionState>,
    /// Code for which a second version was asked for in a look.
    pub(super) paired: BTreeSet<CodeId>,
    /// How often a sample wanted such a version where there was none.
    pub(super) wanted: BTreeMap<(FunctionId, Entry), u32>,
    /// The level of the code that was left last for a sample.
    left: Option<Level>,
    pub(super) compiler: Option<Arc<dyn Compiler>>,
    queue: Option<Queue>,
    pub(crate) organizer: Organizer,
    /// Compares code with the recent past, if it is to follow it.
    pub(crate) watcher: Option<Watcher>,
    pub(super) advice: Option<Arc<AdviceProfile>>,
    /// Where it stands in code that other machines made of it.
    pub(super) replaying: Replaying,
    next_code: u32,
    pub(super) failed: Arc<BTreeSet<(FunctionId, u32, &'static str)>>,
    pub(super) instantiated: Arc<Vec<bool>>,
    pub(super) own_code: Arc<OwnCode>,
    /// Calls as the interpreter counted them, and as `cbs` sampled them, for who inlines by these.
    pub(super) one_time_calls: Arc<OneTimeCalls>,
    pub(super) sampled_calls: SampledCallWeights,
    /// Code that relies on a class having no instances.
    pub(super) relying: BTreeMap<ClassId, Vec<CodeId>>,
    pub(super) retired: Vec<CodeId>,
    /// Why there is the code that there is, if somebody will ask.
    pub(crate) reasons: Option<Reasons>,
    /// Orders methods in memory, if that is wanted.
    pub(super) method_order: MethodOrder,
    yields: u32,
    pub(crate) options: TierOptions,
    pub(crate) statistics: TierStatistics,
}

impl CompiledState {
    pub(crate) fn new(options: TierOptions, functions: usize, classes: usize) -> CompiledState {
        CompiledState {
            organizer: Organizer::new(functions),
            watcher: options.continuous.then(Watcher::default),
            advice: options.replay.as_ref().map(|advice| Arc::new(AdviceProfile::of(advice))),
            replaying: Replaying::No,
            map: CodeMap::default(),
            outcome: Outcome::default(),
            pending: Pending::default(),
            unwinding: false,
            held: Vec::new(),
            area: None,
            functions: std::iter::repeat_with(FunctionState::default).take(functions).collect(),
            marked: Vec::new(),
            paired: BTreeSet::new(),
            wanted: BTreeMap::new(),
            left: None,
            compiler: None,
            queue: None,
            next_code: 0,
            failed: Arc::default(),
            instantiated: Arc::new(vec![false; classes]),
            own_code: Arc::new(OwnCode::new(functions)),
            one_time_calls: Arc::default(),
            sampled_calls: SampledCallWeights::default(),
            relying: BTreeMap::new(),
            retired: Vec::new(),
            reasons: options.explains.then(Reasons::default),
            method_order: MethodOrder::default(),
            yields: 0,
            options,
            statistics: TierStatistics::default(),
        }
    }

    /// What is known of a function, for one of the two versions of its code.
    pub(super) fn state(&mut self, function: FunctionId, marked: bool) -> &mut FunctionState {
        if marked && self.marked.is_empty() {
            self.marked.resize_with(self.functions.len(), FunctionState::default);
        }
        let states = if marked { &mut self.marked } else { &mut self.functions };
        &mut states[function.index()]
    }

    /// The code that is entered there, of one of the two versions.
    pub(super) fn code(&self, function: FunctionId, entry: Entry, marked: bool) -> Option<CodeId> {
        let states = if marked { &self.marked } else { &self.functions };
        let state = states.get(function.index())?;
        match entry {
            Entry::Method => state.method,
            Entry::Loop(pc) => state.loops.get(&pc).copied(),
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

    /// Where code is.
    pub(crate) fn addresses(&self) -> Option<std::ops::Range<u64>> {
        self.area.as_ref().map(CodeArea::addresses)
    }

    /// Is there a compiler at work.
    pub(crate) fn is_started(&self) -> bool {
        self.queue.is_some()
    }

    /// The level of the code that was left last for a sample, if any was.
    pub(crate) fn left_by_sample(&self) -> Option<Level> {
        self.left
    }

    /// The code that is entered, in the order in which it was installed.
    pub(crate) fn installed(&self) -> impl Iterator<Item = (FunctionId, Entry, Level)> + '_ {
        let current = self.map.iter().filter(|object| object.is_current());
        current.map(|object| (object.function, object.entry, object.level))
    }

    /// What was decided about the calls of the code that is entered.
    pub(crate) fn calls(&self) -> Vec<CompiledCalls> {
        let current = self.map.iter().filter(|object| object.is_current());
        let calls = current.map(|object| CompiledCalls {
            id: object.id,
            function: object.function,
            entry: object.entry,
            level: object.level,
            address: object.address as usize,
            before: object.before.iter().map(|&copy| copy as usize).collect(),
            asked: self.reasons.as_ref().and_then(|reasons| reasons.of_code(object.id)).map(str::to_owned),
            decisions: object.tables.decisions.clone(),
        });
        calls.collect()
    }

    /// What was decided last about a method and its loops, if that is kept.
    pub(crate) fn said(&self, function: FunctionId) -> Vec<(Entry, String)> {
        let said = self.reasons.iter().flat_map(|reasons| reasons.of_method(function));
        said.map(|(entry, what)| (entry, what.to_owned())).collect()
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

    /// What became of what was asked for, for who asks why there is no code.
    fn say(&mut self, request: &Request, what: &str) {
        if let Some(reasons) = self.reasons.as_mut().filter(|_| !request.marked) {
            reasons.say(request.function, request.entry, what.to_owned());
        }
    }

    pub(super) fn log(&mut self, event: LogEvent, line: &str) {
        if let Some(log) = &mut self.options.log {
            log(event, line);
        }
    }
}

/// Asks for code, unless it (or code at a higher level) was asked for before.
pub(crate) fn ask(vm: &mut Machinery, function: FunctionId, entry: Entry, level: Level, urgency: Urgency) {
    ask_version(vm, function, entry, level, false, urgency);
}

/// The same for one of the two versions.
pub(super) fn ask_version(
    vm: &mut Machinery,
    function: FunctionId,
    entry: Entry,
    level: Level,
    marked: bool,
    urgency: Urgency,
) {
    if !start(vm) {
        return;
    }
    let state = vm.compiled.state(function, marked);
    if state.refused.contains(&entry) || state.requested.get(&entry).is_some_and(|&asked| asked >= level) {
        return;
    }
    let promotes = state.requested.insert(entry, level).is_some();
    let request = Request { code: CodeId(vm.compiled.next_code), function, entry, level, marked };
    vm.compiled.next_code += 1;
    if vm.compiled.options.log.is_some() || vm.compiled.reasons.is_some() {
        let why = report::reason(vm, &request, urgency);
        let what = report::name(&vm.program, function, entry);
        let line =
            format!("{what}: {} #{} is asked for: {why}", report::version(level, marked), request.code.0);
        vm.compiled.log(LogEvent::Compile, &line);
        if let Some(reasons) = vm.compiled.reasons.as_mut().filter(|_| !marked) {
            reasons.asked(&request, why);
        }
    }
    if let Some(done) = replayed::take(vm, &request) {
        return finish(vm, done);
    }
    let synchronous = vm.compiled.options.synchronous || vm.compiled.options.replay.is_some();
    // While the program waits, nothing goes quiet.
    let urgency = if synchronous { Urgency::InOrder } else { urgency };
    let job = Job { request, profile: past_profile(vm), urgency, since: Instant::now() };
    let Some(queue) = &vm.compiled.queue else { return };
    let waiting = queue.push(job);
    let done = synchronous.then(|| queue.wait()).flatten();
    let statistics = &mut vm.compiled.statistics.adaptive;
    statistics.promotions += promotes as u64;
    statistics.longest_queue = statistics.longest_queue.max(waiting);
    if let Some(done) = done {
        replayed::keep(vm, &done);
        finish(vm, done);
    }
}

/// Asks for code that takes the place of code that is out of date.
pub(crate) fn ask_again(vm: &mut Machinery, code: OutOfDate) {
    let state = &mut vm.compiled.functions[code.function.index()];
    // A higher level was asked for already: that is made for the present.
    if state.requested.get(&code.entry) != Some(&code.level) {
        return;
    }
    state.requested.remove(&code.entry);
    vm.compiled.statistics.adaptive.remade += 1;
    ask(vm, code.function, code.entry, code.level, Urgency::Drifted(code.drift));
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
    let options = &vm.compiled.options;
    let made = CodeArea::new(options.code_cache, options.scatter).and_then(|mut area| {
        // A thunk for each method, so that compiled code can call all of them in the same way.
        let mut bytes = Vec::with_capacity(functions * stubs::THUNK);
        for function in 0..functions as u32 {
            bytes.extend_from_slice(&stubs::thunk(vm.code.method(FunctionId(function))));
        }
        if vm.listens() {
            for function in 0..functions as u32 {
                bytes.extend_from_slice(&stubs::listener(vm.code.method(FunctionId(function))));
            }
        }
        let room = area.allocate(Piece { length: bytes.len(), aligned: true });
        let thunks = room.ok_or_else(|| std::io::Error::other("the code cache is too small"))?;
        area.write(thunks, &bytes)?;
        let queue = Queue::start(compiler.clone(), vm.program.clone(), vm.signals.clone())?;
        Ok((area, thunks, queue))
    });
    match made {
        Ok((area, thunks, queue)) => {
            vm.code.set_thunks(thunks, stubs::THUNK);
            report::map_thunks(vm, thunks, "thunk");
            if vm.listens() {
                let listeners = thunks.wrapping_add(functions * stubs::THUNK);
                vm.code.set_listeners(listeners);
                report::map_thunks(vm, listeners, "listener");
            }
            vm.compiled.area = Some(area);
            vm.compiled.queue = Some(queue);
            vm.compiled.compiler = Some(compiler);
            if (adaptive::listens(vm) || vm.compiled.options.method_order.is_some())
                && let Err(error) = vm.start_timer()
            {
                let line = format!("methods are neither sampled nor ordered: {error}");
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
        Done::Compiled(request, result, time) => install(vm, request, result.map(|code| *code), time),
        Done::Dropped(request) => {
            vm.compiled.statistics.adaptive.dropped += 1;
            let first = vm.compiled.options.loop_steps;
            let state = vm.compiled.state(request.function, request.marked);
            state.requested.remove(&request.entry);
            match request.entry {
                Entry::Method => vm.code.double_threshold(request.function),
                Entry::Loop(pc) => {
                    let steps = state.steps.entry(pc).or_default();
                    steps.1 = steps.0.saturating_add(first);
                }
            }
            let forgets = |reasons: &mut Reasons| reasons.forget(request.code);
            vm.compiled.reasons.iter_mut().for_each(forgets);
            vm.compiled.say(&request, "its code was given up: it did not run any more when its turn came");
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
        vm.compiled.state(request.function, request.marked).refused.insert(request.entry);
        vm.compiled.say(&request, &format!("it stays interpreted: {why}"));
        vm.compiled.log(LogEvent::Compile, &format!("{what}: stays interpreted: {why}"));
    };
    let mut compiled = match result {
        Ok(compiled) => compiled,
        Err(why) => return refuse(vm, why),
    };
    // From now on there may be instances of these classes without the interpreter's doing.
    for &class in &compiled.instantiates {
        note_instance(vm, class);
    }
    // A class that the code relies on may have got an instance while it was compiled, or gets one by this very code.
    if compiled.uninstantiated.iter().any(|class| vm.compiled.instantiated[class.index()]) {
        vm.compiled.state(request.function, request.marked).requested.remove(&request.entry);
        let Request { function, entry, level, marked, .. } = request;
        return ask_version(vm, function, entry, level, marked, Urgency::InOrder);
    }
    free_retired(vm);
    let Some(address) = allocate_code(vm, compiled.piece(), &what) else {
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
        let identity = format!("{what} {}", report::version(request.level, request.marked));
        statistics.digest = compiled.digest(statistics.digest, identity.as_bytes());
        if let Some(paths) = compiled.instrumented.as_ref().and_then(|of| of.paths.as_ref()) {
            statistics.path_digest = paths.dag.digest(statistics.path_digest);
        }
    }
    for &class in &compiled.uninstantiated {
        vm.compiled.relying.entry(class).or_default().push(request.code);
    }
    if vm.compiled.options.log.is_some() {
        for decision in &compiled.decisions {
            vm.compiled.log(LogEvent::Inline, &decision.line(&vm.program));
        }
        let line = report::outcome(&vm.program, &request, &compiled, time);
        vm.compiled.log(LogEvent::Compile, &line);
    }
    if let Some(instrumented) = compiled.instrumented.take() {
        let (function, entry, level) = (request.function, request.entry, request.level);
        let version = Version { function, entry, level, instrumented: *instrumented };
        vm.profiling.installed(request.code, version, &mut vm.context);
    }
    let words = compiled.words;
    let object = CodeObject {
        id: request.code,
        function: request.function,
        entry: request.entry,
        level: request.level,
        marked: request.marked,
        address,
        before: Vec::new(),
        valid: true,
        superseded: false,
        failures: 0,
        tables: compiled,
    };
    report::map_code(vm, &object);
    vm.compiled.map.insert(object);
    match (request.entry, request.marked) {
        (Entry::Method, true) => vm.code.set_marked(request.function, Some(address)),
        (Entry::Method, false) => {
            let entry = vm.entry_of(request.function, request.level, address);
            vm.code.set_compiled(request.function, Some(entry));
            vm.compiled.own_code.made(request.function, words);
        }
        (Entry::Loop(_), _) => {}
    }
    if !request.marked {
        vm.compiled.method_order.installed();
    }
    let state = vm.compiled.state(request.function, request.marked);
    let old = match request.entry {
        Entry::Method => state.method.replace(request.code),
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
fn allocate_code(vm: &mut Machinery, piece: Piece, what: &str) -> Option<*const u8> {
    loop {
        if let Some(address) = vm.compiled.area.as_mut()?.allocate(piece) {
            return Some(address);
        }
        let oldest = vm.compiled.map.oldest_valid()?;
        let victim = vm.compiled.map.get(oldest)?;
        let line = format!(
            "{} #{} is evicted: the code cache of {} bytes is full, and {what} needs {} bytes",
            vm.program.functions[victim.function.index()].name,
            oldest.0,
            vm.compiled.options.code_cache,
            piece.length
        );
        vm.compiled.log(LogEvent::Compile, &line);
        vm.compiled.statistics.evictions += 1;
        invalidate(vm, oldest, "it was the oldest in a full code cache");
        free_retired(vm);
    }
}

/// The code of a method that has some.
pub(crate) fn method_code(vm: &Machinery, function: FunctionId) -> *const u8 {
    let code = vm.compiled.functions[function.index()].method;
    code.and_then(|code| vm.compiled.map.get(code)).map_or(std::ptr::null(), |object| object.address)
}

/// Is the code of a place still valid.
pub(super) fn is_valid(vm: &Machinery, place: u64) -> bool {
    vm.compiled.map.at(place).is_some_and(|object| object.valid)
}

/// Has the code of a place been replaced by code at a higher level.
pub(super) fn is_superseded(vm: &Machinery, place: u64) -> bool {
    vm.compiled.map.at(place).is_some_and(|object| object.superseded)
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
        "call" if vm.profiling.leaves(object.marked) => "sample",
        "call" => "invalid",
        reason => reason,
    };
    let speculation = tables.speculation;
    let place = speculation.unwrap_or((tables.frames[0].function, tables.frames[0].pc));
    let (name, level) = (object.function, object.level.name());
    if vm.profiling.in_burst() {
        vm.compiled.left = Some(object.level);
    }
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
        if reason == "untaken" {
            // The branch was taken, and the interpreter goes on behind it: nobody else counts that. What is compiled next must know,
            // or it is left in the same place: the end of a loop that was entered while it ran.
            Arc::make_mut(&mut vm.compiled.failed).insert((place.0, place.1, reason));
        }
        let Some(object) = vm.compiled.map.get_mut(id) else { return };
        object.failures += 1;
        if object.failures >= FAILURES {
            let line = format!(
                "#{} is invalid: left {FAILURES} times because an assumption was wrong ({reason})",
                id.0
            );
            vm.compiled.log(LogEvent::Deopt, &line);
            Arc::make_mut(&mut vm.compiled.failed).insert((place.0, place.1, reason));
            let why = format!("it was left {FAILURES} times because an assumption was wrong ({reason})");
            invalidate(vm, id, &why);
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
            invalidate(vm, id, &format!("{name} has an instance"));
        }
    }
}

/// Code is not to be used any more.
fn invalidate(vm: &mut Machinery, id: CodeId, why: &str) {
    let Some(object) = vm.compiled.map.get_mut(id) else { return };
    if !std::mem::replace(&mut object.valid, false) {
        return;
    }
    let (function, entry, superseded) = (object.function, object.entry, object.superseded);
    let marked = object.marked;
    vm.compiled.statistics.invalidations += 1;
    if superseded {
        // It is not entered any more, and waits to be freed already.
        return leave::leave_frames(vm, id);
    }
    if let Some(reasons) = vm.compiled.reasons.as_mut().filter(|_| !marked) {
        reasons.say(function, entry, format!("its code was thrown away: {why}"));
    }
    let first = vm.compiled.options.loop_steps;
    if marked && let Some(plain) = vm.compiled.code(function, entry, false) {
        vm.compiled.paired.remove(&plain);
    }
    vm.profiling.changed();
    let state = vm.compiled.state(function, marked);
    state.requested.remove(&entry);
    match entry {
        Entry::Method if state.method == Some(id) => {
            state.method = None;
            if marked {
                vm.code.set_marked(function, None);
            } else {
                vm.code.set_compiled(function, None);
                vm.code.lower_threshold(function);
            }
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
