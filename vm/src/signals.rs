//! What comes from outside running code: ticks of the timer, the end of the time limit, interrupts. Each is a bit; raising
//! one sets the control word, so that the next yieldpoint sees it.
//!
//! Order matters: whoever raises sets the bit first and the control word after; the yieldpoint clears the control word first
//! and takes the bits after. So no bit is left behind with the control word at zero.

use crate::context::control;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// The timer ticked.
pub const TICK: u32 = 1;
/// The program is to end: somebody pressed Ctrl-C.
pub const INTERRUPT: u32 = 2;
/// The program is to end: its time is over.
pub const TIMEOUT: u32 = 4;

/// The compiler has finished something.
pub const COMPILED: u32 = 8;

/// The address of a control word that lives at least as long as it is registered.
struct ControlWord(*const AtomicI32);

// SAFETY: the word behind it is an atomic; `Signals::detach` removes the address before the word goes away.
unsafe impl Send for ControlWord {}

/// Raised and not yet handled signals of one virtual machine.
pub struct Signals {
    pending: AtomicU32,
    control: Mutex<Option<ControlWord>>,
    changed: Condvar,
}

/// Ends a running program from another system thread.
#[derive(Clone)]
pub struct InterruptHandle(pub(crate) Arc<Signals>);

impl InterruptHandle {
    /// The program ends at its next yieldpoint, with its stack trace; if it does not run yet, as soon as it does.
    pub fn interrupt(&self) {
        self.0.raise(INTERRUPT);
    }
}

impl Signals {
    /// Nothing raised, no control word known.
    pub fn new() -> Arc<Signals> {
        Arc::new(Signals { pending: AtomicU32::new(0), control: Mutex::new(None), changed: Condvar::new() })
    }

    /// Signals set this control word from now on.
    ///
    /// # Safety
    /// The word must live until [`Signals::detach`].
    pub unsafe fn attach(&self, control: *const AtomicI32) {
        *self.lock() = Some(ControlWord(control));
    }

    /// No control word is set any more.
    pub fn detach(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<ControlWord>> {
        self.control.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Raises signals.
    pub fn raise(&self, bits: u32) {
        self.pending.fetch_or(bits, Ordering::SeqCst);
        if let Some(word) = &*self.lock() {
            // SAFETY: attached words are live.
            unsafe { (*word.0).store(control::ALL, Ordering::SeqCst) };
        }
        self.changed.notify_all();
    }

    /// Takes all raised signals. The caller has cleared the control word before.
    pub fn take(&self) -> u32 {
        self.pending.swap(0, Ordering::SeqCst)
    }

    /// Is anything raised. Leaves it raised.
    pub fn is_raised(&self) -> bool {
        self.pending.load(Ordering::Relaxed) != 0
    }

    /// Is something raised that ends the program. Leaves it raised.
    pub fn wants_stop(&self) -> bool {
        self.pending.load(Ordering::Relaxed) & (INTERRUPT | TIMEOUT) != 0
    }

    /// Waits until `deadline` or until a signal that ends the program is raised (which stays raised).
    pub fn wait_until(&self, deadline: Instant) {
        let mut guard = self.lock();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left == Duration::ZERO || self.wants_stop() {
                return;
            }
            guard = match self.changed.wait_timeout(guard, left) {
                Ok((guard, _)) => guard,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }
}
