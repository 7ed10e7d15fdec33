//! What the end-to-end tests share: cases (programs with expectations at their end), the modes in which every case runs,
//! and running them in this process.

#![forbid(unsafe_code)]

pub mod benchmarks;
pub mod case;
pub mod difference;
pub mod edges;
pub mod modes;
pub mod parallel;
pub mod past;
pub mod random;
pub mod run;
pub mod text;
pub mod walks;
