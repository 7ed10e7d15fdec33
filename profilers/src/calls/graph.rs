//! The dynamic call graph: which method calls which from where, and how often.
//!
//! Arnold and Grove, CGO 2005, section 2: a multigraph whose edges are triples of caller, call site and callee; a virtual
//! call site has one edge for each target that was observed. A weight is a number of samples, or of calls if all were
//! counted: the same structure holds the sampled and the perfect profile.
//!
//! Ageing (not in the paper; the Jikes RVM has it): after each period of so much weight, every weight is multiplied by
//! what is kept and rounded down, and edges that reach zero go. An edge that is no longer called is forgotten after
//! log(weight) periods, and a total converges to period · keep / (1 - keep).
//!
//! [`CallGraph::add`] is O(1), and allocates only for an edge that was never seen.

use super::hash::FixedMap;
use super::share::{Invalid, Share};
use crate::MethodId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Where a call is in the source program's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CallSite {
    /// The method whose code has the call.
    pub caller: MethodId,
    /// Where in that method's code it is.
    pub position: u32,
}

/// A call from a site to one of its targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CallEdge {
    /// Where the call is.
    pub site: CallSite,
    /// What is called.
    pub callee: MethodId,
}

impl CallEdge {
    /// The call of `callee` at `position` in `caller`.
    #[must_use]
    pub fn new(caller: MethodId, position: u32, callee: MethodId) -> Self {
        Self { site: CallSite { caller, position }, callee }
    }
}

impl fmt::Display for CallSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.caller, self.position)
    }
}

impl fmt::Display for CallEdge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", self.site, self.callee)
    }
}

/// Call edges with weights.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(CallEdge, u64)>", into = "Vec<(CallEdge, u64)>")]
pub struct CallGraph {
    weights: FixedMap<CallEdge, u64>,
    total: u64,
}

/// A site with its targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteTargets {
    /// The site.
    pub site: CallSite,
    /// The weight of all its edges.
    pub total: u64,
    /// Its targets with their weights, the heaviest first, then by number.
    pub targets: Vec<(MethodId, u64)>,
}

impl CallGraph {
    /// A graph without edges.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds weight to an edge. O(1). Weights end at 2^64 - 1.
    pub fn add(&mut self, edge: CallEdge, weight: u64) {
        if weight > 0 {
            let entry = self.weights.entry(edge).or_insert(0);
            *entry = entry.saturating_add(weight);
            self.total = self.total.saturating_add(weight);
        }
    }

    /// The weight of an edge, 0 if it was never seen.
    #[must_use]
    pub fn weight(&self, edge: CallEdge) -> u64 {
        self.weights.get(&edge).copied().unwrap_or(0)
    }

    /// The weight of all edges.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How many edges there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there is no edge.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// All edges with their weights, by caller, position and callee.
    #[must_use]
    pub fn edges(&self) -> Vec<(CallEdge, u64)> {
        let mut edges: Vec<_> = self.weights.iter().map(|(&edge, &weight)| (edge, weight)).collect();
        edges.sort_unstable();
        edges
    }

    /// All edges, the heaviest first, then by caller, position and callee.
    #[must_use]
    pub fn by_weight(&self) -> Vec<(CallEdge, u64)> {
        let mut edges = self.edges();
        edges.sort_by_key(|&(_, weight)| std::cmp::Reverse(weight));
        edges
    }

    /// The edges with more than a share of all weight, the heaviest first. The papers take 1 %.
    #[must_use]
    pub fn hot(&self, share: Share) -> Vec<(CallEdge, u64)> {
        let mut edges = self.by_weight();
        edges.retain(|&(_, weight)| share.is_exceeded_by(weight, self.total));
        edges
    }

    /// All sites, each with the distribution of its targets, by caller and position.
    #[must_use]
    pub fn sites(&self) -> Vec<SiteTargets> {
        let edges = self.edges();
        let of_site = |edges: &[(CallEdge, u64)]| {
            let mut targets: Vec<_> = edges.iter().map(|&(edge, weight)| (edge.callee, weight)).collect();
            targets.sort_by_key(|&(callee, weight)| (std::cmp::Reverse(weight), callee));
            let total = edges.iter().fold(0u64, |sum, &(_, weight)| sum.saturating_add(weight));
            SiteTargets { site: edges[0].0.site, total, targets }
        };
        edges.chunk_by(|a, b| a.0.site == b.0.site).map(of_site).collect()
    }

    /// The same edges with their weights in reverse: the heaviest edge gets the least weight, and so on. As bad a profile as
    /// can be made of the same numbers.
    #[must_use]
    pub fn flipped(&self) -> Self {
        let edges = self.by_weight();
        let weights = edges.iter().rev().map(|&(_, weight)| weight);
        edges.iter().zip(weights).map(|(&(edge, _), weight)| (edge, weight)).collect()
    }

    /// The `k` methods that are called most, the heaviest first, then by number.
    #[must_use]
    pub fn top_callees(&self, k: usize) -> Vec<(MethodId, u64)> {
        let mut callees: BTreeMap<MethodId, u64> = BTreeMap::new();
        for (edge, weight) in self.edges() {
            let sum = callees.entry(edge.callee).or_default();
            *sum = sum.saturating_add(weight);
        }
        let mut callees: Vec<_> = callees.into_iter().collect();
        callees.sort_by_key(|&(_, weight)| std::cmp::Reverse(weight));
        callees.truncate(k);
        callees
    }

    /// Adds all weights of another graph: that of another thread, or of another run.
    pub fn merge(&mut self, other: &Self) {
        for (&edge, &weight) in &other.weights {
            self.add(edge, weight);
        }
    }

    /// Keeps a share of each weight, rounded down, and forgets the edges that reach zero.
    pub fn decay(&mut self, keep: Share) {
        self.total = 0;
        self.weights.retain(|_, weight| {
            *weight = keep.of(*weight);
            self.total = self.total.saturating_add(*weight);
            *weight > 0
        });
    }
}

impl From<Vec<(CallEdge, u64)>> for CallGraph {
    fn from(edges: Vec<(CallEdge, u64)>) -> Self {
        edges.into_iter().collect()
    }
}

impl From<CallGraph> for Vec<(CallEdge, u64)> {
    fn from(graph: CallGraph) -> Self {
        graph.edges()
    }
}

impl FromIterator<(CallEdge, u64)> for CallGraph {
    fn from_iter<I: IntoIterator<Item = (CallEdge, u64)>>(edges: I) -> Self {
        let mut graph = Self::new();
        edges.into_iter().for_each(|(edge, weight)| graph.add(edge, weight));
        graph
    }
}

/// A call graph that forgets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgeingCallGraph {
    graph: CallGraph,
    period: u64,
    keep: Share,
    since: u64,
}

impl AgeingCallGraph {
    /// A graph that keeps the share `keep` of its weights whenever the weight `period` was added.
    ///
    /// # Errors
    ///
    /// If the period is 0.
    pub fn new(period: u64, keep: Share) -> Result<Self, Invalid> {
        if period == 0 {
            return Err(Invalid::new("period", period, "1..=18446744073709551615 samples"));
        }
        Ok(Self { graph: CallGraph::new(), period, keep, since: 0 })
    }

    /// Adds weight to an edge; a decay is due with the weight that completes the period, and is done after it is added.
    /// True if it was: what ages with the graph is to be decayed as well. O(1), and at the end of a period O(edges).
    pub fn add(&mut self, edge: CallEdge, weight: u64) -> bool {
        self.graph.add(edge, weight);
        self.pass(weight)
    }

    /// Lets weight pass that counts for the period and is kept elsewhere. True if the graph was decayed.
    pub fn pass(&mut self, weight: u64) -> bool {
        self.since = self.since.saturating_add(weight);
        let is_due = self.since >= self.period;
        if is_due {
            self.since = 0;
            self.graph.decay(self.keep);
        }
        is_due
    }

    /// The graph as it is now.
    #[must_use]
    pub fn graph(&self) -> &CallGraph {
        &self.graph
    }
}
