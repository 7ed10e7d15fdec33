//! Oren, Matias and Sagiv: subpaths, online.

use super::{Experiment, Paper};

pub(super) const PAPER: Paper = Paper {
    id: "osp",
    title: "Online Subpath Profiling",
    source: "Oren, Matias, Sagiv; CC 2002",
    says: "Subpaths of any length, across loops and calls, are sampled into bounded memory: a sample begins once in many blocks and is kept if its encoding has room.",
    headlines: &[],
};

pub(super) const EXPERIMENTS: &[&Experiment] = &[];
