//! What passes between the virtual machine and the compiler about profiling: [`Instrumentation`] says what compiled code is to
//! count, [`Instrumented`] says what the counts of one piece of code mean.

use super::caches::VersionCaches;
use super::native::VersionBranches;
use super::recent::ReceiverOutcome;
use holloway_bytecode::FunctionId;
use holloway_profilers::calls::{CallEdge, CallSite};
use holloway_profilers::edges::SparseCounters;
use holloway_profilers::kblpp::{Activation, K};
use holloway_profilers::paths::{LateDag, Path, Placement, Side};
use holloway_profilers::windows::WindowNumbers;
use holloway_profilers::{BlockId, BranchArm, Edge, MethodId, PathNumber};

/// What compiled code is to count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Instrumentation {
    /// Every outcome of every branch.
    pub edges: bool,
    /// Paths.
    pub paths: Option<PathInstrumentation>,
    /// Every call, inlined ones included.
    pub calls: bool,
    /// Calls in inline caches.
    pub caches: Option<CacheInstrumentation>,
    /// It is to be known which calls paths pass.
    pub calls_on_paths: bool,
    /// It is told where blocks of the bytecode are entered, in this way.
    pub blocks: Option<BlockInstrumentation>,
    /// It is to be known where in the machine code which branches are.
    pub branches: bool,
}

/// How code tells of blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockInstrumentation {
    /// The profiler is called for each.
    Call,
    /// A word of the context is counted down; when it is zero, the profiler is called.
    Decrement,
}

/// The inline caches of calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CacheInstrumentation {
    /// How many entries each has.
    pub entries: u32,
    /// Calls that need no table have one, too.
    pub all: bool,
}

/// What is done with path numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathInstrumentation {
    /// Which edges get code.
    pub placement: Placement,
    /// All paths are counted, in this way.
    pub exact: Option<Storage>,
    /// All paths go into the k-slab forest.
    pub forest: bool,
    /// All windows of so many paths are counted, in a hash table.
    pub windows: Option<K>,
    /// Yieldpoints at the ends of paths tell their number.
    pub sampled: bool,
    /// Every step is traced: for tests.
    pub traced: bool,
}

/// Where exact counts of paths are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Storage {
    /// A counter for each path that there could be; a hash table where these would be more than [`MOST_IN_ARRAY`].
    Array,
    /// A hash table of the paths that there were.
    Hash,
}

/// Versions with more paths count them in a hash table.
pub const MOST_IN_ARRAY: u64 = 1 << 16;

/// Counters that hold roots of the k-slab forest, each with its label: the one that was found last for a path whose number has
/// these low bits. So the first path of an activation usually needs no hash table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Roots {
    /// The first of them.
    pub first: u32,
    /// How many: a power of two.
    pub count: u32,
}

impl Roots {
    /// More are not worth their place in the cache.
    pub const MOST: u64 = 64;

    /// The counter for a path.
    pub fn counter(self, path: PathNumber) -> u32 {
        self.first + (path as u32 & (self.count - 1))
    }

    /// What such a counter holds of a root, which paths with less than 31 bits have: the node in the low half, and in the high one the path
    /// plus one. So 0 is the root of no path.
    pub fn word(root: Activation, path: PathNumber) -> u64 {
        (path + 1) << 32 | u64::from(root.bits())
    }
}

/// How a piece of code counts windows of paths.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Windows {
    /// The first of the [`PathTableCells`].
    pub cells: u32,
    /// How they are numbered.
    pub numbers: WindowNumbers,
}

/// Counters that say where the hash table of a piece of code is, in this order.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PathTableCells {
    /// The slots ([`holloway_profilers::stream::TableAddress`]).
    pub slots: u64,
    /// What to shift by.
    pub shift: u64,
    /// Whose table it is, with the mark of what is counted there ([`TableKind::mark`]).
    pub version: u64,
}

/// What is counted in a hash table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableKind {
    /// Paths.
    Paths,
    /// Calls through tables.
    Calls,
    /// Windows of paths.
    Windows,
}

impl TableKind {
    /// What is added to the version.
    pub fn mark(self) -> u64 {
        match self {
            TableKind::Paths => 0,
            TableKind::Calls => 1 << 32,
            TableKind::Windows => 2 << 32,
        }
    }

    /// What was added to it.
    pub fn of_mark(version: u64) -> TableKind {
        match version >> 32 {
            0 => TableKind::Paths,
            1 => TableKind::Calls,
            _ => TableKind::Windows,
        }
    }
}

impl PathTableCells {
    /// How many counters that are.
    pub const COUNT: usize = size_of::<Self>() / 8;
}

impl Instrumentation {
    /// Must it be known where inlined methods are entered.
    pub fn marks_calls(&self) -> bool {
        self.calls || self.calls_on_paths
    }

    /// Is anything to be counted.
    pub fn is_needed(&self) -> bool {
        self.edges || self.paths.is_some() || self.calls || self.caches.is_some() || self.branches
    }
}

/// What the counts of a piece of code mean.
#[derive(Clone, PartialEq, Debug)]
pub struct Instrumented {
    /// Outcomes of branches.
    pub edges: Option<VersionEdges>,
    /// Paths.
    pub paths: Option<VersionPaths>,
    /// Calls.
    pub calls: Option<VersionCalls>,
    /// Inline caches.
    pub caches: Option<VersionCaches>,
    /// Branches of the machine code.
    pub branches: Option<VersionBranches>,
}

/// The calls of a piece of code.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct VersionCalls {
    /// Calls of which the callee is known, inlined or not, each with the number of its counter. The same call may be there several
    /// times.
    pub counted: Vec<(CallEdge, u32)>,
    /// Calls through tables, if there are any.
    pub receivers: Option<ReceiverTable>,
}

/// Calls through tables are counted in a hash table, by site and class of the receiver.
#[derive(Clone, PartialEq, Debug)]
pub struct ReceiverTable {
    /// The first of its [`PathTableCells`].
    pub cells: u32,
    /// The sites, as functions and instructions, by their numbers.
    pub sites: Vec<(FunctionId, u32)>,
}

/// A call in a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockCall {
    /// The block.
    pub block: BlockId,
    /// On which side of the yieldpoint at which paths end there.
    pub side: Side,
    /// The source's call.
    pub site: CallSite,
    /// What is called; nothing if that is found in a table.
    pub callee: Option<MethodId>,
    /// Is the callee inlined.
    pub inlined: bool,
}

/// The edges of a piece of code that are outcomes of branches: not all have a counter.
#[derive(Clone, PartialEq, Debug)]
pub struct VersionEdges {
    /// Which have one, and how the others follow.
    pub sparse: SparseCounters,
    /// The first of the counters.
    pub counters: u32,
    /// The first of as many counters as there are blocks: activations that ended in the middle of each.
    pub ended: u32,
    /// How many blocks there are.
    pub blocks: u32,
    /// Whose outcome the edges are. The same outcome may be there several times.
    pub arms: Vec<(Edge, BranchArm)>,
}

impl VersionPaths {
    /// The calls that a path passes, if it was asked for them, each as often as the path executes it.
    pub(super) fn passed(&self, path: &Path) -> impl Iterator<Item = BlockCall> {
        let blocks = path.blocks.iter().enumerate();
        blocks.flat_map(move |(index, &block)| {
            // They are listed in the order of their blocks.
            let first = self.calls.partition_point(|call| call.block < block);
            let here = self.calls[first..].iter().take_while(move |call| call.block == block);
            here.filter(move |call| path.passes(index, call.side)).copied()
        })
    }
}

/// The paths of a piece of code.
#[derive(Clone, PartialEq, Debug)]
pub struct VersionPaths {
    /// What a number means.
    pub dag: LateDag,
    /// The first of the counters, one for each path, if they are counted that way.
    pub counters: Option<u32>,
    /// The first of the [`PathTableCells`], if they are counted in a hash table.
    pub table: Option<u32>,
    /// Where roots of the k-slab forest are remembered, if they are.
    pub roots: Option<Roots>,
    /// How windows are counted, if they are.
    pub windows: Option<Windows>,
    /// They should be, but their numbers would not fit a word.
    pub windows_refused: bool,
    /// The place in the program where each block begins: function and instruction.
    pub places: Vec<(FunctionId, u32)>,
    /// Additions to the path register by the numbering of its paths.
    pub additions: u32,
    /// Edges of the graph whose paths are numbered.
    pub edges: u32,
    /// Ends of paths that have no yieldpoint of their own.
    pub added_ends: u32,
    /// The calls in blocks, if paths are to be asked for them.
    pub calls: Vec<BlockCall>,
    /// What calls through tables reach, if code follows the program.
    pub receivers: Vec<ReceiverOutcome>,
}
