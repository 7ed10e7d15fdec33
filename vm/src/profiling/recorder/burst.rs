//! Bursts: a sample is due, the running thread leaves compiled code, is interpreted until something was passed over and the buffer is full, and goes
//! back.
//!
//! ```text
//!            tick                          buffer is full                    compiled code ran, or none is near
//!   Idle ───────────► Recording ────────────────────────────► BackEdges ───────────────────────────────────────► Idle
//!                         ▲                     tick              │
//!                         └───────────────────────────────────────┘
//! ```
//!
//! *Recording*: compiled code that takes a yieldpoint leaves it; methods that are called and loops are interpreted, whether they have
//! code or not. Where the interpreted part of the stack ends, the caller leaves its code, too, when control comes back to
//! it ([`Burst::returned`]). Every cycle takes branches, so the buffer is full after a while.
//! *BackEdges*: nothing is recorded any more; the next method or loop that has code is entered.
//!
//! With two versions of the code (`osp:skip=versions`) a burst is a stretch of many samples ([`super::stretch`]). Then only the plain
//! version is left, and where there is one that tells of blocks, it is entered: methods that are called, from the interpreter or such
//! code, and loops. A frame changes versions where it may change tiers, through the interpreter. When the stretch is over, it is the other
//! version that is left.
//!
//! Where PEP takes turns, a burst is a look ([`super::looks`]), of all threads: it goes along with whichever runs.
//!
//! Between bursts nothing is done, and compiled code is the same as without. Leaving it for a burst is no failure of an assumption, so
//! that nothing is compiled again for it; only a loop that goes on for long when the burst is over may need code of its own, which
//! it gets once.

use crate::context::BlockCounter;
use crate::profiling::spec::{Backend, ProfileOptions};
use crate::threads::ThreadNumber;

/// A burst passes over fewer blocks or taken branches than this, by chance, before it samples: compiled code is left at yieldpoints, and what
/// comes behind them would be sampled too often.
pub(super) const DELAY: u64 = 512;

/// So many back edges are tried until the interpreter goes on by itself.
pub(super) const MOST_BACK_EDGES: u32 = 4096;

/// After so many of them a loop is taken to be what the thread is in: it gets code of its own.
const BACK_EDGES_OF_A_LOOP: u32 = 512;

/// Is recorded in bursts. `Err` if some want that and others all of the time, or two want bursts of their own.
pub(super) fn is_wanted(options: &ProfileOptions) -> Result<bool, String> {
    // What the processor remembers is not asked from here.
    let btb = options.btb.filter(|btb| !btb.backend.is_native()).map(|btb| btb.backend == Backend::Burst);
    let osp = options.osp.map(|osp| osp.is_by_ticks());
    let all = [btb, osp, options.subpaths.map(|_| false)];
    let count = |kind| all.iter().filter(|&&wants| wants == Some(kind)).count();
    if options.pep_takes_turns() {
        return match options.lets_pep_take_turns() {
            true => Ok(true),
            false => Err("pep:code=turns takes turns with code that tells nothing of paths, blocks and branches, and another profiler that \
                          was asked for wants to see all: leave code=turns out"
                .into()),
        };
    }
    match (count(true), count(false)) {
        (0, _) => Ok(false),
        (1, 0) => Ok(true),
        (1, _) => Err(
            "bursts (btb:backend=burst, osp:skip=burst, osp:skip=versions) leave compiled code alone in between, and another \
                       profiler that was asked for wants to see all: run them apart"
                .into(),
        ),
        _ => {
            Err("btb:backend=burst and osp have bursts of different lengths: run them apart".into())
        }
    }
}

/// What a burst is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Phase {
    /// There is none.
    #[default]
    Idle,
    /// The buffer fills.
    Recording,
    /// The way back; so many more back edges are looked at.
    BackEdges(u32),
}

/// The burst, of one thread at a time.
#[derive(Debug, Default)]
pub(super) struct Burst {
    pub phase: Phase,
    pub thread: ThreadNumber,
    /// Which one it is.
    pub number: u64,
    /// The interpreted part of the stack returned from here, and the caller is about to go on in the interpreter.
    pub returned: Option<usize>,
    /// There is a version of compiled code that need not be left while it records.
    pub has_versions: bool,
    /// Code that tells of blocks was seen to run although nobody wants it to, and none of it was left since.
    pub lingers: bool,
    /// It has begun, and nothing happened in it yet.
    pub is_fresh: bool,
    /// It goes along with the running thread.
    pub is_of_all: bool,
}

impl Burst {
    /// A sample is due. A burst that goes on is left alone (false); one of a thread that does not run is given up, for it may wait for long. A
    /// thread on its way back may be in a compiled loop already, which it does not leave for long.
    pub fn begin(&mut self, thread: ThreadNumber) -> bool {
        let begins = self.phase != Phase::Recording || self.thread != thread;
        if begins {
            let number = self.number + 1;
            *self =
                Burst { phase: Phase::Recording, thread, number, returned: None, is_fresh: true, ..*self };
        }
        begins
    }

    /// Another thread runs. Threads are switched by ticks: if one has just begun the burst, it is this thread's. True if it is.
    pub fn switch_to(&mut self, thread: ThreadNumber) -> bool {
        if self.is_of_all {
            (self.thread, self.returned) = (thread, None);
            return false;
        }
        let moves = self.phase == Phase::Recording && self.is_fresh && self.thread != thread;
        if moves {
            self.thread = thread;
        }
        moves
    }

    /// This thread's stretch is over, or was long ago, and compiled code that tells of blocks is to be left.
    pub fn goes_back(&mut self, thread: ThreadNumber) {
        let phase = Phase::BackEdges(MOST_BACK_EDGES);
        self.lingers = true;
        match self.phase {
            Phase::Recording if self.thread == thread => self.phase = phase,
            Phase::Idle => *self = Burst { phase, thread, returned: None, ..*self },
            _ => {}
        }
    }

    /// A thread is over, and its burst.
    pub fn thread_ends(&mut self, thread: ThreadNumber) {
        if self.thread == thread && !(self.is_of_all && self.phase == Phase::Recording) {
            (self.phase, self.returned) = (Phase::Idle, None);
        }
    }
}

impl super::Recorder {
    /// Is the running thread recorded, or on its way back.
    pub fn is_on(&self) -> bool {
        self.burst.as_ref().is_none_or(|burst| burst.phase != Phase::Idle && burst.thread == self.thread)
    }

    /// Is the running thread in a burst, or on its way back.
    pub fn in_burst(&self) -> bool {
        self.burst.is_some() && self.is_on()
    }

    /// The burst, if the running thread is in it.
    fn running(&self) -> Option<&Burst> {
        self.burst.as_ref().filter(|burst| burst.phase == Phase::Recording && burst.thread == self.thread)
    }

    /// Is the running thread to be interpreted, because a burst records.
    pub fn stays_interpreted(&self) -> bool {
        self.running().is_some_and(|burst| !burst.has_versions)
    }

    /// Is the running thread in a stretch, in which the version of code is entered that tells of blocks.
    pub fn enters_marked(&self) -> bool {
        self.running().is_some_and(|burst| burst.has_versions)
    }

    /// Is there code below that is to be left where control comes back to it.
    pub fn leaves_callers(&self) -> bool {
        self.burst.as_ref().is_some_and(|burst| burst.lingers) || self.running().is_some()
    }

    /// Code that tells of blocks is left because nobody wants it.
    pub fn leaves_marked(&mut self) {
        // Where threads share a look, others may have some more of it.
        self.burst.iter_mut().filter(|burst| !burst.is_of_all).for_each(|burst| burst.lingers = false);
    }

    /// Is the running thread to leave compiled code of a version: in a burst, what does not tell of blocks, else what does.
    pub fn leaves(&self, marked: bool) -> bool {
        self.running().is_some() != marked
    }

    /// The interpreted part of the stack returned, from here. True if that is all that is to be said now.
    pub fn returned_to_compiled(&mut self, from: usize, counter: &mut BlockCounter) -> bool {
        self.tell_before_return(counter);
        let burst = self.burst.as_mut().filter(|burst| burst.phase == Phase::Recording);
        burst.map(|burst| burst.returned = Some(from)).is_some()
    }

    /// Where that was, if control goes on in the caller now.
    pub fn take_returned(&mut self) -> Option<usize> {
        self.burst.as_mut()?.returned.take()
    }

    /// The burst that records the running thread; 0 if the recorder is on all the time, `None` if nothing is recorded (any more).
    #[inline]
    pub fn recording(&self) -> Option<u64> {
        match &self.burst {
            None => Some(0),
            Some(burst) if burst.phase == Phase::Recording && burst.thread == self.thread => {
                Some(burst.number)
            }
            Some(_) => None,
        }
    }

    /// A back edge was taken on the way back. `None` if there were enough; is the loop to get code.
    pub fn tries_back_edge(&mut self) -> Option<bool> {
        let burst = self.burst.as_mut().filter(|burst| burst.thread == self.thread)?;
        let Phase::BackEdges(left) = &mut burst.phase else { return None };
        *left = left.checked_sub(1)?;
        Some(MOST_BACK_EDGES - *left >= BACK_EDGES_OF_A_LOOP)
    }

    /// The running thread found its way back, if it was on it.
    pub fn end_way_back(&mut self) {
        let thread = self.thread;
        let burst = self.burst.as_mut().filter(|burst| burst.phase != Phase::Recording);
        burst.into_iter().for_each(|burst| burst.thread_ends(thread));
    }
}
