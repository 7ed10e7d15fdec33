//! Arnold and Grove: call graphs by counter-based sampling.

mod budget;
mod convergence;
mod fig1;
mod fig4;
mod fig5;
mod grid;
mod inlining;
mod patching;
mod sec3_1;
mod sec5_1;
mod sec6_3;
mod tab1;
mod tab2;
mod tab3;

pub(super) use sec3_1::{CALL_PROFILERS, CallProfiler, accuracy as common_accuracy, names as common};

use super::{Experiment, Paper};

pub(super) const PAPER: Paper = Paper {
    id: "cbs",
    title: "Collecting and Exploiting High-Accuracy Call Graph Profiles in Virtual Machines",
    source: "Arnold, Grove; CGO 2005",
    says: "A tick of the timer opens a window in which every stride-th call is sampled, several times. The call graph becomes nearly twice as accurate as with one sample for each tick, for a third of a percent.",
    headlines: &[("cbs-tab3", 0), ("cbs-tab3", 3), ("cbs-tab3", 6)],
};

pub(super) const EXPERIMENTS: &[&Experiment] = &[
    &fig1::EXPERIMENT,
    &fig4::EXPERIMENT,
    &tab1::EXPERIMENT,
    &tab2::JIKES,
    &tab2::J9,
    &tab3::EXPERIMENT,
    &convergence::EXPERIMENT,
    &sec3_1::EXPERIMENT,
    &patching::EXPERIMENT,
    &sec5_1::OLD_INLINER,
    &sec5_1::NEW_INLINER,
    &fig5::LEFT,
    &fig5::RIGHT,
    &fig5::COMPILE_TIME,
    &sec6_3::EXPERIMENT,
];
