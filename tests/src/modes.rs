//! The modes in which every case runs. Whatever a program does, it must do it in all of them: one more tier or one
//! more stress is one more row.

use holloway_vm::timer::TimerSource;
use holloway_vm::{Dispatch, VmOptions};
use std::num::NonZeroU32;

/// A way to run a program.
pub struct Mode {
    /// Its name, for `skip` and for messages.
    pub name: &'static str,
    /// What it changes.
    pub apply: fn(&mut VmOptions),
}

/// All modes. The first is the one whose results `BLESS` writes down.
pub const MODES: &[Mode] = &[
    Mode { name: "tail", apply: |options| options.dispatch = Dispatch::Tail },
    Mode { name: "loop", apply: |options| options.dispatch = Dispatch::Loop },
    Mode { name: "gc-stress", apply: gc_stress },
    Mode { name: "virtual-timer", apply: virtual_timer },
];

/// A collection at every few allocations, minor and full by turns; the dead are overwritten.
fn gc_stress(options: &mut VmOptions) {
    options.heap.stress = NonZeroU32::new(3);
}

/// Threads are switched very often. The period is odd so that it does not march in step with loops.
fn virtual_timer(options: &mut VmOptions) {
    options.timer = TimerSource::Virtual(7);
}
