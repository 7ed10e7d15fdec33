//! Bursts: a sample is due, the running thread leaves compiled code, is interpreted until the buffer is full, and goes back.
//!
//! ```text
//!            tick                          buffer is full                    compiled code ran, or none is near
//!   Idle ───────────► Recording ────────────────────────────► BackEdges ───────────────────────────────────────► Idle
//! ```
//!
//! *Recording*: compiled code that takes a yieldpoint leaves it; methods that are called and loops are interpreted, whether they have
//! code or not. Where the interpreted part of the stack ends, the caller leaves its code, too, when control comes back to
//! it ([`Burst::returned`]). Every cycle takes branches, so the buffer is full after a while.
//! *BackEdges*: nothing is recorded any more; the next method or loop that has code is entered.
//!
//! Between bursts nothing is done, and compiled code is the same as without. Leaving it for a burst is no failure of an assumption, so
//! that nothing is compiled again for it; only a loop that goes on for long when the burst is over may need code of its own, which
//! it gets once.

use crate::profiling::spec::{Backend, ProfileOptions, SubpathSkip};
use crate::threads::ThreadNumber;

/// So many back edges are tried until the interpreter goes on by itself.
pub(super) const MOST_BACK_EDGES: u32 = 4096;

/// After so many of them a loop is taken to be what the thread is in: it gets code of its own.
const BACK_EDGES_OF_A_LOOP: u32 = 512;

/// Is recorded in bursts. `Err` if some want that and others all of the time, or two want bursts of their own.
pub(super) fn is_wanted(options: &ProfileOptions) -> Result<bool, String> {
    // What the processor remembers is not asked from here.
    let btb = options.btb.filter(|btb| !btb.backend.is_native()).map(|btb| btb.backend == Backend::Burst);
    let osp = options.osp.map(|osp| osp.skip == SubpathSkip::Burst);
    let all = [btb, osp, options.subpaths.map(|_| false)];
    let count = |kind| all.iter().filter(|&&wants| wants == Some(kind)).count();
    match (count(true), count(false)) {
        (0, _) => Ok(false),
        (1, 0) => Ok(true),
        (1, _) => Err(
            "bursts (btb:backend=burst, osp:skip=burst) leave compiled code alone in between, and another \
                       profiler that was asked for wants to see all: run them apart"
                .into(),
        ),
        _ => {
            Err("btb:backend=burst and osp:skip=burst have bursts of different lengths: run them apart"
                .into())
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
}

impl Burst {
    /// A sample is due. A burst that goes on is left alone; one of a thread that does not run is given up, for it may wait for long.
    pub fn begin(&mut self, thread: ThreadNumber) {
        if self.phase == Phase::Idle || self.thread != thread {
            let number = self.number + 1;
            *self = Burst { phase: Phase::Recording, thread, number, returned: None };
        }
    }

    /// A thread is over, and its burst.
    pub fn thread_ends(&mut self, thread: ThreadNumber) {
        if self.thread == thread {
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

    /// Is the running thread to be interpreted, because a burst records.
    pub fn stays_interpreted(&self) -> bool {
        let burst = self.burst.as_ref();
        burst.is_some_and(|burst| burst.phase == Phase::Recording && burst.thread == self.thread)
    }

    /// The interpreted part of the stack returned, from here. True if that is all that is to be said now.
    pub fn returned_to_compiled(&mut self, from: usize) -> bool {
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
