//! The controller: asked by the listeners, it asks the model, and then for code.
//!
//! * The interpreter's counters reached a threshold (`counted`): the model is asked with the time that the
//!   interpreter spent on the method. If nothing pays yet, the threshold is doubled.
//! * The timer ticked (`tick`) while compiled code ran: the sample goes through the organizer, and decides about a higher level.
//!
//! Ticks of the wall clock fall where they like. Where compilation is to be repeatable (`--sync-compile`), they are not
//! listened to, and as there will be no second chance then, code is made at the highest level at once.

use super::advice::{Advice, CompilationAdvice, FailedAdvice};
use super::listener::sample;
use super::model::Choice;
use super::past::interpreted_words;
use super::queue::Urgency;
use super::watcher;
use crate::compiled::library::{ask, ask_again, start};
use crate::compiled::method_order;
use crate::compiled::past::past_profile;
use crate::compiled::replayed;
use crate::compiled::versions::ask_for_counterparts;
use crate::compiled::{Entry, Level};
use crate::timer::{TimerSource, VIRTUAL_NANOSECONDS};
use crate::vm::Machinery;
use holloway_bytecode::FunctionId;

/// What became of a candidate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// Code is there, or asked for, or there will never be any.
    Settled,
    /// To be asked again when it has run as much again.
    AskAgain,
}

/// A method or loop was executed often enough by the interpreter to be thought about.
pub(crate) fn counted(vm: &mut Machinery, function: FunctionId, entry: Entry) -> Verdict {
    if let Some(level) = vm.compiled.options.level {
        ask(vm, function, entry, level, Urgency::InOrder);
        return Verdict::Settled;
    }
    if let Some(advice) = &vm.compiled.options.replay {
        let mut advised = advice.compilations.iter();
        let advised = advised.find(|c| c.function == function.0 && c.entry() == entry).map(|c| c.level);
        if let Some(level) = advised {
            ask(vm, function, entry, level, Urgency::InOrder);
            return Verdict::Settled;
        }
        // What the advice does not name was part of other code, and is none of it now: decisions about inlining differ, or a sample has
        // left the code around it. Counters of the interpreter and the model's constants are the same in each replay.
    }
    let body = &vm.program.functions[function.index()];
    let words = interpreted_words(function, body, &vm.code.profile_counters());
    let past = words * vm.compiled.options.constants.interpreter_ns_per_word;
    vm.compiled.statistics.adaptive.decisions += 1;
    match vm.compiled.options.constants.choose(None, past, body.code.len()) {
        Choice::Wait => {
            vm.compiled.statistics.adaptive.waits += 1;
            let weighed = || vm.compiled.options.constants.weighed(None, past, body.code.len());
            if let Some(reasons) = &mut vm.compiled.reasons {
                reasons.say(function, entry, format!("it waits, as no level pays yet: {}", weighed()));
            }
            Verdict::AskAgain
        }
        Choice::Compile { level, .. } => {
            let level = if listens(vm) { level } else { Level::O2 };
            let in_order = vm.compiled.options.replay.is_some();
            let urgency = if in_order { Urgency::InOrder } else { Urgency::Counted(words) };
            ask(vm, function, entry, level, urgency);
            Verdict::Settled
        }
    }
}

/// Does the method listener take samples.
pub(crate) fn listens(vm: &Machinery) -> bool {
    let options = &vm.compiled.options;
    let repeatable = !options.synchronous || vm.options.timer.yieldpoints().is_some();
    options.level.is_none() && options.replay.is_none() && repeatable
}

/// The timer ticked: the running thread stands at the machine's position.
pub(crate) fn tick(vm: &mut Machinery) {
    if !vm.compiled.is_started() {
        return;
    }
    for code in watcher::tick(vm) {
        ask_again(vm, code);
    }
    if vm.profiling.looks() == Some(true) {
        ask_for_counterparts(vm);
    }
    method_order::tick(vm);
    if !listens(vm) {
        return;
    }
    let Some(sample) = sample(vm) else { return };
    let count = vm.compiled.organizer.add(sample);
    let past = count * nanoseconds_per_tick(vm);
    let words = vm.program.functions[sample.function.index()].code.len();
    let adaptive = &mut vm.compiled.statistics.adaptive;
    adaptive.samples += 1;
    adaptive.decisions += 1;
    match vm.compiled.options.constants.choose(Some(sample.level), past, words) {
        Choice::Wait => {
            adaptive.waits += 1;
            let weighed = || vm.compiled.options.constants.weighed(Some(sample.level), past, words);
            if let Some(reasons) = vm.compiled.reasons.as_mut().filter(|_| sample.level < Level::O2) {
                reasons.say(
                    sample.function,
                    sample.entry,
                    format!("no higher level pays yet: {}", weighed()),
                );
            }
        }
        Choice::Compile { level, saves } => {
            let words = saves / vm.compiled.options.constants.interpreter_ns_per_word;
            ask(vm, sample.function, sample.entry, level, Urgency::Sampled(words));
        }
    }
}

fn nanoseconds_per_tick(vm: &Machinery) -> f64 {
    match vm.options.timer {
        TimerSource::Wall(period) => period.as_nanos() as f64,
        TimerSource::Virtual(yieldpoints) | TimerSource::Drawn { every: yieldpoints, .. } => {
            yieldpoints as f64 * VIRTUAL_NANOSECONDS as f64
        }
    }
}

/// Before a program's first instruction: with advice, everything that it names is compiled, in its order.
pub(crate) fn begin(vm: &mut Machinery) {
    let Some(advice) = vm.compiled.options.replay.clone() else { return };
    if vm.compiled.is_started() || !start(vm) {
        return;
    }
    replayed::begin(vm);
    for compilation in &advice.compilations {
        ask(vm, FunctionId(compilation.function), compilation.entry(), compilation.level, Urgency::InOrder);
    }
    replayed::end(vm);
}

/// Words that the interpreter executed for all functions, about.
pub(crate) fn interpreted_words_of_program(vm: &Machinery) -> f64 {
    let counters = vm.code.profile_counters();
    let functions = vm.program.functions.iter().enumerate();
    functions.map(|(number, body)| interpreted_words(FunctionId(number as u32), body, &counters)).sum()
}

/// What this machine has learned of its program.
pub(crate) fn advice(vm: &Machinery) -> Advice {
    let compilations = vm.compiled.installed().map(|(function, entry, level)| CompilationAdvice {
        function: function.0,
        loop_at: match entry {
            Entry::Method => None,
            Entry::Loop(pc) => Some(pc),
        },
        level,
    });
    let failed = vm.compiled.failed_assumptions().map(|(function, pc, reason)| FailedAdvice {
        function: function.0,
        pc,
        reason: reason.to_owned(),
    });
    Advice::gather(&vm.program, &past_profile(vm), compilations.collect(), failed.collect())
}
