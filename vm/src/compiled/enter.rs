//! Into compiled code from the interpreter, and back into the interpreter when compiled code calls a method that has no
//! code.
//!
//! The interpreter gets here when it enters a method that has code: the frame is made, its parameters are in place, and the
//! first instruction it would execute is the one that leads here. The frame stays below while compiled code runs; it is
//! the place where frames are rebuilt if that code is left.

use super::Outcome;
use super::frames::{Crossing, CrossingKind, Position};
use super::leave::{self, Resume};
use super::stubs::{self, Arguments, FLOAT_REGISTERS, INTEGER_REGISTERS, Saved};
use crate::context::control;
use crate::errors::{self, Raised};
use crate::interpreter::machine::{FRAME_HEADER, Machine, Slow};
use crate::interpreter::slow::slow_path;
use crate::loader::Method;
use crate::profiling::Surprise;
use crate::vm::Machinery;
use holloway_bytecode::{ErrorKind, Function, FunctionId, Type};
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering;

/// Words of arguments that do not fit registers, at most: 255 parameters.
const STACK_ARGUMENTS: usize = 256;

/// Runs the code of the method whose frame is at `machine`. True: go on at the machine's place. False: leave the
/// interpreter.
pub fn run_method(vm: *mut Machinery, machine: &mut Machine, function: FunctionId, code: *const u8) -> bool {
    // SAFETY: the caller has a live machinery; the reference ends before compiled code runs.
    let definition = unsafe { definition(vm, function) };
    // Few methods need it, and clearing it takes longer than everything else here.
    let mut stack = [const { MaybeUninit::uninit() }; STACK_ARGUMENTS];
    let mut arguments = Arguments::NONE;
    marshal(machine, definition, &mut stack, &mut arguments);
    // SAFETY: the frame is that of `function`, and `code` its valid entry.
    let result = unsafe { run(vm, machine, definition, code, &arguments) };
    // Objects must not be kept by what is left of them on this stack, which is scanned for whatever looks like one.
    arguments.integers.fill(0);
    stack[..arguments.stack_words].fill(MaybeUninit::new(0));
    std::hint::black_box((&mut arguments, &mut stack));
    finish(vm, machine, definition, result)
}

/// Runs code that is entered at the loop header at which the machine stands.
pub fn run_loop(vm: *mut Machinery, machine: &mut Machine, function: FunctionId, code: *const u8) -> bool {
    let base = machine.base;
    // SAFETY: as `run_method`.
    let definition = unsafe { definition(vm, function) };
    let mut arguments = Arguments::NONE;
    arguments.integers[0] = machine.ctx as u64;
    // SAFETY: the frame has a header.
    arguments.integers[1] = unsafe { *base.sub(2) };
    arguments.integers[2] = base as u64;
    // SAFETY: as above.
    let result = unsafe { run(vm, machine, definition, code, &arguments) };
    finish(vm, machine, definition, result)
}

/// A function of the machine's program, which stays where it is while the machine lives.
///
/// # Safety
/// The machinery is live.
unsafe fn definition<'a>(vm: *mut Machinery, function: FunctionId) -> &'a Function {
    // SAFETY: by the caller's promise.
    let program = unsafe { &(*vm).program };
    &program.functions[function.index()]
}

/// The parameters in the frame as arguments of a native call.
#[inline]
fn marshal(
    machine: &Machine,
    function: &Function,
    stack: &mut [MaybeUninit<u64>; STACK_ARGUMENTS],
    arguments: &mut Arguments,
) {
    let Arguments { integers, floats, .. } = arguments;
    integers[0] = machine.ctx as u64;
    // SAFETY: the frame has a header.
    integers[1] = unsafe { *machine.base.sub(2) };
    let (mut next_integer, mut next_float, mut words) = (2, 0, 0);
    for (register, ty) in function.registers[..function.params as usize].iter().enumerate() {
        let bits = machine.bits(register);
        if *ty == Type::Float && next_float < FLOAT_REGISTERS {
            floats[next_float] = f64::from_bits(bits);
            next_float += 1;
        } else if *ty != Type::Float && next_integer < INTEGER_REGISTERS {
            integers[next_integer] = bits;
            next_integer += 1;
        } else {
            stack[words].write(bits);
            words += 1;
        }
    }
    if !words.is_multiple_of(2) {
        stack[words].write(0);
        words += 1;
    }
    (arguments.stack, arguments.stack_words) = (stack.as_ptr().cast(), words);
}

/// Calls code in the place of the frame at `machine`, whose base it sets anew: the stack may have moved since.
///
/// # Safety
/// The code is valid and the arguments are right.
unsafe fn run(
    vm: *mut Machinery,
    machine: &mut Machine,
    function: &Function,
    code: *const u8,
    arguments: &Arguments,
) -> u64 {
    let (mut crossing, base) = {
        // SAFETY: live, and no reference outlasts this block.
        let vm = unsafe { &mut *vm };
        let thread = vm.threads.current_mut();
        let base = (machine.base as usize - thread.stack.start() as usize) / 8;
        let kind = CrossingKind::ToCompiled { base, top: base + function.registers.len() };
        (Crossing { previous: thread.crossing, kind }, base)
    };
    // SAFETY: as above. The crossing outlives the call that it stands for.
    unsafe { (*vm).threads.current_mut().crossing = &raw mut crossing };
    // SAFETY: as above.
    unsafe { (*vm).profiling.compiled_code_tells() };
    // SAFETY: by the caller's promise.
    let result = unsafe { stubs::enter_compiled(code, arguments) };
    // SAFETY: as above.
    let vm = unsafe { &mut *vm };
    vm.note_surprise(Surprise::Interrupted);
    let thread = vm.threads.current_mut();
    thread.crossing = crossing.previous;
    machine.base = thread.stack.start().wrapping_add(base);
    result
}

/// After compiled code came back to the interpreter: with a result, with an error, or with frames to go on with.
fn finish(vm: *mut Machinery, machine: &mut Machine, function: &Function, result: u64) -> bool {
    // SAFETY: the machinery is live, and compiled code has returned.
    let vm = unsafe { &mut *vm };
    match std::mem::take(&mut vm.compiled.outcome) {
        Outcome::Returned => {
            // The frame's call says where the result goes.
            machine.leave(function.result.map(|_| result));
            true
        }
        Outcome::Failed => {
            let (pc, base) = vm.code.caller(machine.base);
            (machine.pc, machine.base) = (pc, base);
            vm.stop.is_none() && raise_pending(vm, machine)
        }
        Outcome::Left => {
            let resume = leave::rebuild(vm, machine.base);
            (machine.pc, machine.base) = (resume.pc, resume.base);
            !resume.raises || raise_pending(vm, machine)
        }
    }
}

/// Throws the thread's pending error on at the machine's place; true if it is caught in this segment of the stack. It has the trace
/// of where it was thrown, or none because there was no memory for one.
pub fn raise_pending(vm: &mut Machinery, machine: &mut Machine) -> bool {
    vm.compiled.unwinding = false;
    // Until now it was in a frame that has gone.
    vm.position = Position::Interpreted(machine.pc, machine.base);
    let error = vm.threads.current_mut().error;
    match errors::find_handler(vm, machine.pc, machine.base, error) {
        Raised::Caught(pc, base) => {
            (machine.pc, machine.base) = (pc, base);
            true
        }
        Raised::Uncaught(error) => {
            vm.threads.current_mut().error = error;
            false
        }
    }
}

/// A compiled caller calls a method that has no code: runs it in the interpreter. Called by the stub only.
pub(super) unsafe extern "C" fn interpret_from_compiled(
    method: *const Method,
    saved: *const Saved,
    stack: *const u64,
    frame: *const u64,
) -> u64 {
    // SAFETY: the stub passes what the caller's registers held: the context first.
    let (saved, vm) = unsafe { (&*saved, (*((*saved).integers[0] as *mut crate::context::Context)).machine) };
    // SAFETY: live; the reference ends before the interpreter runs.
    let (pc, definition) = unsafe {
        let vm = &mut *vm;
        vm.position = Position::Stub(frame);
        vm.profiling.forget_branches();
        let function = vm.code.function_of(method);
        // Code that tells of blocks comes here for methods that only have other code.
        let begin = vm.code.begin(function);
        if begin == vm.code.address(function, 0) {
            super::hot::count_invocation(vm, function);
        }
        (begin, &raw const vm.program.functions[function.index()])
    };
    // SAFETY: the program outlives its running.
    let definition = unsafe { &*definition };
    let fill = |base: *mut u64| {
        let (mut next_integer, mut next_float, mut next_word) = (2, 0, 0);
        for (register, ty) in definition.registers[..definition.params as usize].iter().enumerate() {
            let bits = if *ty == Type::Float && next_float < FLOAT_REGISTERS {
                next_float += 1;
                saved.floats[next_float - 1]
            } else if *ty != Type::Float && next_integer < INTEGER_REGISTERS {
                next_integer += 1;
                saved.integers[next_integer - 1]
            } else {
                next_word += 1;
                // SAFETY: the caller pushed as many words as the signature has.
                unsafe { *stack.add(next_word - 1) }
            };
            // SAFETY: `in_segment` made room for the frame.
            unsafe { *base.add(register) = bits };
        }
        Resume { pc, base, raises: false, enters: true }
    };
    // SAFETY: the frame is the stub's.
    unsafe { in_segment(vm, frame, saved.integers[1], definition.registers.len(), fill) }
}

/// Runs the interpreter on a new segment of the register stack, for a compiled caller: `fill` makes the frames above the
/// first one's base. Gives the result's bits; if it ends by an error, the stub's frame returns to where the caller handles that.
///
/// # Safety
/// `frame` is the frame pointer of the stub that the caller called, `vm` is live and not referred to.
pub(super) unsafe fn in_segment(
    vm: *mut Machinery,
    frame: *const u64,
    depth: u64,
    words: usize,
    fill: impl FnOnce(*mut u64) -> Resume,
) -> u64 {
    let (mut crossing, resume, dispatch, ctx, start) = {
        // SAFETY: by the caller's promise; the reference ends with this block.
        let vm = unsafe { &mut *vm };
        // The frame that called the stub may have been replaced since the position was told.
        vm.position = Position::Stub(frame);
        let largest = vm.largest_frame();
        let thread = vm.threads.current_mut();
        let start = super::frames::free_words(thread.crossing);
        let top = thread.stack.start().wrapping_add(start);
        let needed = words + largest + 2 * FRAME_HEADER;
        let top = match thread.stack.grow(top, needed) {
            Ok(top) => top,
            Err(full) => {
                let error = errors::make(vm, ErrorKind::StackOverflow, &full.to_string());
                errors::record_trace(vm, error);
                vm.threads.current_mut().error = error;
                leave::propagate(vm, frame);
                return 0;
            }
        };
        let previous = thread.crossing;
        vm.tell_stack_limit();
        let base = top.wrapping_add(FRAME_HEADER);
        let crossing = Crossing { previous, kind: CrossingKind::ToInterpreter { frame, start } };
        // SAFETY: there is room.
        unsafe {
            *base.sub(1) = vm.code.stub() as u64;
            *base.sub(2) = depth;
        }
        (crossing, fill(base), vm.options.dispatch, &raw mut *vm.context, start)
    };
    // SAFETY: as above.
    unsafe { (*vm).threads.current_mut().crossing = &raw mut crossing };
    let mut machine = Machine { pc: resume.pc, base: resume.base, ctx };
    // SAFETY: as above.
    let mut caught = !resume.raises || raise_pending(unsafe { &mut *vm }, &mut machine);
    // SAFETY: as above.
    if resume.enters && unsafe { (*ctx).control.load(Ordering::Relaxed) } != control::NONE {
        // The interpreter does this when it calls.
        caught = slow_path(machine.pc, machine.base, ctx, Slow::PrologueYieldpoint);
        // SAFETY: as above.
        (machine.pc, machine.base) = unsafe { ((*ctx).resume_pc, (*ctx).resume_base) };
    }
    // SAFETY: frames of verified, loaded code.
    let returned = caught && unsafe { crate::interpreter::run(machine, dispatch) };
    // SAFETY: as above.
    let vm = unsafe { &mut *vm };
    let thread = vm.threads.current_mut();
    thread.crossing = crossing.previous;
    if !returned {
        leave::propagate(vm, frame);
        return 0;
    }
    if vm.profiling.leaves_callers() {
        leave::leave_caller(vm, frame);
    }
    let thread = vm.threads.current_mut();
    // The stub below the first frame takes the result into its register 0.
    // SAFETY: the segment begins with the two words of the header.
    unsafe { *thread.stack.start().add(start) }
}
