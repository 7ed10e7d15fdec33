//! The papers' experiments, and the report that sets what they found beside what is measured here.
//!
//! * [`catalogue`]: the experiments, a file each: their cells, and what follows from the results
//! * [`cell`], [`reduce`]: commands of `holloway`, and what is kept of their output
//! * [`plan`]: how much is measured
//! * [`store`]: results on disk, as they come
//! * [`results`], [`verdict`]: from results to numbers with intervals, and how these stand to the paper
//! * [`loss`]: whether something lost, or is not known well enough to say so
//! * [`groups`]: whether groups of numbers differ by more than chance
//! * [`papers`]: the numbers that the papers print
//! * [`vectors`]: worked examples of what the papers draw
//! * [`targets`]: the headline targets, and whether they are met
//! * [`reproduction`]: all experiments concluded
//! * [`report`]: what a reproduction found, as a value
//!
//! Running programs is left to the caller: a cell of an experiment is a command of `holloway` itself.

#![forbid(unsafe_code)]

pub mod catalogue;
pub mod cell;
pub mod groups;
pub mod loss;
pub mod papers;
pub mod plan;
pub mod reduce;
pub mod report;
pub mod reproduction;
pub mod results;
pub mod store;
pub mod targets;
pub mod vectors;
pub mod verdict;
