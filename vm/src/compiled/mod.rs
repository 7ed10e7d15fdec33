//! Compiled code as the virtual machine sees it: asking for it, placing it, entering and leaving it, walking over its frames.
//! Who makes it is not known here: a [`Compiler`] is handed in, and gives plain bytes and tables.
//!
//! | file | what it does |
//! |---|---|
//! | [`request`], [`model`], [`profile`] | the contract with the compiler: questions, answers, facts |
//! | `area`, `map` | executable memory, and what lies in it |
//! | `stubs` | the crossings, in machine language |
//! | `enter`, `leave` | into compiled code and out of it |
//! | `block_order` | the profile by which blocks are ordered |
//! | `method_order` | methods are moved to what they call |
//! | `inlining`, `call_weights` | who chooses which calls are inlined, and the call graph that is asked |
//! | `frames` | walking mixed stacks |
//! | `helpers` | what compiled code calls |
//! | `options` | how the tiers are used |
//! | `hot` | from the interpreter into code |
//! | `library` | asking for code, installing it, throwing it away |
//! | `free` | freeing what was thrown away or moved |
//! | `reasons` | why there is the code that there is, for who asks |
//! | `versions` | two versions of code, for subpaths and for PEP |
//! | `replayed` | code that another machine made of the same advice |
//! | `past` | what compilers are told of the past |
//! | `report`, `perf_map` | numbers, log lines, names for `perf` |

mod area;
mod block_order;
mod call_weights;
pub(crate) mod enter;
pub(crate) mod frames;
mod free;
pub(crate) mod helpers;
pub(crate) mod hot;
pub mod inlining;
pub(crate) mod leave;
pub(crate) mod library;
mod map;
pub(crate) mod method_order;
pub mod model;
mod options;
pub(crate) mod past;
mod perf_map;
pub mod profile;
mod reasons;
pub(crate) mod replayed;
mod report;
pub mod request;
mod stubs;
pub(crate) mod versions;

pub use block_order::{BlockOrder, Counted, GivenEdges};
pub use call_weights::{CallWeights, GivenCalls};
pub use inlining::{
    CallDecision, CallSource, CompiledCalls, Fallback, GuardTest, InlineBy, InlineOptions, Inlining, Verdict,
};
pub(crate) use map::CodeMap;
pub use model::{ContextOffsets, EXITS, Helpers, Model, Stub};
pub use options::{CompilerFactory, TierOptions};
pub use perf_map::PerfMap;
pub use profile::{Branches, NoProfile, OrderBy, Profile, ReachedMethods, Receivers};
pub use reasons::ASKED;
pub use replayed::ReplayedCode;
pub use report::{LevelStatistics, Log, LogEvent, TierStatistics};
pub use request::{
    CallSite, CodeId, Compiled, Compiler, EndNumber, Entry, Level, Location, PathEnd, Request, Site,
    SiteFrame, VirtualObject,
};

/// How compiled code came back to the interpreter that entered it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Outcome {
    /// With a result.
    #[default]
    Returned,
    /// With an error, which is the thread's; or the program is ending.
    Failed,
    /// With frames to go on with.
    Left,
}
