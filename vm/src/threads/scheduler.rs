//! Which thread runs next, and how it gets there. The scheduler's loop runs on the stack of whoever called [`crate::vm::Vm::run`];
//! threads suspend back into it. This file holds no `&mut Machinery` across a resume or a suspend.

use super::{GreenThread, MAIN_NATIVE_STACK, NATIVE_STACK, State, ThreadCoroutine, ThreadNumber};
use crate::compiled::frames::{Crossing, Position};
use crate::compiled::hot::NATIVE_RESERVE;
use crate::compiled::leave::drop_activations;
use crate::errors::{self, Failure, StopReason};
use crate::heap::{RootVisitor, with_registers_saved};
use crate::interpreter::machine::{FRAME_HEADER, Machine, Object};
use crate::interpreter::slow::check_stop;
use crate::layout::ObjectPointer;
use crate::signals::COMPILED;
use crate::stack::RegisterStack;
use crate::timer::{TimerSource, VIRTUAL_NANOSECONDS};
use crate::vm::{Machinery, Outcome};
use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use holloway_bytecode::{ErrorKind, FunctionId, Layout, Type};
use std::time::Duration;

/// Slot of the main thread.
const MAIN: usize = 0;

/// Runs the program's entry function and all threads that it starts, until the main thread is over or the program is
/// ended.
pub fn run_all(vm: *mut Machinery) -> Outcome {
    // SAFETY: `vm` is live and nobody else refers to it; the reference ends before anything is resumed.
    if let Err(message) = unsafe { &mut *vm }.start_main() {
        return Outcome::failed_to_start(message);
    }
    let outcome = loop {
        // SAFETY: as above; `resume` runs between these references.
        let next = unsafe { &mut *vm }.next_thread();
        match next {
            Next::Run(slot) => {
                let returned = resume(vm, slot);
                // SAFETY: as above.
                let vm = unsafe { &mut *vm };
                if let Some((reason, trace)) = vm.stop.take() {
                    break Outcome::Stopped(reason, trace);
                }
                if let Some(returned) = returned
                    && let Some(outcome) = vm.finish(slot, returned)
                {
                    break outcome;
                }
            }
            Next::Stop(reason) => {
                // Everybody sleeps: where the main thread does is what the user wants to know.
                // SAFETY: as above.
                let vm = unsafe { &mut *vm };
                vm.threads.current = MAIN;
                if let Some(main) = &vm.threads.slots[MAIN] {
                    vm.position = main.at;
                }
                break Outcome::Stopped(reason, errors::trace_of(vm));
            }
        }
    };
    // SAFETY: as above.
    unsafe { &mut *vm }.drop_threads();
    outcome
}

/// Lets the thread in `slot` run until it suspends (`None`) or is over (true if its function returned).
fn resume(vm: *mut Machinery, slot: usize) -> Option<bool> {
    // The coroutine is taken out of the thread, so that running it does not alias the table.
    let mut coroutine = {
        // SAFETY: `vm` is live, and the reference ends before the coroutine runs.
        let vm = unsafe { &mut *vm };
        vm.threads.current = slot;
        vm.tell_stack_limit();
        let thread = vm.threads.current_mut();
        vm.context.native_limit = thread.native_limit;
        vm.position = thread.at;
        let (number, coroutine) = (thread.number, thread.coroutine.take());
        vm.profiling.switch_to(number, &mut vm.context);
        coroutine.expect("a ready thread has a coroutine")
    };
    let result = coroutine.resume(());
    // SAFETY: the thread has suspended: nothing of it refers to the machinery now.
    let vm = unsafe { &mut *vm };
    match result {
        CoroutineResult::Yield(()) => {
            vm.threads.current_mut().coroutine = Some(coroutine);
            None
        }
        CoroutineResult::Return(returned) => {
            let stack = coroutine.into_stack();
            match slot {
                MAIN => vm.threads.main_stack = Some(stack),
                _ => vm.threads.spare_stacks.push(stack),
            }
            Some(returned)
        }
    }
}

/// The running thread stops here until the scheduler resumes it. Its state was set before.
///
/// # Safety
/// `vm` is live, the running thread runs on its coroutine, and no reference into `vm` is used across the call.
unsafe fn suspend(vm: *mut Machinery) {
    with_registers_saved(|native_top| {
        let yielder = {
            // SAFETY: by the caller's promise; the reference ends before the switch.
            let vm = unsafe { &mut *vm };
            vm.statistics.thread_switches += 1;
            let at = vm.position;
            let thread = vm.threads.current_mut();
            thread.at = at;
            thread.native_top = native_top;
            thread.yielder
        };
        // SAFETY: the yielder lives on the coroutine's stack as long as the coroutine runs, and this is that stack.
        unsafe { (*yielder).suspend(()) };
    });
}

/// The thread goes to the end of the queue if another is ready.
pub fn preempt(vm: &mut Machinery) {
    vm.wake_sleepers();
    if vm.threads.ready.is_empty() {
        return;
    }
    let current = vm.threads.current;
    vm.threads.ready.push_back(current);
    let vm: *mut Machinery = vm;
    // SAFETY: we run on the current thread's coroutine; the callers make their references anew.
    unsafe { suspend(vm) };
}

/// The thread waits until `object` is woken; `reason` tells the user for what.
pub fn wait(vm: &mut Machinery, object: ObjectPointer, reason: &str) -> Result<(), Failure> {
    let current = vm.threads.current;
    vm.threads.waiting.entry(object).or_default().push_back(current);
    vm.threads.current_mut().state = State::Waiting(object, reason.to_owned());
    let raw: *mut Machinery = vm;
    // SAFETY: as in `preempt`.
    unsafe { suspend(raw) };
    // SAFETY: `vm` outlives its threads; the earlier reference is not used any more.
    let vm = unsafe { &mut *raw };
    if std::mem::take(&mut vm.threads.current_mut().deadlocked) {
        let message = vm.describe_deadlock();
        vm.threads.current_mut().state = State::Ready;
        return Err(Failure::Error(ErrorKind::Deadlock, message));
    }
    Ok(())
}

/// Makes the first thread (or all) that wait for `object` ready.
pub fn wake(vm: &mut Machinery, object: ObjectPointer, all: bool) {
    while let Some(slot) = vm.threads.next_waiting(object) {
        vm.threads.make_ready(slot);
        if !all {
            break;
        }
    }
}

/// The thread sleeps for at least so long.
pub fn sleep(vm: &mut Machinery, duration: Duration) {
    let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    // Programs see times as integers with a sign.
    let until = vm.now().saturating_add(nanoseconds).min(i64::MAX as u64);
    let current = vm.threads.current;
    vm.threads.sleeps += 1;
    let order = vm.threads.sleeps;
    vm.threads.sleeping.insert((until, order, current));
    vm.threads.current_mut().state = State::Sleeping(until);
    let raw: *mut Machinery = vm;
    // SAFETY: as in `preempt`.
    unsafe { suspend(raw) };
}

/// What the scheduler does next.
enum Next {
    Run(usize),
    Stop(StopReason),
}

impl super::Threads {
    /// The thread that has waited for `object` for the longest time; it waits no more.
    fn next_waiting(&mut self, object: ObjectPointer) -> Option<usize> {
        let queue = self.waiting.get_mut(&object)?;
        let slot = queue.pop_front();
        if queue.is_empty() {
            self.waiting.remove(&object);
        }
        slot
    }

    /// The thread in `slot` does not wait for `object` any more.
    fn stop_waiting(&mut self, slot: usize, object: ObjectPointer) {
        let Some(queue) = self.waiting.get_mut(&object) else { return };
        queue.retain(|&waits| waits != slot);
        if queue.is_empty() {
            self.waiting.remove(&object);
        }
    }

    fn make_ready(&mut self, slot: usize) {
        if let Some(thread) = &mut self.slots[slot] {
            thread.state = State::Ready;
        }
        self.ready.push_back(slot);
    }

    /// Reports what all threads refer to: `registers` reports the frames of a stack from its innermost one. The running thread,
    /// if there is one, stands at `running`, and its native stack goes down to `native_top`.
    pub(crate) fn scan(
        &self,
        running: Position,
        native_top: *const u64,
        registers: &mut dyn FnMut(Position, *const Crossing, *mut u64, &mut RootVisitor<'_>),
        visitor: &mut RootVisitor<'_>,
    ) {
        for &(_, error) in &self.failed {
            visitor.word(error as u64);
        }
        for (slot, thread) in self.slots.iter().enumerate() {
            let Some(thread) = thread else { continue };
            visitor.word(thread.error as u64);
            // The coroutine of a thread is taken out of it while it runs.
            let runs = slot == self.current && thread.coroutine.is_none();
            let (position, native_top) =
                if runs { (running, native_top) } else { (thread.at, thread.native_top) };
            registers(position, thread.crossing, thread.stack.begin(), visitor);
            // SAFETY: a native stack from its pointer to its base is mapped memory of this thread, and aligned.
            unsafe { visitor.words(native_top, thread.native_base as *const u64) };
        }
    }

    fn insert(&mut self, thread: GreenThread) -> usize {
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[slot] = Some(Box::new(thread));
        slot
    }
}

impl Machinery {
    /// Nanoseconds since the start, by the clock that the timer uses.
    pub(crate) fn now(&self) -> u64 {
        match self.options.timer {
            TimerSource::Wall(_) => self.started.elapsed().as_nanos() as u64,
            TimerSource::Virtual(_) | TimerSource::Drawn { .. } => {
                self.yieldpoints.saturating_mul(VIRTUAL_NANOSECONDS).saturating_add(self.slept)
            }
        }
    }

    fn start_main(&mut self) -> Result<(), String> {
        self.threads.next_number = 0;
        self.start(std::ptr::null_mut(), self.entry).map(|_| ())
    }

    /// Starts a thread that calls a closure: the first method of its class.
    pub(crate) fn spawn(&mut self, closure: ObjectPointer) -> Result<ThreadNumber, Failure> {
        let class = &self.program.classes[self.class_of(closure).index()];
        let Some(function) =
            class.methods.first().filter(|m| m.signature.params.is_empty()).and_then(|m| m.function)
        else {
            let message = format!("a {} is not a function without parameters", class.name);
            return Err(Failure::Error(ErrorKind::Value, message));
        };
        self.start_timer()
            .map_err(|error| format!("cannot start the timer thread: {error}"))
            .and_then(|()| self.start(closure, function))
            .map_err(|message| Failure::Error(ErrorKind::OutOfMemory, message))
    }

    fn start(&mut self, closure: ObjectPointer, function: FunctionId) -> Result<ThreadNumber, String> {
        let method = self.code.method(function);
        // SAFETY: methods live as long as the code.
        let (code, frame) = unsafe { ((*method).code, (*method).frame) };
        let mut stack = RegisterStack::new();
        let start = stack.start();
        let base = stack
            .grow(start, frame + FRAME_HEADER)
            .map_err(|_| "no memory for the register stack of a thread")?
            .wrapping_add(FRAME_HEADER);
        // SAFETY: the stack has room for the header and the frame, which has the closure as its first register.
        unsafe {
            *base.sub(1) = self.code.stub() as u64;
            // The entry function is the compiler's and does not count; a thread's closure is the program's.
            *base.sub(2) = self.options.stack_depth.saturating_sub(!closure.is_null() as u64);
            if !closure.is_null() {
                *base = closure as u64;
            }
        }
        let (spare, size) = match closure.is_null() {
            true => (self.threads.main_stack.take(), MAIN_NATIVE_STACK),
            false => (self.threads.spare_stacks.pop(), NATIVE_STACK),
        };
        let native = match spare {
            Some(stack) => stack,
            None => DefaultStack::new(size)
                .map_err(|error| format!("no memory for the stack of a thread: {error}"))?,
        };
        let number = self.threads.next_number;
        self.threads.next_number += 1;
        self.statistics.threads += 1;
        self.profiling.thread_begins(number, self.computes(closure));
        let native_base = native.base().get();
        let native_limit = (native.limit().get() + NATIVE_RESERVE) as *const u8;
        let vm: *mut Machinery = self;
        let coroutine: ThreadCoroutine =
            Coroutine::with_stack(native, move |yielder, ()| thread_main(vm, yielder));
        let slot = self.threads.insert(GreenThread {
            number,
            state: State::Ready,
            error: std::ptr::null_mut(),
            deadlocked: false,
            at: Position::Interpreted(code, base),
            crossing: std::ptr::null(),
            seen: Default::default(),
            native_limit,
            native_top: native_base as *const u64,
            native_base,
            yielder: std::ptr::null(),
            coroutine: Some(coroutine),
            stack,
        });
        self.threads.ready.push_back(slot);
        Ok(number)
    }

    /// What the user knows a thread by: the function that is passed to the library's `spawn`, whose closure captures it as `compute`.
    fn computes(&self, closure: ObjectPointer) -> Option<FunctionId> {
        if closure.is_null() {
            return None;
        }
        let class = |object| &self.program.classes[self.class_of(object).index()];
        let function = |object| class(object).methods.first().and_then(|method| method.function);
        let Layout::Object(fields) = &class(closure).layout else { return None };
        let captured =
            fields.iter().position(|field| &*field.name == "compute" && matches!(field.ty, Type::Ref(_)));
        let captured = captured.map(|field| Object(closure).field(field) as ObjectPointer);
        captured.filter(|object| !object.is_null()).and_then(function).or_else(|| function(closure))
    }

    /// Makes threads ready whose time has come.
    fn wake_sleepers(&mut self) {
        if self.threads.sleeping.is_empty() {
            return;
        }
        let now = self.now();
        while let Some(&(until, order, slot)) = self.threads.sleeping.first() {
            if until > now {
                break;
            }
            self.threads.sleeping.remove(&(until, order, slot));
            self.threads.make_ready(slot);
        }
    }

    fn next_thread(&mut self) -> Next {
        loop {
            self.wake_sleepers();
            if let Some(slot) = self.threads.ready.pop_front() {
                return Next::Run(slot);
            }
            if let Some(&(until, _, _)) = self.threads.sleeping.first() {
                self.flush();
                if self.options.timer.yieldpoints().is_some() {
                    // Time passes, but no yieldpoints: a sleep takes neither fuel nor time slices.
                    self.slept = self.slept.saturating_add(until.saturating_sub(self.now()));
                    continue;
                }
                self.signals.wait_until(self.started + Duration::from_nanos(until));
                self.reset_control();
                self.profiling.keep_windows_open(&self.context);
                let signals = self.signals.take();
                if let Err(Failure::Stop(reason)) = check_stop(signals) {
                    return Next::Stop(reason);
                }
                // A tick was of nobody's time. What is compiled waits for who runs next.
                if signals & COMPILED != 0 {
                    self.signals.raise(COMPILED);
                }
                continue;
            }
            // Everybody waits: tell the main thread.
            let main = self.threads.slots[MAIN].as_mut().expect("the main thread runs until the end");
            main.deadlocked = true;
            // It stays in the state of waiting until it has been told, so that the message can say for what.
            if let State::Waiting(object, _) = main.state {
                self.threads.stop_waiting(MAIN, object);
            }
            self.threads.ready.push_back(MAIN);
        }
    }

    /// A thread is over. Gives the outcome of the program if it was the main thread.
    fn finish(&mut self, slot: usize, returned: bool) -> Option<Outcome> {
        let thread = self.threads.slots[slot].take().expect("the thread that ran has a slot");
        self.profiling.thread_ends(thread.number, &self.context);
        if slot == MAIN {
            let failed = std::mem::take(&mut self.threads.failed);
            let others = failed.iter().map(|&(n, error)| errors::read(self, error, n)).collect();
            return Some(match returned {
                true => Outcome::Finished(others),
                false => Outcome::Failed(errors::read(self, thread.error, 0), others),
            });
        }
        if !returned {
            self.threads.note_failed(thread.number, thread.error);
        }
        self.threads.free_slots.push(slot);
        None
    }

    /// Forgets all threads. Suspended ones hold nothing that needs to be dropped: natives do not suspend while they own
    /// memory of Rust's.
    fn drop_threads(&mut self) {
        for thread in self.threads.slots.iter_mut().flatten() {
            if let Some(mut coroutine) = thread.coroutine.take() {
                let (profiling, map) = (&mut self.profiling, self.compiled.map());
                profiling.switch_to(thread.number, &mut self.context);
                // SAFETY: the thread is suspended there.
                unsafe { drop_activations(profiling, map, thread.at, thread.crossing) };
                // SAFETY: see above; nothing refers to the stack any more.
                unsafe { coroutine.force_reset() };
            }
            self.profiling.thread_ends(thread.number, &self.context);
        }
        let (main_stack, mut spare) =
            (self.threads.main_stack.take(), std::mem::take(&mut self.threads.spare_stacks));
        spare.truncate(1);
        self.threads = super::Threads { main_stack, spare_stacks: spare, ..super::Threads::new() };
    }

    fn describe_deadlock(&self) -> String {
        let mut threads: Vec<&GreenThread> = self.threads.slots.iter().flatten().map(|t| &**t).collect();
        threads.sort_by_key(|t| t.number);
        let mut message = String::from("all threads wait for each other");
        const SHOWN: usize = 20;
        for thread in threads.iter().take(SHOWN) {
            let what = match &thread.state {
                State::Waiting(_, reason) => reason.as_str(),
                _ => "nothing",
            };
            let name = match thread.number {
                0 => "the main thread".to_owned(),
                n => format!("thread {n}"),
            };
            message.push_str(&format!("\n  {name} waits for {what}"));
            if let Some((function, pc)) = self.waiting_place(thread) {
                let function = &self.program.functions[function.index()];
                let position = function.position(pc);
                let file = self.program.files.get(position.file as usize).map_or("?", |f| f);
                if position.line > 0 {
                    message.push_str(&format!(" at {file}:{}:{}", position.line, position.column));
                }
            }
        }
        if threads.len() > SHOWN {
            message.push_str(&format!("\n  … and {} more", threads.len() - SHOWN));
        }
        message
    }

    /// Where a suspended thread waits: the innermost frame that is not the library's.
    fn waiting_place(&self, thread: &GreenThread) -> Option<(FunctionId, u32)> {
        let mut places = Vec::new();
        self.walk(thread.at, thread.crossing, thread.stack.begin(), &mut |place| {
            places.push(place);
            true
        });
        let mut places = places.into_iter();
        let first = places.next()?;
        let library = |&(function, pc): &(FunctionId, u32)| {
            let position = self.program.functions[function.index()].position(pc);
            self.program.files.get(position.file as usize).is_some_and(|f| f.starts_with("std/"))
        };
        Some(std::iter::once(first).chain(places).find(|p| !library(p)).unwrap_or(first))
    }
}

/// What runs on a thread's coroutine.
fn thread_main(vm: *mut Machinery, yielder: &Yielder<(), ()>) -> bool {
    // SAFETY: the machinery outlives its threads; the reference ends before code runs.
    let (machine, dispatch) = unsafe {
        let vm = &mut *vm;
        let ctx = &raw mut *vm.context;
        let dispatch = vm.options.dispatch;
        let thread = vm.threads.current_mut();
        thread.yielder = yielder;
        let Position::Interpreted(pc, base) = thread.at else {
            unreachable!("threads begin in the interpreter")
        };
        (Machine { pc, base, ctx }, dispatch)
    };
    // SAFETY: `start` made the first frame of verified, loaded code.
    unsafe { crate::interpreter::run(machine, dispatch) }
}
