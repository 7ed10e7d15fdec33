//! Oren, Matias and Sagiv: subpaths, online.

mod tab2;
mod tab5;

use super::{Experiment, Paper};

pub(super) const PAPER: Paper = Paper {
    id: "osp",
    title: "Online Subpath Profiling",
    source: "Oren, Matias, Sagiv; CC 2002",
    says: "Subpaths of any length, across loops and calls, are sampled into bounded memory: a sample begins once in many blocks, and a full list is thinned.",
    headlines: &[("osp-tab2", 0), ("osp-tab5", 0), ("osp-tab5", 1)],
};

pub(super) const EXPERIMENTS: &[&Experiment] = &[&tab2::EXPERIMENT, &tab5::EXPERIMENT];
