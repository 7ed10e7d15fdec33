//! How alike two call profiles are, and how fast a sampled one comes to resemble the perfect one.
//!
//! Arnold and Grove 2005, section 6.2: the overlap of two dynamic call graphs is the sum, over the edges in both, of the
//! smaller of the edge's two percentages of its graph's weight. 0 is nothing in common, 100 is identical. Calling-context
//! trees are compared in the same way, context by context. Two profiles without any weight are identical.

use super::context::ContextTree;
use super::graph::CallGraph;

/// The overlap of two call graphs, in percent.
#[must_use]
pub fn overlap(a: &CallGraph, b: &CallGraph) -> f64 {
    let pairs = a.edges().into_iter().map(|(edge, weight)| (weight, b.weight(edge)));
    of_pairs(pairs, a.total(), b.total())
}

/// The overlap of two calling-context trees, in percent.
#[must_use]
pub fn context_overlap(a: &ContextTree, b: &ContextTree) -> f64 {
    of_pairs(a.common(b).into_iter(), a.total(), b.total())
}

fn of_pairs(pairs: impl Iterator<Item = (u64, u64)>, a: u64, b: u64) -> f64 {
    if a == 0 || b == 0 {
        return if a == b { 100.0 } else { 0.0 };
    }
    let percent = |part: u64, whole: u64| part as f64 * 100.0 / whole as f64;
    pairs.map(|(first, second)| percent(first, a).min(percent(second, b))).sum()
}

/// A profile's overlap with the perfect one at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// When: samples, ticks, or whatever the series counts.
    pub at: u64,
    /// The overlap in percent.
    pub overlap: f64,
}

/// The overlaps of a growing profile with the perfect one.
#[derive(Debug, Clone, PartialEq)]
pub struct Convergence<'a> {
    perfect: &'a CallGraph,
    moments: Vec<Moment>,
}

impl<'a> Convergence<'a> {
    /// A series without moments.
    #[must_use]
    pub fn new(perfect: &'a CallGraph) -> Self {
        Self { perfect, moments: Vec::new() }
    }

    /// Adds the profile as it is at a moment, and returns its overlap.
    pub fn observe(&mut self, at: u64, profile: &CallGraph) -> f64 {
        let overlap = overlap(profile, self.perfect);
        self.moments.push(Moment { at, overlap });
        overlap
    }

    /// The series, as it was observed.
    #[must_use]
    pub fn moments(&self) -> &[Moment] {
        &self.moments
    }

    /// The first moment from which the overlap never again was below so many percent.
    #[must_use]
    pub fn reaches(&self, overlap: f64) -> Option<u64> {
        let stays = self.moments.iter().rev().take_while(|moment| moment.overlap >= overlap);
        stays.last().map(|moment| moment.at)
    }
}
