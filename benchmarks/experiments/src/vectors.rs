//! Worked examples of what PEP's figures 1 to 5 show: `data/pep-vectors.json` has the graphs and schedules, and what must come of them.
//!
//! The figures are pictures whose letters the text does not have, so the vectors are of the same kind, worked by hand after the paper's algorithms.
//! This is only the data: `holloway experiment example` works them with the profilers' library.

pub mod traces;

use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// An example and what must come of it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vector {
    /// As on the command line.
    pub name: String,
    /// Where the paper has its like.
    pub figure: String,
    /// What it is.
    pub title: String,
    /// Blocks in letters, each with its successors, the entry first: `A:BC B:D`. Empty if it is about a schedule.
    #[serde(default)]
    pub graph: String,
    /// How often edges (`A→B`) are taken, for orders by frequency.
    #[serde(default)]
    pub taken: BTreeMap<String, u64>,
    /// Runs of the method from its entry, in letters.
    #[serde(default)]
    pub walks: Vec<String>,
    /// The schedule, if it is about one.
    pub window: Option<Window>,
    /// By variant: where paths are cut (`back edges`, `headers`), in which order values are given (`naive`, `smart`, `hot`), or the shape of a window.
    pub expected: BTreeMap<String, Expected>,
}

/// A schedule of samples.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// SAMPLES
    pub samples: u32,
    /// STRIDE
    pub stride: u32,
    /// Just before which opportunities a tick comes.
    pub ticks: Vec<u32>,
    /// How many there are.
    pub opportunities: u32,
}

/// What must come of it. What is empty was not worked out.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expected {
    /// Edges that have a value other than 0.
    pub values: BTreeMap<String, u64>,
    /// All paths, by number.
    pub paths: Vec<String>,
    /// The numbers of the paths that the walks end.
    pub ids: Vec<f64>,
    /// Additions executed when edges are taken so often.
    pub additions: Option<u64>,
    /// Opportunities that are sampled, for each tick.
    pub samples: Vec<Vec<f64>>,
}

static VECTORS: LazyLock<Vec<Vector>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../data/pep-vectors.json")).expect("the vectors are JSON")
});

/// All of them.
pub fn all() -> &'static [Vector] {
    &VECTORS
}

/// The vector of this name.
pub fn find(name: &str) -> Option<&'static Vector> {
    VECTORS.iter().find(|vector| vector.name == name)
}
