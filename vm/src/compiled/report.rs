//! What the tiers tell whoever watches: numbers at the end, lines in a log, and names for Linux `perf`.
//!
//! Every line says why. Lines are made only if somebody reads them.

use super::map::CodeObject;
use super::request::{Compiled, Entry, Level, Request};
use super::stubs;
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
    /// Compilations that succeeded, by level.
    pub compilations: BTreeMap<&'static str, u64>,
    /// Compilations that gave up.
    pub refused: u64,
    /// Time that compiling took.
    pub compile_time: Duration,
    /// Time that the steps of successful compilations took, by name.
    pub passes: BTreeMap<&'static str, Duration>,
    /// Bytecode words compiled, inlined methods included.
    pub words: u64,
    /// Bytes of machine code made.
    pub bytes: u64,
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
}

impl TierStatistics {
    /// A compilation succeeded.
    pub(super) fn count(&mut self, level: Level, compiled: &Compiled) {
        *self.compilations.entry(level.name()).or_default() += 1;
        for &(name, time) in &compiled.steps {
            *self.passes.entry(name).or_default() += time;
        }
        self.words += compiled.words as u64;
        self.bytes += compiled.bytes.len() as u64;
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

/// Why something is compiled.
pub(super) fn reason(vm: &Machinery, request: &Request) -> String {
    let forced = match vm.compiled.options.level {
        Some(level) => format!(" (everything is compiled at {})", level.name()),
        None => String::new(),
    };
    match request.entry {
        Entry::Method => match vm.code.profile_counters().invocations(request.function) {
            1 => format!("the interpreter entered it once{forced}"),
            entries => format!("the interpreter entered it {entries} times{forced}"),
        },
        Entry::Loop(pc) => {
            let line = vm.program.functions[request.function.index()].position(pc).line;
            match vm.compiled.options.osr_every_backedge {
                true => format!("every back edge is to enter compiled code, also that to line {line}"),
                false => format!(
                    "about {} thousand back edges went to line {line} in the interpreter{forced}",
                    vm.compiled.options.loop_steps
                ),
            }
        }
    }
}

/// What came of a compilation.
pub(super) fn outcome(program: &Program, request: &Request, compiled: &Compiled, time: Duration) -> String {
    format!(
        "{}: {} #{}, {} words, {} bytes, {:.2} ms ({})",
        name(program, request.function, request.entry),
        request.level.name(),
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
        object.level.name(),
        object.id.0,
    )
}

/// Tells `perf` of a piece of code.
pub(super) fn map_code(vm: &Machinery, object: &CodeObject) {
    if let Some(map) = &vm.compiled.options.perf_map {
        let name = name(&vm.program, object.function, object.entry);
        let name = format!("{name} [{} #{}]", object.level.name(), object.id.0);
        map.lines([(object.address as u64, object.tables.bytes.len(), name)]);
    }
}

/// Tells `perf` of the thunks of all methods, which lie in a row.
pub(super) fn map_thunks(vm: &Machinery, first: *const u8) {
    if let Some(map) = &vm.compiled.options.perf_map {
        map.lines(vm.program.functions.iter().enumerate().map(|(index, function)| {
            let address = first as u64 + (index * stubs::THUNK) as u64;
            (address, stubs::THUNK, format!("{} [thunk]", function.name))
        }));
    }
}
