//! Out of compiled code: deoptimization, and errors on their way through compiled frames.
//!
//! Compiled code that cannot go on stores its live values into the context and calls [`deoptimize`]. That looks up the frames of the
//! interpreter which the values stand for, and exchanges the compiled frame's return address: the frame then returns as it always
//! does (restoring its caller's registers), not to its caller but to a stub that runs the interpreter in the caller's
//! name; if the caller *is* the interpreter, it is told to go on with the frames itself. So leaving never lets the native stack
//! grow, however often it happens.
//!
//! An error moves outwards in the same way: each compiled frame is made to return to the landing pad of the call
//! that is waiting. The landing pad leaves compiled code at the call; there the error is thrown, unless no handler of these frames
//! could catch it: then the frame is not even rebuilt.

use super::Outcome;
use super::frames::{Crossing, Position};
use super::map::CodeMap;
use super::request::{CodeId, Location, Site};
use super::stubs;
use crate::context::Context;
use crate::interpreter::machine::{FRAME_HEADER, Object};
use crate::profiling::Profiling;
use crate::vm::Machinery;
use holloway_bytecode::{FunctionId, calls, code};
use holloway_profilers::stream::Lost;

/// The reason of sites that are calls.
const CALL: &str = "call";

/// A frame to be rebuilt.
#[derive(Debug)]
pub struct PendingFrame {
    function: FunctionId,
    pc: u32,
    calling: bool,
    registers: Vec<(u16, u64)>,
}

/// Frames to be rebuilt: from when compiled code is left to when the interpreter goes on.
#[derive(Debug, Default)]
pub struct Pending {
    /// The innermost first.
    frames: Vec<PendingFrame>,
    /// What the call gave in which the innermost frame stands.
    result: u64,
    /// An error is to be thrown in the innermost frame.
    raises: bool,
    /// How many calls may nest above the outermost frame.
    depth: u64,
}

impl Pending {
    /// All values, for the collector.
    pub fn values(&self) -> impl Iterator<Item = u64> + '_ {
        self.frames.iter().flat_map(|f| f.registers.iter().map(|r| r.1)).chain([self.result])
    }
}

/// Where the interpreter goes on.
pub struct Resume {
    /// The instruction.
    pub pc: *const u64,
    /// The frame.
    pub base: *mut u64,
    /// The thread's pending error is to be thrown there.
    pub raises: bool,
    /// A method is entered there by a call, whose yieldpoint comes first.
    pub enters: bool,
}

/// Compiled code leaves at a place; its values are in the context. Gives the context, which the compiled frame returns.
pub(super) unsafe extern "C" fn deoptimize(ctx: *mut Context, at: u64, frame: *mut u64) -> u64 {
    // SAFETY: compiled code passes its context, and holds no reference into the machinery.
    let vm = unsafe { &mut *(*ctx).machine };
    vm.position = Position::Compiled(frame, at);
    let (id, number) = (CodeId((at >> 32) as u32), at as u32);
    let Some(object) = vm.compiled.map.get(id) else { unreachable!("code that runs is installed") };
    let site = object.site(number).clone();
    let unwinding = vm.compiled.unwinding || vm.stop.is_some();
    let reason = match (&vm.stop, unwinding) {
        (Some(_), _) => Lost::ThreadEnd,
        (None, true) => Lost::Unwound,
        (None, false) => Lost::Deoptimized,
    };
    vm.profiling.ended(id, &site, reason);
    if site.reason != CALL {
        vm.profiling.compiled_code_runs();
    }
    if unwinding && (vm.stop.is_some() || !can_catch(vm, &site)) {
        propagate(vm, frame);
        return ctx as u64;
    }
    // Its callers are of the same version. They would not leave by themselves: yieldpoints of what they call come first.
    if object.marked && vm.profiling.leaves(true) {
        vm.profiling.leaves_marked();
        leave_caller(vm, frame);
    }
    super::library::note_exit(vm, id, number, unwinding);
    let calling = site.frames.first().is_some_and(|frame| frame.calling);
    vm.profiling.leaves_in_block(site.told && !calling && !unwinding);
    let values = vm.context.exits;
    // The collector finds what the recipes need here while objects are made.
    vm.compiled.held.extend_from_slice(&values[..highest_exit(&site)]);
    vm.compiled.held.push(vm.context.result);
    let objects = make_objects(vm, &site, &values);
    let value = |location: Location| match location {
        Location::Exit(n) => values[n as usize],
        Location::Constant(bits) => bits,
        Location::Virtual(n) => objects[n as usize],
    };
    let frames = site.frames.iter().map(|f| PendingFrame {
        function: f.function,
        pc: f.pc,
        calling: f.calling,
        registers: f.registers.iter().map(|&(register, location)| (register, value(location))).collect(),
    });
    let (result, depth) = (vm.context.result, vm.context.exit_depth);
    vm.compiled.pending = Pending { frames: frames.collect(), result, raises: unwinding, depth };
    vm.compiled.held.clear();
    // SAFETY: `frame` is the frame pointer of the compiled frame: above it lies its return address.
    unsafe {
        let returns = frame.add(1);
        if *returns as *const u8 == stubs::enter_return() {
            vm.compiled.outcome = Outcome::Left;
        } else {
            vm.context.continue_at = *returns as *const u8;
            *returns = stubs::continue_stub as *const () as u64;
        }
    }
    ctx as u64
}

/// A suspended thread is dropped, and with it its activations of compiled code.
///
/// # Safety
/// `position` and `crossing` are those of the thread, whose native stack is still there.
pub unsafe fn drop_activations(
    profiling: &mut Profiling,
    map: &CodeMap,
    position: Position,
    crossing: *const Crossing,
) {
    if let Position::Compiled(_, place) = position
        && let Some(object) = map.at(place)
    {
        profiling.ended(object.id, object.site(place as u32), Lost::ThreadEnd);
    }
    let mut drop = |_: *mut u64, returns: *const u8| {
        if let Some(object) = map.find(returns)
            && let Some(call) = object.call(returns)
        {
            profiling.ended(object.id, object.site(call.site), Lost::ThreadEnd);
        }
    };
    // SAFETY: by the caller's promise.
    unsafe { super::frames::return_addresses(position, crossing, &mut drop) };
}

/// How many of the context's exits a site uses.
fn highest_exit(site: &Site) -> usize {
    let in_frames = site.frames.iter().flat_map(|f| f.registers.iter().map(|r| r.1));
    let in_objects = site.objects.iter().flat_map(|o| o.fields.iter().copied());
    let exits = in_frames.chain(in_objects).map(|location| match location {
        Location::Exit(n) => n as usize + 1,
        _ => 0,
    });
    exits.max().unwrap_or(0)
}

/// Could a handler of one of these frames catch an error that comes out of its call?
fn can_catch(vm: &Machinery, site: &Site) -> bool {
    let error = Object(vm.threads.current().error);
    let class = vm.class_of(error.0);
    site.frames.iter().any(|frame| {
        let handlers = &vm.program.functions[frame.function.index()].handlers;
        handlers
            .iter()
            .any(|h| h.start <= frame.pc && frame.pc < h.end && vm.program.is_subclass(class, h.class))
    })
}

/// Makes the objects that existed in frame states only.
fn make_objects(vm: &mut Machinery, site: &Site, values: &[u64]) -> Vec<u64> {
    let mut objects = Vec::with_capacity(site.objects.len());
    for recipe in &site.objects {
        let object = vm.materialize(recipe.class);
        vm.compiled.held.push(object as u64);
        for (number, &field) in recipe.fields.iter().enumerate() {
            let bits = match field {
                Location::Exit(n) => values[n as usize],
                Location::Constant(bits) => bits,
                Location::Virtual(n) => objects[n as usize],
            };
            // An allocation in between may have made it old: the barrier does no harm.
            let is_ref = vm.program.classes[recipe.class.index()].fields()[number].ty.is_ref();
            if is_ref {
                vm.store_reference(object, number, bits as *mut crate::layout::Header);
            } else {
                Object(object).set_field(number, bits);
            }
        }
        objects.push(object as u64);
    }
    vm.all_exist();
    objects
}

/// The frame of a stub or of compiled code is to return to where its caller handles errors.
pub(super) fn propagate(vm: &mut Machinery, frame: *const u64) {
    vm.compiled.unwinding = true;
    // SAFETY: `frame` is a frame pointer: above it lies the return address.
    unsafe {
        let returns = frame.add(1).cast_mut();
        let address = *returns as *const u8;
        if address == stubs::enter_return() {
            vm.compiled.outcome = Outcome::Failed;
            return;
        }
        let Some(object) = vm.compiled.map.find(address) else { unreachable!("callers are compiled code") };
        let Some(landing) = object.landing(address) else { return };
        *returns = landing as u64;
    }
}

/// The frame of a stub is to return to where its caller, if that is compiled code that is to be left, goes on in the interpreter.
pub(super) fn leave_caller(vm: &mut Machinery, frame: *const u64) {
    // SAFETY: `frame` is a frame pointer: above it lies the return address.
    unsafe {
        let returns = frame.add(1).cast_mut();
        let address = *returns as *const u8;
        if address != stubs::enter_return()
            && let Some(object) = vm.compiled.map.find(address)
        {
            let (id, landing) = (object.id, object.landing(address));
            match landing.filter(|_| super::versions::is_to_be_left(vm, id)) {
                Some(landing) => *returns = landing as u64,
                None => vm.profiling.compiled_code_runs(),
            }
        }
    }
}

/// Goes on in the interpreter in the name of a compiled frame that has gone. Called by the stub only.
pub(super) unsafe extern "C" fn resume_from_compiled(ctx: *mut Context, frame: *const u64) -> u64 {
    // SAFETY: the stub passes the context.
    let vm = unsafe { (*ctx).machine };
    // SAFETY: live; the reference ends before the interpreter runs.
    let machinery = unsafe { &mut *vm };
    let start = super::frames::free_words(machinery.threads.current_mut().crossing);
    let top = machinery.threads.current_mut().stack.start().wrapping_add(start);
    let words = make_room(machinery, top).1;
    let depth = machinery.compiled.pending.depth;
    // SAFETY: the frame is the stub's, and there is room.
    unsafe { super::enter::in_segment(vm, frame, depth, words, |base| write_frames(&mut *vm, base)) }
}

/// Writes the pending frames over the frame at `base`, which is that of the outermost of them.
pub fn rebuild(vm: &mut Machinery, base: *mut u64) -> Resume {
    let (base, _) = make_room(vm, base);
    write_frames(vm, base)
}

/// Makes room above `top` for the pending frames, and what the interpreter and the segment below it need. Their calls were made: they are
/// written whatever the stack's limit says. Where `top` is now, and the words of the frames.
fn make_room(vm: &mut Machinery, top: *mut u64) -> (*mut u64, usize) {
    let registers = |f: &PendingFrame| vm.program.functions[f.function.index()].registers.len();
    let words: usize = vm.compiled.pending.frames.iter().map(|f| registers(f) + FRAME_HEADER).sum();
    let more = words + vm.largest_frame() + 2 * FRAME_HEADER;
    let Ok(top) = vm.threads.current_mut().stack.grow_for_frames(top, more) else {
        eprintln!("no memory for the frames of the interpreter");
        std::process::abort()
    };
    vm.tell_stack_limit();
    (top, words)
}

/// Writes the pending frames as [`rebuild`] does, where there is room for them.
fn write_frames(vm: &mut Machinery, mut base: *mut u64) -> Resume {
    let pending = std::mem::take(&mut vm.compiled.pending);
    let mut resume = Resume { pc: vm.code.stub(), base, raises: pending.raises, enters: false };
    let last = pending.frames.len() - 1;
    for (index, frame) in pending.frames.iter().rev().enumerate() {
        let function = &vm.program.functions[frame.function.index()];
        let pc = vm.code.address(frame.function, frame.pc);
        for &(register, bits) in &frame.registers {
            // SAFETY: there is room for the frame, and the register belongs to it.
            unsafe { *base.add(register as usize) = bits };
        }
        resume.pc = pc;
        resume.base = base;
        if index < last {
            // The next frame is the callee's.
            // SAFETY: there is room.
            unsafe {
                let depth = *base.sub(2);
                base = base.add(function.registers.len() + FRAME_HEADER);
                *base.sub(1) = pc as u64;
                *base.sub(2) = depth.saturating_sub(1);
            }
        } else if frame.calling && !pending.raises {
            // The call is over: its result goes where it belongs, and the next instruction is executed.
            if let Some(call) = code::decode(&function.code, frame.pc as usize) {
                if calls::call_result(&vm.program, function, &call).is_some() {
                    // SAFETY: the register belongs to the frame.
                    unsafe { *base.add(call.a as usize) = pending.result };
                }
                resume.pc = vm.code.address(frame.function, frame.pc + call.words.len() as u32);
            }
        }
    }
    resume
}

/// Lets every frame of the given code leave it when control comes back to it: on the stacks of all threads, the return addresses into it become those
/// of landing pads.
pub fn leave_frames(vm: &mut Machinery, id: CodeId) {
    let Some(object) = vm.compiled.map.get(id) else { return };
    let mut patch = |slot: *mut u64, returns: *const u8| {
        if let Some(landing) = object.landing(returns) {
            // SAFETY: a slot of a frame that waits; the landing pad takes the result as a normal return would leave it.
            unsafe { *slot = landing as u64 };
        }
    };
    let position = vm.position;
    // SAFETY: positions and crossings are those of live threads.
    vm.threads.each(position, |position, crossing, _| unsafe {
        super::frames::return_addresses(position, crossing, &mut patch)
    });
}
