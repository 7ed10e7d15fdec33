//! A path profile as a value: counts by version and path number, in order.
//!
//! Numbers of different versions mean different things and are never added. To compare or merge profiles over versions,
//! decode them to what the source did: [`PathProfile::by_branches`].

use super::Decode;
use crate::edges::EdgeProfile;
use crate::ids::{BranchArm, PathNumber, VersionId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How often one path was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PathCount {
    /// Whose number it is.
    pub version: VersionId,
    /// The path.
    pub path: PathNumber,
    /// How often.
    pub count: u64,
}

/// How often each path was taken; those that were not are not in it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "Vec<PathCount>", into = "Vec<PathCount>")]
pub struct PathProfile(BTreeMap<(VersionId, PathNumber), u64>);

impl PathProfile {
    /// How often this path was taken.
    #[must_use]
    pub fn count(&self, version: VersionId, path: PathNumber) -> u64 {
        self.0.get(&(version, path)).copied().unwrap_or(0)
    }

    /// Counts by version and number: what the metrics compare.
    #[must_use]
    pub fn as_map(&self) -> &BTreeMap<(VersionId, PathNumber), u64> {
        &self.0
    }

    /// All paths in order.
    pub fn iter(&self) -> impl Iterator<Item = PathCount> + '_ {
        self.0.iter().map(|(&(version, path), &count)| PathCount { version, path, count })
    }

    /// How many paths were taken, with repetitions.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Adds another profile of the same versions.
    pub fn merge(&mut self, other: &Self) {
        for (&path, count) in &other.0 {
            *self.0.entry(path).or_default() += count;
        }
    }

    /// The edge profile that follows from it: each path adds its count to each outcome of a branch on it.
    #[must_use]
    pub fn edges(&self, decode: &mut impl Decode) -> EdgeProfile {
        let mut edges = EdgeProfile::default();
        self.decoded(decode, |branches, count| {
            for &branch in branches {
                edges.add(branch, count);
            }
        });
        edges
    }

    /// Counts by the outcomes of branches, which mean the same in every version. Paths without a branch are one.
    #[must_use]
    pub fn by_branches(&self, decode: &mut impl Decode) -> BTreeMap<Vec<BranchArm>, u64> {
        let mut counts = BTreeMap::new();
        self.decoded(decode, |branches, count| *counts.entry(branches.to_vec()).or_default() += count);
        counts
    }

    fn decoded(&self, decode: &mut impl Decode, mut visit: impl FnMut(&[BranchArm], u64)) {
        let mut branches = Vec::new();
        for (&(version, path), &count) in &self.0 {
            branches.clear();
            decode.branches(version, path, &mut branches);
            visit(&branches, count);
        }
    }
}

impl FromIterator<PathCount> for PathProfile {
    fn from_iter<I: IntoIterator<Item = PathCount>>(counts: I) -> Self {
        let mut profile = Self::default();
        for PathCount { version, path, count } in counts {
            *profile.0.entry((version, path)).or_default() += count;
        }
        profile
    }
}

impl From<Vec<PathCount>> for PathProfile {
    fn from(counts: Vec<PathCount>) -> Self {
        counts.into_iter().collect()
    }
}

impl From<PathProfile> for Vec<PathCount> {
    fn from(profile: PathProfile) -> Self {
        profile.iter().collect()
    }
}
