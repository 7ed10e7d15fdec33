//! Shye and others: paths from the branch trace buffer of a processor.

mod fig6;

use super::{Experiment, Paper};

pub(super) const PAPER: Paper = Paper {
    id: "pmu",
    title: "Analyzing Path Profiling with the Itanium-2 PMU",
    source: "Shye and others; 2005",
    says: "The processor records its last branches. Read at every ten millionth cycle, and matched with the paths of regions, they tell hot paths for a percent.",
    headlines: &[("pmu-fig6", 0), ("pmu-fig6", 1)],
};

pub(super) const EXPERIMENTS: &[&Experiment] = &[&fig6::EXPERIMENT];
