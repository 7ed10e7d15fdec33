//! Profiling: what code is to count, where the counts are, and what comes of them.
//!
//! | file | what it does |
//! |---|---|
//! | `instrument` | the contract with the compiler |
//! | `counters` | counters that compiled code increments |
//! | `tally` | the tables in which a green thread counts, or all together |
//! | `threads` | which of them the running thread counts in |
//! | `spec` | what is asked for |
//! | `calls` | calls, exact and sampled |
//! | `credit` | credit for inlined calls by sampled paths |
//! | `listeners` | calls of methods that were just optimized |
//! | `caches` | calls in inline caches |
//! | `call_tally` | calls as one green thread made them |
//! | `moments` | estimates of calls as they were while the program ran |
//! | `state` | the profilers at work: ends of paths, yieldpoints |
//! | `steps` | what sampled paths did, by steps |
//! | `gone` | code that is no more: what is forgotten of it, and what stays |
//! | `seen` | in which activations sampled numbers of paths are right |
//! | `trace` | for tests: every step of compiled code |
//! | [`native`] | branch traces of compiled code, from what the processor remembers |
//! | `recorder` | branch traces and subpaths, from what the interpreter tells of its moves, and compiled code of blocks |
//! | `collect` | what they found |
//! | [`file`], `call_records` | the same as a file |
//!
//! With nothing to be profiled none of this exists, and compiled code is the same as ever.

mod caches;
mod call_records;
mod call_tally;
mod calls;
mod collect;
mod counters;
mod credit;
pub mod file;
mod gone;
mod instrument;
mod listeners;
mod moments;
pub mod native;
mod recent;
mod recorder;
mod seen;
mod spec;
mod state;
mod steps;
mod tally;
mod threads;
mod trace;

pub use crate::context::{NO_PATH, UNSURE};
pub use caches::{CacheEntry, VersionCaches, is_through_table};
pub use call_records::{
    BurstRecord, CacheRecord, CallRecord, CallRecords, CallSampleRecord, ContextRecord, CreditRecord,
    HeardRecord, LostRecord, MomentRecord, OverTimeRecord, PairRecord,
};
pub use call_tally::CountedCalls;
pub(crate) use calls::count_interpreted;
pub use calls::{SampledCalls, receiver_key, target};
pub use collect::{Collected, CollectedVersion, FoundCalls, Iterated, Looks, Sampled, Windowed};
pub(crate) use collect::{collect, looks};
pub use counters::CounterNumbers;
pub use credit::CreditedCalls;
pub use instrument::{
    BlockCall, BlockInstrumentation, CacheInstrumentation, Instrumentation, Instrumented, MOST_IN_ARRAY,
    PathInstrumentation, PathTableCells, ReceiverTable, Roots, Storage, TableKind, VersionCalls,
    VersionEdges, VersionPaths, Windows,
};
pub use listeners::HeardCalls;
pub(crate) use listeners::heard;
pub use moments::CallMoment;
pub(crate) use moments::tick;
pub use recent::{Behaviour, Reached, ReceiverOutcome, ReceiverWindow, Through};
pub use recorder::{
    BlockPlace, CollectedSubpaths, CollectedTraces, Moved, SampledSubpaths, TraceMoment, TraceReader,
    region_graphs,
};
pub(crate) use recorder::{Event, LOOK, Recorder, Surprise};
pub(crate) use seen::Seen;
pub use spec::{
    Backend, BtbOptions, CallsAt, CbsOptions, IcacheOptions, LengthLaw, OneShotOptions, OspAgeing,
    OspOptions, PepOptions, ProfileOptions, ProfileSpec, Snapshots, SubpathOptions, SubpathSkip, Weights,
};
pub use state::Version;
pub(crate) use state::{
    Profiling, Taken, count_new_path, enter_block, grow_forest, passes, plant_forest, sample_path,
    trace_step, yieldpoint,
};
pub use tally::{Counted, WindowStatistics};
pub use threads::CountedThread;
pub use trace::{Step, TraceFrame, Traced};
