//! Branch records without a processor that keeps them: the trap flag makes it stop after each instruction, and a signal handler looks
//! where control is. Some microseconds an instruction, for as long as one sample needs; nothing in between.
//!
//! The handler may not allocate, wait or call: it reads the code, which lies still while it is stepped through, and writes
//! into the words below. There is one stepper in a process ([`Stepper::new`] gives the only one), and one thread at a time that it
//! follows: that of the machine to which it belongs.

use super::decode::{decode_with, taken};
use super::places::NativeSample;
use crate::timer::clock;
use holloway_profilers::btb::SplitMix64;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The most branches of a sample.
pub const MOST: usize = 4096;
/// Up to so many branches are let pass, the return from the tick at least: ticks find a program at its yieldpoints, and traces are to begin anywhere.
const SKIPPED: u64 = 8;
/// Instructions after which a sample is given up.
const MOST_STEPS: usize = 50_000;
/// The trap flag among the flags.
const TRAP: i64 = 0x100;

/// Is there a stepper.
static THERE: AtomicBool = AtomicBool::new(false);
/// Does it step.
static STEPS: AtomicBool = AtomicBool::new(false);
/// The code: its first byte and its end.
static CODE: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
/// Where control was before.
static LAST: AtomicU64 = AtomicU64::new(0);
/// Instructions so far.
static STEPPED: AtomicUsize = AtomicUsize::new(0);
/// When the last sample was over, in nanoseconds of the clock.
static ENDED: AtomicU64 = AtomicU64::new(0);
/// How many branches are still let pass.
static SKIP: AtomicUsize = AtomicUsize::new(0);
/// How many branches are wanted, and how many there are.
static DEPTH: AtomicUsize = AtomicUsize::new(0);
/// See [`DEPTH`].
static FILLED: AtomicUsize = AtomicUsize::new(0);
/// The branches: from and to.
static BRANCHES: [[AtomicU64; 2]; MOST] = [const { [const { AtomicU64::new(0) }; 2] }; MOST];

/// The right to step.
pub struct Stepper {
    before: libc::sigaction,
    /// For how many branches are let pass.
    random: SplitMix64,
    /// When stepping began last, in nanoseconds of the clock.
    began: u64,
}

impl Stepper {
    /// Gets ready. `Err` if another machine of this process steps, or the system does not let us.
    pub fn new(seed: u64) -> Result<Stepper, String> {
        if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
            return Err("only x86-64 with Linux steps in this way".into());
        }
        if THERE.swap(true, Relaxed) {
            return Err("another machine of this process steps already".into());
        }
        // SAFETY: all zeros is an action: the default one, without flags.
        let (mut action, mut before): (libc::sigaction, libc::sigaction) = unsafe { std::mem::zeroed() };
        action.sa_sigaction = on_trap as *const () as usize;
        // Green threads have small stacks.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        // SAFETY: both are live; the handler obeys what handlers must.
        if unsafe { libc::sigaction(libc::SIGTRAP, &raw const action, &raw mut before) } != 0 {
            THERE.store(false, Relaxed);
            return Err(format!("the trap signal cannot be handled: {}", std::io::Error::last_os_error()));
        }
        ENDED.store(0, Relaxed);
        // Not the numbers of the distances between samples.
        Ok(Stepper { before, random: SplitMix64(seed ^ 0x7374_6570), began: 0 })
    }

    /// Steps from here on until branches were taken from or to the code: a few that are let pass, and then `depth`, which are the sample. Or to no end.
    pub fn begin(&mut self, code: std::ops::Range<u64>, depth: usize) {
        // Drawn for each sample that is due, whether it is taken or not.
        let skip = 1 + self.random.below(SKIPPED) as usize;
        if STEPS.load(Relaxed) {
            return;
        }
        CODE[0].store(code.start, Relaxed);
        CODE[1].store(code.end, Relaxed);
        SKIP.store(skip, Relaxed);
        DEPTH.store(depth.min(MOST), Relaxed);
        LAST.store(0, Relaxed);
        STEPPED.store(0, Relaxed);
        FILLED.store(0, Relaxed);
        self.began = now();
        STEPS.store(true, Relaxed);
        set_trap_flag();
    }

    /// Would the program be stepped through for more than half of the time if another sample began now.
    pub fn has_to_rest(&self) -> bool {
        let ended = ENDED.load(Relaxed);
        now().saturating_sub(ended) < ended.saturating_sub(self.began)
    }

    /// The sample, if one is ready.
    pub fn take(&mut self) -> Option<NativeSample> {
        if STEPS.load(Relaxed) {
            return None;
        }
        let filled = FILLED.swap(0, Relaxed);
        let branch = |[from, to]: &[AtomicU64; 2]| (from.load(Relaxed), to.load(Relaxed));
        let branches: Vec<(u64, u64)> = BRANCHES[..filled].iter().map(branch).collect();
        (!branches.is_empty()).then_some(NativeSample { branches, at: None })
    }
}

impl Drop for Stepper {
    fn drop(&mut self) {
        // A step that is still to come clears the flag, and finds this handler or none that minds.
        if !STEPS.swap(false, Relaxed) {
            // SAFETY: the action that was there before.
            unsafe { libc::sigaction(libc::SIGTRAP, &raw const self.before, std::ptr::null_mut()) };
        }
        THERE.store(false, Relaxed);
    }
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn set_trap_flag() {
    // SAFETY: the flags stay as they are but for the trap flag, for which there is a handler.
    unsafe { std::arch::asm!("pushfq", "or qword ptr [rsp], 0x100", "popfq") };
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
fn set_trap_flag() {}

/// The time of the clock, in nanoseconds.
fn now() -> u64 {
    clock(libc::CLOCK_MONOTONIC).as_nanos() as u64
}

/// After each instruction.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
extern "C" fn on_trap(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes the registers of what was interrupted, and takes them back.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let at = registers[libc::REG_RIP as usize] as u64;
    let steps = STEPPED.fetch_add(1, Relaxed);
    let from = LAST.swap(at, Relaxed);
    let inside = |address: u64| (CODE[0].load(Relaxed)..CODE[1].load(Relaxed)).contains(&address);
    let was_taken = match (inside(from), inside(at)) {
        (true, true) => {
            // SAFETY: only bytes of the instruction are read, which was executed just now, so that they can be.
            let byte = |offset: usize| Some(unsafe { (from as *const u8).add(offset).read() });
            decode_with(byte).is_some_and(|branch| taken(branch, at.wrapping_sub(from) as i64))
        }
        (false, false) => false,
        // Where it came from is not known yet.
        (false, true) => from != 0,
        (true, false) => true,
    };
    let mut filled = FILLED.load(Relaxed);
    let skip = SKIP.load(Relaxed);
    if was_taken && skip > 0 {
        SKIP.store(skip - 1, Relaxed);
    } else if was_taken && filled < MOST {
        BRANCHES[filled][0].store(from, Relaxed);
        BRANCHES[filled][1].store(at, Relaxed);
        filled += 1;
        FILLED.store(filled, Relaxed);
    }
    if filled >= DEPTH.load(Relaxed) || steps >= MOST_STEPS || !STEPS.load(Relaxed) {
        registers[libc::REG_EFL as usize] &= !TRAP;
        ENDED.store(now(), Relaxed);
        STEPS.store(false, Relaxed);
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
extern "C" fn on_trap(_: libc::c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) {}
