//! Ctrl-C: the first ends the running program, with its stack trace; the second ends the process at once, for the case
//! that the program hangs in something that does not look for interrupts, such as writing to a pipe that nobody reads.

use crate::report::EXIT_PROGRAM;
use holloway_vm::signals::InterruptHandle;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Whom to interrupt: the virtual machine that runs now, if one does.
#[derive(Default)]
pub struct Interrupt {
    handle: Mutex<Option<InterruptHandle>>,
    pressed: AtomicBool,
}

impl Interrupt {
    /// Nothing to interrupt yet.
    pub fn new() -> Arc<Interrupt> {
        Arc::default()
    }

    /// From now on, interrupts go to this machine, one that has come already as well.
    pub fn watch(&self, handle: InterruptHandle) {
        let mut slot = self.handle.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let handle = slot.insert(handle);
        if self.was_pressed() {
            handle.interrupt();
        }
    }

    /// Ends the program that runs, if one does.
    pub fn interrupt(&self) {
        if let Some(handle) = &*self.handle.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) {
            handle.interrupt();
        }
    }

    /// Was Ctrl-C pressed.
    pub fn was_pressed(&self) -> bool {
        self.pressed.load(Ordering::SeqCst)
    }

    /// Listens for Ctrl-C (and for requests to terminate). Until this is called, they end the process as usual. That
    /// they cannot be listened for is no reason not to run.
    pub fn listen(self: &Arc<Self>) {
        let this = self.clone();
        let _ = ctrlc::set_handler(move || {
            if this.pressed.swap(true, Ordering::SeqCst) {
                std::process::exit(EXIT_PROGRAM.into());
            }
            this.interrupt();
        });
    }
}
