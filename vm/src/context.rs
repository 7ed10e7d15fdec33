//! The context: the few words that running code of one virtual machine reads at every step. Interpreter handlers keep
//! a pointer to it in a register, and so will machine code; therefore it is `repr(C)`, never moves, and holds copies of
//! addresses rather than owners. Everything slow is behind [`Context::machine`].

use crate::heap::Run;
use crate::layout::Header;
use crate::vm::Machinery;
use std::sync::atomic::AtomicI32;

/// Prologues and epilogues take their yieldpoint if the control word is not zero, loop headers only if it is
/// positive (Arnold and Grove 2005, section 4.2).
pub mod control {
    /// No yieldpoint is taken.
    pub const NONE: i32 = 0;
    /// Yieldpoints of prologues and epilogues are taken: the state in which samples of calls are taken.
    #[cfg_attr(not(test), allow(dead_code))]
    pub const CALLS: i32 = -1;
    /// All yieldpoints are taken.
    pub const ALL: i32 = 1;
}

/// What running code sees of its virtual machine.
#[repr(C)]
pub struct Context {
    /// The control word, see [`control`]. The only field that other system threads write.
    pub control: AtomicI32,
    /// End of the register stack of the running thread.
    pub stack_limit: *mut u64,
    /// Base of the class table; headers hold offsets from it.
    pub classes: *const u8,
    /// Allocation runs, one for each size class.
    pub runs: *mut Run,
    /// Global variables.
    pub globals: *mut u64,
    /// String constants.
    pub strings: *const *mut Header,
    /// Headers of new boxes: of an `Int`, a `Float`, a `Bool`.
    pub box_headers: [u64; 3],
    /// Where a slow path that goes on wants to go on.
    pub resume_pc: *const u64,
    /// With which frame.
    pub resume_base: *mut u64,
    /// The rest of the virtual machine. Slow paths only.
    pub machine: *mut Machinery,
}
