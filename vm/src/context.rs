//! The context: what running code of one virtual machine reads at every step, and where values lie that pass between it and what
//! it calls. Interpreter handlers keep a pointer to it in a register, and compiled code gets one as its first argument; therefore
//! it is `repr(C)`, never moves, and holds copies of addresses rather than owners. Everything slow is behind [`Context::machine`].

use crate::compiled::{EXITS, Stub};
use crate::heap::Run;
use crate::layout::Header;
use crate::loader::ReceiverCell;
use crate::vm::Machinery;
use holloway_profilers::kblpp::Addresses;
use holloway_profilers::stream::TableAddress;
use std::sync::atomic::AtomicI32;

/// Prologues and epilogues take their yieldpoint if the control word is not zero, loop headers only if it is
/// positive (Arnold and Grove 2005, section 4.2).
pub mod control {
    /// No yieldpoint is taken.
    pub const NONE: i32 = 0;
    /// Yieldpoints of prologues and epilogues are taken: the state in which samples of calls are taken.
    pub const CALLS: i32 = -1;
    /// All yieldpoints are taken.
    pub const ALL: i32 = 1;
}

/// No path ends.
pub const NO_PATH: u64 = u64::MAX;

/// Added to the number of a path that may be wrong if it is the first that its activation sees end since all yieldpoints are taken.
/// Numbers are smaller.
pub const UNSURE: u64 = 1 << 31;

/// Blocks that compiled code counts down until the profiler of subpaths samples some, and those of the sample that it already had.
#[repr(C)]
#[derive(Clone, Debug)]
pub struct BlockCounter {
    /// How many may begin until one is told, and one. While a sample is taken: 1.
    pub left: u64,
    /// So many blocks of the sample are in `sampled`,
    pub told: u32,
    /// and so many the stub that is called for a block may put there by itself. The next one is told to the virtual machine.
    pub room: u32,
    /// Numbers of blocks in the order in which they were entered.
    pub sampled: [u32; SAMPLED],
}

/// So many blocks of a sample wait until the virtual machine hears of them.
const SAMPLED: usize = 32;

impl BlockCounter {
    /// The sample that is next, or has begun, lacks so many blocks, the last of which is to be told.
    pub fn make_room(&mut self, missing: usize) {
        self.room = missing.saturating_sub(1).min(SAMPLED) as u32;
    }

    /// The blocks that were put here, which then are not here any more; nor is there room for others.
    pub fn take(&mut self) -> impl Iterator<Item = u32> + '_ {
        let told = std::mem::take(&mut self.told) as usize;
        self.room = 0;
        self.sampled[..told].iter().copied()
    }
}

impl Default for BlockCounter {
    /// Nobody wants to know of blocks.
    fn default() -> BlockCounter {
        BlockCounter { left: u64::MAX, told: 0, room: 0, sampled: [0; SAMPLED] }
    }
}

/// What running code sees of its virtual machine.
#[repr(C)]
pub struct Context {
    /// The control word, see [`control`]. The only field that other system threads write.
    pub control: AtomicI32,
    /// While samples of calls are taken: how many calls may pass before the next one that somebody wants to see. Stubs count it down.
    pub skips: i32,
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
    /// Cells in which the receivers of calls through tables are counted.
    pub receivers: *mut ReceiverCell,
    /// Where a slow path that goes on wants to go on.
    pub resume_pc: *const u64,
    /// With which frame.
    pub resume_base: *mut u64,
    /// The rest of the virtual machine. Slow paths only.
    pub machine: *mut Machinery,
    /// What compiled code calls on its slow paths. In memory rather than in the code, where Cranelift would move the constants
    /// out of loops, into registers that the loops need.
    pub stubs: [u64; Stub::ALL.len()],
    /// Compiled code is entered above this address of the native stack only.
    pub native_limit: *const u8,
    /// Counter 0 of compiled code, if it counts.
    pub counters: *mut u64,
    /// The nodes of the k-slab forest, if there is one.
    pub forest: Addresses,
    /// The number of the path that ends at a yieldpoint of compiled code that is taken; [`NO_PATH`] if none ends there.
    pub path: u64,
    /// Which yieldpoint of compiled code is taken, as a number of [`holloway_profilers::schedule::YieldKind`].
    pub kind: u32,
    /// Not 0 if epilogues are among the calls that `skips` counts.
    pub epilogues: u32,
    /// Where the running compiled code stands, set before it calls a helper.
    pub exit_place: u64,
    /// How many more calls may nest in the frame that is left.
    pub exit_depth: u64,
    /// Set by helpers: compiled code must be left.
    pub leave: u64,
    /// What the call gave in which compiled code is left.
    pub result: u64,
    /// The address to which a frame returns that goes on in the interpreter.
    pub continue_at: *const u8,
    /// The running thread is recorded: the interpreter's recording copy runs. Looked at on slow paths only.
    pub recording: bool,
    /// Blocks, if compiled code counts them.
    pub blocks: BlockCounter,
    /// Live values of compiled code that is left, and arguments of natives.
    pub exits: [u64; EXITS],
}

impl Default for Context {
    /// A context that nothing is attached to.
    fn default() -> Context {
        Context {
            control: AtomicI32::new(control::NONE),
            skips: 0,
            kind: 0,
            epilogues: 0,
            stack_limit: std::ptr::null_mut(),
            classes: std::ptr::null(),
            runs: std::ptr::null_mut(),
            globals: std::ptr::null_mut(),
            strings: std::ptr::null(),
            box_headers: [0; 3],
            receivers: std::ptr::null_mut(),
            resume_pc: std::ptr::null(),
            resume_base: std::ptr::null_mut(),
            machine: std::ptr::null_mut(),
            stubs: Stub::addresses(),
            native_limit: std::ptr::null(),
            counters: std::ptr::null_mut(),
            forest: Addresses { nodes: std::ptr::null_mut(), steps: TableAddress::empty() },
            path: NO_PATH,
            exit_place: 0,
            exit_depth: 0,
            leave: 0,
            result: 0,
            continue_at: std::ptr::null(),
            recording: false,
            blocks: BlockCounter::default(),
            exits: [0; EXITS],
        }
    }
}
