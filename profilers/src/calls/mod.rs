//! Call profiles: the dynamic call graph, calling contexts, how good they are, and what an inliner makes of them.
//!
//! Arnold and Grove, "Collecting and Exploiting High-Accuracy Call Graph Profiles in Virtual Machines", CGO 2005. When to
//! sample is decided elsewhere; what is sampled comes in here as call edges and stacks.
//!
//! * [`CallGraph`] has the weights, [`AgeingCallGraph`] forgets, [`ContextTree`] knows whole stacks.
//! * [`overlap`] and [`context_overlap`] compare profiles, [`Convergence`] over time.
//! * [`credit`] makes up for calls that were inlined away.
//! * What others did before: [`Bursts`] after methods were optimized, [`InlineCaches`] with counters.
//! * [`Policy`] decides what is inlined, and says why.

mod burst;
mod cache;
mod context;
mod credit;
mod graph;
mod hash;
mod inliner;
mod overlap;
mod share;

pub use burst::{Burst, Bursts, rated};
pub use cache::{CachedCalls, InlineCaches};
pub use context::{Context, ContextTree, Frame};
pub use credit::{Credit, NoScale, PassedCall, SampledPath, Scale, credit};
pub use graph::{AgeingCallGraph, CallEdge, CallGraph, CallSite, SiteTargets};
pub use inliner::{Candidate, Decision, Limits, Policy, Reason};
pub use overlap::{Convergence, Moment, context_overlap, overlap};
pub use share::{Invalid, Share};
