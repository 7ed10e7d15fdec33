//! Wall's weight matching: how much of the hot paths' flow does an estimate find?
//!
//! Notation: F(p) is the flow of path p, H the *hot set*, all paths with more than a share of the total actual flow
//! (0.125 % in the papers, strictly more), E the |H| paths of the highest estimated flow. The accuracy is
//! F(E and H) / F(H) by actual flow.
//!
//! Flow is not the same everywhere: PEP's is frequency times the number of branches on the path, so that a path without
//! a branch does not matter; Shye et al. count executions. [`Flow`] says which.
//!
//! Decisions of ours: equal estimates are taken in the order of the paths' names; a path of estimated flow 0 is never
//! taken, so E is smaller than H if too few paths were sampled.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What the flow of a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flow {
    /// How often it was taken times the branches on it (Bond & McKinley).
    Branches,
    /// How often it was taken (Shye et al.).
    Counts,
}

/// A fraction of a whole, exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "(u64, u64)", into = "(u64, u64)")]
pub struct Share {
    part: u64,
    whole: u64,
}

impl Share {
    /// 0.125 %, above which a path is hot.
    pub const HOT: Self = Self { part: 1, whole: 800 };

    /// `part` of `whole`.
    ///
    /// # Errors
    ///
    /// If it is not in 0..=1, or `whole` is 0.
    pub fn new(part: u64, whole: u64) -> Result<Self, InvalidShare> {
        if part <= whole && whole > 0 { Ok(Self { part, whole }) } else { Err(InvalidShare(part, whole)) }
    }

    /// Whether `part` is strictly more than this share of `whole`.
    fn is_below(self, part: u128, whole: u128) -> bool {
        part * u128::from(self.whole) > whole * u128::from(self.part)
    }
}

impl TryFrom<(u64, u64)> for Share {
    type Error = InvalidShare;

    fn try_from((part, whole): (u64, u64)) -> Result<Self, InvalidShare> {
        Self::new(part, whole)
    }
}

impl From<Share> for (u64, u64) {
    fn from(share: Share) -> Self {
        (share.part, share.whole)
    }
}

/// A fraction that is no share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidShare(u64, u64);

impl fmt::Display for InvalidShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a share of {}/{}: it must be in 0..=1", self.0, self.1)
    }
}

impl std::error::Error for InvalidShare {}

/// What [`wall`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matching<K> {
    /// H, hottest first.
    pub hot: Vec<K>,
    /// E, hottest first by the estimate.
    pub selected: Vec<K>,
    /// Actual flow of the paths that are in both.
    pub matched_flow: u128,
    /// Actual flow of H.
    pub hot_flow: u128,
    /// Actual flow of all paths.
    pub total_flow: u128,
}

impl<K> Matching<K> {
    /// Share of the hot flow that the estimate finds, 0..=1; nothing if no path is hot.
    #[must_use]
    pub fn accuracy(&self) -> Option<f64> {
        (self.hot_flow > 0).then(|| self.matched_flow as f64 / self.hot_flow as f64)
    }
}

/// The paths whose flow is strictly above the share of the total, by decreasing flow and then by name.
pub fn hot<K: Ord + Clone>(
    counts: &BTreeMap<K, u64>,
    flow: Flow,
    share: Share,
    mut branches: impl FnMut(&K) -> u32,
) -> Vec<K> {
    let flows = flows(counts, flow, &mut branches);
    let total: u128 = flows.iter().map(|&(_, flow)| flow).sum();
    flows.into_iter().filter(|&(_, flow)| share.is_below(flow, total)).map(|(path, _)| path.clone()).collect()
}

/// Compares estimated with actual counts of paths; `branches` says how many branches are on a path.
pub fn wall<K: Ord + Clone>(
    actual: &BTreeMap<K, u64>,
    estimate: &BTreeMap<K, u64>,
    flow: Flow,
    share: Share,
    mut branches: impl FnMut(&K) -> u32,
) -> Matching<K> {
    let actual = flows(actual, flow, &mut branches);
    let total_flow: u128 = actual.iter().map(|&(_, flow)| flow).sum();
    let hot: Vec<_> = actual.into_iter().filter(|&(_, flow)| share.is_below(flow, total_flow)).collect();
    let mut selected = flows(estimate, flow, &mut branches);
    selected.retain(|&(_, flow)| flow > 0);
    selected.truncate(hot.len());
    let names: BTreeSet<&K> = selected.iter().map(|&(path, _)| path).collect();
    Matching {
        matched_flow: hot.iter().filter(|(path, _)| names.contains(path)).map(|&(_, flow)| flow).sum(),
        hot_flow: hot.iter().map(|&(_, flow)| flow).sum(),
        hot: hot.into_iter().map(|(path, _)| path.clone()).collect(),
        selected: selected.into_iter().map(|(path, _)| path.clone()).collect(),
        total_flow,
    }
}

/// Paths with their flows, by decreasing flow and then by name.
fn flows<'a, K: Ord>(
    counts: &'a BTreeMap<K, u64>,
    flow: Flow,
    branches: &mut impl FnMut(&K) -> u32,
) -> Vec<(&'a K, u128)> {
    let mut weight = |path: &K| match flow {
        Flow::Branches => u128::from(branches(path)),
        Flow::Counts => 1,
    };
    let mut flows: Vec<_> =
        counts.iter().map(|(path, &count)| (path, u128::from(count) * weight(path))).collect();
    flows.sort_by_key(|&(_, flow)| std::cmp::Reverse(flow));
    flows
}
