//! Measuring: the table of benchmark programs, their embedded sources, the harness that runs and verifies them, and
//! what is written down about a measurement.
//!
//! * [`registry`]: which programs there are, and of which sizes
//! * [`embedded`]: their source texts, part of this crate
//! * [`measure`]: one program, run and verified
//! * [`summary`], [`table`]: numbers and how they are shown
//! * [`machine`], [`record`]: what is kept in a file
//! * [`against`]: comparing with the originals in other languages
//! * [`overhead`]: what profilers cost
//!
//! Compiling is left to the caller, who has the flags.

#![forbid(unsafe_code)]

pub mod against;
pub mod embedded;
pub mod machine;
pub mod measure;
pub mod overhead;
pub mod record;
pub mod registry;
pub mod summary;
pub mod table;
