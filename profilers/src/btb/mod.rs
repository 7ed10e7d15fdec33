//! Path profiles from a branch trace buffer: Shye et al.: *Analysis of Path Profiling Information Generated with Performance Monitoring
//! Hardware* (2005).
//!
//! The processor (or an interpreter that plays one) remembers the last K *taken* branches. Now and then this ring is
//! copied: a [`Trace`]. Everything else happens afterwards, here:
//!
//! ```text
//! push -> Ring --(Clock: a sample is due)--> TraceTable -> Recording <-> text file
//!                                                             |
//!   Program (per method: graph + layout + fingerprint)        v
//!        \------------------------------------> reconstruct -> PartialPath   sec. 3.2, fall-through, extension
//!                                                             |  \--> Extent -> Lengths                   table 2
//!                                                             |  split at calls
//!                                                             v
//!                                              RunProfile (serde; merged over runs and inputs)
//!                                                             |  split at region boundaries
//!        Regions, RegionPaths (sec. 3.3) ------------------>  v
//!                                              matching sets -> weights      sec. 3.4, and ours: EM, prior, cold edges
//! ```
//!
//! Where regions span hot calls, [`hot_calls`] chooses these by a call graph, [`Spans`] has the graphs with callees in them and
//! takes the place of the split at calls, and its program that of the graphs for regions; all else is the same.
//!
//! What the folder does not know: where branches come from (a recorder, a burst, hardware), what a bytecode is, what
//! a path is good for. Metrics (Wall's weight matching with count flow) live elsewhere; [`Regions`] and
//! [`RegionPaths::number`] name the full paths for whoever counts the truth.
//!
//! Two things hold everywhere: no input makes anything here panic (a damaged record ends in a named, counted
//! [`Discard`]), and every output is a function of the input alone (no iteration over a hash table, sums of `f64` in
//! one fixed order, random periods from a seed).

mod analysis;
mod bits;
mod branch;
mod edges;
mod extent;
mod file;
mod hot;
mod inlined;
mod layout;
mod lengths;
mod loops;
mod noise;
mod parameter;
mod partial;
mod paths;
mod period;
mod profile;
mod regions;
mod ring;
mod runs;
mod spans;
mod table;
mod weights;

pub use analysis::{Analysis, Estimate, EstimateOptions, PathWeight, RegionSummary, Statistics};
pub use bits::BitSet;
pub use branch::{BranchKind, CountedTrace, Place, Recording, TakenBranch, Trace};
pub use edges::EdgeCounts;
pub use extent::{Extent, Passage};
pub use file::{Damaged, parse, print};
pub use hot::{HotRule, Seat, hot_calls};
pub use inlined::{HotSite, InlineError, Inlined, Origin, Part, Site};
pub use layout::{BlockCode, CallPoint, Layout, LayoutError, MethodCode, Program};
pub use lengths::{Length, Lengths};
pub use loops::{LoopId, back_edges, innermost_loops};
pub use noise::Noise;
pub use parameter::OutOfRange;
pub use partial::{Discard, Link, PartialPath, Reconstruction, Step, reconstruct};
pub use paths::{FullPath, PathIndex, Piece, RegionPaths, pieces};
pub use period::{Clock, Period, SplitMix64};
pub use profile::{Conflict, Merged, MethodRuns, RunCount, RunProfile};
pub use regions::{Exits, RegionId, RegionOptions, Regions};
pub use ring::Ring;
pub use runs::{Crossing, Run, split_at_calls};
pub use spans::{HotCall, Spans};
pub use table::{Recorder, TraceTable};
pub use weights::{ColdEdges, Em, FirstGuess, Match, Weighed, Weighting, weigh};
