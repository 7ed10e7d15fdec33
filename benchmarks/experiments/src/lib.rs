//! The papers' experiments, and the report that sets what they found beside what is measured here.
//!
//! * [`report`]: what a reproduction found, as a value
//!
//! Running programs is left to the caller: a cell of an experiment is a command of `holloway` itself.

#![forbid(unsafe_code)]

pub mod report;
