//! The rare half of the interpreter: yieldpoints that are taken, calls of the system, instructions that need the
//! collector, errors. Handlers leave to [`slow_path`] with the reason; it says whether and where to go on.

use super::machine::{FRAME_HEADER, Flow, Machine, Object, Slow};
use super::quick::Quick;
use crate::adaptive;
use crate::compiled::frames::Position;
use crate::compiled::{hot, library};
use crate::context::{Context, NO_PATH};
use crate::errors::{self, Failure, Raised, StopReason};
use crate::layout::ObjectKind;
use crate::loader::Method;
use crate::natives;
use crate::profiling::{self, Taken};
use crate::signals::{COMPILED, INTERRUPT, TICK, TIMEOUT};
use crate::threads;
use crate::vm::Machinery;
use holloway_bytecode::{ClassId, ErrorKind, Op, code};
use holloway_profilers::schedule::YieldKind;

/// Handles `why` at `pc` in the frame `base`. True: go on at the context's `resume_pc` and `resume_base`. False: leave the
/// interpreter; the machinery knows the reason.
///
/// Never inlined: with its locals in the frame of who calls it, the jump to the next handler would not be a jump.
#[inline(never)]
pub fn slow_path(pc: *const u64, base: *mut u64, ctx: *mut Context, why: Slow) -> bool {
    // SAFETY: the context belongs to a live machinery, and running code holds no reference into it.
    let vm = unsafe { &mut *(*ctx).machine };
    vm.position = Position::Interpreted(pc, base);
    let mut machine = Machine { pc, base, ctx };
    if matches!(why, Slow::Compiled | Slow::HotLoop)
        || why == Slow::LoopYieldpoint && vm.compiled.enters_loops()
    {
        return change_tier(ctx, machine, why);
    }
    let result = match why {
        Slow::LoopYieldpoint => yieldpoint(vm, Some(YieldKind::Header)),
        Slow::PrologueYieldpoint => yieldpoint(vm, prologue(&machine)),
        Slow::EpilogueYieldpoint => yieldpoint(vm, Some(YieldKind::Epilogue)).map(|()| leave(&mut machine)),
        Slow::HotMethod => {
            hot_method(vm, &machine);
            Ok(())
        }
        Slow::NewFirst => {
            first_new(vm, &machine);
            Ok(())
        }
        Slow::Compiled | Slow::HotLoop => Ok(()),
        Slow::GrowStack if vm.profiling.counts_calls() => counted_call(vm, &mut machine),
        Slow::GrowStack => grow_stack(vm, &mut machine),
        Slow::StackOverflow => Err(stack_overflow(vm)),
        Slow::Index => Err(index_error(&machine)),
        Slow::Null => Err(failure(ErrorKind::Null, "the value is null")),
        Slow::Cast => Err(cast_error(vm, &machine)),
        Slow::Division => Err(failure(ErrorKind::Division, "division by zero")),
        Slow::Unset => Err(unset_error(vm, &machine)),
        Slow::Throw => Err(Failure::Thrown(machine.object(machine.a()).0)),
        Slow::Native => natives::call(vm, &mut machine),
        Slow::Execute => execute(vm, &mut machine),
    };
    // A native may have switched threads, which runs other slow paths: the reference is made anew.
    // SAFETY: as above.
    let vm = unsafe { &mut *(*ctx).machine };
    match result {
        Ok(()) => {
            vm.context.resume_pc = machine.pc;
            vm.context.resume_base = machine.base;
            true
        }
        Err(failure) => fail(vm, machine.pc, machine.base, failure),
    }
}

/// Goes on in compiled code, if there is any for where the machine stands.
fn change_tier(ctx: *mut Context, mut machine: Machine, why: Slow) -> bool {
    // SAFETY: as in `slow_path`. No reference is held while compiled code runs.
    let vm = unsafe { (*ctx).machine };
    let goes_on = if why == Slow::Compiled {
        hot::enter_method(vm, &mut machine)
    } else {
        // The yieldpoint of the loop header comes first.
        // SAFETY: as above.
        let (result, count) = unsafe {
            let vm = &mut *vm;
            let taken = vm.context.control.load(std::sync::atomic::Ordering::Relaxed) > 0;
            let result = if taken { yieldpoint(vm, Some(YieldKind::Header)) } else { Ok(()) };
            (result, why == Slow::HotLoop)
        };
        match result {
            // SAFETY: as above.
            Ok(()) if unsafe { (*vm).profiling.stays_interpreted() } => true,
            Ok(()) => hot::hot_loop(vm, &mut machine, count),
            // SAFETY: as above.
            Err(failure) => return fail(unsafe { &mut *vm }, machine.pc, machine.base, failure),
        }
    };
    // SAFETY: as above.
    unsafe {
        (*ctx).resume_pc = machine.pc;
        (*ctx).resume_base = machine.base;
    }
    goes_on
}

/// The method that the call at the machine's place enters has been entered often.
fn hot_method(vm: &mut Machinery, machine: &Machine) {
    let function = vm.code.function_of(called(machine));
    match vm.profiling.in_burst() && vm.profiling.looks().is_none() {
        // It is interpreted for a sample only; perhaps its code is part of that of its callers.
        true => vm.code.lower_threshold(function),
        false => hot::hot_method(vm, function),
    }
}

/// The method that the call at the machine's place calls.
fn called(machine: &Machine) -> *mut Method {
    match is_through_table(machine) {
        false => machine.x() as *mut Method,
        true => machine.lookup(machine.object(machine.arg(0)), machine.x() as i32),
    }
}

/// Does the call at the machine's place look its method up.
fn is_through_table(machine: &Machine) -> bool {
    let op = machine.word(0) as u8;
    let direct = [Quick::Call0, Quick::Call1, Quick::Call2, Quick::Call3, Quick::Call4];
    op != Op::Call as u8 && direct.iter().all(|quick| quick.number() != op)
}

/// What the yieldpoint of a method's entry is: that of its compiled code comes next if it has some.
fn prologue(machine: &Machine) -> Option<YieldKind> {
    (machine.word(0) as u8 != Quick::EnterCompiled.number()).then_some(YieldKind::Prologue)
}

/// Does the call at the machine's place, which is counted.
fn counted_call(vm: &mut Machinery, machine: &mut Machine) -> Result<(), Failure> {
    let (site, method, in_table) = (machine.pc, called(machine), is_through_table(machine));
    let callee = vm.code.function_of(method);
    let count = (machine.word(0) >> 8) as u8 as usize;
    for _ in 0..2 {
        vm.context.stack_limit = vm.threads.current_mut().stack.limit();
        let flow = machine.push_frame(method, count);
        vm.tell_stack_limit();
        match flow {
            Flow::Slow(Slow::GrowStack) => grow_stack(vm, machine)?,
            Flow::Slow(Slow::StackOverflow) => break,
            Flow::Slow(Slow::PrologueYieldpoint) => {
                profiling::count_interpreted(vm, site, callee, in_table);
                vm.position = Position::Interpreted(machine.pc, machine.base);
                return yieldpoint(vm, prologue(machine));
            }
            _ => {
                profiling::count_interpreted(vm, site, callee, in_table);
                return Ok(());
            }
        }
    }
    Err(stack_overflow(vm))
}

/// A `new` is executed for the first time: from now on it is an ordinary one, which is executed next.
fn first_new(vm: &mut Machinery, machine: &Machine) {
    library::note_instance(vm, vm.classes.class_at(machine.x() as u32));
    vm.code.set_opcode(machine.pc, Op::New as u8);
}

fn failure(kind: ErrorKind, message: &str) -> Failure {
    Failure::Error(kind, message.to_owned())
}

/// Throws what failed; true if somebody catches it.
fn fail(vm: &mut Machinery, pc: *const u64, base: *mut u64, failure: Failure) -> bool {
    vm.position = Position::Interpreted(pc, base);
    let error = match failure {
        Failure::Error(kind, message) => errors::make(vm, kind, &message),
        Failure::Thrown(error) => error,
        Failure::Stop(reason) => {
            vm.stop = Some((reason, errors::trace_of(vm)));
            return false;
        }
    };
    match errors::raise(vm, pc, base, error) {
        Raised::Caught(pc, base) => {
            vm.note_surprise(profiling::Surprise::Caught);
            vm.context.resume_pc = pc;
            vm.context.resume_base = base;
            true
        }
        Raised::Uncaught(error) => {
            vm.threads.current_mut().error = error;
            false
        }
    }
}

/// A yieldpoint that is taken: counts where counting is on, takes signals, switches threads on a tick.
/// The thread stands at the machinery's position; afterwards other threads may have run. The kind is nothing if the yieldpoint
/// is followed by another one of the same call.
pub fn yieldpoint(vm: &mut Machinery, kind: Option<YieldKind>) -> Result<(), Failure> {
    vm.statistics.yieldpoints_taken += 1;
    if vm.is_between_ticks() && profiling::passes(vm) {
        vm.yieldpoints += 1;
        vm.context.path = NO_PATH;
        return Ok(());
    }
    vm.reset_control();
    let mut signals = vm.signals.take();
    if vm.counts_yieldpoints() {
        vm.yieldpoints += 1;
        if vm.options.fuel.is_some_and(|fuel| vm.yieldpoints > fuel) {
            return Err(Failure::Stop(StopReason::FuelExhausted));
        }
        // By the clock, no yieldpoint is ever due.
        if vm.yieldpoints >= vm.next_tick {
            vm.next_tick = vm.yieldpoints.saturating_add(vm.distances.next());
            signals |= TICK;
        }
    }
    check_stop(signals)?;
    if signals & COMPILED != 0 {
        library::install_finished(vm);
    }
    let ticked = signals & TICK != 0;
    if ticked {
        vm.statistics.ticks += 1;
        adaptive::controller::tick(vm);
        profiling::tick(vm);
    }
    // Interpreted code ends no path.
    let path = std::mem::replace(&mut vm.context.path, NO_PATH);
    let taken = Taken { kind, path, place: vm.context.exit_place };
    if profiling::yieldpoint(vm, ticked, taken) {
        threads::preempt(vm);
    }
    Ok(())
}

/// Ends the program if a signal says so.
pub fn check_stop(signals: u32) -> Result<(), Failure> {
    if signals & INTERRUPT != 0 {
        return Err(Failure::Stop(StopReason::Interrupted));
    }
    if signals & TIMEOUT != 0 {
        return Err(Failure::Stop(StopReason::TimeLimit));
    }
    Ok(())
}

/// Executes the return at `pc`, its yieldpoint being over.
fn leave(machine: &mut Machine) {
    let unit = machine.word(0) as u8 == Op::ReturnUnit as u8;
    let result = (!unit).then(|| machine.bits(machine.a()));
    machine.leave(result);
}

/// Makes room for the call at `pc`, which is executed again.
fn grow_stack(vm: &mut Machinery, machine: &mut Machine) -> Result<(), Failure> {
    // The largest frame of any function: enough for whatever the call calls.
    let more = machine.b() + vm.largest_frame() + FRAME_HEADER;
    let stack = &mut vm.threads.current_mut().stack;
    match stack.grow(machine.base, more) {
        Ok(base) => {
            machine.base = base;
            vm.tell_stack_limit();
            Ok(())
        }
        Err(full) => Err(failure(ErrorKind::StackOverflow, &full.to_string())),
    }
}

fn stack_overflow(vm: &Machinery) -> Failure {
    Failure::Error(
        ErrorKind::StackOverflow,
        format!("stack overflow: more than {} nested calls", vm.options.stack_depth),
    )
}

fn index_error(m: &Machine) -> Failure {
    // `unset` names the array in a and the index in b, the others in b and c.
    let unset = m.word(0) as u8 == Op::Unset as u8;
    let (array, index) = if unset { (m.a(), m.b()) } else { (m.b(), m.c()) };
    let (index, length) = (m.int(index), m.object(array).length());
    Failure::Error(ErrorKind::Index, format!("index {index} is out of bounds for length {length}"))
}

fn unset_error(vm: &Machinery, m: &Machine) -> Failure {
    let message = if m.word(0) as u8 == Op::GetElem as u8 {
        format!("element {} was never set", m.int(m.c()))
    } else {
        format!("{} is read before it is initialised", vm.program.globals[m.bc() as usize].name)
    };
    Failure::Error(ErrorKind::Unset, message)
}

fn cast_error(vm: &Machinery, m: &Machine) -> Failure {
    let object = m.object(m.b());
    let target = if m.word(0) as u8 == Op::Cast as u8 {
        vm.program.classes[vm.classes.class_at(m.x() as u32).index()].name.to_string()
    } else {
        vm.program.interfaces[m.x() as usize].name.to_string()
    };
    let message = if object.is_null() {
        format!("null is not a {target}")
    } else {
        let class = &vm.program.classes[vm.class_of(object.0).index()].name;
        format!("a {class} is not a {target}")
    };
    Failure::Error(ErrorKind::Cast, message)
}

/// Executes an instruction that allocates beyond its run or stores into an old object.
fn execute(vm: &mut Machinery, m: &mut Machine) -> Result<(), Failure> {
    let opcode = m.word(0) as u8;
    let Some(op) = Op::from_number(opcode) else {
        // The only quick opcode that gets here is the large form of `new`.
        let object = vm.allocate_instance(vm.classes.class_at(m.x() as u32))?;
        m.set(m.a(), object as u64);
        m.next(2);
        return Ok(());
    };
    match op {
        Op::New => {
            let object = vm.allocate_instance(vm.classes.class_at(m.x() as u32))?;
            m.set(m.a(), object as u64);
        }
        Op::BoxInt | Op::BoxFloat | Op::BoxBool => {
            let class = match op {
                Op::BoxInt => ClassId::INT_BOX,
                Op::BoxFloat => ClassId::FLOAT_BOX,
                _ => ClassId::BOOL_BOX,
            };
            let object = vm.allocate_instance(class)?;
            Object(object).set_field(0, m.bits(m.b()));
            m.set(m.a(), object as u64);
        }
        Op::NewArray => {
            let length = m.int(m.b());
            if length < 0 {
                return Err(Failure::Error(
                    ErrorKind::Value,
                    format!("an array cannot have length {length}"),
                ));
            }
            let array = vm.allocate_array(vm.classes.class_at(m.x() as u32), length as usize)?;
            m.set(m.a(), array as u64);
        }
        Op::PutRef => {
            let object = m.object(m.b());
            // SAFETY: a live object.
            unsafe { vm.heap.remember(object.0) };
            object.set_field(m.c(), m.bits(m.a()));
        }
        Op::PutElem => {
            let (array, index) = (m.object(m.b()), m.int(m.c()) as usize);
            // SAFETY: a live array of references; the body has checked the index.
            unsafe {
                vm.heap.remember_element(array.0, index);
                *array.word(index) = m.bits(m.a());
            }
        }
        Op::Unset => {
            let (array, index) = (m.object(m.a()), m.bits(m.b()) as usize);
            if index >= array.length() {
                return Err(index_error(m));
            }
            // SAFETY: the index is inside. Zero needs no barrier.
            unsafe {
                match m.class_record(array).kind {
                    ObjectKind::Bytes => *array.byte(index) = 0,
                    _ => *array.word(index) = 0,
                }
            }
        }
        other => unreachable!("{} does not leave to be executed", other.mnemonic()),
    }
    let words = code::length(op as u64).unwrap_or(1);
    m.next(words);
    Ok(())
}
