//! Bond and McKinley: continuous path and edge profiling.

mod accuracy;
mod fig1;
mod fig10;
mod fig11;
mod fig6;
mod fig7;
mod fig8;
mod fig9;
mod hot_paths;
mod sec2;
mod sec3_1;
mod sec3_2;
mod sec3_4;
mod sec4_4;
mod sec5_1;
mod sec6_4_absolute;
mod sec6_4_reference;
mod sec6_5;

use super::{Experiment, Paper};
use crate::plan::Plan;

pub(super) const PAPER: Paper = Paper {
    id: "pep",
    title: "Continuous Path and Edge Profiling",
    source: "Bond, McKinley; MICRO 2005",
    says: "Instrumentation keeps the number of the path in a register and counts nothing; samples at yieldpoints read it. That makes paths and edges known all the time for about a percent.",
    headlines: &[
        ("pep-fig6", 0),
        ("pep-fig6", 1),
        ("pep-fig8", 0),
        ("pep-fig9", 0),
        ("pep-sec6.4-absolute-overlap", 0),
    ],
};

pub(super) const EXPERIMENTS: &[&Experiment] = &[
    &sec2::EXPERIMENT,
    &fig1::EXPERIMENT,
    &sec3_1::EXPERIMENT,
    &sec3_2::EXPERIMENT,
    &sec3_4::EXPERIMENT,
    &sec4_4::EXPERIMENT,
    &sec5_1::EXPERIMENT,
    &fig6::EXPERIMENT,
    &fig7::EXPERIMENT,
    &fig8::EXPERIMENT,
    &fig9::EXPERIMENT,
    &sec6_4_reference::EXPERIMENT,
    &sec6_4_absolute::EXPERIMENT,
    &sec6_5::EXPERIMENT,
    &fig10::EXPERIMENT,
    &fig11::EXPERIMENT,
];

/// The profiler that the paper recommends.
pub(super) const USUAL: &str = accuracy::USUAL;

/// PEP as it is called in the paper: samples for each tick, and the stride.
pub(super) fn pep(samples: u32, stride: u32) -> String {
    format!("pep:samples={samples},stride={stride}")
}

/// The programs whose overhead figure 6 measures.
pub(super) fn costed(plan: &Plan) -> Vec<&'static str> {
    fig6::programs(plan)
}

/// The programs of which figure 8 measures how accurate sampled paths are.
pub(super) fn accurate(plan: &Plan) -> Vec<&'static str> {
    accuracy::programs(plan)
}
