//! How good an estimate is, as numbers: what `profile accuracy` prints as tables, and `--json` with all digits. Shares are from 0 to 1.

use super::hottest::Hottest;
use super::metrics::EdgeScore;
use super::text::score;
use holloway_profilers::metrics::Matching;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Everything that could be compared, by short names; what could not be is left out.
#[derive(Serialize, Default)]
pub struct Scores {
    /// Version of the form.
    pub format: u32,
    /// What paths were sampled: `ticks`, and samples that were `taken`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sampled: BTreeMap<&'static str, u64>,
    /// Wall's weight matching of paths, by `branch` and `count` flow.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub paths: BTreeMap<&'static str, FlowScore>,
    /// Edges: each estimate against each reference.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub edges: BTreeMap<String, BTreeMap<String, EdgeScore>>,
    /// Overlap of call graphs, by how the estimate was counted.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub calls: BTreeMap<&'static str, f64>,
    /// The same while the program ran, if snapshots were kept.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub calls_over_time: BTreeMap<&'static str, Series>,
    /// Weight matching of branch traces, by flow.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub traces: BTreeMap<&'static str, TraceScore>,
    /// The hottest subpaths: `top5` and so on.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub subpaths: BTreeMap<String, SubpathScore>,
    /// The first ten of the sample, beside the truth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hottest_subpaths: Option<Hottest>,
}

/// How an overlap came about. Lists of one length.
#[derive(Serialize, Clone, Default, Debug)]
pub struct Series {
    /// At which ticks; the last is the end of the run.
    pub ticks: Vec<u64>,
    /// The overlap at each of them.
    pub overlap: Vec<f64>,
    /// How many different calls were known.
    pub calls: Vec<usize>,
}

/// What a weight matching found.
#[derive(Serialize, Clone, Copy, Debug)]
pub struct FlowScore {
    /// The accuracy, if anything is hot.
    pub accuracy: Option<f64>,
    /// Hot paths in truth.
    pub hot: usize,
    /// Of them, those that the estimate has among as many.
    pub found: usize,
    /// The part of the flow that hot paths have.
    pub covered: Option<f64>,
}

impl FlowScore {
    /// That of a matching.
    pub fn of<K: Ord>(found: &Matching<K>) -> FlowScore {
        let selected: BTreeSet<&K> = found.selected.iter().collect();
        FlowScore {
            accuracy: found.accuracy(),
            hot: found.hot.len(),
            found: found.hot.iter().filter(|path| selected.contains(path)).count(),
            covered: (found.total_flow > 0).then(|| found.hot_flow as f64 / found.total_flow as f64),
        }
    }

    /// In columns.
    pub fn columns(&self) -> [String; 4] {
        [score(self.accuracy), self.hot.to_string(), self.found.to_string(), score(self.covered)]
    }
}

/// What a weight matching of branch traces found.
#[derive(Serialize, Clone, Copy, Debug)]
pub struct TraceScore {
    /// The matching.
    #[serde(flatten)]
    pub flow: FlowScore,
    /// The part of the estimated flow on paths that are hot by the estimate and not in truth.
    #[serde(rename = "false")]
    pub wrong: Option<f64>,
}

/// How many of the hottest subpaths were found.
#[derive(Serialize, Clone, Debug)]
pub struct SubpathScore {
    /// How many are asked for.
    #[serde(skip)]
    pub top: usize,
    /// The part of them among as many of the sample.
    pub recall: f64,
    /// The same with those that are executed as often as the last of them, but for a hundredth.
    pub as_good: f64,
    /// The same with those that the interval cannot tell from one of them.
    pub near: f64,
    /// Executions of those found, and of those asked for.
    #[serde(skip)]
    pub flow: (u64, u64),
    /// The mean relative error of the estimates.
    pub error: Option<f64>,
    /// The largest.
    pub worst: Option<f64>,
    /// Of how many the count is in the interval, and how many there are.
    pub within: usize,
    /// See `within`.
    pub of: usize,
    /// The rank that each of those asked for has in the sample, the most executed first; 0 for one that was not sampled.
    pub ranks: Vec<usize>,
}
