//! What the tiers tell whoever watches: numbers at the end, lines in a log, and names for Linux `perf`.
//!
//! Every line says why. Lines are made only if somebody reads them.

use super::map::CodeObject;
use super::request::{Compiled, Entry, Level, Request};
use super::stubs;
use crate::adaptive::AdaptiveStatistics;
use crate::adaptive::controller::listens;
use crate::adaptive::queue::Urgency;
use crate::adaptive::watcher::Place;
use crate::vm::Machinery;
use holloway_bytecode::{FunctionId, Program};
use std::collections::BTreeMap;
use std::time::Duration;

/// What a line in a log is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogEvent {
    /// Compiling: what was asked for and why, what came of it, what was evicted.
    Compile,
    /// Calls that were inlined or not.
    Inline,
    /// Leaving compiled code, and code that is thrown away.
    Deopt,
    /// Entering compiled loops.
    Osr,
}

/// Is told what happens, one line each.
pub type Log = Box<dyn FnMut(LogEvent, &str) + Send>;

/// What the tiers did.
#[derive(Clone, Default, Debug)]
pub struct TierStatistics {
    /// Compilations that succeeded, at O0, O1, O2.
    pub levels: [LevelStatistics; 3],
    /// Compilations that gave up.
    pub refused: u64,
    /// Processor time that compiling took.
    pub compile_time: Duration,
    /// Time that the steps of successful compilations took, by name.
    pub passes: BTreeMap<&'static str, Duration>,
    /// Edges of the graphs whose paths were numbered.
    pub path_edges: u64,
    /// How often methods were put in order in memory.
    pub method_orders: u64,
    /// Bytes of executable memory in use, thunks included.
    pub code_in_use: usize,
    /// Entries into compiled loops.
    pub loop_entries: u64,
    /// Pieces of code thrown away because an assumption broke, or evicted.
    pub invalidations: u64,
    /// Those that were evicted because executable memory was full.
    pub evictions: u64,
    /// Why compiled code was left, and how often.
    pub exits: BTreeMap<&'static str, u64>,
    /// What was compiled, in which order, and to which code, as one number: addresses in the code do not count. 0 unless digests
    /// are asked for.
    pub digest: u64,
    /// The numberings of paths in the same order, as one number, under the same condition.
    pub path_digest: u64,
    /// The adaptive system.
    pub adaptive: AdaptiveStatistics,
}

/// Compilations at a level.
#[derive(Clone, Copy, Default, Debug)]
pub struct LevelStatistics {
    /// How many succeeded.
    pub compilations: u64,
    /// Processor time that they took.
    pub time: Duration,
    /// Words of the methods themselves.
    pub own_words: u64,
    /// The same with what was inlined.
    pub words: u64,
    /// Bytes of machine code.
    pub bytes: u64,
}

impl TierStatistics {
    /// A compilation of a method of `own_words` succeeded, and took this time.
    pub(super) fn count(&mut self, level: Level, compiled: &Compiled, own_words: usize, time: Duration) {
        let of_level = &mut self.levels[level as usize];
        of_level.compilations += 1;
        of_level.time += time;
        of_level.own_words += own_words as u64;
        of_level.words += compiled.words as u64;
        of_level.bytes += compiled.bytes.len() as u64;
        let paths = compiled.instrumented.as_ref().and_then(|of| of.paths.as_ref());
        self.path_edges += paths.map_or(0, |paths| u64::from(paths.edges));
        for &(name, time) in &compiled.steps {
            *self.passes.entry(name).or_default() += time;
        }
    }

    /// Compilations at all levels that succeeded.
    pub fn compilations(&self) -> u64 {
        self.levels.iter().map(|level| level.compilations).sum()
    }

    /// Bytecode words compiled at all levels, inlined methods included.
    pub fn words(&self) -> u64 {
        self.levels.iter().map(|level| level.words).sum()
    }

    /// Bytes of machine code made at all levels.
    pub fn bytes(&self) -> u64 {
        self.levels.iter().map(|level| level.bytes).sum()
    }
}

/// What is compiled, by name: a method, or one of its loops.
pub(super) fn name(program: &Program, function: FunctionId, entry: Entry) -> String {
    let name = &program.functions[function.index()].name;
    match entry {
        Entry::Method => name.to_string(),
        Entry::Loop(pc) => format!("{name} loop@{pc}"),
    }
}

/// How it is compiled, by name.
pub(super) fn version(level: Level, marked: bool) -> String {
    format!("{}{}", level.name(), if marked { " marked" } else { "" })
}

/// Why something is compiled.
pub(super) fn reason(vm: &Machinery, request: &Request, urgency: Urgency) -> String {
    if request.marked {
        return match vm.profiling.looks() {
            Some(_) => "PEP looked there".into(),
            None => "samples of subpaths came there".into(),
        };
    }
    if vm.compiled.options.replay.is_some() {
        return "the advice names it".into();
    }
    let ms = |words: f64| words * vm.compiled.options.constants.interpreter_ns_per_word / 1e6;
    if let Urgency::Drifted(drift) = urgency {
        let what = if matches!(drift.place, Place::Branch(_)) { "branch" } else { "call" };
        let (method, pc) = drift.place.position();
        let method = &vm.program.functions[method.0 as usize];
        return format!(
            "the program changed: the {what} at {}, line {} (word {pc}), goes another way in {:.0} % of its executions",
            method.name,
            method.position(pc).line,
            100.0 * drift.share
        );
    }
    let decided = match (urgency, vm.compiled.options.level) {
        (_, Some(level)) => format!(" (everything is compiled at {})", level.name()),
        (Urgency::Counted(words), None) => {
            let past = words * vm.compiled.options.constants.interpreter_ns_per_word;
            let own = vm.program.functions[request.function.index()].code.len();
            let chosen = match listens(vm) {
                true => vm.compiled.options.constants.weighed(None, past, own),
                false => "the highest level, as no sample would ask for a higher one later".into(),
            };
            format!(", about {:.2} ms ({chosen})", ms(words))
        }
        (Urgency::Sampled(words), None) => {
            return format!("it is sampled often enough to save {:.1} ms", ms(words));
        }
        (Urgency::InOrder | Urgency::Drifted(_), None) => String::new(),
    };
    match request.entry {
        Entry::Method => match vm.code.profile_counters().invocations(request.function) {
            1 => format!("the interpreter entered it once{decided}"),
            entries => format!("the interpreter entered it {entries} times{decided}"),
        },
        Entry::Loop(pc) => {
            let line = vm.program.functions[request.function.index()].position(pc).line;
            match vm.compiled.options.osr_every_backedge {
                true => format!("every back edge is to enter compiled code, also that to line {line}"),
                false => format!("back edges in the interpreter went often to line {line}{decided}"),
            }
        }
    }
}

/// What came of a compilation.
pub(super) fn outcome(program: &Program, request: &Request, compiled: &Compiled, time: Duration) -> String {
    format!(
        "{}: {} #{}, {} words, {} bytes, {:.2} ms ({})",
        name(program, request.function, request.entry),
        version(request.level, request.marked),
        request.code.0,
        compiled.words,
        compiled.bytes.len(),
        time.as_secs_f64() * 1e3,
        slowest_steps(&compiled.steps)
    )
}

/// The steps of a compilation that took longest.
fn slowest_steps(steps: &[(&'static str, Duration)]) -> String {
    const SHOWN: usize = 4;
    let mut sums: BTreeMap<&str, Duration> = BTreeMap::new();
    for &(name, time) in steps {
        *sums.entry(name).or_default() += time;
    }
    let mut sums: Vec<(&str, Duration)> = sums.into_iter().collect();
    sums.sort_by_key(|&(_, time)| std::cmp::Reverse(time));
    let shown = sums.iter().take(SHOWN).map(|(name, time)| format!("{name} {:.2}", time.as_secs_f64() * 1e3));
    shown.collect::<Vec<_>>().join(", ")
}

/// A compiled loop is entered.
pub(super) fn loop_entry(program: &Program, object: &CodeObject, pc: u32) -> String {
    let line = program.functions[object.function.index()].position(pc).line;
    format!(
        "{} {} #{} entered from the interpreter at the back edge to line {line}",
        name(program, object.function, object.entry),
        version(object.level, object.marked),
        object.id.0,
    )
}

/// Tells `perf` of a piece of code.
pub(super) fn map_code(vm: &Machinery, object: &CodeObject) {
    if let Some(map) = &vm.compiled.options.perf_map {
        let name = name(&vm.program, object.function, object.entry);
        let name = format!("{name} [{} #{}]", version(object.level, object.marked), object.id.0);
        map.lines([(object.address as u64, object.tables.bytes.len(), name)]);
    }
}

/// Tells `perf` of the thunks of all methods, or their listeners, which lie in a row.
pub(super) fn map_thunks(vm: &Machinery, first: *const u8, what: &str) {
    if let Some(map) = &vm.compiled.options.perf_map {
        map.lines(vm.program.functions.iter().enumerate().map(|(index, function)| {
            let address = first as u64 + (index * stubs::THUNK) as u64;
            (address, stubs::THUNK, format!("{} [{what}]", function.name))
        }));
    }
}
