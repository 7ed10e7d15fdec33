//! Green threads: each has a native stack (a coroutine) and a register stack; all run on one system thread, and are
//! switched at yieldpoints and where they wait.
//!
//! ```text
//!            tick, yieldNow                 threadWait, threadSleep
//!   ready <----------------- running -----------------------------> waiting, sleeping
//!     |                         ^  |                                        |
//!     +-------------------------+  +--> finished                            |
//!     ^        scheduler                first function returned,            |
//!     |                                 uncaught error                      |
//!     +---------------------------------------------------------------------+
//!                     threadWake, the time has come, deadlock
//! ```
//!
//! Ready threads run in the order in which they became ready, so that under the virtual timer a run is repeatable.
//! When none is ready and none sleeps, they all wait for each other: the main thread gets a `DeadlockError`.

mod scheduler;

pub use scheduler::{preempt, run_all, sleep, wait, wake};

use crate::compiled::frames::{Crossing, Position};
use crate::hash::AddressMap;
use crate::layout::ObjectPointer;
use crate::profiling::Seen;
use crate::stack::RegisterStack;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, Yielder};
use std::collections::VecDeque;

/// Bytes of a native stack. Interpreted calls do not nest on it, compiled ones do; where it ends, the interpreter takes
/// over, so that only the depth limit decides what overflows. Pages are touched when used.
const NATIVE_STACK: usize = 1 << 20;
/// Bytes of the main thread's.
const MAIN_NATIVE_STACK: usize = 16 << 20;

/// Number of a thread: 0 is the main thread; the others count up as they are started.
pub type ThreadNumber = u32;

/// The coroutine of a thread. It gives back true if the thread's function returned.
type ThreadCoroutine = Coroutine<(), (), bool, DefaultStack>;

/// What a thread is doing.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// In the queue, or running.
    Ready,
    /// Until this many nanoseconds since the start.
    Sleeping(u64),
    /// For somebody to wake this object; the text says for what.
    Waiting(ObjectPointer, String),
}

/// A green thread.
pub struct GreenThread {
    /// Its number.
    pub number: ThreadNumber,
    /// Its registers.
    pub stack: RegisterStack,
    /// What it does.
    pub state: State,
    /// The uncaught error that ended it, or null.
    pub error: ObjectPointer,
    /// It is to be told that all threads wait for each other.
    deadlocked: bool,
    /// Where it stands while it does not run.
    at: Position,
    /// The innermost call between the tiers, or null.
    pub crossing: *const Crossing,
    /// In which of its activations ends of paths were seen.
    pub(crate) seen: Seen,
    /// Stack pointer while it does not run.
    native_top: *const u64,
    /// Compiled code is entered above this address of it only.
    native_limit: *const u8,
    /// Highest address of its native stack.
    native_base: usize,
    /// What it yields through while it runs.
    yielder: *const Yielder<(), ()>,
    coroutine: Option<ThreadCoroutine>,
}

/// The threads of a virtual machine.
pub struct Threads {
    /// All threads that are not over, by slot. The slots of others are free.
    slots: Vec<Option<Box<GreenThread>>>,
    free_slots: Vec<usize>,
    ready: VecDeque<usize>,
    /// Slots of sleeping threads with the time they wake and the order in which they fell asleep.
    sleeping: std::collections::BTreeSet<(u64, u64, usize)>,
    /// For each object that somebody waits for, the slots of these threads in the order in which they began to wait. Objects
    /// do not move.
    waiting: AddressMap<VecDeque<usize>>,
    current: usize,
    next_number: ThreadNumber,
    sleeps: u64,
    /// Errors that ended threads, until somebody joins them.
    failed: Vec<(ThreadNumber, ObjectPointer)>,
    /// Native stacks of threads that are over, to be used again.
    spare_stacks: Vec<DefaultStack>,
    /// That of the main thread, if the machine ran before: it is larger.
    main_stack: Option<DefaultStack>,
}

impl Threads {
    /// No threads.
    pub fn new() -> Threads {
        Threads {
            slots: Vec::new(),
            free_slots: Vec::new(),
            ready: VecDeque::new(),
            sleeping: Default::default(),
            waiting: AddressMap::default(),
            current: 0,
            next_number: 0,
            sleeps: 0,
            failed: Vec::new(),
            spare_stacks: Vec::new(),
            main_stack: None,
        }
    }

    /// The running thread.
    pub fn current_mut(&mut self) -> &mut GreenThread {
        self.slots[self.current].as_mut().expect("the running thread has a slot")
    }

    /// The running thread.
    pub fn current(&self) -> &GreenThread {
        self.slots[self.current].as_ref().expect("the running thread has a slot")
    }

    /// Calls `with` for each thread: its position (`running` is that of the running one), crossing, and the beginning of its register stack.
    pub fn each(&self, running: Position, mut with: impl FnMut(Position, *const Crossing, *mut u64)) {
        for (slot, thread) in self.slots.iter().enumerate() {
            let Some(thread) = thread else { continue };
            let runs = slot == self.current && thread.coroutine.is_none();
            with(if runs { running } else { thread.at }, thread.crossing, thread.stack.begin());
        }
    }

    /// Calls `with` for each thread that stands in compiled code: its position, and how far down its native stack goes, which for the
    /// running one is `native_top`.
    pub fn each_native(
        &self,
        running: Position,
        native_top: *const u64,
        mut with: impl FnMut(Position, *const u64),
    ) {
        for (slot, thread) in self.slots.iter().enumerate() {
            let Some(thread) = thread else { continue };
            // The coroutine of a thread is taken out of it while it runs.
            let runs = slot == self.current && thread.coroutine.is_none();
            let (position, native_top) =
                if runs { (running, native_top) } else { (thread.at, thread.native_top) };
            with(position, native_top);
        }
    }

    /// The number of the running thread.
    pub fn current_number(&self) -> ThreadNumber {
        self.slots[self.current].as_ref().map_or(0, |t| t.number)
    }

    /// Notes that a thread ended with an error that is to be reported unless it is joined.
    pub fn note_failed(&mut self, number: ThreadNumber, error: ObjectPointer) {
        self.failed.push((number, error));
    }

    /// The error of a thread was handed over.
    pub fn note_joined(&mut self, number: ThreadNumber) {
        self.failed.retain(|(n, _)| *n != number);
    }
}
