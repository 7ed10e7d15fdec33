//! Ball-Larus paths: every way through a method, up to where it loops, has a number.
//!
//! Bond and McKinley, *Continuous Path and Edge Profiling* (PEP, MICRO 2005),
//! section 3, after Ball and Larus, *Efficient Path Profiling* (MICRO 1996). The graph is cut until it has no
//! cycle; edges get values such that their sums along the ways from ENTRY to EXIT are 0, 1, ..., N-1, each once;
//! running code adds the values up in a path register `r`. What is seen of it is a stream of numbers, one at each
//! end of a path.
//!
//! ```text
//!   ControlFlow ── Plan::new ──> Plan ── PathDag::new ──> PathDag ── decode ──> Path
//!   + Options                     │                          (kept with the compiled version)
//!   + frequencies                 └── executed by the interpreter, compiled code, or a Simulator ──> numbers
//! ```
//!
//! * `cuts` decides where paths break so that no cycle is left, `limit` breaks more where there would be too many
//!   paths, `numbering` assigns the values: together they are [`Plan::new`].
//! * [`Plan`] says what each edge and each cut block does to `r`. It is all that a code generator needs.
//! * [`PathDag`] is the record that turns numbers, also those of paths that are still being run, back into edges.
//!   [`DecodeCache`] does so once for each number, and [`LateDag`] makes the record when it is first needed.
//! * [`Simulator`] runs a plan on a walk, without any machine. [`CutGraph`] is the slow, obvious twin of all this.
//!
//! Words: a **cut** is where one path ends and the next begins. At a *cut edge* (back-edge mode) both happen on the
//! edge; a *cut block* is split behind its yieldpoint, and both happen there (header mode, and wherever else a
//! yieldpoint is).
//!
//! ```
//! use holloway_profilers::paths::{Options, PathDag, Plan, Simulator, Step};
//! use holloway_profilers::{Arm, Graph, VersionId};
//!
//! // A loop of one block: entered from b0, left to b2.
//! let flow = Graph::new(&[&[1], &[1, 2], &[]]);
//! let plan = Plan::new(&flow, &Options::default(), |_| 0)?;
//! let mut numbers = Vec::new();
//! Simulator::new(&plan).run(&[0, 0, 1].map(|arm| Step::Take(Arm(arm))), |number| numbers.push(number));
//! assert_eq!(numbers, [2, 1]);
//!
//! let dag = PathDag::new(&plan, VersionId(0), |_| None);
//! let paths: Vec<String> = numbers.iter().map(|&number| dag.decode(number).unwrap().to_string()).collect();
//! assert_eq!(paths, ["enter: b0 b1, back edge b1#0", "go on: b1 b2, exit"]);
//! # Ok::<(), holloway_profilers::paths::PlanError>(())
//! ```

mod cache;
mod cuts;
mod dag;
mod late;
mod limit;
mod naive;
mod numbering;
mod path;
mod plan;
mod simulate;

pub use cache::DecodeCache;
pub use cuts::{Cut, headers};
pub use dag::{DagEdge, DagNode, EdgeKind, NodeId, PathDag, Place};
pub use late::LateDag;
pub use limit::{DEFAULT_LIMIT, GREATEST_LIMIT};
pub use naive::CutGraph;
pub use numbering::Pass;
pub use path::{Begin, End, Path, Side};
pub use plan::{Action, CutBlock, Options, PathBreak, Placement, Plan, PlanError, Why};
pub use simulate::{Activation, Simulator, Step};
