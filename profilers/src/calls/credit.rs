//! Credit for calls that were inlined away, from sampled paths.
//!
//! A call that was inlined has no prologue and is never sampled, so that an adaptive system under-reports just its hottest
//! edges (Arnold and Grove 2005, section 6.2, for which reason they measured without adaptation). A sampled path,
//! however, passes the places of the inlined calls: it says how often they were executed.
//!
//! The estimator. A path sample stands for P path executions, a call sample for C calls. If the path p was sampled c(p)
//! times and passes the call e n(e, p) times, then e was executed about P Σ c(p) n(e, p) times, and would have got
//! P/C Σ c(p) n(e, p) call samples: this is the weight that is added, with one rounding for each edge. The ratio P/C is
//! * *known*, if one counted the opportunities: P = path ends / path samples, C = calls / call samples; or if both samplers
//!   have windows, so many samples after each tick: a window of S paths stands for a tick, and so would a window of T
//!   calls if these had prologues. Then P/C is T/S times the samples of paths that pass inlined calls, by the inlined calls
//!   that they pass. It is the only ratio where nothing that is hot is called any more; or
//! * *estimated* from the calls on sampled paths that were not inlined, which are sampled in both ways: the ratio of their
//!   call samples to their Σ c(p) n(e, p), all of them together. It comes out too large if these calls are also
//!   executed by code whose paths are not sampled.

use super::graph::{CallEdge, CallGraph};
use std::collections::BTreeMap;
use std::fmt;

/// A call on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassedCall {
    /// The call, between methods of the source program.
    pub edge: CallEdge,
    /// Whether it was inlined.
    pub inlined: bool,
}

/// A sampled path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampledPath {
    /// The calls that it passes, each as often as it passes it.
    pub calls: Vec<PassedCall>,
    /// How often the path was sampled.
    pub count: u64,
}

/// How many call samples a path sample is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Path executions for each path sample times call samples for each call: `numerator / denominator`.
    Known {
        /// Path ends times call samples.
        numerator: u64,
        /// Path samples times calls.
        denominator: u64,
    },
    /// By the calls that are seen in both ways.
    Estimated,
}

/// What was credited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credit {
    /// The ratio by which counts of paths were multiplied.
    pub scale: (u64, u64),
    /// How many edges got credit.
    pub edges: usize,
    /// The weight that was added.
    pub weight: u64,
}

/// Why nothing could be credited: there is no ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoScale;

impl fmt::Display for NoScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "calls: no call was sampled both by itself and on a path, and the given scale is not above 0",
        )
    }
}

impl std::error::Error for NoScale {}

/// Adds to a sampled call graph the weight of the inlined calls that sampled paths pass.
///
/// # Errors
///
/// If no ratio between samples of paths and of calls is known.
pub fn credit(graph: &mut CallGraph, paths: &[SampledPath], scale: Scale) -> Result<Credit, NoScale> {
    let mut inlined: BTreeMap<CallEdge, u64> = BTreeMap::new();
    let mut called: BTreeMap<CallEdge, u64> = BTreeMap::new();
    for path in paths {
        for call in &path.calls {
            let passed = if call.inlined { &mut inlined } else { &mut called };
            let sum = passed.entry(call.edge).or_default();
            *sum = sum.saturating_add(path.count);
        }
    }
    let (numerator, denominator) = match scale {
        Scale::Known { numerator, denominator } => (numerator, denominator),
        // An edge that is inlined in one place and called in another is sampled by itself only in part.
        Scale::Estimated => called.iter().filter(|&(edge, _)| !inlined.contains_key(edge)).fold(
            (0u64, 0u64),
            |(samples, passed), (&edge, &count)| {
                (samples.saturating_add(graph.weight(edge)), passed.saturating_add(count))
            },
        ),
    };
    if numerator == 0 || denominator == 0 {
        return Err(NoScale);
    }
    let mut credit = Credit { scale: (numerator, denominator), edges: 0, weight: 0 };
    for (edge, passed) in inlined {
        let twice = u128::from(passed) * u128::from(numerator) * 2 + u128::from(denominator);
        let weight = u64::try_from(twice / (u128::from(denominator) * 2)).unwrap_or(u64::MAX);
        graph.add(edge, weight);
        credit.edges += usize::from(weight > 0);
        credit.weight = credit.weight.saturating_add(weight);
    }
    Ok(credit)
}
