//! From the interpreter into compiled code: methods and loops that were executed often are thought about, and where
//! there is code, it is entered. In a stretch or a look (`crate::profiling`) that is the second version, which
//! counts what the first does not; it is made when stretches or looks came to a place a few times. In a look, but not in a stretch, the
//! first serves where there is no second.

use super::library::{ask, ask_version, install_finished};
use super::{CodeId, Entry, Level, LogEvent, enter, report};
use crate::adaptive::controller::{self as adaptive, Verdict};
use crate::adaptive::queue::Urgency;
use crate::interpreter::machine::Machine;
use crate::vm::Machinery;
use holloway_bytecode::FunctionId;

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
        let marked = vm.profiling.enters_marked();
        let entry = Entry::Loop(pc);
        let serves = !marked || vm.profiling.looks().is_some();
        if serves && vm.compiled.code(function, entry, false).is_none() {
            consider_loop(vm, function, pc, often);
        }
        let plain = vm.compiled.code(function, entry, false).filter(|_| serves);
        let code = if marked { vm.compiled.code(function, entry, true).or(plain) } else { plain };
        let Some(id) = code else { return true };
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

/// The thread stands at a loop header and wants to leave the interpreter: is there code for the loop. If there is only code for the method
/// around it, or for one in which that is inlined, it gets some if it `asks`.
pub(crate) fn loop_has_code(vm: &mut Machinery, pc: *const u64, asks: bool) -> bool {
    let Some((function, pc)) = vm.code.locate(pc) else { return false };
    install_finished(vm);
    let state = &vm.compiled.functions[function.index()];
    if state.loops.contains_key(&pc) {
        return true;
    }
    let of_method = state.method.and_then(|id| vm.compiled.map.get(id)).map(|object| object.level);
    if asks && let Some(level) = of_method.or(vm.compiled.left_by_sample()) {
        ask(vm, function, Entry::Loop(pc), level, Urgency::InOrder);
    }
    vm.compiled.functions[function.index()].loops.contains_key(&pc)
}

/// In a stretch or a look, a place so often wants the second version of code until it is made.
const WANTED: u32 = 16;

/// The thread stands at a loop header, or at the beginning of a method, in a stretch or a look: the second version of the code there. If
/// there is none, it is asked for in time; in a look only if there is a first.
fn marked_code(vm: &mut Machinery, function: FunctionId, entry: Entry) -> Option<CodeId> {
    let level_of = |vm: &mut Machinery, entry| {
        let code = vm.compiled.code(function, entry, false)?;
        Some(vm.compiled.map.get(code)?.level)
    };
    // As the other version, which may have come to a higher level meanwhile; or that in whose code the loop is inlined.
    let plain = level_of(vm, entry).or_else(|| level_of(vm, Entry::Method));
    if plain.is_none() && vm.profiling.looks().is_some() {
        return None;
    }
    let level = plain.or(vm.compiled.options.level).unwrap_or(Level::O2);
    let known = vm.compiled.code(function, entry, true);
    let first = match entry {
        Entry::Method => vm.compiled.options.method_threshold,
        Entry::Loop(_) => vm.compiled.options.loop_steps,
    };
    let has_level = |vm: &Machinery, id| vm.compiled.map.get(id).is_some_and(|object| object.level >= level);
    if known.is_some_and(|id| has_level(vm, id)) {
        return known;
    }
    let wanted = vm.compiled.wanted.entry((function, entry)).or_default();
    *wanted = wanted.saturating_add(1);
    if *wanted >= WANTED.min(first) {
        ask_version(vm, function, entry, level, true, Urgency::InOrder);
    }
    vm.compiled.code(function, entry, true)
}

/// The same at a back edge in the interpreter: is there code.
pub(crate) fn loop_has_marked_code(vm: &mut Machinery, pc: *const u64) -> bool {
    let Some((function, pc)) = vm.code.locate(pc) else { return false };
    if vm.compiled.options.compiler.is_none() && vm.compiled.compiler.is_none() {
        return false;
    }
    marked_code(vm, function, Entry::Loop(pc)).is_some()
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
        Verdict::Settled => {
            // What loops that long is worth compiling as a whole, for when it is entered again.
            vm.code.think_at_next_entry(function);
            u32::MAX
        }
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
        let address = match vm.profiling.enters_marked() {
            false => Some(vm.code.compiled(function)),
            true => marked_code(vm, function, Entry::Method)
                .and_then(|id| vm.compiled.map.get(id))
                .map(|object| object.address)
                .or_else(|| vm.profiling.looks().map(|_| vm.code.compiled(function))),
        };
        let Some(address) = address.filter(|_| has_native_room(vm)) else {
            machine.pc = vm.code.address(function, 0);
            return true;
        };
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
