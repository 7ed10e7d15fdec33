//! Shye and others: paths from the branch trace buffer of a processor.

mod examples;
mod fig1;
mod fig2;
mod fig4;
mod fig5;
mod fig6;
mod headline;
mod periods;
mod sec3_2;
mod sec4_6;
mod tab2;
mod tab3;
mod tab4;
pub(super) mod traces;

use super::{Experiment, Paper};
use crate::cell::Cell;
use crate::plan::Plan;
use periods::{HEADLINE, Traces};

pub(super) const PAPER: Paper = Paper {
    id: "pmu",
    title: "Analysis of Path Profiling Information Generated with Performance Monitoring Hardware",
    source: "Shye and others; 2005",
    says: "The processor records its last branches. Read at every ten millionth cycle, and matched with the paths of regions, they tell hot paths for a percent.",
    headlines: &[("pmu-fig6", 0), ("pmu-fig6", 1)],
};

pub(super) const EXPERIMENTS: &[&Experiment] = &[
    &fig1::EXPERIMENT,
    &fig2::EXPERIMENT,
    &sec3_2::EXPERIMENT,
    &fig4::EXPERIMENT,
    &tab2::EXPERIMENT,
    &tab3::EXPERIMENT,
    &fig5::EXPERIMENT,
    &tab4::EXPERIMENT,
    &fig6::EXPERIMENT,
    &sec4_6::EXPERIMENT,
    &headline::EXPERIMENT,
];

/// The programs of which traces of compiled code are measured, how accurate they are and what they cost.
pub(super) fn traced(plan: &Plan) -> Vec<&'static str> {
    fig6::programs(plan)
}

/// The paper's traces, and the longer ones of a processor of today.
pub(super) const TRACES: [Traces; 2] = [periods::PAPER, periods::STRETCH];

/// How accurate such traces of compiled code are.
pub(super) fn traced_accuracy(program: &str, traces: Traces) -> Cell {
    periods::burst(program, traces, HEADLINE)
}

/// What they cost.
pub(super) fn traced_cost(plan: &Plan, program: &str, traces: Traces) -> Cell {
    periods::cost(plan, program, traces, HEADLINE)
}
