//! Oren, Matias and Sagiv: subpaths, online.

mod arbitrary;
mod complexity;
mod encoding;
mod f40;
mod fig1;
mod jlex;
mod odd_even;
mod rates;
mod runs;
mod section1;
mod tab1;
pub(super) mod tab2;
mod tab3;
mod tab4;
pub(super) mod tab5;
mod tab6;

use super::{Experiment, Paper};

pub(super) const PAPER: Paper = Paper {
    id: "osp",
    title: "Online Subpath Profiling",
    source: "Oren, Matias, Sagiv; CC 2002",
    says: "Subpaths of any length, across loops and calls, are sampled into bounded memory: a sample begins once in many blocks, and a full list is thinned.",
    headlines: &[("osp-tab2", 0), ("osp-tab5", 0), ("osp-tab5", 1), ("osp-tab6", 0)],
};

pub(super) const EXPERIMENTS: &[&Experiment] = &[
    &fig1::EXPERIMENT,
    &jlex::EXPERIMENT,
    &complexity::EXPERIMENT,
    &encoding::EXPERIMENT,
    &tab1::EXPERIMENT,
    &tab2::EXPERIMENT,
    &section1::EXPERIMENT,
    &tab3::EXPERIMENT,
    &f40::EXPERIMENT,
    &tab4::EXPERIMENT,
    &tab5::EXPERIMENT,
    &tab6::EXPERIMENT,
    &arbitrary::EXPERIMENT,
    &odd_even::EXPERIMENT,
];
