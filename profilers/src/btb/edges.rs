//! An edge profile as weights need it: how often control went from block to block. It comes from counters in code, or
//! from the samples themselves.

use super::profile::RunProfile;
use crate::ids::{BlockId, MethodId};
use std::collections::BTreeMap;

/// Counts of edges, by method, source and target; parallel edges are one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EdgeCounts {
    counts: BTreeMap<(MethodId, BlockId, BlockId), u64>,
}

impl EdgeCounts {
    /// No counts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What the sampled runs show: each run counts each of its edges as often as it was sampled.
    #[must_use]
    pub fn of_samples(profile: &RunProfile) -> Self {
        let mut counts = Self::new();
        for method in &profile.methods {
            for run in &method.runs {
                for pair in run.blocks.windows(2) {
                    counts.add(method.method, pair[0], pair[1], run.count);
                }
            }
        }
        counts
    }

    /// Counts an edge.
    pub fn add(&mut self, method: MethodId, from: BlockId, to: BlockId, count: u64) {
        let sum = self.counts.entry((method, from, to)).or_insert(0);
        *sum = sum.saturating_add(count);
    }

    /// The count of an edge, 0 if it was never counted.
    #[must_use]
    pub fn get(&self, method: MethodId, from: BlockId, to: BlockId) -> u64 {
        self.counts.get(&(method, from, to)).copied().unwrap_or(0)
    }

    /// All counts, in the order of method, source and target.
    pub fn iter(&self) -> impl Iterator<Item = (MethodId, BlockId, BlockId, u64)> {
        self.counts.iter().map(|(&(method, from, to), &count)| (method, from, to, count))
    }
}
