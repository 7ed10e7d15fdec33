//! How close an estimate is to the truth, in every way of the papers (`holloway_profilers::metrics` has the definitions).

use super::model::{PathCounts, PathKey, Profile};
use holloway_profilers::edges::EdgeProfile;
use holloway_profilers::metrics::{
    Flow, Matching, Share, Unsampled, absolute_overlap, overlap, relative_overlap, wall,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// Counts by what a path is, so that they can be compared with those of another file.
pub type Named<'p> = BTreeMap<&'p PathKey, u64>;

/// Names for the paths of a profile.
pub fn named<'p>(profile: &'p Profile, counts: &PathCounts) -> Named<'p> {
    counts.iter().map(|(&path, &count)| (&profile.paths[path].key, count)).collect()
}

/// The lengths of the paths of both profiles; where they differ (another version may have been optimized further), that of the
/// first.
pub fn lengths<'p>(first: &'p Profile, second: &'p Profile) -> BTreeMap<&'p PathKey, u32> {
    second.paths.iter().chain(&first.paths).map(|path| (&path.key, path.length)).collect()
}

/// Wall's weight matching.
pub fn weight_matching<'p>(
    actual: &Named<'p>,
    estimate: &Named<'p>,
    lengths: &BTreeMap<&'p PathKey, u32>,
    flow: Flow,
    hot: Share,
) -> Matching<&'p PathKey> {
    wall(actual, estimate, flow, hot, |path| lengths.get(path).copied().unwrap_or_default())
}

/// Overlap of paths by how often they were run.
pub fn path_overlap(actual: &Named<'_>, estimate: &Named<'_>) -> Option<f64> {
    overlap(actual, estimate)
}

/// How well one edge profile agrees with another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EdgeScore {
    /// Relative overlap; a branch that was not seen is taken to go each way alike.
    pub relative: Option<f64>,
    /// The same; of a branch that was not seen the one-time profile of the interpreter is asked.
    pub with_fallback: Option<f64>,
    /// Which share of the executions is of branches that were seen.
    pub coverage: Option<f64>,
    /// Absolute overlap.
    pub absolute: Option<f64>,
}

/// Compares edges.
pub fn edge_score(actual: &EdgeProfile, estimate: &EdgeProfile, baseline: &EdgeProfile) -> EdgeScore {
    let even = relative_overlap(actual, estimate, Unsampled::Even);
    EdgeScore {
        relative: even.map(|found| found.overlap),
        with_fallback: relative_overlap(actual, estimate, Unsampled::AsIn(baseline))
            .map(|found| found.overlap),
        coverage: even.map(|found| found.coverage),
        absolute: absolute_overlap(actual, estimate),
    }
}
